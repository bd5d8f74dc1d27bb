"""A model in use and candidates → which of them are less discriminatory at about the same performance, confirmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from evenhand.analyses.alternatives import remarks
from evenhand.analyses.alternatives.of_runs import from_runs
from evenhand.analyses.alternatives.of_scores import from_scores
from evenhand.analyses.alternatives.options import WITHIN, Asked, asked, enough_resamples
from evenhand.analyses.alternatives.people import both, checked_fairness, counted, data_of, parts_of, setting_of
from evenhand.analyses.alternatives.tried import Tried
from evenhand.analyses.audit.repeated import reading_of
from evenhand.analyses.compare.options import asked as asked_of_runs
from evenhand.analyses.compare.runs import read_runs
from evenhand.analyses.options import Watched, checked, checked_axes, watching
from evenhand.errors import UsageError, listed
from evenhand.inference.resample import generator
from evenhand.inference.settings import IntervalArgs
from evenhand.ingest.engines import library_of
from evenhand.ingest.roles import ColumnArgs, Roles, check_known, picked
from evenhand.report.result import Result


@dataclass(frozen=True, repr=False)
class Alternatives(Result):
    """Which candidates are less discriminatory, and a log of all. Print it, or take `to_dict`, `to_frame`."""

    kind: str
    """Of which candidates: "scores" or "runs"."""
    candidates: tuple[Tried, ...]
    """In the order in which they were named."""
    baseline: str
    best: str
    """The candidate that performs best where they were selected."""
    recommended: str | None
    """The first that was confirmed."""
    data: Mapping[str, Any]
    options: Mapping[str, Any]
    notes: tuple[str, ...]
    reading: tuple[str, ...] = ()
    """What was said of the rows, as words of a command."""
    library: str | None = field(default=None, repr=False)

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The candidates that were confirmed, in the order in which they were tested."""
        confirmed = [c for c in self.candidates if c.status == "alternative"]
        return tuple(c.name for c in sorted(confirmed, key=lambda c: c.tested or 0))

    def to_frame(self, library: str | None = None) -> Any:
        """The log as a dataframe, one row a candidate, in the library of the data (or the one named)."""
        from evenhand.analyses.alternatives.document import frame

        return frame(self, self.library if library is None else library)


class AlternativesArgs(ColumnArgs, IntervalArgs, total=False):
    """Columns of people or of runs, and intervals, for signatures."""

    attribute: str | Sequence[str] | None
    reference: str | Mapping[str, str] | None
    threshold: Any
    top: int | str | None
    exclude_below: float | str | None
    selection_share: float | None
    split: Mapping[str, Sequence[Any]] | None
    dev_performance: str | None
    dev_fairness: str | None
    settings: str | Sequence[str]
    lower_is_better: str | Sequence[str]


_OF_RUNS = {"dev_performance", "dev_fairness", "settings", "lower_is_better"}
_OF_BOTH = {"confidence", "bootstrap", "rng", "missing", "where"}
_OF_PEOPLE = AlternativesArgs.__optional_keys__ - _OF_RUNS - _OF_BOTH


def alternatives(
    data: Any = None,
    *,
    score: Any = None,
    method: str | None = None,
    baseline: str | None = None,
    performance: str | None = None,
    fairness: str | None = None,
    within_best: float = WITHIN,
    progress: Watched = None,
    **options: Unpack[AlternativesArgs],
) -> Alternatives:
    """Search for less discriminatory alternatives to a model in use, and confirm them on data that did not select them.

    A candidate is selected if its performance is within `within_best` of the best and its gap smaller than that of the
    model in use; it is an alternative if the smaller gap is confirmed on other data. Every candidate is in the log with
    the reason for what became of it.

    Parameters
    ----------
    data, score and the other columns
        People with their scores by several models, the one in use first, as in `evenhand.audit`; labels are needed.
    method
        Instead: `data` are runs, as in `evenhand.compare`, and this is the column of methods. Every setting is a
        candidate; it is selected by development results and confirmed on test results, over seeds.
    baseline
        The score in use, by default the first; of runs the method in use.
    performance, fairness
        Of scores a performance (accuracy by default, auroc, …) and the id of a measure (equalized_odds by default); of
        runs their columns.
    within_best
        How much lower than the best a performance may be, in the units of the performance.
    attribute, reference, threshold, top, exclude_below
        Whose gap it is, as in `evenhand.thresholds` and `evenhand.audit`: the largest of all groups to the reference.
    selection_share, split
        The share of the people to select on (by default half, drawn at random), or a column with the value of those to
        select on and of those to confirm with: {"part": ["select", "confirm"]}.
    dev_performance, dev_fairness, settings, lower_is_better
        Of runs only: see `evenhand.compare`.
    confidence, bootstrap, rng
        How sure a claim is to be, resamples of the people, and a seed or generator.

    Examples
    --------
    >>> import evenhand, numpy as np
    >>> random = np.random.default_rng(0)
    >>> group, paid = random.integers(0, 2, (2, 4000))
    >>> noise = random.normal(0, 0.2, 4000)
    >>> current = np.clip(0.3 + 0.4 * paid + 0.15 * group + noise, 0, 1).round(2)
    >>> fairer = np.clip(0.37 + 0.4 * paid + 0.01 * group + noise, 0, 1).round(2)
    >>> people = {"current": current, "fairer": fairer, "paid": paid, "group": group}
    >>> found = evenhand.alternatives(people, score=["current", "fairer"], label="paid", group="group", bootstrap=200)
    >>> found.recommended, found.alternatives
    ('fairer', ('fairer',))
    """
    check_known(options, AlternativesArgs.__optional_keys__, alternatives)
    said: dict[str, Any] = dict(options)
    common = asked(
        within_best, said.get("selection_share"), said.get("split"), said.get("confidence", 0.95),
        said.get("bootstrap", 1000), said.get("rng"),
    )  # fmt: skip
    random = generator(said.get("rng"))
    if method is not None:
        _refuse(said, _OF_PEOPLE, "people, and these are runs (method=, --method)", score)
        return _of_runs(data, method, baseline, performance, fairness, common, said)
    _refuse(said, _OF_RUNS, "runs: name the column of their methods (method=, --method)")
    with watching(progress) as told:
        return _of_scores(data, score, baseline, performance, fairness, common, said, random, told)


