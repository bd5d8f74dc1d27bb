"""What a report was made from: the same table and no other; and reports that nobody should believe."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import called, jobs, people
from evenhand.report.reading import stated

FAST: dict[str, Any] = {"bootstrap": 0, "permutations": 0}
ROWS = people(300, 3)
ROWS["own"] = ["yes" if decided else "no" for decided in ROWS["d"]]


def written(folder: Path, **columns: Any) -> Path:
    """The people as CSV, some columns changed."""
    file = folder / "people.csv"
    rows = {**ROWS, **columns}
    rows["k"] = np.where(np.asarray(rows["d"]) == 1, "approve", "deny")
    rows["lacking"] = ["", *ROWS["g"][1:]]
    lines = (",".join(map(str, row)) for row in zip(*rows.values(), strict=True))
    file.write_text("\n".join([",".join(rows), *lines]) + "\n", encoding="utf-8")
    return file


KINDS: dict[str, tuple[list[object], list[object]]] = {
    "scores": (["--score", "s", "--label", "y", "--group", "g,h", "--threshold", 0.4], []),
    "risk": (["--score", "s", "--risk", "--label", "y", "--favorable", 0, "--group", "g"], []),
    "decisions": (["--prediction", "d", "--group", "h"], []),
    "own codes": (["--prediction", "own", "--label", "y", "--favorable-prediction", "yes", "--group", "h"], []),
    "range": (["--score", "s", "--score-range", "0,2", "--group", "g"], []),
    "weights": (["--score", "s", "--weight", "w", "--weight-kind", "sampling", "--group", "g"],
                ["--weight-kind", "sampling"]),
    "codes": (["--prediction", "k", "--favorable-prediction", "approve", "--label", "y", "--group", "g"], []),
    "missing": (["--prediction", "d", "--group", "h,lacking", "--missing", "group"], []),
    "missing of one": (["--prediction", "d", "--group", "h,lacking", "--missing", "drop"], []),
    "file": (["--prediction", "d", "--group", "h", "--decimal", ","], ["--decimal", ","]),
    "where": (["--score", "s", "--group", "h", "--where", "g=g0"], ["--where", "g=g0"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_counted_as_the_report_says(kind: str, tmp_path: Path) -> None:
    said, again = KINDS[kind]
    written(tmp_path)
    fast = ["--bootstrap", 0, "--permutations", 0]
    run = called("audit", "people.csv", *said, *fast, "--json", "r.json", "--quiet", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    run = called("verify", "r.json", "people.csv", *again, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("r.json was made from people.csv (table ")
    label = ROWS["s"].copy()
    label[0] = 1 - label[0] if kind != "decisions" else label[0]
    changed = ROWS["d"].copy()
    changed[0] = 1 - changed[0]
    where = np.flatnonzero(ROWS["g"] == "g0")[0]
    label[where] = 0.123
    written(tmp_path, s=label, d=changed, own=["yes" if decided else "no" for decided in changed])
    run = called("verify", "r.json", "people.csv", *again, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (1, "")
    assert "was not made from" in run.stdout


def test_saved_tables_and_every_form(tmp_path: Path) -> None:
    table = evenhand.tabulate(ROWS, score="s", label="y", group=["g", "h"])
    table.save(tmp_path / "a.table")
    other = evenhand.tabulate({**ROWS, "y": 1 - ROWS["y"]}, score="s", label="y", group=["g", "h"])
    audit = evenhand.audit(tmp_path / "a.table", measures=["disparate_impact"], **FAST)
    audit.to_json(tmp_path / "r.json")
    audit.to_html(tmp_path / "r.html")
    for report in ("r.json", "r.html"):
        for data in (table, tmp_path / "a.table", str(tmp_path / "a.table")):
            assert evenhand.verify(tmp_path / report, data)
        assert not evenhand.verify(tmp_path / report, other)
    crossed = evenhand.audit(table, depth=1, measures=["disparate_impact"], **FAST)
    crossed.to_json(tmp_path / "r.json")
    assert evenhand.verify(tmp_path / "r.json", table)
    assert evenhand.verify(tmp_path / "r.json", ROWS)
    assert not evenhand.verify(tmp_path / "r.json", other)
    run = called("table", "info", "a.table", cwd=tmp_path)
    assert f"digest {table.digest()}" in run.stdout


def test_word_documents_need_their_columns(tmp_path: Path) -> None:
    pytest.importorskip("docx")
    written(tmp_path)
    evenhand.audit(ROWS, prediction="d", group="g", **FAST).to_docx(tmp_path / "r.docx")
    assert called("verify", "r.docx", "people.csv", cwd=tmp_path).returncode == 2
    said = ["--prediction", "d", "--group", "g"]
    assert called("verify", "r.docx", "people.csv", *said, cwd=tmp_path).returncode == 0


def test_classes(tmp_path: Path) -> None:
    data = jobs(200)
    evenhand.audit(data, label="y", prediction="p", group="g", **FAST).to_json(tmp_path / "r.json")
    assert evenhand.verify(tmp_path / "r.json", data, label="y", prediction="p", group="g")


def test_large_data_on_a_grid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data = {"s": rng.random(3000), "g": np.array(["a", "b"])[rng.integers(0, 2, 3000)]}
    monkeypatch.setattr("evenhand.ingest.score_cells.EXACT", 100, raising=False)
    for threshold in ({}, {"threshold": 0.4321}):
        evenhand.audit(data, score="s", group="g", measures=["abcc"], **threshold, **FAST).to_json(tmp_path / "r.json")
        assert evenhand.verify(tmp_path / "r.json", data)


def word(identifier: str, size: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("docProps/core.xml", " " * size + f"<dc:identifier>{identifier}</dc:identifier>")
    return out.getvalue()


BLOCK = '<script type="application/json" id="document">{}</script>'
GOOD = json.dumps({"data": {"table": "a" * 64}})
HOSTILE: list[tuple[bytes, str]] = [
    (b"", "no JSON"),
    (b"\xff\xfe\x00", "UTF-8"),
    (b"<html></html>", "no page of evenhand"),
    (("<html>" + 2 * BLOCK.format(GOOD)).encode(), "several documents"),
    (b"<" + BLOCK.format("")[:40].encode() * 100_000, "no page of evenhand"),
    (("<html>" + BLOCK.format("{")).encode(), "no JSON"),
    (b"[]", "names no table"),
    (b'{"schema": "evenhand/guide/1"}', "names no table"),
    (b'{"data": {"table": "abc"}}', "names no table"),
    (b'{"data": {"table": ["a"]}}', "names no table"),
    (b"[" * 100_000, "nested"),
    (b'{"data": 1e999}', "no number"),
    (b"PK\x03\x04", "Word"),
    (word(""), "name no table"),
    (word("a" * 64 + " " + "b" * 64), "name no table"),
    (word("a" * 64, 10_000_000), "name no table"),
    (word("a" * 64)[:60], "Word"),
]


@pytest.mark.parametrize(("content", "because"), HOSTILE, ids=range(len(HOSTILE)))  # a zip archive holds the time
def test_what_is_no_report_is_refused_in_a_sentence(content: bytes, because: str, tmp_path: Path) -> None:
    (tmp_path / "report").write_bytes(content)
    evenhand.compas().save(tmp_path / "a.table")
    run = called("verify", "report", "a.table", cwd=tmp_path)
    assert (run.returncode, run.stdout, len(run.stderr.splitlines())) == (2, "", 1)
    assert because in run.stderr


def test_huge_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.report.reading.MOST_BYTES", 10)
    (tmp_path / "r.html").write_text("<" * 11)
    with pytest.raises(evenhand.UsageError, match="more than"):
        stated(tmp_path / "r.html")


def test_misuse(tmp_path: Path) -> None:
    evenhand.compas().audit(measures=["abcc"], **FAST).to_json(tmp_path / "r.json")
    with pytest.raises(evenhand.UsageError, match="no option 'scor'"):
        evenhand.verify(tmp_path / "r.json", ROWS, scor="s")  # type: ignore[call-arg]
    for report, data in (("no.json", "r.json"), ("r.json", "no.csv"), (".", "r.json")):
        run = called("verify", report, data, cwd=tmp_path)
        assert (run.returncode, len(run.stderr.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    "changes",
    [{"score_range": ["a", None]}, {"score_range": [1, 0]}, {"threshold": "x"}, {"score": 7}, {"left_out": 3},
     {"risk": "yes"}, {"favorable": []}],
)  # fmt: skip
def test_documents_of_others_are_not_believed(changes: dict[str, Any], tmp_path: Path) -> None:
    document = evenhand.audit(ROWS, score="s", group="g", measures=["abcc"], **FAST).to_dict()
    document["data"] |= changes
    document["options"] |= {"gap_bins": 10**18}
    document["attributes"] = [3, {"columns": 4}, {"columns": [["g"], "g"]}]
    (tmp_path / "r.json").write_text(json.dumps(document))
    try:
        evenhand.verify(tmp_path / "r.json", ROWS)
    except evenhand.EvenhandError as error:
        assert len(str(error)) < 300  # noqa: PT017
