"""All thresholds of a score as tables for a terminal, made from the document."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.thresholds.document import ANALYSIS, exact
from evenhand.analyses.thresholds.selection import spread
from evenhand.errors import shown_name
from evenhand.measures.registry import find
from evenhand.report.console import indented, points
from evenhand.report.format import interval, number

ROWS = 12


def render(document: dict[str, Any]) -> RenderableType:
    """The result as rich renderables."""
    parts: list[RenderableType] = [*_header(document), Text(), *_points(document)]
    if document["policy"] is not None:
        parts += [Text(), *_shown_policy(document)]
    if document["by_group"] is not None:
        parts += [Text(), *_shown_by_group(document)]
    parts += [Text(), Text("→ " + document["interpretation"])]
    return Group(*parts, *points("Notes", document["notes"]))


def _header(document: dict[str, Any]) -> Iterator[RenderableType]:
    data = document["data"]
    kind = "risk score" if data["risk"] else "score"
    label = "" if data["label"] is None else f" · label {shown_name(data['label'])}"
    favourable = "" if data["label"] is None else f", favourable {shown_name(data['favorable'])}"
    yield Text("Evenhand thresholds", style="bold")
    yield Text(f"{data['rows']:,} people · {kind} {shown_name(data['score'])}{label}{favourable}")
    for reason, count in data["left_out"].items():
        yield Text(f"Left out: {count:,} rows {shown_name(reason, 100)}", style="yellow")
    others = [g for g in document["groups"] if g != document["reference"]]
    who = shown_name(others[0]) if len(others) == 1 else "the group furthest from parity"
    title = f"{shown_name(document['attribute'])}: {who} against {shown_name(document['reference'])}"
    yield Rule(Text(title, style="bold"), align="left", style="dim")


def _points(document: dict[str, Any]) -> Iterator[RenderableType]:
    measure = find(document["options"]["fairness"])
    assert measure is not None
    sign = "<" if document["data"]["risk"] else "≥"
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    grid.add_column(Text(f"favourable {sign}"), justify="right")
    for name in ("selected", document["options"]["performance"].replace("_", " "), shown_name(measure.title, 26)):
        grid.add_column(Text(name), justify="right")
    several = len(document["groups"]) > 2
    if several:
        grid.add_column(Text("group"), overflow="fold")
    grid.add_column(Text("distance"), justify="right")
    grid.add_column(Text(""), overflow="fold")
    for point, marks in chosen_rows(document):
        grid.add_row(
            at(point["threshold"], document), number(point["selection_rate"]), number(point["performance"]),
            number(point["value"]), *([Text(shown_name(point["group"] or "–", 24))] if several else []),
            number(point["dto"]),
            Text(", ".join(marks), style="bold" if "chosen" in marks else ""),
        )  # fmt: skip
    yield grid
    t = document["thresholds"]
    yield _aside(f"{t['count']:,} thresholds, {t['front']:,} on the front; distance: to the optimum (1, 1)")


def chosen_rows(document: dict[str, Any], rows_of_front: int = ROWS) -> list[tuple[dict[str, Any], list[str]]]:
    """Some of the front, and every threshold that has a name."""
    policy = document["policy"] or {}
    named = {
        "current": document["current"], "best": document["best"], "nearest (1, 1)": document["nearest"],
        "chosen": policy.get("chosen"), "misses least": policy.get("nearest"),
    }  # fmt: skip
    rows: dict[float, tuple[dict[str, Any], list[str]]] = {}
    for mark, point in named.items():
        if point is not None:
            rows.setdefault(point["threshold"], (point, []))[1].append(mark)
    front = [p for p in document["curve"] if p["on_front"]] or [p for p in document["curve"] if not p["trivial"]]
    for i in spread(np.ones(len(front), np.bool_), rows_of_front):
        rows.setdefault(front[i]["threshold"], (front[i], []))
    for point in document["trivial"]:
        rows.setdefault(point["threshold"], (point, []))[1].append(f"trivial: {whom(point)}")
    return [(point, _marked(point, marks)) for _, (point, marks) in sorted(rows.items())]


def whom(point: dict[str, Any]) -> str:
    """Whom a trivial threshold selects."""
    return "everybody" if (point["selection_rate"] or 0) > 0.5 else "nobody"


def _marked(point: dict[str, Any], marks: list[str]) -> list[str]:
    meets = point["meets"] and not point["trivial"] and "chosen" not in marks
    return [*marks, *(["front"] if point["on_front"] else []), *(["meets"] if meets else [])]


def _shown_policy(document: dict[str, Any]) -> Iterator[RenderableType]:
    policy, options = document["policy"], document["options"]
    yield Text("Policy: " + " and ".join(options["require"]), style="bold")
    meet = "threshold meets" if policy["feasible"] == 1 else "thresholds meet"
    yield _aside(f"{policy['feasible']:,} {meet} it{stretches(policy)}")
    if policy["trivial"] and not options["allow_trivial"]:
        met = [whom(p) for p in document["trivial"] if p["threshold"] in policy["trivial"]]
        yield _aside(f"selecting {' or '.join(met) or 'everybody or nobody'} meets it too, and says nothing")
    if policy["lost_to_current"] is not None:
        gained = number(-policy["lost_to_current"], sign=True)
        yield _aside(f"against the current threshold {gained} {options['performance']}")
    for c in policy["checks"]:
        ci = "no interval" if c["ci"] is None else f"{percents(policy['level'])} interval {interval(c['ci'])}"
        sure = {True: "settled", False: "not settled", None: "not known how sure"}[c["settled"]]
        group = shown_name(c["group"])
        yield _aside(f"{c['requirement'].split()[0]} of {group}: {number(gap_of(c))} ({ci}), {sure}")
    if policy["checks"] and policy["level"] is not None:
        whole = f"{100 * options['confidence']:g}%"
        yield _aside(
            f"intervals at {percents(policy['level'])}, so that those of all thresholds hold together at {whole}"
        )


def gap_of(c: dict[str, Any]) -> float | None:
    """The gap of a group, with its sign if it has one, as its interval has."""
    gap: float | None = c["value"] if c["signed"] is None else c["signed"]
    return gap


def percents(level: float) -> str:
    """A level, never higher than it is."""
    return f"{math.floor(1000 * level) / 10:g}%"


def stretches(policy: dict[str, Any]) -> str:
    """From where to where thresholds meet the policy."""
    if not policy["ranges"]:
        return ""
    shown = [f"{exact(r['from'])} to {exact(r['to'])}" for r in policy["ranges"][:4]]
    more = len(policy["ranges"]) + policy["ranges_left_out"] - len(shown)
    return ": " + ", ".join(shown) + (f" and {more} more ranges" if more else "")


def _shown_by_group(document: dict[str, Any]) -> Iterator[RenderableType]:
    b = document["by_group"]
    yield Text("Thresholds by group: an analysis", style="bold")
    yield _aside(ANALYSIS)
    if b["undefined"]:
        yield _aside(f"undefined {b['undefined']}")
        return
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for name in (b["measure"].replace("_", " ") + " allowed", document["options"]["performance"].replace("_", " ")):
        grid.add_column(Text(name), justify="right")
    grid.add_column(Text("thresholds"), overflow="fold")
    steps = b["curve"][:: max(1, (len(b["curve"]) - 1) // 5)]
    far = -1 if steps and steps[0]["limit"] else 1
    for step in sorted([*steps, *([b["at_limit"]] if b["at_limit"] else [])], key=lambda s: far * s["limit"]):
        required = " (required)" if step is b["at_limit"] else ""
        trivial = " (trivial)" if step["trivial"] else ""
        grid.add_row(
            number(step["limit"]), number(step["performance"]), Text(levels(step, document) + required + trivial)
        )
    yield grid


def levels(step: dict[str, Any], document: dict[str, Any]) -> str:
    """The thresholds of the first groups."""
    named = [f"{shown_name(g, 20)} {at(lv['threshold'], document)}" for g, lv in list(step["thresholds"].items())[:4]]
    more = len(step["thresholds"]) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def at(threshold: float, document: dict[str, Any]) -> str:
    """A threshold; one that no score reaches is over the highest."""
    highest = document["thresholds"]["highest"]
    return f"over {exact(highest)}" if threshold > highest else exact(threshold)


def _aside(text: str) -> Padding:
    return indented(Text(text, style="dim"))
