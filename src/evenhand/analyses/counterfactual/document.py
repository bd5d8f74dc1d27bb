"""Counterfactual fairness → its JSON document, a dataframe of people, and a report of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.counterfactual.sentences import (
    changed_words,
    interval_words,
    percent,
    range_words,
    tipping_words,
)
from evenhand.errors import UsageError, listed, nearest, shown, shown_name
from evenhand.report.document import header, number, pair
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.counterfactual.counterfactual import CounterfactualFairness
    from evenhand.analyses.counterfactual.effects import Estimate
    from evenhand.analyses.counterfactual.results import Answer, Change, Path, Range, WorldAnswer
    from evenhand.analyses.counterfactual.sensitivity import Confounding

WIDTH = 80
FLIP = "attribute flip: other columns stay as they are; says nothing about what the attribute does to them"
NOT_TAKEN = "the model does not take the attribute, so there is nothing to flip"
QUANTILES = ("q05", "q25", "q50", "q75", "q95")
MOST_PAIRS = 12
ONLY = "world"
"""What a world is called that is the only one."""


def document(result: CounterfactualFairness) -> dict[str, Any]:
    """The whole result as plain values; it holds nobody's own."""
    asked, options = result.asked, result.asked.options
    words = {"level": options.confidence, "risk": asked.rule.risk}
    return {
        **header("counterfactual"),
        "data": {
            "rows": result.people,
            "left_out": dict(result.left_out),
            "attribute": asked.attribute,
            "groups": [{"name": name, "n": n} for name, n in asked.groups.items()],
            "features": list(asked.features),
            "takes_attribute": asked.takes,
            "model": asked.model,
            "favorable": asked.favorable,
            "risk": asked.rule.risk,
            "threshold": asked.rule.threshold,
        },
        "options": {
            "mechanisms": asked.mechanisms,
            "tolerance": asked.rule.tolerance,
            "confounding": list(asked.shares),
            "confidence": options.confidence,
            "bootstrap": options.bootstrap,
            "seed": options.seed,
        },
        "flip": {
            "label": FLIP,
            "undefined": None if result.flip is not None else NOT_TAKEN,
            "answer": None if result.flip is None else _answer(result.flip, {**words, "flip": True}),
        },
        "worlds": [_world(w, words) for w in result.worlds],
        "ranges": [_range(r) for r in result.ranges],
        "notes": list(result.notes),
    }


def _world(w: WorldAnswer, words: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": w.name,
        "edges": [{"cause": a, "effect": b} for a, b in w.edges],
        "because": w.because,
        "answer": _answer(w.answer, {**words, "because": w.because}),
        "paths": [_path(p) for p in w.paths],
        "confounding": [_confounding(c) for c in w.confounding],
        "mechanisms": [{"node": n, "kind": w.kinds[n], "explained": number(x)} for n, x in w.explained.items()],
        "assumptions": list(w.assumptions),
    }


def _answer(a: Answer, words: dict[str, Any]) -> dict[str, Any]:
    return {
        "overall": _change(a.overall, words),
        "changes": [_change(c, words) for c in a.changes],
        "largest": {"group": a.largest.group, "other": a.largest.other},
        "bins": list(a.bins),
    }


def _change(c: Change, words: dict[str, Any]) -> dict[str, Any]:
    found = {
        "group": c.group,
        "other": c.other,
        "people": c.people,
        "mean": _estimate(c.mean),
        "p_value": number(c.p_value),
        "p_adjusted": number(c.p_adjusted),
        "size": _estimate(c.size),
        "moved": _estimate(c.moved),
        "changed": _estimate(c.changed),
        "favoured": _estimate(c.favoured),
        "disfavoured": _estimate(c.disfavoured),
        "quantiles": dict(zip(QUANTILES, c.quantiles, strict=True)),
        "histogram": list(c.histogram),
        "undefined": c.undefined,
    }
    return {**found, "interpretation": changed_words(found, **words)}


