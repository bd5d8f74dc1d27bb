"""JSON and graphs that others wrote: attachments of a page, rows, causal graphs, and the reader they share."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing import NAMES, NUMBERS, amount, generators
from test_damaged_tables import RAW, places, spoilt

import evenhand
from evenhand.analyses.audit.attachments import documents, read_document, sections
from evenhand.analyses.counterfactual.graph_text import read_graph
from evenhand.errors import MissingLibrary
from evenhand.files.json_text import parsed
from evenhand.report.document import as_json
from evenhand.report.page.figures import Room

VALUES: list[Any] = [*NUMBERS, *NAMES, [], {}, [[]], [None], {"a": 1}, [1, "a", None], {"": {}}, [0.1, 0.2], "x" * 5000]
GRAPHS = {
    ".txt": "# causes\nsex -> job -> pay\nsex -> pay; age -> pay\n",
    ".csv": "cause,effect\nsex,job\njob,pay\n",
    ".dot": 'digraph "g" { rankdir=LR; sex -> job [label="a"]; subgraph x { job -> {pay rent} } /* so */ }\n',
    ".gml": 'graph [ directed 1 node [ id 0 label "sex" ] node [ id 1 label "pay" ] edge [ source 0 target 1 ] ]\n',
}


@pytest.fixture(scope="module", params=["individual", "projection", "projections"])
def attachment(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The document of a result that can stand in another page."""
    rng = np.random.default_rng(0)
    rows = {"p": rng.random(60), "age": rng.integers(20, 60, 60), "sex": rng.choice(["f", "m"], 60)}
    if request.param == "individual":
        return evenhand.individual_fairness(rows, score="p", group="sex", k=3).to_dict()
    score = "p" if request.param == "projection" else ["p", "p"]
    found = evenhand.projection_test(rows, score=score, group="sex", criterion="demographic_parity", margin=0.01)
    document: dict[str, Any] = found.to_dict()
    arrow = {"label": "any", "group": "f", "n": 5, "from": [0.0, 1.0], "to": [1.0, 0.0]}
    for one in document.get("tests", [document]):
        one["arrows"] = {"features": ["a", "b"], "steps": [arrow, arrow]}
    return document


def changed(document: dict[str, Any], rng: np.random.Generator) -> Any:
    document = copy.deepcopy(document)
    for _ in range(int(rng.integers(1, 4))):
        there = list(places(document))
        holder, key = there[rng.integers(len(there))]
        if isinstance(holder, dict) and rng.random() < 0.3:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(VALUES[rng.integers(len(VALUES))])
    return document


@amount(25, 1000)
def test_attachments_fit_or_are_refused(attachment: dict[str, Any], tmp_path: Path, cases: int) -> None:
    file, room = tmp_path / "other.json", Room()
    room.drawn = 10**9  # charts are prepared, and not drawn
    for rng in generators(cases, 4):
        content = json.dumps(changed(attachment, rng)).encode()
        file.write_bytes(spoilt(content, rng) if rng.random() < 0.2 else content)
        try:
            sections(documents([read_document(file)]), room)
        except evenhand.EvenhandError as error:
            said = str(error)
        else:
            continue
        assert "\n" not in said


@amount(300, 20_000)
def test_json_is_plain_or_refused(cases: int) -> None:
    text = as_json({"a": [1, 2.5, None, True, "é\u202e"], "b": {"c": {}, "d": "\\\n"}}).encode()
    for rng in generators(cases, 5):
        content = RAW[rng.integers(len(RAW))] if rng.random() < 0.1 else spoilt(text, rng)
        try:
            found = parsed(content)
        except evenhand.DataError as error:
            assert len(str(error)) < 300  # noqa: PT017
        else:
            assert parsed(as_json(found)) == found


@amount(40, 2000)
def test_rows_of_json_are_counted_or_refused(tmp_path: Path, cases: int) -> None:
    file = tmp_path / "rows.jsonl"
    for rng in generators(cases, 6):
        rows = [{"p": 0.1 * i, "y": i % 2, "g": "fm"[i % 2]} for i in range(10)]
        text = "\n".join(json.dumps(changed(row, rng) if rng.random() < 0.2 else row) for row in rows).encode()
        file.write_bytes(
            RAW[rng.integers(len(RAW))] if rng.random() < 0.1 else spoilt(text, rng) if rng.random() < 0.3 else text
        )
        try:
            found = evenhand.tabulate(file, score="p", label="y", group="g")
        except evenhand.EvenhandError as error:
            said = str(error)
        else:
            assert isinstance(found, evenhand.Table)
            continue
        assert "Traceback" not in said


@amount(80, 4000)
def test_graphs_are_read_or_refused(tmp_path: Path, cases: int) -> None:
    for rng in generators(cases, 7):
        suffix = str(rng.choice(list(GRAPHS)))
        file = tmp_path / f"graph{suffix if rng.random() < 0.8 else '.txt'}"
        text = GRAPHS[suffix]
        for _ in range(int(rng.integers(3))):
            at, name = int(rng.integers(len(text))), str(rng.choice([*NAMES, "{", "}", "[", "]", "->", '"', "/*", ";"]))
            text = text[:at] + name + text[at:]
        content = text.encode()
        file.write_bytes(spoilt(content, rng) if rng.random() < 0.4 else content)
        try:
            variables, edges = read_graph(file)
        except MissingLibrary:  # graphs of this kind are not read here
            continue
        except evenhand.EvenhandError as error:
            said = str(error)
        else:
            assert all(isinstance(name, str) for name in [*variables, *(n for edge in edges for n in edge)])
            continue
        assert "\n" not in said
        assert file.name in said


@pytest.mark.parametrize(
    "text",
    ["/* */" * 50_000 + "x", "\n" * 200_000 + "x", "digraph " * 30_000, "a,b\n" * 5 + '"' + "x" * 200_000, "[" * 99],
)
def test_a_text_that_is_no_graph_is_looked_at_once(text: str, tmp_path: Path) -> None:
    (tmp_path / "graph.txt").write_text(text)
    with pytest.raises(evenhand.EvenhandError, match="graph"):
        read_graph(tmp_path / "graph.txt")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff", "no text in UTF-8"),
        (b"\xef\xbb\xbf[1,", "no JSON .*line 1, column 4"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": 1e400}', "'1e400' is no number"),
        (b"9" * 400, "is no number"),
        (b'{"a": 1, "a": 2}', "the key 'a' is there twice"),
        (b"[" * 41 + b"]" * 41, "nested in more than 40 levels"),
        (b"[" * 100_000, "nested in more than 40 levels"),
        (b"\x00", "no JSON"),
    ],
)
def test_what_is_no_json_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(evenhand.DataError, match=reason):
        parsed(content)
    assert parsed(b'\xef\xbb\xbf{"a": [1, -0.5, null]}') == {"a": [1, -0.5, None]}


def test_no_attachment_is_read_without_end(tmp_path: Path) -> None:
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(10**9)
    with pytest.raises(evenhand.UsageError, match="more than 50 MB"):
        read_document(huge)
    with pytest.raises(evenhand.DataError, match="more than 1 MB"):
        read_graph(huge)
