"""Counterfactual fairness: would a person's score be another, had they been of another group?

Kusner, Loftus, Russell & Silva (2017). The answer is about a causal graph as much as about the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from evenhand.analyses.counterfactual.assumptions import assumptions_of, remarks_on
from evenhand.analyses.counterfactual.effects import Rule
from evenhand.analyses.counterfactual.graph import Graph, graphs_of, subgraph_of
from evenhand.analyses.counterfactual.mechanism_choice import judge
from evenhand.analyses.counterfactual.preparation import inputs_of, people_of, simulator_of
from evenhand.analyses.counterfactual.results import (
    Answer,
    Range,
    WorldAnswer,
    alternatives_of,
    answer_of,
    curves_of,
    paths_of,
    ranges_of,
)
from evenhand.analyses.counterfactual.sensitivity import GRID
from evenhand.analyses.counterfactual.simulation import Outcome, Scenario, Simulator, simulate
from evenhand.analyses.counterfactual.structural_model import FORMS, StructuralModel, structural_model_of
from evenhand.analyses.options import Options, Watched, options_of, watching
from evenhand.errors import UsageError, names_in, number, shown, shown_name
from evenhand.inference.resample import generator
from evenhand.inference.settings import IntervalArgs
from evenhand.ingest.engines import library_of, names_of
from evenhand.ingest.model_inputs import Inputs
from evenhand.ingest.model_scores import scorer_of
from evenhand.ingest.people import Types, as_columns, chosen_columns
from evenhand.ingest.roles import Roles, check_known, picked
from evenhand.ingest.values import name_of
from evenhand.report.result import Result, write

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.report.charts.chart import Chart


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
    """Changes by causal model. Print it, or use `to_dict`, `to_json`, `to_html`, `plot`. Only `to_frame` has people."""

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

        return write(counterfactual_page(self.to_dict()), path)

    def to_frame(self, world: str | None = None, *, library: str | None = None) -> Any:
        """One row per person and other group. These are personal data.

        `world` is the name of a graph, or "flip"; by default the first graph, else the flip.
        """
        from evenhand.analyses.counterfactual.document import frame

        return frame(self, world, library)

    def plot(self, name: str | None = None, world: str | None = None) -> Chart:
        """A chart of one causal model: changes, paths or confounding; or of all: worlds. `plots()` names them."""
        return self.charts(world=world).draw(name)


class CounterfactualArgs(IntervalArgs, total=False):
    """How columns are read, and intervals, for signatures."""

    favorable: Any
    risk: bool
    missing: str
    categories: Sequence[str]
    numbers: Sequence[str]
    text: Sequence[str]


def counterfactual_fairness(
    model: Any,
    data: Any,
    *,
    attribute: str,
    graph: Any = None,
    features: Sequence[str] | None = None,
    mechanisms: str | Mapping[str, Any] = "auto",
    threshold: float = 0.5,
    tolerance: float = 0.05,
    confounding: Sequence[float] = GRID,
    trust: Sequence[str] = (),
    unsafe_pickle: bool = False,
    progress: Watched = None,
    **options: Unpack[CounterfactualArgs],
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
        How variables follow from their causes: "linear" (categories: multinomial logistic), "flexible" (the same on
        splines and products of causes), "auto" (whichever is better in people it was not fitted to), "boosted", or a
        dict from a variable to one of these or to a mechanism of gcm.
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
        Columns to be taken as names, or as numbers.
    text
        Columns of a file that are text even if they hold digits only; the model gets them as text.
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
    check_known(options, CounterfactualArgs.__optional_keys__, counterfactual_fairness)
    settings = options_of({"bootstrap": 100, **options}, threshold)
    roles = picked(Roles, options)
    if threshold is None:
        raise UsageError("threshold must be a finite number, not None")
    if not isinstance(attribute, str):
        raise UsageError(f"attribute is the name of a column, not {shown(attribute)}")
    types = Types(*(tuple(names_in(word, options.get(word, ()))) for word in ("numbers", "categories", "text")))
    rule = Rule(float(threshold), roles.risk, _tolerance(tolerance))
    shares = _shares(confounding)
    scorer = scorer_of(model, favorable=roles.favorable, risk=roles.risk, trust=trust, unsafe_pickle=unsafe_pickle)
    columns = names_of(as_columns(data))
    inputs = inputs_of(scorer, columns, features)
    chosen_columns(columns, [attribute, *types.numbers, *types.names], ())
    types = types.checked(as_columns(data))
    graphs = [] if graph is None else graphs_of(graph)
    parts = [subgraph_of(g, attribute, inputs, columns) for g in graphs]
    people = people_of(data, attribute, graphs, parts, mechanisms, types, roles.missing)
    known = replace(types, categories=(*types.categories, attribute))
    rows = Inputs(data, people, inputs, matrix=scorer.matrix, types=known)
    simulator, notes = simulator_of(scorer, rows, people, attribute, rule)
    first, *streams = generator(options.get("rng")).spawn(len(graphs) + 1)
    answers = []
    with watching(progress) as told:
        run = partial(simulate, simulator, confidence=settings.confidence, bootstrap=settings.bootstrap, progress=told)
        flip = answer_of(simulator, run(None, [Scenario((), True)], rng=first)) if simulator.takes else None
        for one, part, stream in zip(graphs, parts, streams, strict=True):
            structure = structural_model_of(one, part, people, attribute, mechanisms)
            answers.append(_answer(one, structure, simulator, shares, run, stream))
    asked = Asked(
        attribute, dict(zip(simulator.names, np.bincount(simulator.own).tolist(), strict=True)), tuple(inputs),
        simulator.takes, scorer.name, name_of(roles.favorable), rule,
        mechanisms if isinstance(mechanisms, str) else "given", shares, settings,
    )  # fmt: skip
    notes += [*people.notes, *(n for p in parts for n in p.notes), *remarks_on(answers, people, parts, graphs, columns)]
    return CounterfactualFairness(
        asked, people.n, people.left_out, flip, tuple(answers), ranges_of(answers, rule.tolerance),
        tuple(dict.fromkeys(notes)), (people.kept, simulator.own, simulator.here, simulator.flips), library_of(data),
    )  # fmt: skip


def _tolerance(tolerance: Any) -> float:
    if not 0 <= number(tolerance) < np.inf:
        raise UsageError(f"tolerance is a change of the score that does not matter, from 0, not {shown(tolerance)}")
    return float(tolerance)


def _shares(confounding: Any) -> tuple[float, ...]:
    try:
        shares = {float(s) for s in confounding}
    except (TypeError, ValueError):
        shares = {np.nan}
    if not all(-1 <= s <= 1 for s in shares):
        raise UsageError(f"confounding is a list of shares from -1 to 1, such as [0, 0.5, 1], not {shown(confounding)}")
    return tuple(sorted({0.0, *shares})) if shares else ()


def _answer(
    graph: Graph, structure: StructuralModel, simulator: Simulator, shares: tuple[float, ...],
    run: Callable[..., Outcome], rng: np.random.Generator,
) -> WorldAnswer:  # fmt: skip
    """Total, each path, and the curve: all scenarios of a graph at once, so that the model is called few times."""
    first, takes = structure.part.first, simulator.takes
    ones = (1.0,) * len(first)
    paths = [Scenario((0.0,) * len(first), True)]
    paths += [Scenario(tuple(float(i == k) for i in range(len(first))), False) for k in range(len(first))]
    curve = [Scenario(tuple(1 - share for _ in first), True) for share in shares] if first else []
    scenarios = [Scenario(ones, True), *paths, *(c for c in curve if c.weights != ones)]
    because = None
    if not first and not takes:
        because = f"the graph has no way from {shown_name(simulator.attribute)} to anything the model takes"
    judged = judge(structure, rng.spawn(1)[0])
    forms = {m.node: m.form for m in judged}
    wanted = {form: {m.node: form if m.chosen else m.form for m in judged} for form in FORMS}
    others = {form: structure.decided(other) for form, other in wanted.items() if other != forms}
    structure = structure.decided(forms)
    outcome = run(structure, scenarios, range(1, 1 + len(paths)), others, rng=rng)
    fitted = structure.fit(structure.seen(np.arange(len(simulator.own))))
    vias = [("direct", 1, None if takes else "the model does not take the attribute")]
    vias += [(node, 2 + k, None) for k, node in enumerate(first)]
    vias += [("rest", len(scenarios), None)] if len(first) + takes > 1 else []
    places = [(share, scenarios.index(c)) for share, c in zip(shares, curve, strict=bool(curve))]
    return WorldAnswer(
        graph.name,
        tuple(graph.edges),
        answer_of(simulator, outcome, exact=because is not None),
        paths_of(simulator, outcome, vias),
        curves_of(simulator, outcome, places, fitted) if places else (),
        judged,
        alternatives_of(simulator, outcome),
        tuple(assumptions_of(graph, structure, simulator.attribute, takes, any(m.chosen for m in judged))),
        because,
        outcome.scores,
    )
