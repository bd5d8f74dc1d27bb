"""Counterfactual fairness → its JSON document, and a dataframe of people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.counterfactual.sentences import changed_words, range_words, tipping_words
from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.report.document import fields, header, number
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.counterfactual.counterfactual import CounterfactualFairness
    from evenhand.analyses.counterfactual.effects import Estimate
    from evenhand.analyses.counterfactual.mechanism_choice import Judged
    from evenhand.analyses.counterfactual.results import Answer, Change, Path, Range, WorldAnswer
    from evenhand.analyses.counterfactual.sensitivity import Confounding

FLIP = "attribute flip: other columns stay as they are; says nothing about what the attribute does to them"
NOT_TAKEN = "the model does not take the attribute, so there is nothing to flip"
QUANTILES = ("q05", "q25", "q50", "q75", "q95")


def document(result: CounterfactualFairness) -> dict[str, Any]:
    """The whole result as plain values; it holds nobody's own."""
    asked, options = result.asked, result.asked.options
    said = {"level": options.confidence, "risk": asked.rule.risk}
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
            **fields(options, "confidence bootstrap seed"),
        },
        "flip": {
            "label": FLIP,
            "undefined": None if result.flip is not None else NOT_TAKEN,
            "answer": None if result.flip is None else _answer(result.flip, {**said, "flip": True}),
        },
        "worlds": [_world(w, said) for w in result.worlds],
        "ranges": [_range(r) for r in result.ranges],
        "notes": list(result.notes),
    }


def _world(w: WorldAnswer, said: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": w.name,
        "edges": [{"cause": a, "effect": b} for a, b in w.edges],
        "because": w.because,
        "answer": _answer(w.answer, {**said, "because": w.because}),
        "paths": [_path(p) for p in w.paths],
        "confounding": [_confounding(c) for c in w.confounding],
        "mechanisms": [_mechanism(m) for m in w.mechanisms],
        "alternatives": [fields(a, "form group other mean size") for a in w.alternatives],
        "assumptions": list(w.assumptions),
    }


def _mechanism(m: Judged) -> dict[str, Any]:
    return {
        **fields(m, "node kind explained form chosen"),
        "held_out": [{"form": form, "explained": number(x)} for form, x in m.held_out.items()],
        **{name: fields(told, "share sure") for name, told in (("misfit", m.misfit), ("spread", m.spread))},
    }


def _answer(a: Answer, said: dict[str, Any]) -> dict[str, Any]:
    return {
        "overall": _change(a.overall, said),
        "changes": [_change(c, said) for c in a.changes],
        "largest": {"group": a.largest.group, "other": a.largest.other},
        "bins": list(a.bins),
    }


def _change(c: Change, said: dict[str, Any]) -> dict[str, Any]:
    plain = {
        **fields(c, "group other people"),
        "mean": _estimate(c.mean),
        **fields(c, "p_value p_adjusted"),
        **{name: _estimate(getattr(c, name)) for name in ("size", "moved", "changed", "favoured", "disfavoured")},
        "quantiles": dict(zip(QUANTILES, c.quantiles, strict=True)),
        "histogram": list(c.histogram),
        "undefined": c.undefined,
    }
    return {**plain, "interpretation": changed_words(plain, **said)}


def _estimate(e: Estimate) -> dict[str, Any]:
    low, high = e.floor or (None, None)
    return {**fields(e, "value ci"), "floor_mean": number(low), "floor_95": number(high)}


def _path(p: Path) -> dict[str, Any]:
    return {**fields(p, "via group other"), "mean": _estimate(p.mean), "because": p.because}


def _confounding(c: Confounding) -> dict[str, Any]:
    points = [
        {
            **fields(p, "share correlation"),
            **{name: _estimate(getattr(p, name)) for name in ("mean", "size", "changed")},
        }
        for p in c.points
    ]
    plain = {**fields(c, "group other"), "points": points, **fields(c, "tips within")}
    return {**plain, "interpretation": tipping_words(plain)}


def _range(r: Range) -> dict[str, Any]:
    plain = fields(r, "group other figure lowest highest ci agree")
    return {**plain, "interpretation": range_words(plain)}


# ---- dataframe ----------------------------------------------------------------------------------------------

_TYPES = {
    "row": "float", "group": "str", "other": "str", "score": "float", "score_there": "float", "change": "float",
    "decision": "bool", "decision_there": "float",
}  # fmt: skip


def chosen(world: Any, known: list[str]) -> str:
    """The causal model of this name; without a name the first."""
    name = known[0] if world is None else world
    if name not in known:
        near = nearest(name, known)
        raise UsageError(f"there is no causal model {shown(name)} (there are: {listed(known)}){near}")
    return str(name)


def frame(result: CounterfactualFairness, world: str | None, library: str | None) -> Any:
    """One row per person and other group. Where noise is drawn, `decision_there` is the share of favourable draws."""
    from evenhand.analyses.counterfactual.effects import others_of

    kept, own, here, flips = result.rows
    names = [w.name for w in result.worlds]
    known = [*names, *(["flip"] if result.flip is not None else [])]
    if not known:
        raise UsageError("there is no counterfactual: give a graph, or a model that takes the attribute")
    name = chosen(world, known)
    there = result.worlds[names.index(name)].scores if name in names else flips[:, :, None]
    groups = np.array(list(result.asked.groups), object)
    rule, others = result.asked.rule, others_of(own, len(groups))
    times = len(others)
    columns = {
        "row": np.tile(kept, times), "group": groups[np.tile(own, times)], "other": groups[others.ravel()],
        "score": np.tile(here, times), "score_there": there.mean(-1).ravel(),
        "change": (there.mean(-1) - here).ravel(), "decision": np.tile(rule.favourable(here), times),
        "decision_there": rule.favourable(there).mean(-1).ravel(),
    }  # fmt: skip
    return plain_frame(
        {k: v.tolist() for k, v in columns.items()}, _TYPES, result.library if library is None else library
    )
