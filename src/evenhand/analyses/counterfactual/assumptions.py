"""What a counterfactual rests on, in sentences that go wherever the numbers go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evenhand.analyses.counterfactual.graph import Graph, Subgraph
from evenhand.analyses.counterfactual.mechanism_choice import Judged
from evenhand.analyses.counterfactual.results import WorldAnswer
from evenhand.analyses.counterfactual.structural_model import StructuralModel
from evenhand.errors import listed, shown, shown_name
from evenhand.ingest.people import People

MOST_EDGES = 12
BADLY_EXPLAINED = -0.02
"""Below this share a mechanism is worse than none, and not only by noise."""


def assumptions_of(
    graph: Graph, structure: StructuralModel, attribute: str, takes: bool, chosen: bool
) -> Iterator[str]:  # fmt: skip
    """All of them, the graph first; `chosen` is whether the data decided the form of a mechanism."""
    name = shown_name(attribute)
    arrows = [f"{shown_name(a)} → {shown_name(b)}" for a, b in graph.edges[:MOST_EDGES]]
    more = f" and {len(graph.edges) - MOST_EDGES} more" if len(graph.edges) > MOST_EDGES else ""
    yield f"These, and no other, are causes: {', '.join(arrows)}{more}."
    yield "No hidden variable is a cause of two of them; the curve of confounding shows what one would change."
    yield (
        f"'Had {name} been another' means that it is set from outside and all that depends on it follows: what else "
        "makes a person who they are stays."
    )
    if graph.parents[attribute]:
        causes = ", ".join(map(shown_name, graph.parents[attribute]))
        yield f"{name} has causes in the graph ({causes}): they stay as they are when it is set."
    yield from _mechanisms(structure, name)
    yield "Columns of the model that are not in the graph, or not below the attribute in it, stay as they are."
    if not takes:
        yield f"The model does not take {name} itself: it can act on a score only through what the model takes."
    if chosen:
        yield (
            "Each mechanism, linear or flexible (splines and products of causes), has the form that does better in "
            "people it was not fitted to. Intervals are those of the flexible form around the value, so that what is "
            "not known about the form is in them."
        )
    if structure.fixed:
        yield "The structural model was given and is taken as true: intervals speak of who is in the sample only."


def _mechanisms(structure: StructuralModel, name: str) -> Iterator[str]:
    numbers, categories = (
        [shown_name(m.node) for m in structure.mechanisms if m.own and m.kind == kind]
        for kind in ("number", "category")
    )
    if numbers:
        yield (
            f"Additive noise: what the causes of {', '.join(numbers)} do not explain is each person's own, and the "
            f"same whatever their {name}."
        )
    if categories:
        yield (
            f"Gumbel-max: {', '.join(categories)} in another world is a draw given what happened in this one, such "
            "that a category that becomes likelier is taken from nobody who has it."
        )


def _misfits(graph: str, m: Judged) -> Iterator[str]:
    where = f"graph {shown(graph)}: the {m.form} mechanism of {shown(m.node)} misfits"
    way_out = "what is said about paths through it is doubtful; give one of your own (mechanisms={…})"
    if m.misfit.sure:
        yield (
            f"{where}: in people it was not fitted to, its causes tell {100 * m.misfit.share:.0f}% of what it leaves "
            f"open; {way_out}"
        )
    if m.spread.sure:
        yield (
            f"{where}: how far people are from it depends on causes that the attribute touches "
            f"({100 * m.spread.share:.0f}% of the size of its residuals), so that its noise is not a person's own; "
            f"{way_out}"
        )


def remarks_on(
    answers: Sequence[WorldAnswer], people: People, parts: Sequence[Subgraph], graphs: Sequence[Graph],
    columns: list[str],
) -> Iterator[str]:  # fmt: skip
    """What in these data makes the assumptions doubtful, or matters to nobody."""
    for a in answers:
        for node, share in a.explained.items():
            if share < BADLY_EXPLAINED:
                yield (
                    f"graph {shown(a.name)}: the mechanism of {shown(node)} is worse than none in people it was not "
                    f"fitted to (explains {share:.2f}): what is said about ways through it is fiction"
                )
        for m in a.mechanisms:
            yield from _misfits(a.name, m)
    order = dict.fromkeys(n for p in parts for n in p.order)
    whole = [n for n in order if people[n].numeric and bool((people[n].values % 1 == 0).all())]
    if whole:
        yield (
            f"{listed(whole)}: whole numbers in the data, fractions in other worlds (noise is additive); the model "
            "gets them as they are"
        )
    flat = [f.name for f in people.features if f.constant and f.name in order]
    if flat:
        yield f"{listed(flat)}: the same for everybody, so nothing acts on it in these data"
    absent = [n for g in graphs for n in g.nodes if n not in columns]
    if absent:
        yield f"{listed(dict.fromkeys(absent))}: in a graph but not in the data, and not needed here"
