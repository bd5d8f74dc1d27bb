"""Causal graphs in every form they come in, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from evenhand.analyses.counterfactual.graph import graphs_of, in_causal_order, subgraph_of
from evenhand.errors import DataError, EvenhandError, UsageError

EDGES = [("sex", "job"), ("age", "job"), ("job", "pay")]
PARENTS = {"age": (), "sex": (), "job": ("age", "sex"), "pay": ("job",)}
TEXTS = {
    "lines": "# who earns what\nsex -> job -> pay\nage → job\n",
    "line": "sex -> job -> pay; age -> job",
    "table": 'cause,effect\nsex,job\nage,job\n"job",pay\n',
}
DOT = 'digraph G { rankdir=LR; node [shape=box]; {sex "age"} -> job; job -> "pay" [label=x]; }'


def of(graph: Any) -> dict[str, tuple[str, ...]]:
    (world,) = graphs_of(graph)
    return world.parents


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_and_files(text: str, tmp_path: Path) -> None:
    assert of(text) == PARENTS
    file = tmp_path / "graph.csv"
    file.write_text(text, encoding="utf-8-sig")
    assert of(file) == of(str(file)) == PARENTS


def test_edge_lists_and_networkx() -> None:
    networkx = pytest.importorskip("networkx")
    assert of(EDGES) == of(EDGES[::-1] + EDGES) == of(tuple(map(list, EDGES))) == PARENTS  # type: ignore[arg-type]
    assert of(networkx.DiGraph(EDGES)) == of(networkx.MultiDiGraph(EDGES)) == PARENTS
    gml = "\n".join(networkx.generate_gml(networkx.DiGraph(EDGES)))
    assert of(gml) == PARENTS
    with pytest.raises(UsageError, match="directed"):
        graphs_of(networkx.Graph(EDGES))
    with pytest.raises(UsageError, match="undirected"):
        graphs_of("\n".join(networkx.generate_gml(networkx.Graph(EDGES))))


def test_dot(tmp_path: Path) -> None:
    pytest.importorskip("pydot")
    (tmp_path / "g.gv").write_text(DOT)
    assert of(DOT) == of(tmp_path / "g.gv") == PARENTS
    assert of('digraph { a -> "b \\"c\\""; a -> "<script>"; subgraph s { b:e -> a } }') == {
        "b": (), "a": ("b",), "<script>": ("a",), 'b "c"': ("a",),
    }  # fmt: skip
    with pytest.raises(UsageError, match="undirected"):
        graphs_of("graph { a -- b }")
    with pytest.raises(DataError, match="not valid DOT"):
        graphs_of("digraph { a -> ")


def test_several_graphs_are_told_from_edges() -> None:
    assert len(graphs_of([("a", "b"), ("b", "c")])) == 1
    assert [w.name for w in graphs_of([[("a", "b"), ("b", "c")], [("a", "b")]])] == ["world 1", "world 2"]
    assert [w.parents["b"] for w in graphs_of(["a -> b", "c -> b"])] == [("a",), ("c",)]
    assert [w.name for w in graphs_of({"one": EDGES, "two": "a -> b"})] == ["one", "two"]


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ("sex -> job -> sex", "sex → job → sex"),
        ([("a", "b"), ("b", "c"), ("c", "a"), ("z", "a")], "a → b → c → a"),
        ("sex -> sex", "nothing causes itself"),
        ([], "at least one"),
        ({}, "at least one"),
        ("a ->", "such as 'sex -> job'"),
        ("a,b\nc\n", "two columns"),
        ("no such file", "cannot read the graph"),
        (3, "graph must be"),
        ([("a", "b", "c")], "graph must be"),
        ("\x00", "not a path"),
    ],
)
def test_refused(graph: Any, words: str) -> None:
    with pytest.raises(EvenhandError, match=words):
        graphs_of(graph)


def test_empty_networkx_graph() -> None:
    networkx = pytest.importorskip("networkx")
    with pytest.raises(UsageError, match="no edges"):
        graphs_of(networkx.DiGraph())


def test_a_huge_cycle_is_named_in_short() -> None:
    names = [f"v{i}" for i in range(30_000)]
    with pytest.raises(UsageError, match="…") as caught:
        graphs_of(list(zip(names, [*names[1:], names[0]], strict=True)))
    assert len(str(caught.value)) < 500


names = st.text(min_size=1, max_size=8)


@given(st.lists(st.tuples(names, names), min_size=1, max_size=12))
def test_causes_come_first_whatever_the_names(edges: list[tuple[str, str]]) -> None:
    try:
        found = in_causal_order([], edges)
    except UsageError:
        return
    place = {name: i for i, name in enumerate(found)}
    assert all(place[a] < place[b] for a, b in edges)
    assert found == in_causal_order([], edges[::-1])
    assert list(found) == list(in_causal_order([], edges[::-1]))


def test_what_matters() -> None:
    (world,) = graphs_of("sex -> job -> pay; age -> pay; sex -> height; boss -> height")
    part = subgraph_of(world, "sex", ["pay", "age"], ["sex", "job", "pay", "age", "height"])
    assert (part.order, part.first, part.needed) == (("job", "pay"), ("job",), ("age", "sex", "job", "pay"))
    assert "'height' is ignored" in part.notes[0]
    assert subgraph_of(world, "sex", ["age"], ["sex", "age", "height"]).order == ()
    with pytest.raises(UsageError, match=r"'sexe' is not in graph 'world'.*did you mean 'sex'"):
        subgraph_of(world, "sexe", ["pay"], ["sex"])
    with pytest.raises(DataError, match=r"no 'job'.*take it out of the graph"):
        subgraph_of(world, "sex", ["pay"], ["sex", "pay", "age"])


def test_networkx_is_not_imported_for_text() -> None:
    use = "from evenhand.analyses.counterfactual.graph import graphs_of; graphs_of('a -> b')"
    code = f"import sys; {use}; print('networkx' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
