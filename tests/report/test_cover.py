"""What a report is signed with: shown by every view, refused in a sentence, and never obeyed."""

from __future__ import annotations

import datetime
import hashlib
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import called, check_schema
from evenhand.report.picture import picture_of, read_picture
from evenhand.report.prose import blocks

HOSTILE = "<img src=x onerror=alert(1)>&lt;\u202eabc"


def png(width: int = 3, height: int = 2) -> bytes:
    """A black picture."""

    def chunk(name: bytes, part: bytes) -> bytes:
        return struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\0" * width for _ in range(min(height, 50))))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08\x00\x02\x00\x03\x01\x01\x11\x00\xff\xda\x00\x02\x00\xff\xd9"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Ten thousand of each, 3.5 % and 8 % selected."""
    rows = ["women,1"] * 35 + ["women,0"] * 965 + ["men,1"] * 80 + ["men,0"] * 920
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["g,d", *rows]) + "\n")
    return file


def arguments(people: Path) -> list[object]:
    return [people, "--prediction", "d", "--group", "g", "--reference", "men", "--bootstrap", 0, "--permutations", 0]


def audit() -> evenhand.Audit:
    people = {"d": [1, 0, 1, 1, 0, 0], "g": ["a", "a", "a", "b", "b", "b"]}
    return evenhand.tabulate(people, prediction="d", group="g").audit(  # type: ignore[union-attr]
        measures=["disparate_impact"], bootstrap=0, permutations=0
    )


def test_every_view_shows_the_cover(people: Path, tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(png())
    (tmp_path / "note.md").write_text("# Scope\n\nOnly **invitations**.\n")
    said = ["--title", "Who is invited", "--author", "Ada King", "--organization", "Acme", "--date", "2026-03-01",
            "--source", "HR export", "--logo", "logo.png", "--note", "note.md", "--delimiter", ","]  # fmt: skip
    forms = [part for form in ("html", "json", "markdown") for part in (f"--{form}", f"report.{form}")]
    run = called("audit", *arguments(people), *said, *forms, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    page, json_text, markdown = (
        (tmp_path / f"report.{form}").read_text(encoding="utf-8") for form in ("html", "json", "markdown")
    )
    hashed = hashlib.sha256(people.read_bytes()).hexdigest()
    for text in (page, json_text, markdown):
        for shown in ("Who is invited", "Ada King", "Acme", "2026-03-01", "HR export", "people.csv", hashed):
            assert shown in text
    assert "<h1>Who is invited</h1>" in page
    assert '<img src="data:image/png;base64,' in page
    assert "img-src data:" in page
    assert "<p>Only <strong>invitations</strong>.</p>" in page
    assert "Signature" in page
    assert "### Scope" in markdown
    assert "Only **invitations**." in markdown


def test_without_a_cover_nothing_is_said(people: Path) -> None:
    found = audit()
    assert "cover" not in found.to_dict()
    page = found.to_html()
    assert 'class="cover"' not in page
    assert 'class="sign"' not in page
    assert "img-src" not in page


def test_document_keeps_to_its_schema(tmp_path: Path) -> None:
    (tmp_path / "logo.jpg").write_bytes(JPEG)
    for cover in (
        evenhand.Cover(title="x"),
        evenhand.Cover(logo=tmp_path / "logo.jpg", file=tmp_path / "logo.jpg", date=datetime.date(2026, 3, 1)),
    ):
        check_schema(audit().with_cover(cover).to_dict(), evenhand.schema("audit"))


def test_same_bytes_again() -> None:
    cover = evenhand.Cover(title="x", note="y")
    assert audit().with_cover(cover).to_html() == audit().with_cover(cover).to_html()
    assert audit().with_cover(cover).to_dict()["cover"]["date"] is None


def test_nothing_in_it_is_obeyed() -> None:
    texts = dict.fromkeys(("title", "author", "organisation", "source"), HOSTILE)
    note = f"# {HOSTILE}\n\n[a](javascript:alert(1)) ![b](http://x.y) <script>\n\n- {HOSTILE}\n\n    <b>\n\n`<i>`\n\n"
    signed = audit().with_cover(evenhand.Cover(**texts, note=note + "##vso[task] ::error::"))
    page, markdown = signed.to_html(), signed.to_markdown()
    assert page.count("<script") == audit().to_html().count("<script")
    for stray in ("<img src=x", "<b>", "<i>", 'href="javascript', "\u202e", "##vso["):
        assert stray not in page
        assert stray not in markdown
    assert "http://x.y" not in markdown


def test_markdown_of_notes_is_a_subset() -> None:
    found = blocks("## A *b*\n\nc\nd `e` **f**\n\n3. x\n4. y\n   - z\n")
    assert [(b.kind, b.text, b.level, b.number) for b in found] == [
        ("heading", "A b", 2, None), ("paragraph", "c d e f", 1, None),
        ("point", "x", 1, 3), ("point", "y", 1, 4), ("point", "z", 2, None),
    ]  # fmt: skip
    assert found[0].spans[1].style == {"em"}


def test_pictures() -> None:
    assert (picture_of(png(30, 20)).width, picture_of(png(30, 20)).height) == (30, 20)
    assert (picture_of(JPEG).kind, picture_of(JPEG).width, picture_of(JPEG).height) == ("jpeg", 3, 2)


@pytest.mark.parametrize("whole", [png(), JPEG])
def test_damaged_pictures_are_refused(whole: bytes) -> None:
    random = np.random.default_rng(0)
    for end in range(len(whole)):
        with pytest.raises(evenhand.UsageError, match=r"damaged|neither"):
            picture_of(whole[:end])
    for _ in range(200):
        broken = bytearray(whole)
        broken[random.integers(0, len(whole))] ^= 1 << int(random.integers(0, 8))
        try:
            picture_of(bytes(broken))
        except evenhand.UsageError as error:
            assert len(str(error)) < 200  # noqa: PT017


BAD: list[tuple[str, bytes, str]] = [
    ("logo", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "neither PNG nor JPEG"),
    ("logo", b"GIF89a", "neither PNG nor JPEG"),
    ("logo", png()[:-5], "damaged"),
    ("logo", b"", "neither"),
    ("logo", png(5000, 10), "5,000 by 10 pixels"),
    ("logo", png() + b"\0" * 300_000, "more than 200 kB"),
    ("note", b"\xff\xfe", r"byte 1, line 1"),
    ("note", b"ok\nna\xefve", r"byte 6, line 2"),
    ("note", b"x" * 90_000, "more than 20,000 characters"),
    ("note", b"x" * 30_000, "at most 20,000 characters"),
    ("note", b" \n", "leave it out"),
]


@pytest.mark.parametrize(("flag", "content", "because"), BAD)
def test_bad_files_end_in_a_sentence(people: Path, tmp_path: Path, flag: str, content: bytes, because: str) -> None:
    (tmp_path / "file").write_bytes(content)
    run = called("audit", *arguments(people), f"--{flag}", "file", "--html", "r.html", cwd=tmp_path)
    assert run.returncode == 2
    assert because in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    "said",
    [("--logo", "missing"), ("--note", "missing"), ("--date", "1 March"), ("--date", "20260301"),
     ("--date", "2026-W10-7"), ("--title", ""),
     ("--title", "x" * 201), ("--author", "a\nb"), ("--logo", "."), ("--note", "r.html", "--html", "r.html")],
)  # fmt: skip
def test_bad_options_end_in_a_sentence(people: Path, tmp_path: Path, said: tuple[str, ...]) -> None:
    (tmp_path / "r.html").write_text("kept")
    run = called("audit", *arguments(people), *said, cwd=tmp_path)
    assert (run.returncode, len(run.stderr.splitlines())) == (2, 1)
    assert (tmp_path / "r.html").read_text() == "kept"


@pytest.mark.parametrize(
    "said", [{}, {"title": 3}, {"date": 2026}, {"logo": 3}, {"file": "missing"}, {"note": b"x"}, {"source": [1]}]
)
def test_bad_covers_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(evenhand.UsageError):
        evenhand.Cover(**said)


def test_large_files_are_named_without_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.report.cover.MOST_HASHED", 10)
    (tmp_path / "large.csv").write_bytes(b"x" * 11)
    signed = audit().with_cover(evenhand.Cover(file=tmp_path / "large.csv"))
    assert signed.to_dict()["cover"]["file"] == {"name": "large.csv", "sha256": None}
    assert "not computed: the file is large" in signed.to_html()


def test_a_cover_is_for_one_audit(people: Path, tmp_path: Path) -> None:
    with pytest.raises(evenhand.UsageError, match=r"evenhand\.Cover"):
        audit().with_cover({"title": "x"})  # type: ignore[arg-type]
    rows = "\n".join(f"{c},{d},g{i % 2}" for i, (c, d) in enumerate([("a", "b"), ("b", "a"), ("c", "c")] * 4))
    (tmp_path / "classes.csv").write_text(f"y,p,g\n{rows}\n")
    run = called(
        "audit", "classes.csv", "--label", "y", "--prediction", "p", "--group", "g", "--title", "x", cwd=tmp_path
    )
    assert run.returncode == 2
    assert "--title" in run.stderr


def test_read_picture_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "l.png").write_bytes(b"no")
    with pytest.raises(evenhand.UsageError, match=r"l\.png"):
        read_picture(tmp_path / "l.png")
