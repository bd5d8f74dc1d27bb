"""Audit → the JSON document. The terminal and every other view show what this holds, so they cannot disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.gaps import Gap, Part
from evenhand.analyses.audit.largest_gap import LargestGap
from evenhand.inference.null import Null
from evenhand.inference.significance import TestResult
from evenhand.report.document import header, number, pair
from evenhand.report.frame import plain_frame
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from evenhand.analyses.audit.attribute import AttributeAudit, Impossibility, RateTest
    from evenhand.analyses.audit.audit import Audit
    from evenhand.analyses.audit.groups import Estimate, GroupSummary
    from evenhand.analyses.options import Options


def document(audit: Audit) -> dict[str, Any]:
    """The whole audit as plain values."""
    options = audit.options
    return {
        **header("audit"),
        "data": data_of(audit.table, options.threshold),
        "options": _options(options),
        "attributes": [_attribute(a) for a in audit.attributes],
        "notes": list(audit.notes),
    }


def _options(options: Options) -> dict[str, Any]:
    scores = options.scores
    return {
        "confidence": options.confidence,
        "bootstrap": options.bootstrap,
        "seed": options.seed,
        "ranks": scores.ranks,
        "calibration_bins": scores.calibration_bins,
        "bandwidth": scores.bandwidth,
        "permutations": options.permutations,
        "null": options.null,
        "interval": options.interval,
        "stratified": options.stratified,
    }


def data_of(table: Table, threshold: float | None) -> dict[str, Any]:
    m = table.meaning
    return {
        "rows": table.rows,
        "left_out": dict(table.left_out),
        "favorable": m.favorable,
        "threshold": threshold,
        "score_range": list(table.score_range) if table.score is not None else None,
        "score": m.score,
        "risk": m.risk,
        "label": m.label,
        "prediction": m.prediction,
        "weight": m.weight,
        "cluster": m.cluster,
        "clusters": None if table.cluster is None else int(table.cluster.max()) + 1,
        "decision_rule": _rule(table, threshold),
        "table": table.digest(),
    }


def _rule(table: Table, threshold: float | None) -> str:
    if table.decision is not None:
        return f"{table.meaning.prediction} is {table.meaning.favorable}"
    return f"{table.meaning.score} {'<' if table.meaning.risk else '≥'} {threshold:.15g}"


def _attribute(a: AttributeAudit) -> dict[str, Any]:
    return {
        "name": a.name,
        "reference": a.reference,
        "groups": [_group(g) for g in a.groups],
        "measures": [_gap(g) for g in a.measures],
        "largest": [_largest(g) for g in a.largest],
        "impossibility": _impossibility(a.impossibility, a.reference),
        "tests": [_rate_test(t) for t in a.tests],
        "too_small": list(a.too_small),
        "resolution": a.resolution,
        "calibration_resolution": a.calibration_resolution,
    }


def _group(g: GroupSummary) -> dict[str, Any]:
    return {
        "name": g.name,
        "members": list(g.members),
        "n": g.n,
        "left_out": g.left_out,
        "rates": {rate: _estimate(e) for rate, e in g.rates.items()},
    }


def _estimate(e: Estimate) -> dict[str, Any]:
    return {"value": number(e.value), "ci": pair(e.ci), "undefined": e.undefined}


def _gap(g: Gap) -> dict[str, Any]:
    def own(name: str) -> Any:
        """What only one kind of gap has."""
        return getattr(g, name, None)

    return {
        "id": g.id,
        "family": g.measure.family,
        "group": g.group,
        "reference": g.reference,
        "value": number(g.value),
        "signed": number(g.signed),
        "positive": number(own("positive")),
        "negative": number(own("negative")),
        "positive_share": number(own("positive_share")),
        "negative_share": number(own("negative_share")),
        "ratio": number(own("ratio")),
        "ci": pair(g.ci),
        "method": g.method,
        "ci_bootstrap": pair(g.ci_bootstrap),
        "ci_signed": pair(own("ci_signed")),
        "ci_positive": pair(own("ci_positive")),
        "ci_negative": pair(own("ci_negative")),
        "tolerance": g.tolerance,
        "passes": g.passes,
        "conclusive": g.conclusive,
        "undefined": g.undefined,
        "interpretation": g.interpretation,
        "parts": [_part(p) for p in g.parts],
        "empty_bins": list(own("empty_bins") or ()),
        "left_out_share": number(own("left_out_share")),
        "resamples_undefined": g.resamples_undefined,
        **_null(g.null, g.excess),
        "p_adjusted": number(g.p_adjusted),
        "p_adjusted_bh": number(g.p_adjusted_bh),
        "detectable": number(g.detectable),
        "underpowered": g.underpowered,
        "tests": [_test(t) for t in own("tests") or ()],
        "cohens_h": number(own("cohens_h")),
    }


def _null(null: Null | None, excess: float | None) -> dict[str, Any]:
    """What chance alone shows."""
    return {
        "p_value": None if null is None else number(null.p_value),
        "null_mean": None if null is None else number(null.mean),
        "null_95": None if null is None else number(null.high),
        "excess": number(excess),
        "null_method": None if null is None else null.method,
        "null_undefined": None if null is None else number(null.undefined),
    }


def _test(t: TestResult) -> dict[str, Any]:
    return {"name": t.name, "statistic": number(t.statistic), "p_value": number(t.p_value)}


def _rate_test(t: RateTest) -> dict[str, Any]:
    return {"rate": t.rate, "df": t.df, "chi_squared": _test(t.chi_squared), "g": _test(t.g)}


def _part(p: Part) -> dict[str, Any]:
    return {
        "name": p.name,
        "group": number(p.group),
        "reference": number(p.reference),
        "difference": number(p.difference),
        "ci": pair(p.ci),
    }


def _largest(g: LargestGap) -> dict[str, Any]:
    return {
        "id": g.id,
        "pair": None if g.pair is None else list(g.pair),
        "value": number(g.value),
        "ci": pair(g.ci),
        "method": g.method,
        "tolerance": g.tolerance,
        "passes": g.passes,
        "undefined": g.undefined,
        "left_out": list(g.left_out),
        "mean": number(g.mean),
        "ci_mean": pair(g.ci_mean),
        **_null(g.null, g.excess),
    }


def _impossibility(i: Impossibility, reference: str) -> dict[str, Any]:
    return {
        "base_rates_differ": i.base_rates_differ,
        "p_value": number(i.p_value),
        "test": "Pearson chi-squared",
        "conflicts": [list(c) for c in i.conflicts],
        "forced": [
            {
                "group": f.group,
                "base_rate": number(f.base_rate),
                "fpr": number(f.fpr),
                "forced_fpr": number(f.forced_fpr),
            }
            for f in i.forced
        ],
        "equalised_to": reference,
        "undefined": i.undefined,
    }


def least(m: dict[str, Any]) -> bool:
    """Whether no exchanged table showed so large a gap, so that the p-value may be smaller than it is written."""
    draws = (m["null_method"] or "").split(" ")[0]
    return draws.isdigit() and m["p_value"] <= 1 / (int(draws) + 1)


_TYPES = {
    "attribute": "str", "id": "str", "group": "str", "reference": "str", "value": "float", "signed": "float",
    "positive": "float", "negative": "float", "ratio": "float", "ci_low": "float", "ci_high": "float", "method": "str",
    "p_value": "float", "p_adjusted": "float", "p_adjusted_bh": "float", "null_mean": "float", "null_95": "float",
    "excess": "float", "detectable": "float", "tolerance": "float", "passes": "bool", "conclusive": "bool",
    "left_out_share": "float", "undefined": "str", "interpretation": "str",
}  # fmt: skip


def frame(audit: Audit, library: str | None = None) -> Any:
    """One row per attribute, measure and group."""
    return plain_frame(_columns(audit), _TYPES, library or audit.library)


def _columns(audit: Audit) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in _TYPES}
    for attribute in audit.to_dict()["attributes"]:
        for m in attribute["measures"]:
            low, high = m["ci"] or (None, None)
            row = {**m, "attribute": attribute["name"], "ci_low": low, "ci_high": high}
            for name, column in columns.items():
                column.append(row[name])
    return columns
