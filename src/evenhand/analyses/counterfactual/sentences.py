"""Counterfactual fairness in sentences, made from its JSON document."""

from __future__ import annotations

import itertools
from typing import Any

from evenhand.errors import shown_name
from evenhand.report.format import interval, number, percent

NEARLY_ALL, MOST = 0.95, 0.5


def changed_words(
    c: dict[str, Any], level: float, risk: bool, because: str | None = None, flip: bool = False
) -> str:  # fmt: skip
    """What becomes of a group, or of everybody."""
    if because:
        return f"{_who(c)} would score the same: {because}."
    decided = f"; {share(c['changed']['value'])} would be decided otherwise{_in_whose_favour(c)}."
    if c["group"] is None:
        size = c["size"]
        return (
            f"{_who(c)} would score another {size['value']:.3f} on average in either direction"
            f"{interval_words(size['ci'], level)}{_floor(size)}{decided}"
        )
    mean = c["mean"]
    ci = mean["ci"]
    far = f"{abs(mean['value']):.3f} {'higher' if mean['value'] > 0 else 'lower'}"
    worse = f" (a risk: {'worse' if mean['value'] > 0 else 'better'} for them)" if risk and mean["value"] else ""
    told = f"{_who(c)} would score {far if mean['value'] else 'the same on average'} "
    told += f"{'if the model were told' if flip else 'as'} {shown_name(c['other'])}{worse}{interval_words(ci, level)}"
    if mean["value"] and ci is not None and ci[0] <= 0 <= ci[1]:
        told += ", which may be nothing"
    return told + decided


def _who(c: dict[str, Any]) -> str:
    return "Everybody, had they been another," if c["group"] is None else shown_name(c["group"])


def _floor(size: dict[str, Any]) -> str:
    """Whether fitting alone shows as much."""
    if size["floor_95"] is None or size["value"] > size["floor_95"]:
        return ""
    return f", no more than fitting alone shows (up to {size['floor_95']:.3f})"


def _in_whose_favour(c: dict[str, Any]) -> str:
    changed = c["changed"]["value"]
    if not changed:
        return ""
    good = c["favoured"]["value"] / changed
    side, share = ("in their favour", good) if good >= 0.5 else ("against them", 1 - good)
    if share >= 1 - 1e-9:
        return f", all {side}"
    if share <= MOST:
        return ", as many for as against them"
    return f", {'nearly all' if share >= NEARLY_ALL else 'most'} {side}"


def tipping_words(c: dict[str, Any]) -> str:
    """Where the conclusion tips."""
    who = f"{shown_name(c['group'])} as {shown_name(c['other'])}"
    seems = "of what the attribute seems to do to other columns"
    tips, points = c["tips"], c["points"]
    if any(p["mean"]["ci"] is None for p in points):
        told = "without intervals it is not known where the conclusion tips"
    elif tips is None:
        last = points[-1]
        left = f"{last['mean']['value']:+.3f}, {last['mean']['ci'][0]:.3f} to {last['mean']['ci'][1]:.3f}"
        told = f"a mean change remains if a hidden cause accounts for {share(last['share'])} {seems} ({left})"
    elif tips <= 0:
        return f"{who}: no mean change is shown in the first place, so there is nothing to explain away."
    else:
        told = f"a mean change is shown unless a hidden cause accounts for {share(tips)} or more {seems}"
        told += _needed(points, tips)
    if c["within"]:
        told += f"; from {share(c['within'])} on the mean size is within the tolerance{_needed(points, c['within'])}"
    return f"{who}: {told}."


def _needed(points: list[dict[str, Any]], share: float) -> str:
    strength = _strength(points, share)
    if strength is None:
        return ""
    return f" (such a cause must correlate {strength:.2f} with the attribute and what it acts on)"


