"""What a counterfactual rests on, in sentences that go wherever the numbers go."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.analyses.counterfactual.graph import World
from evenhand.analyses.counterfactual.gumbel_max import Choice
from evenhand.analyses.counterfactual.structural_model import Structure
from evenhand.errors import shown_name

MOST_EDGES = 12


def assumptions_of(world: World, structure: Structure, attribute: str, takes: bool) -> Iterator[str]:
    """All of them, the graph first."""
    name = shown_name(attribute)
    arrows = [f"{shown_name(a)} → {shown_name(b)}" for a, b in world.edges[:MOST_EDGES]]
    more = f" and {len(world.edges) - MOST_EDGES} more" if len(world.edges) > MOST_EDGES else ""
    yield f"These, and no other, are causes: {', '.join(arrows)}{more}."
    yield "No hidden variable is a cause of two of them; the curve of confounding shows what one would change."
    yield (
        f"'Had {name} been another' means that it is set from outside and all that depends on it follows: what else "
        "makes a person who they are stays."
    )
    if world.parents[attribute]:
        causes = ", ".join(map(shown_name, world.parents[attribute]))
        yield f"{name} has causes in the graph ({causes}): they stay as they are when it is set."
    yield from _mechanisms(structure, name)
    yield "Columns of the model that are not in the graph, or not below the attribute in it, stay as they are."
    if not takes:
        yield f"The model does not take {name} itself: it can act on a score only through what the model takes."
    if structure.fixed:
        yield "The structural model was given and is taken as true: intervals speak of who is in the sample only."


def _mechanisms(structure: Structure, name: str) -> Iterator[str]:
    own = [m for m in structure.mechanisms if m.own]
    numbers = [shown_name(m.node) for m in own if not isinstance(m.model, Choice)]
    categories = [shown_name(m.node) for m in own if isinstance(m.model, Choice)]
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