def _refuse(said: Mapping[str, Any], words: set[str] | frozenset[str], whose: str, score: Any = None) -> None:
    stray = [word for word in said if word in words and said[word] is not None]
    stray += ["score"] if score is not None else []
    if stray:
        raise UsageError(f"{listed(stray)} {'is' if len(stray) == 1 else 'are'} for {whose}")


def _of_scores(
    data: Any, score: Any, baseline: Any, performance: Any, fairness: Any, common: Asked, said: Mapping[str, Any],
    random: np.random.Generator, told: Any,
) -> Alternatives:  # fmt: skip
    enough_resamples(common.inference)
    axes = checked_axes(performance, fairness)
    checked_fairness(axes.fairness)
    if said.get("missing") == "bounds":
        raise UsageError("a gap is confirmed for people of known groups: take missing='drop' or 'group' (--missing)")
    threshold = said.get("threshold")
    options = checked(top=said.get("top"), exclude_below=said.get("exclude_below"), permutations=0)
    roles = picked(Roles, {**said, "score": score})
    told(0.0, "counting rows")
    everybody, *parts = parts_of(counted(data, roles, options, common), common, random)
    setting, notes = setting_of(
        everybody, baseline, axes, said.get("attribute"), said.get("reference"), threshold, options
    )
    selecting, confirming = both(setting, (parts[0], parts[1]))
    found = from_scores(selecting, confirming, common, random, told)
    return Alternatives(
        kind="scores",
        candidates=found.tried,
        baseline=setting.names[setting.baseline],
        best=found.best,
        recommended=found.recommended,
        data={**data_of(everybody), "selecting": found.people[0], "confirming": found.people[1]},
        options={
            "performance": axes.performance.id,
            "fairness": axes.fairness.id,
            "within_best": common.within,
            "attribute": setting.grouping.name,
            "columns": list(setting.grouping.attributes),
            "reference": setting.reference,
            "reference_members": setting.reference_members,
            "groups": list(found.groups),
            "thresholds": {n: o.threshold for n, o in zip(setting.names, setting.options, strict=True)},
            "cutoffs": {n: str(o.cutoff) for n, o in zip(setting.names, setting.options, strict=True) if o.cutoff},
            "exclude_below": options.exclude_below,
            "selection_share": None if common.split else common.share,
            "split": list(common.split) if common.split else None,
            **_inference(common),
            "bootstrap": common.inference.bootstrap,
        },
        notes=(*everybody.index.notes, *notes, *remarks.of_scores(found, setting, common)),
        reading=reading_of(roles),
        library=library_of(data),
    )


def _of_runs(
    data: Any, method: Any, baseline: Any, performance: Any, fairness: Any, common: Asked, said: Mapping[str, Any]
) -> Alternatives:
    if performance is None or fairness is None:
        raise UsageError("of runs, name the columns of performance and fairness (--performance, --fairness)")
    words = {word: said[word] for word in (*_OF_RUNS, "missing") if word in said}
    question = asked_of_runs(method, performance, fairness, words)
    runs = read_runs(data, question.columns, question.missing, said.get("where"))
    columns = question.columns
    found = from_runs(runs, baseline, common)
    return Alternatives(
        kind="runs",
        candidates=found.tried,
        baseline=next(c.name for c in found.tried if c.status == "in use"),
        best=found.best,
        recommended=found.recommended,
        data={
            "runs": found.runs,
            "left_out": {"without results": runs.left_out} if runs.left_out else {},
            "columns": {"method": columns.method, **columns.numbers, "settings": list(columns.settings)},
            "higher_is_better": {r: r not in columns.lower_is_better for r in ("performance", "fairness")},
        },
        options={
            "performance": performance,
            "fairness": fairness,
            "within_best": common.within,
            "baseline": str(baseline),
            "tests": found.tests,
            **_inference(common),
        },
        notes=(*runs.notes, *remarks.of_runs(found, runs, columns)),
        reading=reading_of(picked(Roles, {k: said[k] for k in ("where", "missing") if k in said})),
        library=library_of(data),
    )


def _inference(common: Asked) -> dict[str, Any]:
    return {"confidence": common.inference.confidence, "seed": common.seed}
