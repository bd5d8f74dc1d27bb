"""Causal graphs: read from whatever they come in, checked, and put into one order."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.errors import DataError, UsageError, listed, nearest, shown, shown_name
from evenhand.files.paths import naming

ACCEPTED = (
    "a networkx.DiGraph, a list of (cause, effect) pairs, text such as 'sex -> job -> pay', DOT or GML, the path of "
    "such a file, or a fitted gcm.InvertibleStructuralCausalModel"
)


@dataclass(frozen=True)
class Graph:
    """What causes what, in one causal model."""

    name: str
    parents: dict[str, tuple[str, ...]]
    """The causes of every variable; causes come before their effects, and names decide where either could be first."""
    given: Any = None
    """A structural model fitted by the user, whose graph this is."""
    file: str | os.PathLike[str] | None = None
    """Where it was read."""

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(self.parents)

    @property
    def edges(self) -> list[tuple[str, str]]:
        return [(cause, effect) for effect, causes in self.parents.items() for cause in causes]

    def descendants(self, node: str) -> set[str]:
        """Everything that a variable acts on, at once or in the end."""
        below: set[str] = set()
        for effect, causes in self.parents.items():  # causes come first
            if node in causes or not below.isdisjoint(causes):
                below.add(effect)
        return below

    def ancestors(self, nodes: Iterable[str]) -> set[str]:
        """Everything that acts on these, and these themselves."""
        above = {n for n in nodes if n in self.parents}
        for effect in reversed(self.parents):
            if effect in above:
                above.update(self.parents[effect])
        return above


def graphs_of(graph: Any) -> list[Graph]:
    """One graph, a list of graphs, or a dict of them by name.

    >>> [g.nodes for g in graphs_of("sex -> job -> pay; age -> pay")]
    [('age', 'sex', 'job', 'pay')]
    >>> [g.name for g in graphs_of({"simple": [("sex", "pay")], "with job": "sex -> job -> pay"})]
    ['simple', 'with job']
    """
    if isinstance(graph, Mapping):
        named = {str(name): one for name, one in graph.items()}
    elif isinstance(graph, list | tuple) and not is_edge_list(graph):
        names = [f"world {i}" for i in range(1, len(graph) + 1)]
        named = dict(zip(names, graph, strict=True)) if len(graph) > 1 else {"world": graph[0]} if graph else {}
    else:
        named = {"world": graph}
    if not named:
        raise UsageError(f"a list of graphs needs at least one of them: graph is {ACCEPTED}")
    return [_graph(name, one) for name, one in named.items()]


def is_edge_list(graph: Sequence[Any]) -> bool:
    """Whether these are pairs of names, and not several graphs; a graph of pairs holds no plain name."""
    pairs = (isinstance(edge, list | tuple) and len(edge) == 2 for edge in graph)
    return bool(graph) and all(pairs) and all(isinstance(name, str | int) for edge in graph for name in edge)


def _graph(name: str, graph: Any) -> Graph:
    from evenhand.analyses.counterfactual.graph_text import file_of

    given = graph if hasattr(graph, "causal_mechanism") else None  # a structural model of DoWhy
    file = file_of(graph)
    with naming(file):
        nodes, edges = _parts(graph if given is None else graph.graph)
        return Graph(name, in_causal_order(nodes, edges), given, file)


def _parts(graph: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """The variables and edges of anything that is a graph."""
    if isinstance(graph, list | tuple) and is_edge_list(graph):
        return [], [(str(a), str(b)) for a, b in graph]
    if hasattr(graph, "is_directed"):  # networkx, which need not be imported to be understood
        if not graph.is_directed():
            raise UsageError("a causal graph is directed, but this one is not: say what causes what (networkx.DiGraph)")
        return [str(n) for n in graph.nodes()], [(str(e[0]), str(e[1])) for e in graph.edges()]
    from evenhand.analyses.counterfactual.graph_text import is_text, read_graph

    if is_text(graph):
        return read_graph(graph)
    raise UsageError(f"graph must be {ACCEPTED}, not {shown(graph)}")


def in_causal_order(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """The causes of every variable, causes first. A cycle is refused by name.

    >>> in_causal_order([], [("b", "c"), ("a", "c"), ("b", "c")])
    {'a': (), 'b': (), 'c': ('a', 'b')}
    """
    causes: dict[str, set[str]] = {node: set() for node in nodes}
    effects: dict[str, set[str]] = {}
    for cause, effect in edges:
        if cause == effect:
            raise UsageError(f"nothing causes itself, but the graph has an edge from {shown(cause)} to {shown(effect)}")
        causes.setdefault(cause, set())
        causes.setdefault(effect, set()).add(cause)
        effects.setdefault(cause, set()).add(effect)
    if not any(causes.values()):
        raise UsageError("the graph has no edges: say at least what the attribute acts on, e.g. 'sex -> job'")
    waits = {node: len(known) for node, known in causes.items()}
    ready = [node for node, count in waits.items() if not count]
    heapq.heapify(ready)
    order: dict[str, tuple[str, ...]] = {}
    while ready:
        node = heapq.heappop(ready)
        order[node] = tuple(sorted(causes[node]))
        for effect in effects.get(node, ()):
            waits[effect] -= 1
            if not waits[effect]:
                heapq.heappush(ready, effect)
    if len(order) < len(causes):
        raise UsageError(_cycle({n: c for n, c in causes.items() if n not in order}))
    return order


def _cycle(causes: dict[str, set[str]]) -> str:
    """Walk from effect to cause until a variable comes back."""
    node = next(iter(causes))
    walked: dict[str, int] = {}
    while node not in walked:
        walked[node] = len(walked)
        node = min(c for c in causes[node] if c in causes)
    around = [*list(walked)[walked[node] :], node][::-1]
    names = around if len(around) <= 12 else [*around[:6], "…", *around[-5:]]
    return (
        f"causes cannot go round in a circle, but the graph has {' → '.join(shown_name(n) for n in names)}: "
        "leave one of these edges out, or name the same thing at two times as two variables"
    )


@dataclass(frozen=True)
class Subgraph:
    """What of a graph matters: what the attribute acts on and the model gets to see."""

    order: tuple[str, ...]
    """What is computed anew in a counterfactual, causes first."""
    first: tuple[str, ...]
    """Those of them on which the attribute acts directly."""
    needed: tuple[str, ...]
    """The columns this takes."""
    notes: tuple[str, ...]


def subgraph_of(graph: Graph, attribute: str, features: Sequence[str], columns: Sequence[str]) -> Subgraph:
    """What of a graph matters for these inputs of a model; refused if the data lack it."""
    with naming(graph.file):
        return _subgraph_of(graph, attribute, features, columns)


def _subgraph_of(graph: Graph, attribute: str, features: Sequence[str], columns: Sequence[str]) -> Subgraph:
    told = f"graph {shown(graph.name)}"
    if attribute not in graph.parents:
        raise UsageError(
            f"the attribute {shown(attribute)} is not in {told} (it has: {listed(graph.nodes)}): add it and what it "
            f"acts on{nearest(attribute, graph.nodes)}"
        )
    below = graph.descendants(attribute)
    active = below & graph.ancestors(features)
    order = tuple(n for n in graph.nodes if n in active)
    first = tuple(n for n in order if attribute in graph.parents[n])
    used = {attribute, *order, *(p for n in order for p in graph.parents[n])}
    needed = tuple(n for n in graph.nodes if n in used)
    absent = [n for n in needed if n not in columns]
    if absent:
        raise DataError(
            f"every variable of {told} needs a column, but the data have no {shown(absent[0])} "
            f"(they have: {listed(columns, 12)}): if nobody observed it, take it out of the graph and join its causes "
            f"to its effects, and see the curve of confounding for what it may hide{nearest(absent[0], columns)}"
        )
    idle = [n for n in graph.nodes if n in below and n not in active]
    are, them = ("is", "it") if len(idle) == 1 else ("are", "them")
    note = (
        f"{told}: {listed(idle)} {are} ignored, because the model takes neither {them} nor anything that depends on "
        f"{them}"
    )
    return Subgraph(order, first, needed, (note,) if idle else ())
