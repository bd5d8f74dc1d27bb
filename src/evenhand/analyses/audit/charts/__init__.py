"""Charts of what was found: one Vega-Lite specification for the page, the notebook and files.

The registry: every chart of an audit, what it shows, and what it needs. A chart is a function of a `Subject`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.charts import biases, distributions, forest, outcomes
from evenhand.analyses.audit.charts import null as chance
from evenhand.analyses.audit.charts.subject import Subject, subject
from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.report.charts.chart import Chart

if TYPE_CHECKING:
    from evenhand.analyses.audit.audit import Audit


@dataclass(frozen=True)
class Kind:
    """One chart: what it answers, how it is made, and the curve it draws, if it draws one."""

    asks: str
    make: Callable[..., Chart]
    curve: str | None = None
    pair: bool = True
    """Whether it compares one group with the reference."""


CHARTS: dict[str, Kind] = {
    "forest": Kind("How large is every gap, and could it be chance?", forest.forest),
    "groups": Kind("How often is each group selected, rightly and wrongly?", outcomes.groups, pair=False),
    "cdf": Kind("Which share of each group scores at most so much?", distributions.cdf, "cdf"),
    "pdf": Kind("How are the scores of each group spread?", distributions.pdf, "pdf"),
    "c_bias": Kind("Whom does which threshold favour?", biases.c_bias, "c_bias"),
    "c_bias_ranks": Kind("The same, every person weighing alike?", biases.c_bias_ranks, "c_bias"),
    "roc": Kind("Are people of each group told apart equally well?", outcomes.roc, "roc"),
    "cross_roc": Kind("Are people told apart equally well across groups?", outcomes.cross_roc, "cross_roc"),
    "calibration": Kind("Does the same score mean the same?", outcomes.calibration, "calibration"),
    "bias_density": Kind(
        "Who would have to move how far to be scored alike?", distributions.bias_density, "bias_density"
    ),
    "null": Kind("What would chance alone show?", chance.null),
}


def plot(audit: Audit, name: Any, attribute: Any = None, group: Any = None, measure: Any = None) -> Chart:
    """The chart of that name."""
    if not isinstance(name, str) or name not in CHARTS:
        raise UsageError(
            f"there is no chart {shown(name)} (there are: {listed(CHARTS, 20)}){nearest(str(name), CHARTS)}"
        )
    kind = CHARTS[name]
    if measure is not None and name != "null":
        raise UsageError(f"measure is for the chart 'null', not for {shown(name)}: leave it out")
    if group is not None and not kind.pair:
        raise UsageError(f"the chart {shown(name)} shows every group: leave group out")
    about = subject(audit, attribute, group)
    because = why_not(about, name)
    if because:
        raise UsageError(f"the chart {shown(name)} {because}")
    return kind.make(about, measure) if name == "null" else kind.make(about)


def available(audit: Audit, attribute: Any = None, group: Any = None) -> tuple[str, ...]:
    """The names of the charts that this audit has, of one group."""
    about = subject(audit, attribute, group)
    return tuple(name for name in CHARTS if not why_not(about, name))


def why_not(about: Subject, name: str) -> str | None:
    """Why there is no such chart, if there is none."""
    table, curve = about.table, CHARTS[name].curve
    if name == "null" and not chance.tested(about):
        return "needs a p-value, but there is none: audit with permutations=1000, and measures that are defined"
    if all(rate.undefined for group in about.attribute.groups for rate in group.rates.values()):
        return f"cannot be drawn: nothing is known of the groups of {shown(about.attribute.name)}"
    if curve is None:
        return None
    if any(name == about.attribute.name for name, _ in table.provenance.incomplete):
        return f"cannot be drawn: people of some groups of {shown(about.attribute.name)} were withheld"
    if table.score is None:
        return "needs a score, but these data hold decisions only: pass score= as well"
    if curve in ("roc", "cross_roc", "calibration") and table.label is None:
        return "needs a label, but these data have none: pass label= as well"
    if not table.score_range[0] < table.score_range[1]:
        return "needs scores that differ, but all of them are the same"
    if not _compared(about, curve):
        return f"cannot be drawn for {shown(about.group)} and {shown(about.reference)}: one of them lacks the people"
    return None


def _compared(about: Subject, curve: str) -> bool:
    if curve not in about.curves:
        return False
    there = set(about.curves.tables[curve]["group"])
    if curve == "cross_roc":
        found = about.columns(curve, group=about.group)
        return len(set(found["curve"])) == 2
    alone = curve in ("c_bias", "bias_density")  # these belong to a pair, under the name of the group
    return about.group in there and (alone or about.reference in there)
