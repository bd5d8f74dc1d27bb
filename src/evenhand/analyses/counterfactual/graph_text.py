"""Causal graphs as text: lines of arrows, DOT, GML, or a table of two columns."""

from __future__ import annotations

import csv
import itertools
import os
import re
import warnings
from pathlib import Path
from typing import Any

from evenhand.errors import DataError, MissingLibrary, UsageError, shown
from evenhand.files.paths import as_path, read_small, shown_path

Parts = tuple[list[str], list[tuple[str, str]]]

# Possessive, so that a text that is none is looked at once.
_DOT = re.compile(
    r"(?:\s++|//[^\n]*+\n|/\*(?:[^*]|\*(?!/))*+\*/|#[^\n]*+\n)*+(?:strict\s+)?(di)?graph\b[^{\[]*+\{", re.IGNORECASE
)
_GML = re.compile(r"^[^\S\n]*+graph\s*+\[", re.IGNORECASE | re.MULTILINE)
_ARROW = re.compile(r"->|→")
MOST_BYTES = 1_000_000


def is_text(graph: Any) -> bool:
    return isinstance(graph, str | os.PathLike)


def file_of(graph: Any) -> str | os.PathLike[str] | None:
    """The file that a graph is read from; None if it is a graph itself."""
    written = isinstance(graph, str) and ("\n" in graph or _ARROW.search(graph) or _DOT.match(graph))
    return graph if is_text(graph) and not written else None


def read_graph(graph: str | os.PathLike[str]) -> Parts:
    """Variables and edges of a text, or of the file it names.

    >>> read_graph("sex -> job -> pay")
    ([], [('sex', 'job'), ('job', 'pay')])
    """
    if isinstance(graph, str) and file_of(graph) is None:
        return _parsed(graph, "the graph")
    path = as_path(graph)
    return _parsed(_read(path), f"the graph in {shown_path(path)}", path.suffix.lower())


def _read(path: Path) -> str:
    try:
        content = read_small(path, MOST_BYTES)
        if content is None:
            raise DataError(f"{shown_path(path)} is no causal graph of a few variables: it has more than 1 MB")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{shown_path(path)} is not text (UTF-8): write lines 'a -> b', DOT or GML") from None
    except OSError as error:
        raise UsageError(
            f"cannot read the graph {shown_path(path)}: {error.strerror or error}; a graph is the path of a file, or "
            "text such as 'sex -> job'"
        ) from None


def _parsed(text: str, where: str, suffix: str = "") -> Parts:
    if suffix in (".dot", ".gv") or _DOT.match(text):
        return _dot(text, where)
    if suffix == ".gml" or _GML.search(text):
        return _gml(text, where)
    return [], (_arrows(text, where) if _ARROW.search(text) else _table(text, where))


def _arrows(text: str, where: str) -> list[tuple[str, str]]:
    """Chains `a -> b -> c`, one on a line or between semicolons; # begins a remark."""
    edges: list[tuple[str, str]] = []
    for line in re.split(r"[\n;]", text):
        plain = line.partition("#")[0].strip()
        if not plain:
            continue
        names = [name.strip().strip("\"'").strip() for name in _ARROW.split(plain)]
        if len(names) < 2 or not all(names):
            raise DataError(f"{where} has lines such as 'sex -> job', but one of them is {shown(plain)}")
        edges += itertools.pairwise(names)
    return edges


def _table(text: str, where: str) -> list[tuple[str, str]]:
    """Two columns: cause, effect."""
    try:
        rows = [[c.strip() for c in row] for row in csv.reader(text.splitlines()) if any(c.strip() for c in row)]
    except csv.Error as error:
        raise DataError(f"{where} is no causal graph: lines 'a -> b', DOT, GML, or two columns ({error})") from None
    if rows and [c.casefold() for c in rows[0]] in (["cause", "effect"], ["source", "target"], ["from", "to"]):
        rows = rows[1:]
    for row in rows:
        if len(row) != 2 or not all(row):
            raise DataError(f"{where} needs two columns, cause and effect, but one of its rows is {shown(row)}")
    return [(cause, effect) for cause, effect in rows]


def _dot(text: str, where: str) -> Parts:
    try:
        import pydot
    except ImportError:
        raise MissingLibrary(
            "a graph in DOT needs pydot: pip install 'evenhand[causal]', or write it as lines 'sex -> job'"
        ) from None
    from contextlib import redirect_stderr, redirect_stdout
    from io import StringIO

    # it prints where it stumbles, and its parser warns about itself
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            graph, *_ = pydot.graph_from_dot_data(text)
        except Exception:  # of whatever parser pydot uses, which gives None or nothing too
            raise DataError(f"{where} is not valid DOT: check its quotes, brackets and arrows") from None
    if graph.get_type() != "digraph":
        raise UsageError(f"{where} is undirected: a causal graph is a digraph with arrows a -> b")
    return _dot_nodes(graph), _dot_edges(graph)


def _dot_nodes(graph: Any) -> list[str]:
    names = [_unquoted(n.get_name()) for n in graph.get_nodes()]
    own = [n for n in names if n not in ("node", "edge", "graph", "\\n")]  # these set defaults
    return own + [name for inner in graph.get_subgraphs() for name in _dot_nodes(inner)]


def _dot_edges(graph: Any) -> list[tuple[str, str]]:
    edges = [
        (a, b) for e in graph.get_edges() for a in _ends(e.get_source()) for b in _ends(e.get_destination())
    ]  # fmt: skip
    return edges + [edge for inner in graph.get_subgraphs() for edge in _dot_edges(inner)]


def _ends(end: Any) -> list[str]:
    """One variable, or those of a set: `{a b} -> c`."""
    if isinstance(end, str | int | float):
        return [_unquoted(str(end))]
    nodes = end["nodes"] if hasattr(end, "keys") else {n.get_name(): None for n in end.get_nodes()}
    return [_unquoted(name) for name in nodes]


def _unquoted(name: str) -> str:
    if len(name) > 1 and name[0] == name[-1] == '"':
        return name[1:-1].replace('\\"', '"')
    return name.partition(":")[0]  # without its port


def _gml(text: str, where: str) -> Parts:
    try:
        import networkx
    except ImportError:
        raise MissingLibrary(
            "a graph in GML needs networkx: pip install 'evenhand[causal]', or write it as lines 'sex -> job'"
        ) from None
    try:
        graph = networkx.parse_gml(text)
    except Exception as error:  # it raises errors of several kinds
        raise DataError(f"{where} is not valid GML: {' '.join(str(error).split())}") from None
    if not graph.is_directed():
        raise UsageError(f"{where} is undirected: put 'directed 1' into it")
    return [str(n) for n in graph.nodes()], [(str(e[0]), str(e[1])) for e in graph.edges()]
