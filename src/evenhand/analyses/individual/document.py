"""Fairness between individuals → its JSON document, a dataframe, and a report of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.cells import set_cell_size
from rich.text import Text

from evenhand.analyses.individual.sentences import interpretation
from evenhand.errors import shown_name
from evenhand.ingest.values import name_of
from evenhand.report.document import header, number, pair
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.individual.estimates import Contrast, Estimated
    from evenhand.analyses.individual.individual import IndividualFairness
    from evenhand.analyses.individual.treatment import GroupTreatment, Treatment
    from evenhand.analyses.individual.worst_pairs import Person, WorstPair

WIDTH = 80
MOST_SHOWN, MOST_ROWS = 3, 12
"""Pairs of people that the terminal shows side by side, and columns in which they differ."""


def document(found: IndividualFairness) -> dict[str, Any]:
    """Everything as plain values."""
    data = {k: list(v) if isinstance(v, tuple) else v for k, v in found.data.items()}
    about = {
        **header("individual"),
        "data": {"people": found.n, **data, "left_out": dict(found.data["left_out"])},
        "options": dict(found.options),
        "overall": _treatment(found.overall),
        "chance": {k: number(v) for k, v in found.chance.items()},
        "groups": [_group(g) for g in found.groups],
        "twins": vars(found.twins),
        "worst": [_worst(w) for w in found.worst],
        "sketch": dict(found.sketch),
        "notes": list(found.notes),
    }
    return {**about, "interpretation": list(interpretation(about))}


def _estimate(e: Estimated | None) -> dict[str, Any] | None:
    return None if e is None else {"value": number(e.value), "ci": pair(e.ci), "undefined": e.undefined}


def _contrast(c: Contrast | None) -> dict[str, Any] | None:
    if c is None:
        return None
    return {
        "value": number(c.value),
        "ci": pair(c.ci),
        "p_value": number(c.p_value),
        "p_adjusted": number(c.p_adjusted),
        "undefined": c.undefined,
    }


def _treatment(t: Treatment) -> dict[str, Any]:
    return {
        "people": t.people,
        "pairs": t.pairs,
        **{name: _estimate(getattr(t, name)) for name in ("alike", "consistency", "constant", "violations")},
    }


def _group(g: GroupTreatment) -> dict[str, Any]:
    return {
        "name": g.name,
        **_treatment(g.treatment),
        "alike_gap": _contrast(g.alike_gap),
        "violations_gap": _contrast(g.violations_gap),
        "across": _contrast(g.across),
        "across_pairs": g.across_pairs,
    }


def _worst(w: WorstPair) -> dict[str, Any]:
    return {
        "distance": w.distance,
        "difference": w.difference,
        "slope": w.slope,
        "beyond": w.beyond,
        "people": [_person(p) for p in w.people],
    }


def _person(p: Person) -> dict[str, Any]:
    plain = {k: v if isinstance(v, int | float | bool | str | None) else name_of(v) for k, v in p.values.items()}
    return {"row": p.row, "score": p.score, "group": p.group, "values": plain}


_TYPES = {
    "pair": "int", "distance": "float", "difference": "float", "row": "int", "score": "float", "group": "str",
}  # fmt: skip


def frame(found: IndividualFairness, library: str | None) -> Any:
    """Two rows for each of the worst pairs, with all their columns as text."""
    rows = [(place, w, p) for place, w in enumerate(document(found)["worst"], 1) for p in w["people"]]
    columns: dict[str, list[Any]] = {
        "pair": [place for place, _, _ in rows],
        "distance": [w["distance"] for _, w, _ in rows],
        "difference": [w["difference"] for _, w, _ in rows],
        "row": [p["row"] for _, _, p in rows],
        "score": [p["score"] for _, _, p in rows],
        "group": [p["group"] for _, _, p in rows],
    }
    names = [*found.data["columns"], *found.data["beside"]]
    types = dict(_TYPES)
    for name in names:
        key = name if name not in columns else f"{name}′"
        columns[key] = [name_of(p["values"][name]) for _, _, p in rows]
        types[key] = "str"
    return plain_frame(columns, types, library)


def text(found: dict[str, Any]) -> Text:
    """The document as a report of 80 columns."""
    return Text("\n".join(_lines(found)))


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield "Individual fairness"
    yield from _wrapped(" · ".join(facts(found)))
    yield ""
    yield from _table(found)
    yield ""
    for sentence in found["interpretation"]:
        yield from _wrapped(f"• {sentence}", "  ")
    for place, w in enumerate(found["worst"][:MOST_SHOWN], 1):
        yield ""
        yield from side_by_side(found, w, place)
    if len(found["worst"]) > MOST_SHOWN:
        yield ""
        yield f"{len(found['worst']) - MOST_SHOWN} more pairs are in the JSON and on the page."
    if found["notes"]:
        yield ""
        for note in found["notes"]:
            yield from _wrapped(f"Note: {shown_name(note, 600)}", "  ")


def facts(found: dict[str, Any]) -> list[str]:
    """What was compared, in a few words."""
    data, options = found["data"], found["options"]
    left = data["rows"] - data["people"]
    compared = [shown_name(name) for name in data["columns"]]
    few = ", ".join(compared[:8]) + (f" and {len(compared) - 8} more" if len(compared) > 8 else "")
    how = "exact" if options["exact"] else f"approximate, recall {options['recall']:.3f}"
    near = f"the {options['k']} nearest people" if options["k"] else f"people within {options['radius']:g}"
    kind = "risk score" if data["risk"] else "score"
    return [
        f"{data['people']:,} people" + (f" ({left:,} left out)" if left else ""),
        f"{kind} {shown_name(data['score'])}",
        f"distance: {options['metric']}" + (f" over {few}" if few else ""),
        f"near: {near} ({how})",
        f"alike: scores within {options['epsilon']:.3g}",
    ]


def _table(found: dict[str, Any]) -> Iterator[str]:
    limit = found["options"]["lipschitz"]
    level = f"{100 * found['options']['confidence']:g}% interval"
    last = f"{'beyond':>9}" if limit is not None else ""
    yield f"{'near pairs of':<22}{'people':>9}{'alike':>7}{level:>15}{'consist.':>9}{'steepest':>9}{last}"
    yield _row("everybody", found["overall"], limit)
    chance = found["chance"]
    yield f"{'any two people':<22}{'':>9}{_number(chance['alike']):>7}{'':>15}{_number(chance['consistency']):>9}"
    for g in found["groups"]:
        name = shown_name(g["name"], 21)
        yield _row(f"{name}*" if g["alike_gap"] is None else name, g, limit)
    if found["groups"]:
        yield f"* reference of {shown_name(found['data']['group'])}"


def _row(name: str, t: dict[str, Any], limit: float | None) -> str:
    ci = t["alike"]["ci"]
    ends = "" if ci is None else f"{ci[0]:.3f}, {ci[1]:.3f}"
    last = "" if limit is None else f"{_number(t['violations']['value']):>9}"
    steepest = t["constant"]["value"]
    return (
        f"{set_cell_size(name, 22)}{t['people']:>9,}{_number(t['alike']['value']):>7}{ends:>15}"
        f"{_number(t['consistency']['value']):>9}{'–' if steepest is None else f'{steepest:.4g}':>9}{last}"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def side_by_side(found: dict[str, Any], w: dict[str, Any], place: int) -> Iterator[str]:
    """Two people, in what they differ."""
    one, other = w["people"]
    yield f"{place}. {told(w)}"
    rows = [("row", one["row"], other["row"]), ("score", f"{one['score']:.4g}", f"{other['score']:.4g}")]
    if found["data"]["group"] is not None:
        rows.append((shown_name(found["data"]["group"], 30), one["group"], other["group"]))
    differ, same = differing(found, w)
    for name, compared in differ[:MOST_ROWS]:
        label = shown_name(name, 30) + ("" if compared else " (not compared)")
        rows.append((label, one["values"][name], other["values"][name]))
    for label, a, b in rows:
        yield f"   {set_cell_size(label, 36)} {_cell(a)} {_cell(b)}".rstrip()
    rest = [f"{len(differ) - MOST_ROWS} more columns differ"] if len(differ) > MOST_ROWS else []
    if same:
        rest.append(f"the same in {same} of {len(found['data']['columns'])} columns compared")
    if rest:
        yield f"   {'; '.join(rest)}"


def told(w: dict[str, Any]) -> str:
    """A pair in a line."""
    where = "at distance 0" if not w["distance"] else f"at distance {w['distance']:.3g}"
    beyond = "" if w["beyond"] is None else f", {w['beyond']:.3g} more than allowed"
    return f"{w['difference']:.3g} apart {where}{beyond}"


def differing(found: dict[str, Any], w: dict[str, Any]) -> tuple[list[tuple[str, bool]], int]:
    """The columns in which two people differ and whether they were compared, and in how many compared ones not."""
    one, other = (p["values"] for p in w["people"])
    data = found["data"]
    differ = [(name, True) for name in data["columns"] if one[name] != other[name]]
    beside = [(name, False) for name in data["beside"] if one[name] != other[name]]
    return [*differ, *beside], len(data["columns"]) - len(differ)


def _cell(value: Any) -> str:
    plain = "–" if value is None else f"{value:.6g}" if isinstance(value, float) else shown_name(value, 18)
    return set_cell_size(plain, 19)


def _wrapped(line: str, indent: str = "") -> list[str]:
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent) or [""]
