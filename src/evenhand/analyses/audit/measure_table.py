"""Measures on a page: a table of what was found for a group, and what each of them asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.analyses.audit.roc_parts import NAMES, telling
from evenhand.analyses.audit.wording import apart, gap, measure_of, not_computed, p_value, share, size, tolerated
from evenhand.analyses.options import tolerating
from evenhand.inference.null import Null
from evenhand.measures.measure import FAMILIES, sized
from evenhand.measures.registry import Measure, RateMeasure, ScoreMeasure, find
from evenhand.report.format import interval, number
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, grid, join, name, tag

_NULL = "; null 95%: samples of alike groups stay within it 95 times of 100 (open it to see the distribution)"


def comparison(measures: list[dict[str, Any]], nulls: list[Null | None], confidence: float, room: Room) -> Markup:
    """Every measure of one group against the reference, with the distribution behind each p-value."""
    tested = any(m["p_value"] is not None for m in measures)
    tests = ["null 95%", "p", "adjusted"] if tested else []
    heads = ["measure", "gap", f"{100 * confidence:g}% interval", *tests, "in favour", "tolerance", "verdict"]
    rows: list[list[Any]] = []
    for family, title in FAMILIES.items():
        every = zip(measures, nulls, strict=True)
        members = [(m, null) for m, null in every if m["family"] == family and not m["undefined"]]
        rows += [[title.heading]] if members else []
        rows += [_row(m, null, tested, room) for m, null in members]
    group, reference = measures[0]["group"], measures[0]["reference"]
    caption = join("Every measure of ", name(group), " against ", name(reference), _NULL if tested else None)
    left_out = [tag("li", said) for said in not_computed(measures)]
    lacking = join(tag("p", "Not computed:", class_="note"), tag("ul", *left_out, class_="note")) if left_out else None
    deviations = None if (said := apart(measures)) is None else tag("p", said, class_="note")
    return join(grid(caption, heads, rows, class_="measures"), deviations, lacking)


def roc_sources(measures: list[dict[str, Any]]) -> Markup | None:
    """Where the ROC and the separation biases of one group come from, on request; nothing where that is not known."""
    told = [tag("li", sentence) for sentence in telling(measures)]
    if not told:
        return None
    heads = ["thresholds at scores of", "people", "between ROC curves", "AUROC difference", "adds", "interval"]
    rows: list[list[Any]] = []
    for m in measures:
        rows += [[measure_of(m).title]] if m["roc_parts"] else []
        for p in m["roc_parts"]:
            whose = join(NAMES[p["label"]], " of ", name(p["people"]))
            numbers = [number(p[key], sign=key == "signed_area") for key in ("weight", "area", "signed_area", "value")]
            rows.append([whose, *numbers, interval(p["ci"])])
    table = grid(_SPLIT, heads, rows) if rows else None
    return tag("details", tag("summary", "Where ROC and separation biases come from"), tag("ul", *told), table)


_SPLIT = "Separation biases by rank, by whose scores the thresholds are (Becker et al. 2024, Theorem 4.8)"


def _row(m: dict[str, Any], null: Null | None, tested: bool, room: Room) -> list[Any]:
    measure = measure_of(m)
    head = tag("a", measure.title, href=f"#about-{m['id']}")
    tests = [_null(measure, m, null, room), p_value(m, "p_value"), p_value(m)] if tested else []
    return [head, gap(measure, m), interval(m["ci"], sign=measure.signed), *tests, share(m, measure),
            tolerated(measure, m["tolerance"]), verdict(m)]  # fmt: skip


def _null(measure: Measure, m: dict[str, Any], null: Null | None, room: Room) -> Any:
    """The null 95 %; its distribution on request."""
    text = size(measure, m["null_95"])
    drawn = None if null is None or not len(null.sample) else room.null(null, float(sized(measure, m["value"])))
    label = f"{measure.title}, null 95% {text}: its distribution"
    return text if drawn is None else tag("details", tag("summary", text, aria_label=label), drawn)


def verdict(m: dict[str, Any]) -> Markup:
    """In words, never in colour alone."""
    if m["unjudged"]:
        return cell("not settled ", m["unjudged"], class_="words warn")
    if m["passes"] is None:
        return cell("undefined ", m["undefined"], class_="words")
    word = "within" if m["passes"] else "beyond"
    if m["conclusive"] is False:
        return cell(f"{word}, not settled", class_="words warn")
    if m["conclusive"] is None:
        return cell(f"{word}, without interval", class_="words warn")
    return cell(word, class_=f"words {'good' if m['passes'] else 'bad'}")


# ---- what each measure is -------------------------------------------------------------------------------------------


def about(ids: list[str], tolerance: Mapping[str, float], level: int = 3) -> Markup:
    """A glossary of the measures shown, to open one by one; with the tolerances that were stated.

    `level` is that of the headings of families.
    """
    parts = []
    measures = tolerating([m for id_ in ids if (m := find(id_)) is not None], tolerance)
    for family, title in FAMILIES.items():
        members = [m for m in measures if m.family == family]
        if members:
            parts += [tag(f"h{level}", title.heading), *(_about(m, level + 1) for m in members)]
    return join(parts)


def _about(m: Measure, level: int) -> Markup:
    head = tag("summary", tag(f"h{level}", m.title), " ", m.asks)
    told = {
        "Formula": tag("code", m.formula),
        "Reading": reading(m),
        "When to use": m.use,
        "Limitations": m.limits,
        "More": join(tag("code", m.documentation), ", in JSON ", tag("code", m.id)),
    }
    terms = [join(tag("dt", term), tag("dd", text)) for term, text in told.items() if text]
    return tag("details", head, tag("dl", *terms), class_="about", id=f"about-{m.id}")


def reading(m: Measure) -> str:
    """How to read a value."""
    if m.scale == "ratio":
        return (
            f"1 is parity. Below 1 the group {m.less}, above 1 it {m.more}. "
            f"From {m.tolerance:g} to {1 / m.tolerance:g} is within the tolerance."
        )
    if m.signed:
        return (
            f"0 is parity. Below 0 the group {m.less}, above 0 it {m.more}. "
            f"Up to {m.tolerance:g} either way is within the tolerance."
        )
    if isinstance(m, RateMeasure):
        return f"0 is parity; it is the largest difference of its parts. Up to {m.tolerance:g} is within the tolerance."
    assert isinstance(m, ScoreMeasure)
    sides = (
        f" What favours the group (it {m.more}) and what favours the reference (the group {m.less}) are counted apart: "
        "'in favour' is the group's share of the gap."
        if m.directed
        else ""
    )
    small = "" if m.information else f" Up to {m.tolerance:g} is within the tolerance."
    return f"0 is parity, and samples never show exactly 0: compare it with the null 95%.{sides}{small}"