def _estimate(e: Estimate) -> dict[str, Any]:
    low, high = e.floor or (None, None)
    return {"value": number(e.value), "ci": pair(e.ci), "floor_mean": number(low), "floor_95": number(high)}


def _path(p: Path) -> dict[str, Any]:
    return {"via": p.via, "group": p.group, "other": p.other, "mean": _estimate(p.mean), "because": p.because}


def _confounding(c: Confounding) -> dict[str, Any]:
    points = [
        {
            "share": p.share,
            "correlation": number(p.correlation),
            "mean": _estimate(p.mean),
            "size": _estimate(p.size),
            "changed": _estimate(p.changed),
        }
        for p in c.points
    ]
    found = {
        "group": c.group, "other": c.other, "points": points, "tips": number(c.tips), "within": number(c.within)
    }  # fmt: skip
    return {**found, "interpretation": tipping_words(found)}


def _range(r: Range) -> dict[str, Any]:
    found = {
        "group": r.group,
        "other": r.other,
        "figure": r.figure,
        "lowest": number(r.lowest),
        "highest": number(r.highest),
        "ci": pair(r.ci),
        "agree": r.agree,
    }
    return {**found, "interpretation": range_words(found)}


# ---- dataframe ----------------------------------------------------------------------------------------------

_TYPES = {
    "row": "float", "group": "str", "other": "str", "score": "float", "score_there": "float", "change": "float",
    "decision": "bool", "decision_there": "float",
}  # fmt: skip


def frame(result: CounterfactualFairness, world: str | None, library: str | None) -> Any:
    """One row per person and other group. Where noise is drawn, `decision_there` is the share of favourable draws."""
    from evenhand.analyses.counterfactual.effects import others_of

    kept, own, here, flips = result.rows
    names = [w.name for w in result.worlds]
    known = [*names, *(["flip"] if result.flip is not None else [])]
    if not known:
        raise UsageError("there is no other world: give a graph, or a model that takes the attribute")
    chosen = known[0] if world is None else world
    if chosen not in known:
        raise UsageError(f"there is no world {shown(chosen)} (there are: {listed(known)}){nearest(str(chosen), known)}")
    there = result.worlds[names.index(chosen)].scores if chosen in names else flips[:, :, None]
    groups = np.array(list(result.asked.groups), object)
    rule, others = result.asked.rule, others_of(own, len(groups))
    times = len(others)
    columns = {
        "row": np.tile(kept, times), "group": groups[np.tile(own, times)], "other": groups[others.ravel()],
        "score": np.tile(here, times), "score_there": there.mean(-1).ravel(),
        "change": (there.mean(-1) - here).ravel(), "decision": np.tile(rule.favourable(here), times),
        "decision_there": rule.favourable(there).mean(-1).ravel(),
    }  # fmt: skip
    return plain_frame({k: v.tolist() for k, v in columns.items()}, _TYPES, library or result.library)


# ---- terminal -----------------------------------------------------------------------------------------------


def render(document: dict[str, Any]) -> Any:
    """The document as text for a terminal."""
    from rich.text import Text

    return Text("\n".join(_lines(document)))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield "Evenhand counterfactual fairness"
    yield from _wrapped(facts(document))
    flip = document["flip"]
    yield from _heading("Attribute flip")
    yield from _wrapped(f"({FLIP})")
    if flip["answer"] is None:
        yield from _wrapped(f"Undefined: {flip['undefined']}.")
    else:
        yield from _table(flip["answer"])
    for world in document["worlds"]:
        yield from _world_lines(world)
    if document["ranges"]:
        yield from _heading("Over all worlds")
        for r in document["ranges"]:
            yield from _wrapped(f"• {r['interpretation']}", "  ")
    if document["notes"]:
        yield from _heading("Notes")
        for note in document["notes"]:
            yield from _wrapped(f"• {shown_name(note, 600)}", "  ")


