"""Audit → the JSON document. The terminal and every other view show what this holds, so they cannot disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.gaps import Gap, Part
from evenhand.analyses.audit.information import Information
from evenhand.analyses.audit.largest_gap import LargestGap
from evenhand.analyses.audit.repeated import command
from evenhand.analyses.audit.sample_size import NOBODY, Sample, settling
from evenhand.analyses.audit.strata.document import within_document
from evenhand.analyses.audit.strata.words import in_verdict
from evenhand.analyses.audit.unknown import Unknown
from evenhand.analyses.audit.verdict import attribute_verdict, audit_verdict
from evenhand.analyses.profiles.rule_tables import profile_document
from evenhand.errors import shown_name
from evenhand.inference.null import Null
from evenhand.inference.significance import TestResult
from evenhand.report.document import fields, header, null_fields, number
from evenhand.report.frame import rows_frame
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from evenhand.analyses.audit.attribute import AttributeAudit, Impossibility, RateTest
    from evenhand.analyses.audit.audit import Audit
    from evenhand.analyses.audit.groups import GroupSummary
    from evenhand.analyses.options import Options


def document(audit: Audit) -> dict[str, Any]:
    """The whole audit as plain values."""
    options, data = audit.options, data_of(audit.table, audit.options.threshold)
    attributes = [_attribute(a, audit.table.grouping(a.name).attributes, options.confidence) for a in audit.attributes]
    attributes = [
        {**told, "verdict": _with_strata(attribute_verdict(told, data, a.key, options.confidence), told)}
        for told, a in zip(attributes, audit.attributes, strict=True)
    ]
    profile, reading = audit.profile, audit.reading
    words = command(audit.table, options, attributes, reading, () if profile is None else profile.words())
    told = {
        **header("audit"),
        "verdict": audit_verdict(attributes),
        **({} if audit.cover is None else {"cover": audit.cover.to_dict()}),
        "data": data,
        "options": _options(options),
        "command": words,
        "attributes": attributes,
        "caveats": list(audit.caveats),
        "notes": list(audit.notes),
    }
    if profile is None:
        return told
    return {**told, "profile": profile_document(profile, told, audit.table.weight is None)}


def _with_strata(verdict: dict[str, Any], attribute: dict[str, Any]) -> dict[str, Any]:
    """The verdict, whose sentence says how large the gap is within strata, if there are any; its word stays."""
    if "within" not in attribute:
        return verdict
    told = in_verdict(attribute["within"], verdict["worst"])
    return {**verdict, "sentence": f"{verdict['sentence']} {told}".strip()}


def _options(options: Options) -> dict[str, Any]:
    return {
        **fields(options, "confidence bootstrap seed"),
        **fields(options.scores, "ranks calibration_bins gap_bins bandwidth"),
        **fields(options, "permutations null interval stratified"),
        "tolerance": dict(options.tolerance),
        "exclude_below": options.exclude_below,
        "cutoff": None if options.cutoff is None else str(options.cutoff),
        **({"within": list(options.within)} if options.within else {}),
    }


def data_of(table: Table, threshold: float | None) -> dict[str, Any]:
    m = table.meaning
    return {
        "rows": table.rows,
        "left_out": dict(table.left_out),
        **fields(m, "favorable favorable_prediction"),
        "threshold": threshold,
        "score_range": list(table.score_range) if table.score is not None else None,
        **fields(m, "score risk label prediction weight cluster"),
        "clusters": None if table.cluster is None else int(table.cluster.max()) + 1,
        "decision_rule": _rule(table, threshold),
        "table": table.digest(),
    }


def _rule(table: Table, threshold: float | None) -> str:
    if table.decision is not None:
        return f"{table.meaning.prediction} is {table.meaning.decided}"
    assert threshold is not None
    signs, told = ("≥", "<"), f"{threshold:.15g}"
    if threshold > table.extremes[1] and told == f"{table.extremes[1]:.15g}":  # next to the highest score there is
        signs = (">", "≤")
    return f"{table.meaning.score} {signs[table.meaning.risk]} {told}"


def _attribute(a: AttributeAudit, columns: tuple[str, ...], confidence: float) -> dict[str, Any]:
    sizes = {g.name: g.n for g in a.groups}
    return {
        "name": a.name,
        "columns": list(columns),
        "reference": a.reference,
        "reference_rule": a.rule,
        "groups": [_group(g) for g in a.groups],
        "measures": [_gap(g, settling(g, (sizes[g.group], sizes[g.reference]), confidence)) for g in a.measures],
        "largest": [_largest(g) for g in a.largest],
        "information": None if a.information is None else _information(a.information, shown_name(a.name), confidence),
        "impossibility": _impossibility(a.impossibility, a.reference),
        "tests": [_rate_test(t) for t in a.tests],
        "too_small": list(a.too_small),
        "excluded": list(a.excluded),
        "resolution": a.resolution,
        "calibration_resolution": a.calibration_resolution,
        "unknown": None if a.unknown is None else _unknown(a.unknown),
        **({} if a.within is None else {"within": within_document(a.within, confidence)}),
    }


def _unknown(u: Unknown) -> dict[str, Any]:
    decided = "n selected rejected"
    labels = zip(("unfavourable", "favourable"), u.by_label or (), strict=False)
    return {
        **fields(u.people, decided),
        "share": u.share,
        "by_label": None if u.by_label is None else {name: fields(one, decided) for name, one in labels},
        "undefined": u.undefined,
        "groups": [
            {"group": name, "rates": {rate: fields(b, "value bounds ci") for rate, b in rates.items()}}
            for name, rates in u.rates.items()
        ],
        "measures": [fields(b, "id group reference value bounds ci crosses undefined") for b in u.measures],
    }


def _group(g: GroupSummary) -> dict[str, Any]:
    rates = {rate: fields(e, "value ci undefined") for rate, e in g.rates.items()}
    return {**fields(g, "name members n left_out"), "rates": rates}


def _gap(g: Gap, needed: Sample | None) -> dict[str, Any]:
    return {
        "id": g.id,
        "family": g.measure.family,
        **fields(g, "group reference value signed positive negative positive_share negative_share ratio ci method"),
        **fields(g, "ci_plain ci_bootstrap ci_signed ci_positive ci_negative tolerance passes conclusive undefined"),
        **fields(g, "unjudged resolution smoothing"),
        "interpretation": g.interpretation,
        "parts": [_part(p) for p in g.parts],
        "roc_parts": [
            fields(p, "people label weight area signed_area value share ci") for p in getattr(g, "roc_parts", ())
        ],
        "empty_bins": list(getattr(g, "empty_bins", ())),
        "left_out_bins": list(getattr(g, "left_out_bins", ())),
        **fields(g, "left_out_share bounds resamples_undefined"),
        **_null(g.null, g.excess),
        **fields(g, "exploratory p_adjusted p_adjusted_at_most p_adjusted_bh detectable underpowered"),
        "tests": [_test(t) for t in getattr(g, "tests", ())],
        **fields(g, "cohens_h standard_deviations"),
        "needed": None if needed is None or needed is NOBODY else fields(needed, "n n_reference"),
    }


def _part(p: Part) -> dict[str, Any]:
    ends = None if p.bin is None else fields(p.bin, "low high score")
    return {**fields(p, "name group reference difference ci"), "bin": ends}


def _null(null: Null | None, excess: float | None) -> dict[str, Any]:
    return {**null_fields(null, excess), "null_undefined": None if null is None else number(null.undefined)}


def _test(t: TestResult) -> dict[str, Any]:
    return fields(t, "name statistic p_value")


def _rate_test(t: RateTest) -> dict[str, Any]:
    return {"rate": t.rate, "df": t.df, "chi_squared": _test(t.chi_squared), "g": _test(t.g)}


def _largest(g: LargestGap) -> dict[str, Any]:
    return {
        **fields(
            g, "id pair value ci method tolerance passes undefined unjudged resolution bounds left_out mean ci_mean"
        ),
        **_null(g.null, g.excess),
    }


def _information(i: Information, attribute: str, confidence: float) -> dict[str, Any]:
    return {
        **fields(i, "id groups value ci method tolerance passes conclusive undefined unjudged resolution smoothing"),
        "interpretation": i.interpretation(attribute, confidence),
        **_null(i.null, i.excess),
    }


def _impossibility(i: Impossibility, reference: str) -> dict[str, Any]:
    return {
        **fields(i, "base_rates_differ p_value"),
        "test": "Pearson chi-squared",
        **fields(i, "conflicts"),
        "statements": [
            {
                **fields(one, "criteria theorem unless equalised gives"),
                "forced": [fields(f, "group now forced") for f in one.forced],
            }
            for one in i.statements
        ],
        "forced": [fields(f, "group base_rate fpr forced_fpr") for f in i.forced],
        "equalised_to": reference,
        "undefined": i.undefined,
    }


_TYPES = {
    "attribute": "str", "id": "str", "group": "str", "reference": "str", "value": "float", "signed": "float",
    "positive": "float", "negative": "float", "ratio": "float", "ci_low": "float", "ci_high": "float", "method": "str",
    "p_value": "float", "p_adjusted": "float", "p_adjusted_bh": "float", "null_mean": "float", "null_95": "float",
    "excess": "float", "detectable": "float", "tolerance": "float", "passes": "bool", "conclusive": "bool",
    "left_out_share": "float", "undefined": "str", "interpretation": "str",
}  # fmt: skip


def frame(audit: Audit, library: str | None = None) -> Any:
    """One row per attribute, measure and group."""
    rows = [
        {**m, "attribute": a["name"], **dict(zip(("ci_low", "ci_high"), m["ci"] or (None, None), strict=True))}
        for a in audit.to_dict()["attributes"]
        for m in a["measures"]
    ]
    return rows_frame(rows, _TYPES, audit.library if library is None else library)
