"""How every chart looks: few colours that differ for colour-blind readers too, and a name for each of them.

A chart is drawn in the light colours. On a page `themed` turns every one of them into a CSS variable, so that the page
decides, and a dark page can take the dark ones.
"""

from __future__ import annotations

import re
from typing import Any

COLOURS: dict[str, tuple[str, str]] = {
    "chart-paper": ("#ffffff", "#15191e"),
    "chart-ink": ("#1d232a", "#e6eaee"),
    "chart-muted": ("#5c6670", "#a3adb8"),
    "chart-axis": ("#8a939d", "#6f7a85"),
    "chart-grid": ("#e4e7eb", "#2a3139"),
    "chart-band": ("#d3d9e0", "#3a434d"),
    "chart-limit": ("#b0262d", "#ff8f8a"),
    "chart-reference": ("#3a4450", "#c9d1da"),
    "chart-group-1": ("#0b6fb8", "#5aaef0"),
    "chart-group-2": ("#ec6f00", "#f6c835"),
    "chart-group-3": ("#38a391", "#74a82d"),
    "chart-group-4": ("#9980fe", "#4b65d9"),
    "chart-group-5": ("#8f5872", "#f678a4"),
    "chart-group-6": ("#8d0e04", "#906a21"),
    "chart-group-7": ("#681c91", "#b93780"),
}
"""The name of each colour (of its CSS variable, without the dashes), and how it looks on light and on dark paper."""

PAPER, INK, MUTED, AXIS, GRID, BAND, LIMIT, REFERENCE, *GROUPS = (light for light, _ in COLOURS.values())
MOST_COLOURED = 1 + len(GROUPS)

WIDTH = 560
FONT = "sans-serif"

CONFIG: dict[str, Any] = {
    "aria": False,  # a label for every mark says less than the description and the table beside the chart
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "domainColor": AXIS, "tickColor": AXIS, "gridColor": GRID, "labelColor": MUTED, "titleColor": INK,
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "titlePadding": 8, "labelLimit": 260,
        "labelFlush": False,
    },
    "legend": {
        "labelColor": INK, "titleColor": MUTED, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal",
        "symbolStrokeWidth": 3, "symbolOpacity": 1, "orient": "top", "labelLimit": 540, "titleLimit": 500, "columns": 4,
    },
    "title": {
        "anchor": "start", "color": INK, "subtitleColor": MUTED, "fontSize": 15, "subtitleFontSize": 12,
        "fontWeight": "bold", "offset": 10, "limit": 620,
    },
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12},
    "text": {"color": INK, "fontSize": 12},
    "line": {"strokeWidth": 2, "strokeJoin": "round"},
    "rule": {"color": AXIS},
    "range": {"category": GROUPS},
}  # fmt: skip


def css(dark: bool = False) -> str:
    """The variables as declarations of a style sheet.

    >>> css().split()[:2]
    ['--chart-paper:', '#ffffff;']
    """
    return " ".join(f"--{name}: {pair[dark]};" for name, pair in COLOURS.items())


def themed(svg: str) -> str:
    """A drawing whose colours are those of the page around it, and the light ones where it sets none.

    >>> themed('<line stroke="#e4e7eb"/>')
    '<line stroke="var(--chart-grid, #e4e7eb)"/>'
    """
    variable = {light: f"var(--{name}, {light})" for name, (light, _) in COLOURS.items()}

    def coloured(tag: re.Match[str]) -> str:
        return re.sub(r'(?<= )(fill|stroke)="(#[0-9a-f]{6})"', lambda m: f'{m[1]}="{variable.get(m[2], m[2])}"', tag[0])

    return re.sub(r"<[^<>]*>", coloured, svg)  # tags only: a group may be called like a colour
