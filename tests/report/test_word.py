"""The Word document of an audit: it holds what the page shows, opens, and is the same again."""

from __future__ import annotations

import io
import json
import sys
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_cover import JPEG, png

import evenhand
from conftest import called, people
from evenhand.analyses.audit.word import _drawing

docx = pytest.importorskip("docx")
charted = pytest.mark.skipif(find_spec("vl_convert") is None, reason="drawing needs vl-convert")


JFIF = JPEG.replace(b"\x00\x04ab", b"\x00\x10JFIF\0\1\1\0\0\0\0\0\0\0")


@pytest.fixture(scope="module")
def four_fifths() -> evenhand.Audit:
    """10,000 men invited at 8.0 %, 10,000 women at 3.5 %."""
    data = {"g": ["women"] * 10_000 + ["men"] * 10_000, "d": [1] * 350 + [0] * 9650 + [1] * 800 + [0] * 9200}
    found = evenhand.audit(data, prediction="d", group="g", reference="men", permutations=100)
    assert isinstance(found, evenhand.Audit)
    return found


def opened(content: bytes) -> Any:
    return docx.Document(io.BytesIO(content))


def texts(paper: Any) -> str:
    cells = [cell.text for table in paper.tables for row in table.rows for cell in row.cells]
    return "\n".join([*(p.text for p in paper.paragraphs), *cells])


def without_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)


def test_four_fifths(four_fifths: evenhand.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    without_charts(monkeypatch)
    paper = opened(four_fifths.to_docx())
    box = paper.tables[1].cell(0, 0)
    assert box.text.startswith("UNEQUAL\n3.5% of women and 8.0% of men")
    assert 'w:fill="A8231B"' in box._tc.xml
    groups = [[cell.text for cell in row.cells] for row in paper.tables[2].rows]
    assert groups[1:] == [["men (reference)", "10,000", "8.0%", "1.00"], ["women", "10,000", "3.5%", "0.44"]]
    [ratio] = [row for row in paper.tables[3].rows if row.cells[0].text == "disparate impact"]
    assert ratio.cells[-1].text == "unequal"
    document = four_fifths.to_dict()
    told = texts(paper)
    assert document["verdict"]["sentence"] in told
    assert document["data"]["table"] in told
    assert "Charts are not drawn" in told
    assert paper.core_properties.identifier == f"evenhand/audit/1 table {document['data']['table']}"


@charted
def test_charts_are_drawn_for_print(four_fifths: evenhand.Audit) -> None:
    paper = opened(four_fifths.to_docx())
    assert len(paper.inline_shapes) == 2
    for shape in paper.inline_shapes:
        image = paper.part.related_parts[shape._inline.graphic.graphicData.pic.blipFill.blip.embed].image
        assert image.px_width / shape.width.inches >= 299
        assert shape.width.inches <= 6.3
        assert len(shape._inline.docPr.get("descr")) > 20


def test_same_bytes_again(four_fifths: evenhand.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    without_charts(monkeypatch)
    once = four_fifths.to_docx()
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    assert four_fifths.to_docx() == once
    with zipfile.ZipFile(io.BytesIO(once)) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_cover_and_note(four_fifths: evenhand.Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_charts(monkeypatch)
    for name, content in (("l.png", png(30, 20)), ("l.jpg", JFIF)):
        (tmp_path / name).write_bytes(content)
        note = "# Scope\n\nOnly **2026**.\n\n- one\n\n1. first <b>\n"
        cover = evenhand.Cover(
            title="Who is invited", author="Ada \x00\u202eKing", organisation="Acme", date="2026-03-01",
            logo=tmp_path / name, note=note,
        )  # fmt: skip
        paper = opened(four_fifths.with_cover(cover).to_docx(tmp_path / "r.docx"))
        assert paper.paragraphs[1].text == "Who is invited"
        told = texts(paper)
        for shown in ("Ada \\x00\\u202eKing", "Acme", "2026-03-01", "Scope", "Only 2026.", "1. first <b>", "Signature"):
            assert shown in told
        assert [p.style.name for p in paper.paragraphs if p.text == "one"] == ["List Bullet"]
        assert [run.text for p in paper.paragraphs for run in p.runs if run.bold] == ["2026"]
        assert paper.core_properties.created.isoformat()[:10] == "2026-03-01"
        assert (len(paper.inline_shapes), paper.core_properties.author) == (1, "Ada \\x00\\u202eKing")


def test_a_logo_that_word_cannot_read(four_fifths: evenhand.Audit, tmp_path: Path) -> None:
    (tmp_path / "l.jpg").write_bytes(JPEG)
    signed = four_fifths.with_cover(evenhand.Cover(logo=tmp_path / "l.jpg"))
    with pytest.raises(evenhand.UsageError, match="save it as PNG"):
        signed.to_docx(tmp_path / "r.docx")
    assert not (tmp_path / "r.docx").exists()


def test_charts_are_those_of_a_page() -> None:
    rng = np.random.default_rng(0)
    data = {"s": rng.random(400), "y": rng.integers(0, 2, 400), "g": np.array(["a", "b"])[rng.integers(0, 2, 400)]}
    found = evenhand.audit(data, score="s", label="y", group="g", reference="b", bootstrap=0, permutations=0)
    assert isinstance(found, evenhand.Audit)
    told = _drawing(found, found.to_dict())(attribute="g", group="a")
    assert "cdf" in told.kinds
    steps, exact = (len(json.dumps(chart.spec)) for chart in (told.draw("cdf"), found.plot("cdf")))
    assert steps < exact / 3  # a step is of five people and more


def test_several_attributes_and_hostile_names(monkeypatch: pytest.MonkeyPatch) -> None:
    without_charts(monkeypatch)
    data = people(300, 5)
    names = {"x": "<w:p/>\x01\u202e", "y": "]]>&amp;"}
    data["h"] = np.array([names[h] for h in data["h"]])
    found = evenhand.audit(data, score="s", label="y", group=["g", "h"], bootstrap=0, permutations=0)
    assert isinstance(found, evenhand.Audit)
    told = texts(opened(found.to_docx()))
    for attribute in found.to_dict()["attributes"]:
        assert attribute["verdict"]["sentence"] in told or attribute["name"] == found.to_dict()["verdict"]["attribute"]
    assert "<w:p/>\\x01\\u202e" in told
    assert "]]>&amp;" in told


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.csv").write_text("g,d\n" + "a,1\nb,0\na,0\nb,1\n" * 5)
    said = ["audit", "p.csv", "--prediction", "d", "--group", "g", "--bootstrap", 0, "--permutations", 0]
    run = called(*said, "--docx", "r.docx", "--title", "Ours", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "wrote r.docx\n")
    assert "Ours" in texts(opened((tmp_path / "r.docx").read_bytes()))
    for stray in (["--docx", "-"], ["--docx", "p.csv"], ["--docx", "no/r.docx"]):
        run = called(*said, *stray, cwd=tmp_path)
        assert (run.returncode, len(run.stderr.splitlines())) == (2, 1)
    monkeypatch.setitem(sys.modules, "docx", None)
    run = called(*said, "--docx", "s.docx", cwd=tmp_path)
    assert run.returncode == 2
    assert "pip install 'evenhand[word]'" in run.stderr
    assert not (tmp_path / "s.docx").exists()
