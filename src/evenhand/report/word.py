"""A Word document of any result: headings, tables, pictures and a box to sign. The only user of python-docx."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import Any

from evenhand.errors import MissingLibrary, UsageError, printable
from evenhand.report.charts.chart import Chart
from evenhand.report.cover import LIMITS, signed_lines
from evenhand.report.picture import Picture, of_uri, picture_of
from evenhand.report.prose import Span, blocks

NEEDED = "a Word document needs python-docx: pip install 'evenhand[word]'"
DPI = 300
"""Of a chart as it is printed,"""
DRAWN = 220
"""since a chart as wide as the text is drawn half as wide again."""
WIDE, HIGH = 6.3, 8.3
"""Inches of the text on a page."""
BEGINNING = datetime.datetime(1980, 1, 1)
"""The oldest date of a zip file: what does not say when it was made is the same again."""


def library() -> Any:
    """python-docx, or the sentence that says how to get it."""
    try:
        import docx
    except ImportError:
        raise MissingLibrary(NEEDED) from None
    return docx


class Paper:
    """A document that is written from top to bottom."""

    def __init__(self, title: str, cover: dict[str, Any] | None, about: str) -> None:
        self.docx = library()
        self.paper = self.docx.Document()
        said = cover or {"author": None, "organisation": None, "date": None}
        known = self.paper.core_properties
        known.title, known.author = printable(title)[:255], printable(said["author"] or "")[:255]
        known.last_modified_by, known.comments, known.identifier = "", "Made by Evenhand", about
        day = said["date"] and datetime.datetime.fromisoformat(said["date"])
        known.created = known.modified = day or BEGINNING
        self.paper.styles["Normal"].font.name = "Calibri"
        self.paper.styles["Normal"].font.size = self.docx.shared.Pt(10.5)
        for section in self.paper.sections:
            section.page_width, section.page_height = self._inches(8.27), self._inches(11.69)
            section.left_margin = section.right_margin = self._inches((8.27 - WIDE) / 2)

    def _inches(self, size: float) -> Any:
        return self.docx.shared.Inches(size)

    def heading(self, text: str, level: int = 1) -> None:
        """A heading; that of level 0 is the title."""
        self.paper.add_heading(printable(text), level)

    def text(self, text: str, style: str | None = None) -> Any:
        return self.paper.add_paragraph(printable(text), style)

    def verdict(self, word: str, colour: str, sentence: str) -> None:
        """A word in white on a colour, and the sentence after it."""
        table = self.paper.add_table(1, 1)
        self._shade(table.cell(0, 0), colour)
        lines = table.cell(0, 0).paragraphs[0], table.cell(0, 0).add_paragraph()
        for line, text, size in zip(lines, (word.upper(), sentence), (15, 11.5), strict=True):
            run = line.add_run(printable(text))
            run.bold, run.font.size = size > 12, self.docx.shared.Pt(size)
            run.font.color.rgb = self.docx.shared.RGBColor(255, 255, 255)
        self.text("")

    def facts(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Terms and what they are."""
        told = list(pairs)
        if told:
            self._filled(self.paper.add_table(0, 2), told, first=(1.9, WIDE - 1.9))

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]], colours: Sequence[str | None] = ()) -> None:
        """A table whose head is repeated on every page; the last cell of a row may have a colour."""
        table = self.paper.add_table(0, len(heads), "Table Grid")
        self._filled(table, [heads, *rows], first=None)
        about = table.rows[0]._tr.get_or_add_trPr()
        about.append(self._element("w:tblHeader", val="true"))
        for row, colour in zip(table.rows[1:], colours, strict=False):
            if colour is not None:
                for run in row.cells[-1].paragraphs[0].runs:
                    run.font.color.rgb, run.bold = self.docx.shared.RGBColor.from_string(colour), True
        self.text("")

    def _filled(self, table: Any, rows: Iterable[Sequence[str]], first: tuple[float, float] | None) -> None:
        for head, texts in zip(chain([first is None], repeat(False)), rows, strict=False):
            for place, (cell, text) in enumerate(zip(table.add_row().cells, texts, strict=True)):
                line = cell.paragraphs[0]
                line.paragraph_format.space_after = 0
                run = line.add_run(printable(text))
                run.font.size = self.docx.shared.Pt(9)
                run.bold = head or place == 0
                if first is not None:
                    cell.width = self._inches(first[place])

    def logo(self, uri: str, owner: str) -> None:
        """A small picture above everything."""
        picture = of_uri(uri)
        width = min(1.8, 0.7 * picture.width / picture.height)
        try:
            self._picture(picture, width, f"Logo of {owner}" if owner else "Logo")
        except Exception as error:  # python-docx also reads what cameras write into a JPEG
            raise UsageError(
                f"the logo cannot be put into a Word document ({type(error).__name__}): save it as PNG"
            ) from error

    def chart(self, chart: Chart) -> None:
        """A chart at the resolution of print, and what it shows."""
        picture = picture_of(chart.to_png(DRAWN))
        width = min(picture.width / DPI, WIDE, HIGH * picture.width / picture.height)
        self.heading(chart.title, 2)
        self._picture(picture, width, chart.description)
        caption = self.text(chart.description)
        caption.runs[0].font.size, caption.runs[0].italic = self.docx.shared.Pt(9), True

    def _picture(self, picture: Picture, width: float, description: str) -> None:
        height = width * picture.height / picture.width  # not by what the file says of its own resolution
        content = io.BytesIO(picture.content)
        shape = self.paper.add_picture(content, self._inches(width), self._inches(height))
        shape._inline.docPr.set("descr", printable(description))

    def note(self, text: str) -> None:
        """A Markdown note, its headings below those of a section."""
        for block in blocks(text):
            if block.kind == "heading":
                self.heading(block.text, min(block.level + 1, 4))
                continue
            depth = "" if block.level == 1 else f" {min(block.level, 3)}"
            line = self.text("", f"List Bullet{depth}" if block.kind == "point" and block.number is None else None)
            if block.number is not None:  # numbers of Word would go on from one list to the next
                line.paragraph_format.left_indent = self._inches(0.25 * block.level)
                line.add_run(f"{block.number}. ")
            for span in block.spans:
                self._span(line, span)

    def _span(self, line: Any, span: Span) -> None:
        run = line.add_run(printable(span.text))
        run.bold, run.italic = "strong" in span.style, "em" in span.style
        if "code" in span.style:
            run.font.name = "Consolas"

    def sign(self, cover: dict[str, Any]) -> None:
        """The box for limits and signature."""
        self.heading("Limits and signature")
        table = self.paper.add_table(0, 2, "Table Grid")
        room = table.add_row().cells
        room[0].merge(room[1]).text = f"{LIMITS}:\n\n\n\n"
        for line, known in signed_lines(cover):
            cells = table.add_row().cells
            cells[0].text, cells[1].text = printable(line), printable(known)
            cells[0].width, cells[1].width = self._inches(1.9), self._inches(WIDE - 1.9)

    def _shade(self, cell: Any, colour: str) -> None:
        cell._tc.get_or_add_tcPr().append(self._element("w:shd", val="clear", color="auto", fill=colour))

    def _element(self, name: str, **attributes: str) -> Any:
        element = self.docx.oxml.OxmlElement(name)
        for key, value in attributes.items():
            element.set(self.docx.oxml.ns.qn(f"w:{key}"), value)
        return element

    def content(self) -> bytes:
        """The finished file: the same bytes for the same content."""
        written = io.BytesIO()
        self.paper.save(written)
        return _undated(written.getvalue())


def _undated(content: bytes) -> bytes:
    """The same zip file, in which no part says when it was written."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(out, "w") as target:
        for part in source.infolist():
            about = zipfile.ZipInfo(part.filename, BEGINNING.timetuple()[:6])
            about.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(about, source.read(part))
    return out.getvalue()
