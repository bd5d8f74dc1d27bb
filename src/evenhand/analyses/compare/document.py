"""Comparison → the JSON document, and a dataframe of all its points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.compare.ranking import LEAST, Criterion, Standing
from evenhand.analyses.compare.runs import ROLES
from evenhand.errors import UsageError, shown, shown_name
from evenhand.inference.seed_resample import Resampled
from evenhand.report.document import fields, header, number
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.compare.compare import Comparison

EXACT = 1e-12
_RESULTS = ("performance", "fairness", "dto", "performance_sd", "fairness_sd")


def document(c: Comparison) -> dict[str, Any]:
    """The whole comparison as plain values."""
    deviations = c.runs.deviations
    names = list(c.methods)
    return {
        **header("compare"),
        "data": _data(c),
        "options": _options(c),
        "criteria": [{"id": k.id, "best": k.by, "floor": k.floor, "meaning": meaning(k)} for k in c.terms.criteria],
        "methods": [_method(c, s, deviations) for s in c.standings],
        "wins": [{"from": w.start, "to": w.end, "methods": [names[i] for i in w.highest]} for w in c.winners],
        "interpretation": interpretation(c),
        "notes": list(c.notes),
    }


def _data(c: Comparison) -> dict[str, Any]:
    columns = c.question.columns
    return {
        "runs": int(c.runs.seeds.sum()),
        "left_out": c.runs.left_out,
        "settings": len(c.runs.seeds),
        "seeds": [int(c.runs.seeds.min()), int(c.runs.seeds.max())],
        "columns": {"method": columns.method, **{role: getattr(columns, role) for role in (*ROLES, "loss")}},
        "setting_columns": list(columns.settings),
        "higher_is_better": {r: r not in columns.lower_is_better for r in ("performance", "fairness")},
    }


def _options(c: Comparison) -> dict[str, Any]:
    terms, normalize = c.terms, c.question.normalize
    return {
        "front": terms.front,
        "random_performance": terms.random_performance,
        "utopia": list(terms.utopia),
        "normalize": list(normalize) if isinstance(normalize, tuple) else normalize,
        "scale": list(terms.scale),
        **fields(c.question, "baseline base margins"),
        **fields(terms, "performance_from fairness_from dto_to"),
        "missing": c.question.missing,
        "confidence": terms.confidence,
        "bootstrap": c.resamples,
        "seed": c.seed,
    }


def _method(c: Comparison, s: Standing, deviations: Any) -> dict[str, Any]:
    runs, region = c.runs, c.terms.region
    return {
        "name": runs.methods[s.method],
        **fields(s, "rank runs settings"),
        "auc_pfc": number(s.area),
        **_interval(s.area_ci),
        "first_share": s.area_first,
        "undefined": _no_area(c, s),
        "ci_undefined": _no_interval(c, s),
        "dto_area": number(s.polar),
        "partial_auc_pfc": number(s.partial) if region else None,
        "partial_ci": _interval(s.partial_ci)["ci"],
        "single_run_settings": s.single,
        "front": [_point(c, i, deviations) for i in s.front.tolist()],
        "selected": {k.id: _selected(c, s, i, deviations) for i, k in enumerate(c.terms.criteria)},
    }


def _point(c: Comparison, place: int, deviations: Any) -> dict[str, Any]:
    """One setting: the means over its seeds, their standard deviations, its distance."""
    runs = c.runs

    def results(*roles: int) -> dict[str, Any]:
        performance, fairness = (float(runs.means[role, place]) for role in roles)
        sd = [number(float(deviations[role, place])) for role in roles]
        distance = float(c.terms.distance(*runs.means[list(roles), place]))
        return dict(zip(_RESULTS, (performance, fairness, distance, *sd), strict=True))

    return {
        **results(0, 1),
        "dev": results(2, 3) if runs.has_dev else None,
        "loss": None if c.question.columns.loss is None else float(runs.means[4, place]),
        "seeds": int(runs.seeds[place]),
        "settings": {name: values[place] for name, values in runs.settings.items()},
    }


def _selected(c: Comparison, s: Standing, i: int, deviations: Any) -> dict[str, Any]:
    place = s.places[i]
    if place < 0:
        point = dict.fromkeys((*_RESULTS, "dev", "loss", "seeds", "settings"))
        return {**point, **_interval(None), "first_share": None, "undefined": _infeasible(c, s, i)}
    found = s.dto_cis[i] if s.dto_cis else None
    share = s.dto_first if i == 0 else None
    return {
        **_point(c, place, deviations), **_interval(found, c.terms.furthest), "first_share": share, "undefined": None,
    }  # fmt: skip


def _interval(found: Resampled | None, most: float = 1.0) -> dict[str, Any]:
    """An interval, as far as values are possible: from 0 to the most."""
    if found is None:
        return {"ci": None, "bias": None}
    return {"ci": [min(max(end, 0.0), most) for end in found.ci], "bias": found.bias}


def meaning(k: Criterion) -> str:
    """A criterion in words."""
    if k.by == "dto":
        return "smallest distance to the optimum"
    if k.by == "loss":
        return "smallest loss, of all settings"
    if k.floor is None:
        return f"best {k.by}"
    other = "fairness" if k.by == "performance" else "performance"
    return f"best {k.by} with {other} at least {figure(k.floor)}"


def figure(value: float, other: float = math.nan) -> str:
    """A number as it was given, or with four digits; with more where fewer would hide that another one differs."""
    given = f"{value:.10g}"
    if abs(float(given) - value) < EXACT and len(given) <= len("0.123456"):
        return given
    digits = (d for d in range(4, 17) if value == other or f"{value:.{d}g}" != f"{other:.{d}g}")
    return f"{value:.{next(digits, 17)}g}"


def method_name(name: str, limit: int = 40) -> str:
    """For the eye, in quotes where spaces would be overlooked."""
    return shown_name(name, limit) if name == name.strip() else f"'{shown_name(name, limit - 2)}'"


def _no_area(c: Comparison, s: Standing) -> str | None:
    if math.isfinite(s.area):
        return None
    if c.terms.random_performance is None:
        return "because no performance of a random guess was given"
    best = float(c.runs.means[0, s.front].max())
    return (
        f"because no setting on the front of {method_name(c.runs.methods[s.method])} performs better than a random "
        f"guess ({figure(c.terms.random_performance)}); its best is {figure(best, c.terms.random_performance)}"
    )


def _no_interval(c: Comparison, s: Standing) -> str | None:
    if s.area_ci is not None or not math.isfinite(s.area):
        return None
    if s.single == len(s.front):
        return "because every setting on the front has one run"
    few = {0: "because nothing was resampled", 1: "because one resample shows no spread"}
    return few.get(c.resamples, "because too many resamples have no area")


def _infeasible(c: Comparison, s: Standing, i: int) -> str:
    k = c.terms.criteria[i]
    other = 3 if k.by == "performance" else 2
    best = float(c.runs.means[other, s.front].max())
    what = "fairness" if k.by == "performance" else "performance"
    floor = math.inf if k.floor is None else k.floor
    return (
        f"because no setting of {method_name(c.runs.methods[s.method])} reaches {what} {figure(floor, best)} on the "
        f"{'development ' if c.runs.has_dev else ''}results; its best is {figure(best, floor)}"
    )


def interpretation(c: Comparison) -> str:
    """The finding in a sentence or two."""
    first = [s for s in c.standings if s.rank == 1]
    names = [method_name(c.runs.methods[s.method]) for s in first]
    if len(c.standings) == 1:
        return f"{names[0]} is the only method: there is nothing to compare it with."
    by_area = math.isfinite(first[0].area)
    what = "the largest area under its front" if by_area else "the smallest distance to the optimum"
    if len(first) > 1:
        return f"{', '.join(names[:5])} share {what}."
    share = first[0].area_first if by_area else first[0].dto_first
    sure = "" if share is None or c.resamples < LEAST else f", and so it has in {100 * share:.0f} % of resamples"
    text = f"{names[0]} has {what}{sure}."
    nearest = min((s.dtos[0], c.runs.methods[s.method]) for s in c.standings if s.places[0] >= 0)[1]
    if by_area and nearest != c.runs.methods[first[0].method]:
        text += f" Of models selected by distance to the optimum, that of {method_name(nearest)} is nearest to it."
    return text


def points_frame(c: Comparison, library: str | None) -> Any:
    """One row per setting."""
    runs = c.runs
    on = np.zeros(len(runs.seeds), np.bool_)
    for s in c.standings:
        on[s.front] = True
    results = {role: side.tolist() for role, side in zip(ROLES, runs.means[:4], strict=True)}
    if not runs.has_dev:
        results |= dict.fromkeys(ROLES[2:], [None] * len(on))
    if c.question.columns.loss is not None:
        results["loss"] = runs.means[4].tolist()
    columns: dict[str, list[Any]] = {"method": [runs.methods[m] for m in runs.method.tolist()], **runs.settings}
    added = {
        **results, "seeds": runs.seeds.astype(float).tolist(), "dto": c.terms.distance(*runs.means[:2]).tolist(),
        "on_front": on.tolist(),
    }  # fmt: skip
    for name in added:
        if name in columns:
            raise UsageError(f"the settings column {shown(name)} has the name of a result: rename it for to_frame")
    types = {name: _type(values) for name, values in runs.settings.items()}
    types = {"method": "str", **types, **dict.fromkeys(added, "float"), "on_front": "bool"}
    columns = {name: _typed(values, types[name]) for name, values in {**columns, **added}.items()}
    return plain_frame(columns, types, library)


def _type(values: list[Any]) -> str:
    present = {type(v) for v in values if v is not None}
    if present and present <= {int, float}:
        return "float"
    return "bool" if present == {bool} else "str"


def _typed(values: list[Any], kind: str) -> list[Any]:
    make = {"str": str, "float": float, "bool": bool}[kind]
    return [None if v is None else make(v) for v in values]