def facts(document: dict[str, Any]) -> str:
    """Who was asked about what."""
    data, options = document["data"], document["options"]
    groups = ", ".join(f"{shown_name(g['name'])} {g['n']:,}" for g in data["groups"])
    below = "<" if data["risk"] else "≥"
    return (
        f"{data['rows']:,} people by {shown_name(data['attribute'])} ({groups}). Model {shown_name(data['model'])}, "
        f"favourable at score {below} {data['threshold']:g}; a change beyond {options['tolerance']:g} counts."
    )


def _world_lines(world: dict[str, Any]) -> Iterator[str]:
    yield from _heading("In the world of the graph" if world["name"] == ONLY else f"In {shown_name(world['name'], 60)}")
    if world["because"]:
        yield from _wrapped(f"Nothing changes: {world['because']}.")
    else:
        yield from _table(world["answer"])
        yield ""
        yield "Ways a change takes, on average"
        for p in world["paths"][: 6 * MOST_PAIRS]:
            yield from _wrapped(_way(p), "    ")
        if world["confounding"]:
            yield ""
            yield "If a hidden cause accounts for part of it"
            for c in world["confounding"][:MOST_PAIRS]:
                yield from _wrapped(f"• {c['interpretation']}", "  ")
    yield ""
    yield "This rests on"
    for sentence in world["assumptions"]:
        yield from _wrapped(f"• {shown_name(sentence, 2000)}", "  ")
    for m in world["mechanisms"]:
        told = "does not vary" if m["explained"] is None else f"{100 * m['explained']:.0f}% explained by its causes"
        yield from _wrapped(f"• mechanism of {shown_name(m['node'])} ({m['kind']}): {told}", "  ")


def _way(p: dict[str, Any]) -> str:
    via = {"direct": "direct", "rest": "acting together"}.get(p["via"], f"through {shown_name(p['via'])}")
    who = f"{shown_name(p['group'], 20)} as {shown_name(p['other'], 20)}"
    because = f" ({p['because']})" if p["because"] else ""
    return f"  {who:<24} {via:<24} {_signed(p['mean']['value'])}{interval_words(p['mean']['ci'])}{because}"


def _table(answer: dict[str, Any]) -> Iterator[str]:
    yield f"{'had been':<22}{'people':>8}{'change':>8}{'interval':>16}{'|size|':>7}{'chance':>7}{'other':>6}{'p':>6}"
    changes = sorted(answer["changes"], key=lambda c: -c["size"]["value"])
    for c in [*changes[:MOST_PAIRS], answer["overall"]]:
        who = "everybody, another"
        if c["group"] is not None:
            who = f"{shown_name(c['group'], 11)} as {shown_name(c['other'], 10)}"
        ci = c["mean"]["ci"]
        span = "undefined" if ci is None else f"{ci[0]:+.3f} {ci[1]:+.3f}"
        chance = c["size"]["floor_95"]
        yield (
            f"{who:<22}{c['people']:>8,}{_signed(c['mean']['value']):>8}{span:>16}{c['size']['value']:>7.3f}"
            f"{'' if chance is None else f'{chance:.3f}':>7}{percent(c['changed']['value']):>6}{_p(c['p_adjusted']):>6}"
        )
    if len(changes) > MOST_PAIRS:
        yield f"and {len(changes) - MOST_PAIRS:,} more pairs (in the JSON)"
    yield "|size|: mean size of changes; chance: what fitting alone shows of it, at most;"
    yield "other: decided otherwise; p: of no mean change, adjusted for all pairs"
    yield ""
    for c in [*changes[:MOST_PAIRS], answer["overall"]]:
        yield from _wrapped(f"• {c['interpretation']}", "  ")


def _p(p: float | None) -> str:
    if p is None:
        return ""
    return "<.001" if p < 0.001 else f"{p:.3f}"[1:] if p < 0.9995 else "1"


def _signed(value: float | None) -> str:
    return "undefined" if value is None else f"{round(value, 3) + 0.0:+.3f}"  # no −0


def _heading(text: str) -> list[str]:
    return ["", f"{text} {'─' * max(WIDTH - len(text) - 1, 3)}"]


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent) or [""]
