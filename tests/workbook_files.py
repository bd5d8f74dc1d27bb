"""Workbooks as spreadsheet programs write them, made by hand: no library of the project writes any."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Rows = Sequence[Sequence[Any]]
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/>'
    '<xf numFmtId="10"/></cellXfs></styleSheet>'
)


class Percent(float):
    """A number that the workbook shows as a percentage."""


class Formula(float):
    """The value that a formula had when the workbook was saved."""


class Fault(str):
    """What a cell shows whose formula failed, such as #N/A."""


def letters(column: int) -> str:
    """0 is A, 26 is AA."""
    return (letters(column // 26 - 1) if column >= 26 else "") + chr(65 + column % 26)


def _excel(value: Any, place: str) -> str:
    if value is None:
        return ""
    if isinstance(value, Fault):
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, dt.date):
        moment = value if isinstance(value, dt.datetime) else dt.datetime(value.year, value.month, value.day)
        style = 2 if isinstance(value, dt.datetime) else 1
        return f'<c r="{place}" s="{style}"><v>{(moment - dt.datetime(1899, 12, 30)) / dt.timedelta(1)!r}</v></c>'
    if isinstance(value, Formula):
        return f'<c r="{place}"><f>A1+1</f><v>{float(value)!r}</v></c>'
    style = 3 if isinstance(value, Percent) else 0
    return f'<c r="{place}" s="{style}"><v>{float(value)!r}</v></c>'


def write_xlsx(path: Path, sheets: Mapping[str, Rows], merged: Sequence[str] = (), blank: int = 0) -> Path:
    """An Excel workbook, whose first `blank` rows are empty."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/styles.xml": _STYLES,
    }
    named, related = "", f'<Relationship Id="rId0" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    for i, (name, rows) in enumerate(sheets.items(), 1):
        named += f'<sheet name={quoteattr(name)} sheetId="{i}" r:id="rId{i}"/>'
        related += f'<Relationship Id="rId{i}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        body = "".join(
            f'<row r="{r}">' + "".join(_excel(v, f"{letters(c)}{r}") for c, v in enumerate(row)) + "</row>"
            for r, row in enumerate(rows, 1 + blank)
        )
        cells = "".join(f'<mergeCell ref="{m}"/>' for m in merged)
        parts[f"xl/worksheets/sheet{i}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData>'
            + (f"<mergeCells>{cells}</mergeCells>" if merged else "")
            + "</worksheet>"
        )
    parts["xl/workbook.xml"] = f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{named}</sheets></workbook>'
    parts["xl/_rels/workbook.xml.rels"] = f'<Relationships xmlns="{_PACKAGE}/relationships">{related}</Relationships>'
    return write_zip(path, parts)


def write_zip(path: Path, parts: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


def _ods(value: Any) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, bool):
        kind = f'office:value-type="boolean" office:boolean-value="{str(value).lower()}"'
    elif isinstance(value, str):
        kind = 'office:value-type="string"'
    elif isinstance(value, dt.date):
        kind = f'office:value-type="date" office:date-value="{value.isoformat()}"'
    elif isinstance(value, Percent):
        kind = f'office:value-type="percentage" office:value="{float(value)!r}"'
    else:
        kind = f'office:value-type="float" office:value="{float(value)!r}"'
    return f"<table:table-cell {kind}><text:p>{escape(str(value))}</text:p></table:table-cell>"


def write_ods(path: Path, sheets: Mapping[str, Rows]) -> Path:
    """A workbook of LibreOffice, with the empty rows that it adds at the end."""
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>"
        + "".join(f"<table:table-row>{''.join(map(_ods, row))}</table:table-row>" for row in rows)
        + '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row></table:table>'
        for name, rows in sheets.items()
    )
    urn = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="{urn}:office:1.0" '
        f'xmlns:table="{urn}:table:1.0" xmlns:text="{urn}:text:1.0" office:version="1.2"><office:body>'
        f"<office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'<manifest:manifest xmlns:manifest="{urn}:manifest:1.0"><manifest:file-entry manifest:full-path="/" '
        f'manifest:media-type="{kind}"/></manifest:manifest>'
    )
    return write_zip(path, {"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})
