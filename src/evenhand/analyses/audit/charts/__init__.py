"""Charts of an audit: one Vega-Lite specification for the page, the notebook and files.

The registry: every chart, and why an audit may not have it. A chart is a function of a `Subject`.
"""

from __future__ import annotations

from collections.abc import Callable

from evenhand.analyses.audit.charts import biases, distributions, forest, null, outcomes, strata
from evenhand.analyses.audit.charts.subject import DENSITIES, Subject, subject
from evenhand.errors import shown
from evenhand.report.charts.registry import Kind

__all__ = ["CHARTS", "subject"]


def _any(s: Subject) -> str | None:
    """Why nothing of a kind can be drawn, whatever it shows."""
    if s.measure is not None:
        return "shows all it can: measure is for the chart 'null', leave it out"
    return _unknown(s)


def _unknown(s: Subject) -> str | None:
    if all(rate.undefined for group in s.attribute.groups for rate in group.rates.values()):
        return f"cannot be drawn: nothing is known of the groups of {shown(s.attribute.name)}"
    return None


def _everyone(s: Subject) -> str | None:
    return "shows every group: leave group out" if s.given else _any(s)


def _tested(s: Subject) -> str | None:
    if not null.tested(s):
        return "needs a p-value, but there is none: audit with permutations=1000, and measures that are defined"
    return _unknown(s)


def _stratified(s: Subject) -> str | None:
    if s.attribute.within is None:
        return "needs strata: audit with within= (--within)"
    if strata.told(s) is None:
        return f"cannot be drawn: no stratum has selection rates of {shown(s.group)} and {shown(s.reference)}"
    return _any(s)


def _curve(name: str) -> Callable[[Subject], str | None]:
    """Why the pair has no such curve, if it has none."""

    def lacks(s: Subject) -> str | None:
        table, attribute = s.table, s.attribute.name
        if (because := _any(s)) is not None:
            return because
        if any(incomplete == attribute for incomplete, _ in table.provenance.incomplete):
            return f"cannot be drawn: people of some groups of {shown(attribute)} were withheld"
        if table.score is None:
            return "needs a score, but these data hold decisions only: pass score= as well"
        if name in ("pdf_by_outcome", "roc", "cross_roc", "calibration") and table.label is None:
            return "needs a label, but these data have none: pass label= as well"
        if not table.score_range[0] < table.score_range[1]:
            return "needs scores that differ, but all of them are the same"
        if not _compared(s, name):
            return f"cannot be drawn for {shown(s.group)} and {shown(s.reference)}: one of them lacks the people"
        return s.misleading(name) if name in DENSITIES else None

    return lacks


def _compared(s: Subject, curve: str) -> bool:
    if curve not in s.curves:
        return False
    there = set(s.curves.tables[curve]["group"])
    if curve == "cross_roc":
        return len(set(s.columns(curve, group=s.group)["curve"])) == 2
    alone = curve in ("c_bias", "bias_density")  # these belong to a pair, under the name of the group
    return s.group in there and (alone or s.reference in there)


CHARTS = {
    "forest": Kind(forest.forest, _any),
    "groups": Kind(outcomes.groups, _everyone),
    "cdf": Kind(distributions.cdf, _curve("cdf")),
    "pdf": Kind(distributions.pdf, _curve("pdf")),
    "pdf_by_outcome": Kind(distributions.pdf_by_outcome, _curve("pdf_by_outcome")),
    "c_bias": Kind(biases.c_bias, _curve("c_bias")),
    "c_bias_ranks": Kind(biases.c_bias_ranks, _curve("c_bias")),
    "roc": Kind(outcomes.roc, _curve("roc")),
    "cross_roc": Kind(outcomes.cross_roc, _curve("cross_roc")),
    "calibration": Kind(outcomes.calibration, _curve("calibration")),
    "bias_density": Kind(distributions.bias_density, _curve("bias_density")),
    "strata": Kind(strata.strata, _stratified),
    "null": Kind(null.null, _tested),
}
