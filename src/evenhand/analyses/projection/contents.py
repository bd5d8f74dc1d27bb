"""What the Markdown of a projection test, or of several, says: does the criterion hold, and who would have to move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.projection.document import points
from evenhand.analyses.projection.text import told_apart
from evenhand.errors import shown_name
from evenhand.report.contents import Cell, Contents, Name, Part, Section, Sheet, Word, capital, count, figure, left_out
from evenhand.report.format import p_value, p_words

Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """One test, or several together."""
    tests = document.get("tests", [document])
    first, many = tests[0], "tests" in document
    rejected = [t for t in tests if (t["rejects_adjusted"] if many else t["rejects"])]
    criterion = capital(first["criterion"].replace("_", " "))
    if many:
        answer = f"{criterion} is rejected in {len(rejected):,} of {len(tests):,} tests"
    else:
        answer = f"{criterion} is {'rejected' if rejected else 'not rejected'} ({p_words(first['p_value'])})"
    sections = [Section("tests", "The tests", [_all(document)])] if many else []
    sections += [Section(f"test-{i}", _heading(t), list(_one(t)), minor=i > 0) for i, t in enumerate(tests)]
    return Contents(
        title=f"Projection test of {', '.join(dict.fromkeys(shown_name(t['data']['score']) for t in tests))}",
        about=[f"{shown_name(first['attribute'])}, compared with {shown_name(first['reference'])}",
               f"{first['n']:,} people" if not many else f"{len(tests):,} comparisons", *left_out(first["data"])],
        answer=answer,
        said=[capital(document["interpretation"])],
        mood="bad" if rejected else "plain",
        sections=sections,
        notes=document["notes"],
        options={k: first[k] for k in ("criterion", "margin", "level", "beta_norm")},
    )  # fmt: skip


def _heading(t: Document) -> str:
    return f"{shown_name(t['group'])} against {shown_name(t['reference'])}"


def _all(document: Document) -> Sheet:
    apart = told_apart(document)
    rows: list[list[Cell]] = [
        [
            Name(t["group"]), *([apart[1][i]] if apart else []), count(t["n"]), f"{t['distance']:.3g}",
            p_value(t["p_value"]), p_value(t["p_adjusted"]),
            Word("rejected", "bad") if t["rejects_adjusted"] else "not rejected",
        ]
        for i, t in enumerate(document["tests"])
    ]  # fmt: skip
    heads = ("group", *([apart[0]] if apart else []), "people", "distance", "p", "adjusted p", "criterion")
    return Sheet("Every test, adjusted by Holm", heads, rows, ("criterion",))


def _one(t: Document) -> Iterator[Part]:
    rows: list[list[Cell]] = [
        ["statistic", f"{t['statistic']:.4g}"],
        [f"critical value at {100 * t['level']:g} %", f"{t['critical_value']:.4g}"],
        [f"p-value ({t['p_method']})", p_value(t["p_value"])],
        [f"distance to the nearest fair distribution, in {t['space']}", f"{t['distance']:.4g}"],
    ]
    yield Sheet("The test", ("what", "value"), rows)
    rows = [
        [
            Name(g["name"]), "all" if part["label"] == "any" else part["label"], count(g["n"]), figure(g["mean"]),
            figure(g["mean_after"]), points(g["mean_after"] - g["mean"], sign=True),
        ]
        for part in t["labels"]
        for g in part["groups"]
    ]  # fmt: skip
    heads = ("group", "label", "people", "mean", "if fair", "mean move (points)")
    yield Sheet("Who would have to move, in percentage points of the score", heads, rows, ("label",))
