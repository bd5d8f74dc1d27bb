"""A comparison of methods as tables for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.compare.document import method_name
from evenhand.errors import shown_name
from evenhand.report.console import indented, points
from evenhand.report.format import number, percent

MOST_METHODS = 20
FEW_METHODS = 6
"""Up to so many methods, what each criterion selects is shown."""
MOST_WINS = 12
NAME = 14
AT_ONCE = 7
"""Criteria side by side."""


def render(document: dict[str, Any]) -> RenderableType:
    """The report as rich renderables."""
    parts: list[RenderableType] = [*_header(document), Text(), *_ranking(document), Text()]
    parts += [*_selected(document), *_wins(document), Text(), Text(document["interpretation"])]
    return Group(*parts, *points("Notes", document["notes"]))


def _header(document: dict[str, Any]) -> Iterator[RenderableType]:
    data, options = document["data"], document["options"]
    columns = data["columns"]
    low, high = data["seeds"]
    seeds = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    facts = [
        f"{data['runs']:,} runs", f"{len(document['methods']):,} methods", f"{data['settings']:,} settings",
        f"{seeds} run{'' if high == 1 else 's'} each",
    ]  # fmt: skip
    yield Text("Comparison of methods", style="bold")
    yield Text(" · ".join(facts))
    turned = {r: "" if up else "1 − " for r, up in data["higher_is_better"].items()}
    yield Text(
        f"P, performance: {turned['performance']}{shown_name(columns['performance'])} · F, fairness: "
        f"{turned['fairness']}{shown_name(columns['fairness'])} · higher is better"
    )
    if columns["dev_performance"] is not None:
        front = "development" if options["front"] == "dev" else "test (as published)"
        yield Text(
            f"Front of {front} results; selected by {shown_name(columns['dev_performance'])} and "
            f"{shown_name(columns['dev_fairness'])}"
        )


def _ranking(document: dict[str, Any]) -> Iterator[RenderableType]:
    """Methods by criteria, as Table 3 of Han, Baldwin & Cohn 2023."""
    options, methods = document["options"], document["methods"]
    utopia, partial = options["utopia"], conditions(options)
    title = f"Distance (DTO) of the selected model to ({utopia[0]:g}, {utopia[1]:g})"
    with_area = options["random_performance"] is not None
    yield Text(title + (", and area under the front" if with_area else ""))
    shown = methods[:MOST_METHODS]
    columns = [(_short(k), [_best(m["selected"][k["id"]]["dto"], least(methods, k["id"])) for m in shown])
               for k in document["criteria"]]  # fmt: skip
    areas = _areas(methods, options, partial) if with_area else []
    names = ("method", [Text(method_name(m["name"], NAME)) for m in shown])
    while columns:
        part, columns = columns[:AT_ONCE], columns[AT_ONCE:]
        yield _table([names, *part, *([] if columns else areas)])
    more = len(document["methods"]) - len(shown)
    some = any(m["first_share"] is not None for m in shown)
    legend = "* best" + ("; first: share of resamples in which the area is the largest" if some else "")
    legend += f"; part.: area where {partial}" if partial and with_area else ""
    yield indented(legend + (f"; {more:,} more methods are in --json" if more else ""))
    yield from (indented(reason) for reason in reasons(shown, with_area))


def _areas(methods: list[dict[str, Any]], options: dict[str, Any], partial: str) -> list[tuple[str, list[Any]]]:
    shown = methods[:MOST_METHODS]
    found: list[tuple[str, list[Any]]] = [
        ("AUC", [_best(m["auc_pfc"], most(methods, "auc_pfc")) for m in shown]),
        (_level(options).replace(" ", "\n"), [_interval(m["ci"]) for m in shown]),
        ("first", [percent(m["first_share"], digits=0) for m in shown]),
    ]
    if partial:
        found.append(("part.", [_best(m["partial_auc_pfc"], most(methods, "partial_auc_pfc")) for m in shown]))
    return found


def reasons(shown: list[dict[str, Any]], with_area: bool) -> Iterator[str]:
    """Why cells are empty."""
    reasons = [m["undefined"] for m in shown if m["undefined"] and with_area]
    reasons += [x["undefined"] for m in shown for x in m["selected"].values() if x["undefined"]]
    yield from (f"– undefined {reason}" for reason in dict.fromkeys(reasons[:MOST_WINS]))
    without: dict[str, list[str]] = {}
    for m in shown:
        if m["ci_undefined"]:
            without.setdefault(m["ci_undefined"], []).append(method_name(m["name"], NAME))
    for reason, names in without.items():
        whose = "" if len(names) == len(shown) else f" for {', '.join(names)}"
        yield f"– no interval{whose} {reason}"


def conditions(options: dict[str, Any]) -> str:
    """Where the partial area is."""
    words = {"performance_from": "P ≥", "fairness_from": "F ≥", "dto_to": "DTO ≤"}
    return " and ".join(f"{word} {options[key]:g}" for key, word in words.items() if options[key] is not None)


def _selected(document: dict[str, Any]) -> Iterator[RenderableType]:
    """What is selected, as Table 5 of Han, Baldwin & Cohn 2023."""
    methods = document["methods"][:MOST_METHODS]
    criteria = document["criteria"] if len(methods) <= FEW_METHODS else document["criteria"][:1]
    dev = document["data"]["columns"]["dev_performance"] is not None
    yield Text("Selected models: mean ± standard deviation over seeds" + (" (test results)" if dev else ""))
    heads = ["method", "performance", "fairness", "DTO", _level(document["options"])] + (["dev DTO"] if dev else [])
    grid = _grid("by", *heads, text=1)
    for k in criteria:
        label = " ".join(_short(k).split("\n"))
        for m in methods:
            s = m["selected"][k["id"]]
            cells = [_spread(s["performance"], s["performance_sd"]), _spread(s["fairness"], s["fairness_sd"])]
            ends = [_value(s["dev"]["dto"] if s["dev"] else None)] if dev else []
            grid.add_row(label, Text(method_name(m["name"], NAME)), *cells, _value(s["dto"]), _interval(s["ci"]), *ends)
            label = ""
    yield grid


def _wins(document: dict[str, Any]) -> Iterator[RenderableType]:
    """Whose curve is highest where."""
    wins = document["wins"]
    if not wins or len(document["methods"]) == 1:
        return
    yield Text()
    yield Text("Fairest at a given performance (highest curve)")
    widest = sorted(wins, key=lambda w: w["from"] - w["to"])[:MOST_WINS]
    grid = _grid("performance", "method", text=1)
    for w in (w for w in wins if w in widest):
        names = ", ".join(method_name(name, NAME) for name in w["methods"][:4])
        names += f" and {len(w['methods']) - 4} more" if len(w["methods"]) > 4 else ""
        grid.add_row(f"{w['from']:.3f} – {w['to']:.3f}", Text(names))
    yield grid
    if len(wins) > MOST_WINS:
        yield indented(f"the {MOST_WINS} widest of {len(wins)} stretches; all are in --json")


def _grid(first: str, *rest: str, text: int = 0) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    grid.add_column(first, overflow="ellipsis", no_wrap=True)
    for i, name in enumerate(rest, start=1):
        grid.add_column(name, justify="left" if i <= text else "right", overflow="ellipsis", no_wrap=True)
    return grid


def _table(columns: list[tuple[str, list[Any]]]) -> Grid:
    (first, names), *rest = columns
    grid = _grid(first, *(name for name, _ in rest))
    for i, name in enumerate(names):
        grid.add_row(name, *(cells[i] for _, cells in rest))
    return grid


def _short(k: dict[str, Any]) -> str:
    """A heading of two lines: P@F ≥.65 is the best performance with at least that fairness."""
    if k["best"] == "dto":
        return "DTO"
    if k["best"] == "loss":
        return "loss"
    one, other = ("P", "F") if k["best"] == "performance" else ("F", "P")
    if k["floor"] is None:
        return one
    relative = k["id"].split("@")[1].removeprefix("fairness").removeprefix("performance")
    bound = relative.replace(">=", "≥").replace("0.", ".", 1)
    return f"{one}@{other}\n{bound}"


def least(methods: list[dict[str, Any]], criterion: str) -> float | None:
    """The smallest distance of a model selected by a criterion."""
    found = (m["selected"][criterion]["dto"] for m in methods)
    return min((dto for dto in found if dto is not None), default=None)


def most(methods: list[dict[str, Any]], key: str) -> float | None:
    """The largest area."""
    return max((m[key] for m in methods if m[key] is not None), default=None)


def _value(value: float | None) -> str:
    """Without the zero that all shares start with."""
    return number(value).removeprefix("0")


def _best(value: float | None, best: float | None) -> Text:
    if value is None:
        return Text("– ", style="dim")
    return Text(_value(value) + "*", style="bold") if value == best else Text(_value(value) + " ")


def _interval(ci: list[float] | None) -> str:
    return "–" if ci is None else f"{_value(ci[0])}–{_value(ci[1])}"


def _spread(value: float | None, sd: float | None) -> str:
    return "–" if value is None else _value(value) + (" " * 7 if sd is None else f" ± {_value(sd)}")


def _level(options: dict[str, Any]) -> str:
    return f"{100 * options['confidence']:g}% interval"
