"""How a comparison of methods was asked for, whether that makes sense, and warnings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np

from evenhand.analyses.compare.ranking import LEAST, LEAST_LOSS, MOST, PLAIN_CRITERIA, Criterion, Standing, Terms
from evenhand.analyses.compare.runs import ROLES, Columns, Runs, method_named
from evenhand.errors import DataError, UsageError, listed, nearest, number, one_of, shown, values_in
from evenhand.inference.settings import Inference
from evenhand.measures.pareto import SLACK, UTOPIA, By

FRONTS = ("dev", "published")
MISSING = ("refuse", "drop")
MARGINS = (0.05, 0.10)
SIDES = ("performance", "fairness")
FINEST, COARSEST = 1e-6, 1e6
"""What an axis may be divided by."""


@dataclass(frozen=True)
class Question:
    """How a comparison was asked for."""

    columns: Columns
    terms: Terms
    baseline: str | None
    margins: tuple[float, ...]
    normalize: str | tuple[float, float] | None
    missing: str
    bootstrap: int | None
    base: tuple[float, float] | None = None


class CompareArgs(TypedDict, total=False):
    """What a comparison may be asked for, for signatures. See `evenhand.compare`."""

    dev_performance: str | None
    dev_fairness: str | None
    loss: str | None
    settings: str | Sequence[str]
    where: Mapping[str, Any] | None
    random_performance: float | None
    front: Literal["dev", "published"]
    lower_is_better: str | Sequence[str]
    fairness_floor: float | Sequence[float]
    performance_floor: float | Sequence[float]
    baseline: str | None
    margins: float | Sequence[float] | None
    utopia: tuple[float, float]
    normalize: Literal["range"] | tuple[float, float] | None
    performance_from: float | None
    fairness_from: float | None
    dto_to: float | None
    missing: Literal["refuse", "drop"]
    confidence: float
    bootstrap: int | None
    rng: int | np.random.Generator | None


def asked(method: Any, performance: Any, fairness: Any, said: Mapping[str, Any]) -> Question:
    """The question, if it makes sense; better known before the data are read."""
    columns = _columns(method, performance, fairness, said)
    front, missing = said.get("front", "dev"), said.get("missing", "refuse")
    one_of("front", front, FRONTS)
    one_of("missing", missing, MISSING)
    if front == "published" and columns.dev_performance is None:
        raise UsageError(
            "front='published' selects among the front of test results by development results: name their columns "
            "(dev_performance, dev_fairness), or leave front out"
        )
    bootstrap, baseline, margins = (said.get(word) for word in ("bootstrap", "baseline", "margins"))
    inference = Inference(confidence=said.get("confidence", 0.95), bootstrap=MOST if bootstrap is None else bootstrap)
    given: tuple[tuple[By, str], ...] = (("performance", "fairness_floor"), ("fairness", "performance_floor"))
    floors = [Criterion(_id(by, x), by, x) for by, word in given for x in _shares(said.get(word, ()), word)]
    terms = Terms(
        criteria=(*PLAIN_CRITERIA, *([LEAST_LOSS] if columns.loss is not None else []), *dict.fromkeys(floors)),
        front=front,
        random_performance=_condition(said, "random_performance"),
        utopia=_utopia(said.get("utopia", UTOPIA)),
        performance_from=_condition(said, "performance_from"),
        fairness_from=_condition(said, "fairness_from"),
        dto_to=_condition(said, "dto_to", most=1e6),
        confidence=inference.confidence,
    )
    if baseline is not None and not isinstance(baseline, str | int | float | np.generic):
        raise UsageError(f"baseline must be the name of a method, not {shown(baseline)}")
    if isinstance(baseline, str) and not baseline.strip():
        raise UsageError("baseline must be the name of a method, not an empty text")
    if baseline is None and margins is not None:
        raise UsageError("margins add to the results of a baseline: name it (baseline=, --baseline), or leave them out")
    return Question(
        columns=columns,
        terms=terms,
        baseline=None if baseline is None else str(baseline),
        margins=MARGINS if margins is None else _shares(margins, "margins"),
        normalize=_normalize(said.get("normalize")),
        missing=missing,
        bootstrap=None if bootstrap is None else inference.bootstrap,
    )


def _columns(method: Any, performance: Any, fairness: Any, said: Mapping[str, Any]) -> Columns:
    named = {"method": method, "performance": performance, "fairness": fairness}
    named |= {role: name for role in ROLES[2:] if (name := said.get(role)) is not None}
    loss = {} if said.get("loss") is None else {"loss": said["loss"]}
    for role, name in (named | loss).items():
        if not isinstance(name, str):
            raise UsageError(f"{role} must be the name of a column, not {shown(name)}")
    if len(named) == 4:
        there, lacks = ROLES[2:] if "dev_performance" in named else ROLES[:1:-1]
        raise UsageError(f"development results need both columns: {there} is named, {lacks} is not")
    settings = _names(said.get("settings", ()), "settings")
    named |= loss
    results = {k: v for k, v in named.items() if k != "method"}
    _check_once(results)
    for name in (*settings, method):
        if name in results.values():
            raise UsageError(f"column {shown(name)} cannot be both a result and a setting or the method")
    if settings == (method,):
        raise UsageError(
            f"settings tell the runs of one method apart, which {shown(method)}, the column of methods, cannot: name "
            "other columns, or none"
        )
    lower = _lower(said.get("lower_is_better", ()))
    return Columns(**named, settings=tuple(s for s in settings if s != method), lower_is_better=lower)


def _check_once(results: Mapping[str, str]) -> None:
    """No column can be two results."""
    role_of: dict[str, str] = {}
    for role, name in results.items():
        if name in role_of:
            way_out = "if there are no development results, leave theirs out" if "dev_" in role else "name another"
            raise UsageError(f"column {shown(name)} cannot be both {role_of[name]} and {role}: {way_out}")
        role_of[name] = role


def _lower(values: Any) -> tuple[str, ...]:
    names = _names(values, "lower_is_better")
    for name in names:
        if name not in (*SIDES, "both"):
            raise UsageError(
                f"lower_is_better takes 'performance', 'fairness' or 'both', not {shown(name)}{nearest(name, SIDES)}"
            )
    return SIDES if "both" in names else names


def _names(values: Any, word: str) -> tuple[str, ...]:
    values = [values] if isinstance(values, str) else values
    if not isinstance(values, Sequence) or not all(isinstance(v, str) for v in values):
        raise UsageError(f"{word} must be a name or a list of names, not {shown(values)}")
    return tuple(dict.fromkeys(values))


def _normalize(value: Any) -> str | tuple[float, float] | None:
    if value is None or (isinstance(value, str) and value == "range"):
        return value
    if isinstance(value, str):
        raise UsageError(f"normalize must be 'range' or two positive numbers, not {shown(value)}")
    pair = _pair(value, "normalize", "'range', or what performance and fairness are divided by")
    if not all(FINEST <= scale <= COARSEST for scale in pair):
        raise UsageError(
            f"normalize must be 'range' or two positive numbers from {FINEST:g} to {COARSEST:g}, not {shown(value)}"
        )
    return pair


def _utopia(value: Any) -> tuple[float, float]:
    pair = _pair(value, "utopia", "the best performance and the best fairness, such as (1, 1)")
    if not all(0 <= best <= 1 for best in pair):
        raise UsageError(f"utopia must lie in [0, 1], as results do, not at {shown(value)}")
    return pair


def _id(by: str, floor: float) -> str:
    other = "fairness" if by == "performance" else "performance"
    return f"{by}@{other}>={floor:.10g}"


def _share(value: Any, word: str, most: float = 1.0) -> float:
    if not 0 <= number(value) <= most:
        raise UsageError(f"{word} must be a number from 0 to {most:g}, not {shown(value)}")
    return float(value)


def _condition(said: Mapping[str, Any], word: str, most: float = 1.0) -> float | None:
    return None if said.get(word) is None else _share(said[word], word, most)


def _shares(values: Any, word: str) -> tuple[float, ...]:
    if isinstance(values, int | float | np.generic):
        values = [values]
    several = values_in(values)
    if several is None:
        raise UsageError(f"{word} must be a number or a list of numbers, not {shown(values)}")
    return tuple(dict.fromkeys(_share(v, word) for v in several))


def _pair(value: Any, word: str, what: str) -> tuple[float, float]:
    numbers = [number(v) for v in values_in(value) or ()]
    if len(numbers) != 2 or not all(map(math.isfinite, numbers)) or max(map(abs, numbers)) > 1e6:
        raise UsageError(f"{word} must be two numbers ({what}), not {shown(value)}")
    return numbers[0], numbers[1]


# ---- what only the runs can tell -----------------------------------------------------------------------------


def baseline_floors(question: Question, runs: Runs) -> Question:
    """The floors relative to the baseline, by its mean development results."""
    if question.baseline is None:
        return question
    own = runs.of(method_named(runs, question.baseline))
    base = float(runs.means[2, own].mean()), float(runs.means[3, own].mean())
    signs: tuple[tuple[By, str, int, str], ...] = (
        ("performance", "fairness", 1, "+"),
        ("fairness", "performance", -1, "-"),
    )
    floors = [
        Criterion(f"{by}@{other}{sign}{margin:.10g}", by, base[other == "fairness"] + direction * margin)
        for by, other, direction, sign in signs
        for margin in question.margins
    ]
    terms = replace(question.terms, criteria=(*question.terms.criteria, *floors))
    return replace(question, terms=terms, base=base)


def normalised(question: Question, runs: Runs) -> Terms:
    """The scales of the axes, from what selection may see: development results where there are any."""
    if question.normalize is None:
        return question.terms
    if isinstance(question.normalize, tuple):
        return replace(question.terms, scale=question.normalize)
    spans = np.ptp(runs.means[2:4], axis=1)
    for word, span in zip(("performance", "fairness"), spans.tolist(), strict=True):
        if span < FINEST:
            raise DataError(
                f"cannot normalise by the range of {word}: all averaged runs have the same, within {FINEST:g}; "
                "leave it out"
            )
    return replace(question.terms, scale=(float(spans[0]), float(spans[1])))


def remarks(question: Question, terms: Terms, runs: Runs, found: list[Standing], resamples: int) -> list[str]:
    """Warnings."""
    notes = [*runs.notes]
    turned = question.columns.lower_is_better
    if turned:
        notes.append(f"lower is better for {' and '.join(turned)}: 1 - value is shown, and higher is better")
    if runs.left_out:
        notes.append(f"{runs.left_out:,} runs without all their results were left out")
    if not question.columns.settings:
        notes.append(
            "no settings were named, so every row is a setting of its own and nothing is averaged over seeds: name the "
            "columns that tell settings apart (settings=, --settings)"
        )
    if not runs.has_dev:
        notes.append(
            "no development results were named, so models are selected on the same results that are reported, which is "
            "optimistic: name their columns (dev_performance=, dev_fairness=; --dev-performance, --dev-fairness)"
        )
    if terms.front == "published":
        notes.append(
            "the front was taken on test results and models selected among it, as published: test results leak into "
            "the selection, which is optimistic"
        )
    if runs.has_dev and np.array_equal(runs.values[:2], runs.values[2:4]):
        notes.append(
            "development and test results are the same numbers, so models are selected on what is reported, which is "
            "optimistic"
        )
    best = runs.means[:4].reshape(2, 2, -1).max((0, 2))
    if (best > np.array(terms.utopia) + SLACK).any():
        notes.append(
            f"some settings are beyond the utopia point ({terms.utopia[0]:g}, {terms.utopia[1]:g}): there, being "
            "better counts as being further from the optimum"
        )
    notes += _about_areas(terms, runs, found)
    notes += _about_seeds(question, runs, found, resamples)
    return notes


def _about_areas(terms: Terms, runs: Runs, found: list[Standing]) -> list[str]:
    if terms.random_performance is None:
        return [
            "no performance of a random guess was given, so there is no area (AUC-PFC) and methods are ranked by DTO: "
            "give it to compare (random_performance=; evenhand compare --random-performance), such as the share of the "
            "most frequent class"
        ]
    notes = []
    low = [s for s in found if runs.means[0, s.front].min() < terms.random_performance and np.isfinite(s.area)]
    if low:
        names = [runs.methods[s.method] for s in low]
        notes.append(
            f"some points of {listed(names, 5)} perform worse than a random guess ({terms.random_performance:g}): "
            "their curves start there, left of the point at fairness 1"
        )
    return notes


def _about_seeds(question: Question, runs: Runs, found: list[Standing], resamples: int) -> list[str]:
    notes = []
    if question.columns.settings:
        alone = [(runs.methods[s.method], s.single, len(s.front)) for s in found if s.single]
        if alone:
            which = ", ".join(f"{shown(name)} {n:,} of {front:,}" for name, n, front in alone[:5])
            more = f" and {len(alone) - 5:,} more methods" if len(alone) > 5 else ""
            notes.append(
                f"settings on the front with one run cannot vary, so intervals leave their chance out: {which}{more}"
            )
    copies = int((runs.deviations == 0).all(0).sum())
    if copies:
        notes.append(
            f"all runs of {copies:,} of {int((runs.seeds > 1).sum()):,} settings with several are alike to the last "
            "digit: copies of a run are no seeds, and intervals are then too short"
        )
    if resamples and question.bootstrap is None and resamples < MOST:
        notes.append(
            f"there are so many runs that {resamples} resamples were drawn instead of {MOST:,}: more with bootstrap= "
            "(--bootstrap)"
        )
    least = math.ceil(2 / (1 - question.terms.confidence) - 1 - 1e-9)
    if 0 < resamples < min(least, LEAST):
        notes.append(f"{resamples} resamples are few: intervals are rough; take at least {LEAST}")
    return notes
