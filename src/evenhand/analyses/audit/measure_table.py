"""Measures on a page: a table of what was found for a group, and what each of them asks."""

from __future__ import annotations

from typing import Any

from evenhand.analyses.audit.gaps import Gap
from evenhand.measures.registry import Measure, RateMeasure, ScoreMeasure, find
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, grid, join, name, tag

FAMILIES = {
    "independence": ("Independence", "are all people treated alike, whatever their outcome?"),
    "separation": ("Separation", "are people with the same outcome treated alike?"),
    "sufficiency": ("Sufficiency", "does the same decision or score mean the same?"),
    "accuracy": ("Accuracy", "is the model as good for everyone?"),
}
_PAGES = {
    "abcc": "distribution-measures", "abpc": "distribution-measures", "mutual_information": "distribution-measures",
    "delta_dp_c": "distribution-measures", "delta_dp_b": "distribution-measures", "roc": "roc-bias", "xroc": "roc-bias",
    "calibration_uniform": "calibration-bias", "calibration_standardized": "calibration-bias",
}  # fmt: skip


def documentation(measure: Measure) -> str:
    """The page of the documentation about a measure."""
    other = "score-bias" if isinstance(measure, ScoreMeasure) else "decision-measures"
    return f"docs/{_PAGES.get(measure.id, other)}.md"


def measure_of(m: dict[str, Any]) -> Measure:
    measure = find(m["id"])
    assert measure is not None
    return measure


_CHANCE = "; chance alone stays within its 95% point 95 times of 100 (open it to see the distribution)"


def comparison(found: list[dict[str, Any]], gaps: dict[str, Gap], confidence: float, room: Room) -> Markup:
    """Every measure of one group against the reference."""
    tested = any(m["p_value"] is not None for m in found)
    chance = ["chance, 95%", "p", "adjusted"] if tested else []
    heads = ["measure", "gap", f"{100 * confidence:g}% interval", *chance, "in favour", "limit", "verdict"]
    rows: list[list[Any]] = []
    for family, (title, question) in FAMILIES.items():
        members = [m for m in found if m["family"] == family]
        rows += [[f"{title}: {question}"]] if members else []
        rows += [_row(m, gaps.get(m["id"]), tested, room) for m in members]
    group, reference = found[0]["group"], found[0]["reference"]
    caption = join("Every measure of ", name(group), " against ", name(reference), _CHANCE if tested else None)
    return grid(caption, heads, rows, class_="measures")


def _row(m: dict[str, Any], gap: Gap | None, tested: bool, room: Room) -> list[Any]:
    measure = measure_of(m)
    head = tag("a", measure.title, href=f"#about-{m['id']}")
    chance = [_chance(measure, m, gap, room), p_short(m["p_value"]), p_short(m["p_adjusted"])]
    share = "" if m["positive_share"] is None or measure.signed else f"{100 * m['positive_share']:.0f}%"
    return [head, value(measure, m), interval(measure, m["ci"]), *(chance if tested else []), share,
            limit(measure, m["tolerance"]), verdict(m)]  # fmt: skip


def _chance(measure: Measure, m: dict[str, Any], gap: Gap | None, room: Room) -> Any:
    """What chance alone shows; its distribution on request."""
    text = plain(measure, m["null_95"])
    null = None if gap is None else gap.null
    drawn = None if null is None or gap is None else room.null(null, gap.size)
    label = f"{measure.title}, chance {text}: its distribution"
    return text if drawn is None else tag("details", tag("summary", text, aria_label=label), drawn)


def plain(measure: Measure, number: float | None) -> str:
    if number is None:
        return "–"
    return f"×{number:.3f}" if measure.scale == "ratio" else f"{number:.3f}"


def value(measure: Measure, m: dict[str, Any]) -> str:
    return f"{m['signed']:+.3f}" if measure.signed and m["signed"] is not None else plain(measure, m["value"])


def interval(measure: Measure, ci: list[float | None] | None) -> str:
    if ci is None:
        return "–"
    sign = "+" if measure.signed else ""
    return " to ".join("…" if bound is None else f"{bound:{sign}.3f}" for bound in ci)


def p_short(p: float | None) -> str:
    return "–" if p is None else "<.001" if p < 0.0005 else f"{p:.3f}"


def limit(measure: Measure, tolerance: float) -> str:
    if measure.scale == "ratio":
        return f"{tolerance:g} to {1 / tolerance:g}"
    return f"±{tolerance:.2g}" if measure.signed else f"{tolerance:.2g}"


def verdict(m: dict[str, Any]) -> Markup:
    """In words, never in colour alone."""
    if m["passes"] is None:
        return cell("undefined ", m["undefined"], class_="words")
    word = "within" if m["passes"] else "beyond"
    if m["conclusive"] is False:
        return cell(f"{word}, not settled", class_="words warn")
    return cell(word, class_=f"words {'good' if m['passes'] else 'bad'}")


# ---- what each measure is -------------------------------------------------------------------------------------------


def about(ids: list[str]) -> Markup:
    """What every measure asks, its formula, and how to read it."""
    parts = []
    for family, (title, question) in FAMILIES.items():
        members = [m for id_ in ids if (m := find(id_)) is not None and m.family == family]
        if members:
            parts += [tag("h3", f"{title}: {question}"), *(_about(m) for m in members)]
    return join(parts)


def _about(m: Measure) -> Markup:
    return tag(
        "div",
        tag("h4", m.title, id=f"about-{m.id}", tabindex="-1"),
        tag("p", m.asks, " ", tag("code", m.formula)),
        tag("p", reading(m)),
        tag("p", "Documentation: ", tag("code", documentation(m)), ", in JSON ", tag("code", m.id), class_="note"),
        class_="about",
    )


def reading(m: Measure) -> str:
    """How to read a value."""
    if m.scale == "ratio":
        return (
            f"1 is parity. Below 1 the group {m.less}, above 1 it {m.more}. "
            f"From {m.tolerance:g} to {1 / m.tolerance:g} is within the limit."
        )
    if m.signed:
        return (
            f"0 is parity. Below 0 the group {m.less}, above 0 it {m.more}. "
            f"Up to {m.tolerance:g} either way is within the limit."
        )
    if isinstance(m, RateMeasure):
        return f"0 is parity; it is the largest difference of its parts. Up to {m.tolerance:g} is within the limit."
    assert isinstance(m, ScoreMeasure)
    sides = (
        f" What favours the group (it {m.more}) and what favours the reference (the group {m.less}) are told apart: "
        "'in favour' is the group's share of the gap."
        if m.directed
        else ""
    )
    small = "" if m.information else f" Up to {m.tolerance:g} is within the limit."
    return f"0 is parity, and samples never show exactly 0: compare it with chance.{sides}{small}"
