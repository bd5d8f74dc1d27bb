"""Before the simulation: what the model takes, whom the data hold, everybody's score as they are and flipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.analyses.counterfactual.effects import Rule, others_of
from evenhand.analyses.counterfactual.graph import Graph, Subgraph
from evenhand.analyses.counterfactual.simulation import Simulator
from evenhand.errors import DataError, UsageError, listed, names_in, shown
from evenhand.ingest.model_inputs import Inputs
from evenhand.ingest.model_scores import Scorer
from evenhand.ingest.people import Feature, People, Types, chosen_columns, read_people
from evenhand.ingest.values import name_of
from evenhand.tables.arrays import Floats

MOST_GROUPS = 20


def inputs_of(scorer: Scorer, columns: list[str], features: Sequence[str] | None) -> list[str]:
    """The columns the model takes: as named, as it was fitted on, or all."""
    chosen = scorer.expects if features is None else names_in("features", features)
    inputs = chosen_columns(columns, chosen, ())
    if not inputs:
        raise UsageError("a model takes at least one column: name those it takes (features=, --features)")
    width = getattr(scorer.model, "n_features_in_", None)
    if isinstance(width, int) and width != len(inputs):
        raise DataError(
            f"the model takes {width} columns, but {'the data have' if chosen is None else 'there are'} {len(inputs)}: "
            "name those it takes, in its order (features=, --features)"
        )
    return inputs


def people_of(
    data: Any, attribute: str, graphs: list[Graph], parts: list[Subgraph], mechanisms: Any, types: Types,
    missing: str,
) -> People:  # fmt: skip
    """The columns of the graphs; groups in the order of their names."""
    wanted = list(dict.fromkeys([attribute, *(n for p in parts for n in p.needed)]))
    if attribute in types.numbers:
        raise UsageError(f"the attribute {shown(attribute)} divides people into groups: it cannot be among numbers=")
    people = read_people(
        data, wanted, numbers=types.numbers, categories=[attribute, *types.categories], text=types.text, missing=missing
    )
    given = {*(mechanisms if isinstance(mechanisms, Mapping) else ()), *types.numbers}
    free = not any(g.given is not None for g in graphs)
    features = [
        _two_valued(f) if free and f.name not in given else f for f in people.features if f.name != attribute
    ]  # fmt: skip
    return replace(people, features=(_groups(people[attribute]), *features))


def _groups(feature: Feature) -> Feature:
    """The attribute, in the order of names, so that the order of rows changes nothing."""
    assert feature.categories is not None
    names = [str(name_of(c)) for c in feature.categories]
    if len(names) > MOST_GROUPS:
        numbers = isinstance(feature.categories[0], int | float)
        fix = "cut numbers into a few ranges" if numbers else "merge small groups"
        raise DataError(
            f"the attribute must have at most {MOST_GROUPS} groups, but {shown(feature.name)} has {len(names):,}: {fix}"
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(
            f"groups need names of their own, but {shown(feature.name)} has two that read {shown(twice[0])}: make all "
            "of them text"
        )
    if len(names) < 2:
        raise DataError(f"there is nobody else to be: everybody has {shown(feature.name)} = {listed(names)}")
    order = sorted(range(len(names)), key=lambda i: names[i])
    place = np.argsort(order)
    return replace(feature, values=place[feature.values], categories=tuple(feature.categories[i] for i in order))


def _two_valued(feature: Feature) -> Feature:
    """A number that only ever has two values is a category: half of one would be nobody's."""
    if not feature.numeric:
        return feature
    values, codes = np.unique(feature.values, return_inverse=True)
    if len(values) > 2:
        return feature
    return replace(feature, values=codes.ravel(), categories=tuple(values.tolist()))


def simulator_of(
    scorer: Scorer, inputs: Inputs, people: People, attribute: str, rule: Rule
) -> tuple[Simulator, list[str]]:  # fmt: skip
    """Everybody's score as they are, and with the attribute flipped."""
    group = people[attribute]
    assert group.categories is not None
    everybody, own = np.arange(people.n), np.asarray(group.values, np.int64)
    here = scorer(inputs.rows(everybody), people.n, "the people in the data")
    names = tuple(str(name_of(c)) for c in group.categories)
    flips: Floats = np.broadcast_to(here, (len(names) - 1, people.n))
    simulator = Simulator(inputs, scorer, attribute, names, own, rule, here, flips)
    if simulator.takes:
        other = others_of(own, len(names))
        scores = simulator.scores(np.tile(everybody, len(names) - 1), {attribute: other.ravel()})
        simulator = replace(simulator, flips=scores.reshape(other.shape))
    good = rule.favourable(here)
    if 0 < good.sum() < len(good):
        return simulator, []
    note = (
        f"{'everybody' if good.all() else 'nobody'} is decided favourably at threshold {rule.threshold:g} (scores "
        f"from {here.min():.3g} to {here.max():.3g}): shares of changed decisions say little"
    )
    return simulator, [note]
