"""Counterfactual fairness: would a person's score be another, had they been of another group?

Kusner, Loftus, Russell & Silva (2017). The answer is about a causal graph as much as about the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.counterfactual.assumptions import assumptions_of
from evenhand.analyses.counterfactual.effects import Rule
from evenhand.analyses.counterfactual.graph import Part, World, part_of, worlds_of
from evenhand.analyses.counterfactual.gumbel_max import Choice
from evenhand.analyses.counterfactual.model_inputs import Inputs
from evenhand.analyses.counterfactual.preparation import bench_of, inputs_of, people_of
from evenhand.analyses.counterfactual.results import (
    Answer,
    Range,
    Setting,
    WorldAnswer,
    answer_of,
    curves_of,
    paths_of,
    ranges_of,
)
from evenhand.analyses.counterfactual.scoring import scorer_of
from evenhand.analyses.counterfactual.sensitivity import GRID
from evenhand.analyses.counterfactual.simulation import Bench, Scenario, tried
from evenhand.analyses.counterfactual.structural_model import Structure, explained, structure_of
from evenhand.analyses.options import Options, Progress, checked
from evenhand.errors import UsageError, listed, shown, shown_name
from evenhand.inference.resample import generator
from evenhand.ingest.engines import names_of
from evenhand.ingest.people import People, as_columns, chosen_columns
from evenhand.ingest.tabulation import library_of
from evenhand.ingest.values import name_of
from evenhand.report.result import Result, kept

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.report.charts.chart import Chart

BADLY_EXPLAINED = -0.02
"""Below this share a mechanism is worse than none, and not only by chance."""


@dataclass(frozen=True)
class Asked:
    """How the question was put."""

    attribute: str
    groups: dict[str, int]
    """Sizes by name."""
    features: tuple[str, ...]
    takes: bool
    """Whether the model takes the attribute as input."""
    model: str
    favorable: str | None
    rule: Rule
    mechanisms: str
    shares: tuple[float, ...]
    options: Options


@dataclass(frozen=True, repr=False)
class CounterfactualFairness(Result):
    """What was found. Print it, or take `to_dict`, `to_json`, `to_html`, `plot`; only `to_frame` has single people."""

    drawn_by = "evenhand.analyses.counterfactual.charts"

    asked: Asked
    people: int
    left_out: Mapping[str, int]
    flip: Answer | None
    """The plain attribute flip; None if the model does not take the attribute."""
    worlds: tuple[WorldAnswer, ...]
    ranges: tuple[Range, ...]
    notes: tuple[str, ...]
    rows: tuple[Any, ...]
    """Of each person: place in the data, group code and score; and the scores of the flip."""
    library: str | None = None

    def to_html(self, path: str | Path | None = None) -> str:
        """The result as one self-contained page, also written to a file if a path is given."""
        from evenhand.analyses.counterfactual.page import counterfactual_page

        return kept(counterfactual_page(self.to_dict()), path)

    def to_frame(self, world: str | None = None, *, library: str | None = None) -> Any:
        """One row per person and other group. These are personal data.

        `world` is the name of a graph, or "flip"; by default the first graph, else the flip.
        """
        from evenhand.analyses.counterfactual.document import frame

        return frame(self, world, library)

    def plot(self, name: str | None = None, world: str | None = None) -> Chart:
        """A chart of one world: changes, paths or confounding; or worlds. `plots()` says which there are."""
        return self.charts(world=world).draw(name)


def counterfactual_fairness(
    model: Any,
    data: Any,
    *,
    attribute: str,
    graph: Any = None,
    features: Sequence[str] | None = None,
    mechanisms: str | Mapping[str, Any] = "linear",
    threshold: float = 0.5,
    favorable: Any = 1,
    risk: bool = False,
    tolerance: float = 0.05,
    missing: str = "refuse",
    confidence: float = 0.95,
    bootstrap: int = 100,
    confounding: Sequence[float] = GRID,
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    trust: Sequence[str] = (),
    unsafe_pickle: bool = False,
    rng: int | np.random.Generator | None = None,
    progress: Progress | None = None,
) -> CounterfactualFairness:
    """Would people's scores be others, had they been of another group?

    Parameters
    ----------
    model
        Anything with predict_proba or predict, a function from people to scores, the path of a .skops or .onnx file, or
        "package.module:name".
    data
        People: a dataframe, a dict of columns, a matrix (columns x0, x1, …) or a path. The model gets them in the same
        library.
    attribute
        The column of groups.
    graph
        What causes what: a networkx.DiGraph, pairs, text such as "sex -> job -> pay", DOT, GML, a file, or a fitted
        gcm.InvertibleStructuralCausalModel. Several, as a list or a dict by name, give the range of answers. Without
        one only the attribute is flipped.
    features
        The columns the model takes, in its order; by default those it was fitted on, else all.
    mechanisms
        How variables follow from their causes: "linear" (categories: multinomial logistic), "boosted", or a dict from a
        variable to a mechanism of gcm.
    threshold, favorable, risk
        The decision is favourable at scores ≥ threshold (risk scores: below); `favorable` is the good class of a
        classifier.
    tolerance
        A change of the score by more than this counts as one.
    missing
        "refuse", or "drop" people without a value in a column of the graph.
    confidence, bootstrap
        Level of intervals, and resamples (mechanisms are fitted to each; 0 for none).
    confounding
        Shares of the fitted effects that a hidden cause may account for: the curve.
    categories, numbers
        Columns of the graph to be taken as names, or as numbers.
    trust, unsafe_pickle
        Types of a .skops file that are known to be harmless; whether a pickle may be loaded, which can run any code.
    rng
        A seed; the same gives the same bytes.

    Examples
    --------
    A model that adds 0.15 for men, and is asked without a graph:

    >>> import evenhand
    >>> people = {"sex": ["f", "m"] * 50, "skill": [i / 100 for i in range(100)]}
    >>> def model(people):
    ...     return 0.8 * people["skill"] + 0.15 * (people["sex"] == "m")
    >>> found = evenhand.counterfactual_fairness(model, people, attribute="sex")
    >>> women = found.flip.changes[0]
    >>> women.group, women.other, round(women.mean.value, 3), women.changed.value
    ('f', 'm', 0.15, 0.2)
    """
    options = checked(threshold, confidence, bootstrap, rng)
    rule = Rule(float(threshold), bool(risk), _tolerance(tolerance))
    shares = _shares(confounding)
    scorer = scorer_of(model, favorable=favorable, risk=risk, trust=trust, unsafe_pickle=unsafe_pickle)
    columns = names_of(as_columns(data))
    inputs = inputs_of(scorer, columns, features)
    chosen_columns(columns, [attribute, *categories, *numbers], ())
    worlds = [] if graph is None else worlds_of(graph)
    parts = [part_of(w, attribute, inputs, columns) for w in worlds]
    people = people_of(data, attribute, worlds, parts, mechanisms, categories, numbers, missing)
    rows = Inputs(data, people, inputs, matrix=scorer.matrix)
    setting, bench, notes = bench_of(scorer, rows, people, attribute, rule)
    streams = generator(rng).spawn(len(worlds) + 1)
    told = progress or (lambda fraction, text: None)
    how: dict[str, Any] = {"confidence": options.confidence, "bootstrap": options.bootstrap, "progress": told}
    flip = None
    if bench.takes:
        outcome = tried(bench, None, [Scenario((), True)], **how, rng=streams[0])
        flip = answer_of(setting, outcome)
    answers = []
    for world, part, stream in zip(worlds, parts, streams[1:], strict=True):
        structure = structure_of(world, part, people, attribute, mechanisms)
        answers.append(_answer(world, structure, bench, setting, shares, how, stream))
    asked = Asked(
        attribute, dict(zip(setting.names, np.bincount(setting.own).tolist(), strict=True)), tuple(inputs), bench.takes,
        scorer.name, name_of(favorable), rule, mechanisms if isinstance(mechanisms, str) else "given", shares, options,
    )  # fmt: skip
    notes += [*people.notes, *(n for p in parts for n in p.notes), *_remarks(answers, people, parts, worlds, columns)]
    return CounterfactualFairness(
        asked, people.n, people.left_out, flip, tuple(answers), ranges_of(answers, rule.tolerance),
        tuple(dict.fromkeys(notes)), (people.kept, setting.own, setting.here, bench.flips), library_of(data),
    )  # fmt: skip


def _tolerance(tolerance: Any) -> float:
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < np.inf:
        raise UsageError(f"tolerance is a change of the score that does not matter, from 0, not {shown(tolerance)}")
    return float(tolerance)


def _shares(confounding: Any) -> tuple[float, ...]:
    rule = "confounding is a list of shares from -1 to 1, such as [0, 0.5, 1]"
    try:
        shares = sorted({float(s) for s in confounding})
    except (TypeError, ValueError):
        raise UsageError(f"{rule}, not {shown(confounding)}") from None
    if not all(-1 <= s <= 1 for s in shares):
        raise UsageError(f"{rule}, not {shown(confounding)}")
    return tuple(sorted({0.0, *shares})) if shares else ()


def _answer(
    world: World, structure: Structure, bench: Bench, setting: Setting, shares: tuple[float, ...], how: dict[str, Any],
    rng: np.random.Generator,
) -> WorldAnswer:  # fmt: skip
    """Total, each way, and the curve: all scenarios of a world at once, so that the model is called few times."""
    first = structure.part.first
    ones = (1.0,) * len(first)
    ways = [Scenario((0.0,) * len(first), True)]
    ways += [Scenario(tuple(float(i == k) for i in range(len(first))), False) for k in range(len(first))]
    curve = [Scenario(tuple(1 - share for _ in first), True) for share in shares] if first else []
    scenarios = [Scenario(ones, True), *ways, *(c for c in curve if c.weights != ones)]
    parts = list(range(1, 1 + len(ways)))
    because = None
    if not first and not bench.takes:
        because = f"the graph has no way from {shown_name(bench.attribute)} to anything the model takes"
    outcome = tried(bench, structure, scenarios, parts, **how, rng=rng)
    fitted = structure.fitted(structure.seen(np.arange(len(setting.own))))
    vias = [("direct", 1, None if bench.takes else "the model does not take the attribute")]
    vias += [(node, 2 + k, None) for k, node in enumerate(first)]
    vias += [("rest", len(scenarios), None)] if len(first) + bench.takes > 1 else []
    places = [(share, scenarios.index(c)) for share, c in zip(shares, curve, strict=bool(curve))]
    return WorldAnswer(
        world.name,
        tuple(world.edges),
        answer_of(setting, outcome, exact=because is not None),
        paths_of(setting, outcome, vias),
        curves_of(setting, outcome, places, fitted, bench.rule.tolerance) if places else (),
        explained(fitted, rng),
        {m.node: "category" if isinstance(m.model, Choice) else "number" for m in structure.mechanisms},
        tuple(assumptions_of(world, structure, bench.attribute, bench.takes)),
        because,
        outcome.scores,
    )


def _remarks(
    answers: Sequence[WorldAnswer], people: People, parts: Sequence[Part], worlds: Sequence[World], columns: list[str]
) -> list[str]:  # fmt: skip
    found = []
    for a in answers:
        for node, share in a.explained.items():
            if share < BADLY_EXPLAINED:
                found.append(
                    f"graph {shown(a.name)}: the mechanism of {shown(node)} is worse than none in people it was not "
                    f"fitted to (explains {share:.2f}): what is said about ways through it is fiction"
                )
    order = dict.fromkeys(n for p in parts for n in p.order)
    whole = [n for n in order if people[n].numeric and bool((people[n].values % 1 == 0).all())]
    if whole:
        found.append(
            f"{listed(whole)}: whole numbers in the data, fractions in other worlds (noise is additive); the model "
            "gets them as they are"
        )
    flat = [f.name for f in people.features if f.constant and f.name in order]
    if flat:
        found.append(f"{listed(flat)}: the same for everybody, so nothing acts on it in these data")
    absent = [n for w in worlds for n in w.nodes if n not in columns]
    if absent:
        found.append(f"{listed(dict.fromkeys(absent))}: in a graph but not in the data, and not needed here")
    return found