def _strength(points: list[dict[str, Any]], share: float) -> float | None:
    """The correlation of the point at this share, between two points in a straight line."""
    known = [(p["share"], p["correlation"]) for p in points if p["share"] >= 0 and p["correlation"] is not None]
    for (a, x), (b, y) in itertools.pairwise(known):
        if a <= share <= b:
            return float(x + (y - x) * (share - a) / (b - a))
    return None


_AGREED = {
    "mean": "in the direction", "size": "whether that is beyond the tolerance", "changed": "whether anybody is",
}  # fmt: skip
FIGURE = {"mean": "mean change", "size": "mean size of the change", "changed": "share decided otherwise"}


def range_words(r: dict[str, Any]) -> str:
    """One figure over all graphs."""
    who = "everybody" if r["group"] is None else f"{shown_name(r['group'])} as {shown_name(r['other'])}"
    agree = f"the graphs {'agree' if r['agree'] else 'do not agree'} {_AGREED[r['figure']]}"
    return (
        f"{who}, {FIGURE[r['figure']]}: from {r['lowest']:.3f} to {r['highest']:.3f} over the graphs"
        f"{interval_words(r['ci'], None, 'intervals together')}; {agree}."
    )


def interval_words(ci: list[float] | None, level: float | None = None, name: str = "interval") -> str:
    """
    >>> interval_words([0.1, 0.25], 0.95), interval_words(None), interval_words([0, 1])
    (' (95% interval 0.100 to 0.250)', '', ' (0.000 to 1.000)')
    """
    if ci is None:
        return ""
    what = f"{100 * level:g}% {name} " if level is not None else "" if name == "interval" else f"{name} "
    return f" ({what}{interval(ci)})"


def via(path: str, limit: int = 40) -> str:
    """What a change passes on its path."""
    return {"direct": "direct", "rest": "acting together"}.get(path, f"through {shown_name(path, limit)}")


def causal_model(name: str) -> str:
    """What a causal model is called; the only one has no name of its own."""
    return "the causal model" if name == "world" else f"causal model {shown_name(name, 60)}"


def share(of_people: float) -> str:
    """A share of people: small ones with a decimal.

    >>> share(0.123), share(0.0042), share(0), share(0.0001), share(0.999)
    ('12%', '0.4%', '0%', '<0.1%', '>99%')
    """
    return percent(of_people, digits=1 if of_people < 0.095 else 0)


def explained(mechanism: dict[str, Any]) -> str:
    """How much of a variable its mechanism explains: less than nothing if it is worse than none."""
    return "–" if mechanism["explained"] is None else f"{number(100 * mechanism['explained'], digits=0)}%"


def other_forms(mechanism: dict[str, Any]) -> str:
    """What the forms that a mechanism does not have explain."""
    others = [held for held in mechanism["held_out"] if held["form"] != mechanism["form"]]
    return ", ".join(f"{held['form']} {explained(held)}" for held in others)


def misfit_words(mechanism: dict[str, Any]) -> str:
    """What the causes still tell of what a mechanism leaves open."""
    parts = {"misfit": "its residuals", "spread": "their size"}
    sure = [f"{share(mechanism[k]['share'])} of {words}" for k, words in parts.items() if mechanism[k]["sure"]]
    return f"misfits: causes tell {' and '.join(sure)}" if sure else ""


def alternative_words(world: dict[str, Any], form: str) -> str:
    """What the largest change would be, had all mechanisms another form."""
    largest = world["answer"]["largest"]
    a = next(a for a in world["alternatives"] if (a["form"], a["group"], a["other"]) == (form, *largest.values()))
    found = next(c for c in world["answer"]["changes"] if (c["group"], c["other"]) == tuple(largest.values()))
    return (
        f"With {form} mechanisms only, {shown_name(a['group'])} as {shown_name(a['other'])} would change by "
        f"{number(a['mean'], sign=True)} on average and by {number(a['size'])} in size (here: "
        f"{number(found['mean']['value'], sign=True)} and {number(found['size']['value'])})."
    )
