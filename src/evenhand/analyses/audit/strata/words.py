"""What is said of groups compared within strata: a sentence for each pooled gap, and where it turns round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.wording import measure_of
from evenhand.errors import listed, shown, shown_name
from evenhand.measures.measure import SLACK
from evenhand.measures.rates import RATES
from evenhand.report.format import interval, number, p_words
from evenhand.tables.arrays import Pair

if TYPE_CHECKING:
    from evenhand.analyses.audit.attribute import AttributeAudit
    from evenhand.analyses.audit.strata.compared import Within
    from evenhand.analyses.audit.strata.rates import PooledRate
    from evenhand.analyses.audit.strata.scores import PooledScore

MOST_NAMED = 5
MOST_REVERSED = 4
TURNED = "the sign of the gap turns round (Simpson's paradox)"
CHANCE = ", though within strata it may be chance"


def rate_sentence(one: PooledRate, within: Within, confidence: float) -> str:
    """One rate of a group within strata, beside that of everybody."""
    title, group, reference = RATES[one.rate].title, shown_name(one.group), shown_name(one.reference)
    where = _where(within, len(within.strata) - len(one.lacking))
    if one.risk_difference is None:
        return f"{where}, the {title} of {group} is not compared with that of {reference} {one.undefined}."
    told = _points(one.risk_difference.value)
    ends = _ends(one.risk_difference.ci, confidence)
    text = f"{where}, the {title} of {group} is {told} that of {reference}, pooled{ends}; {p_words(one.p_value)})"
    if one.crude is None:
        return f"{text}."
    plain = f"for everybody together it is {_points(one.crude).removesuffix(' as')}"
    if not one.reversed:
        return f"{text}; {plain}."
    return f"{text}; {plain}: {TURNED}{'' if _sure(one.risk_difference.ci) else CHANCE}."


def score_sentence(one: PooledScore, within: Within, confidence: float) -> str:
    """One score-level measure of two groups with the same mix of strata, beside that of everybody."""
    gap = one.gap
    group, reference, measure = shown_name(gap.group), shown_name(gap.reference), gap.measure
    where = f"With the same mix of {shown_name(within.name)}"
    if gap.undefined:
        return f"{where}, {measure.title} of {group} against {reference} is undefined {gap.undefined}."
    value, sign = gap.estimate, measure.signed
    ends = "" if gap.ci is None else f" ({100 * confidence:g}% interval {interval(gap.ci, sign=sign)}"
    chance = "" if gap.p_value is None else f"{'; ' if ends else ' ('}{p_words(gap.p_value)}"
    text = f"{where}, {measure.title} of {group} against {reference} is {number(value, sign=sign)}{ends}{chance}"
    text += ")" if ends or chance else ""
    if one.crude is None:
        return f"{text}."
    plain = one.crude if sign else abs(one.crude)
    turned = f": {TURNED}{'' if _sure(gap.ci) else CHANCE}" if one.reversed and measure.signed else ""
    return f"{text}; without it, {number(plain, sign=sign)}{turned}."


def in_verdict(within: dict[str, Any], worst: dict[str, str] | None) -> str:
    """The sentence that a verdict ends with: about the rate or the measure that it names, else about selection."""
    if worst is None:
        return str(next((one["interpretation"] for one in within["rates"]), ""))
    rates = getattr(measure_of({"id": worst["measure"]}), "components", ()) or ("selection_rate",)
    scores = [one for one in within["scores"] if (one["id"], one["group"]) == (worst["measure"], worst["group"])]
    pooled = {one["rate"]: one for one in within["rates"] if one["group"] == worst["group"]}
    told = [pooled[rate] for rate in rates if rate in pooled][:1] or [*pooled.values()][:1]
    return str((scores or told or [{"interpretation": ""}])[0]["interpretation"])


def reversals(a: AttributeAudit) -> Iterator[str]:
    """Pooled gaps with the other sign than those of everybody, if either of the two is more than chance."""
    if a.within is None:
        return
    signed = (g for g in a.measures if g.measure.signed)
    crude = {(getattr(g.measure, "components", ()), g.group): g.ci for g in signed}
    found = [
        _turned(one, a.within)
        for one in a.within.rates
        if one.reversed and one.risk_difference is not None
        and (_sure(one.risk_difference.ci) or _sure(crude.get(((one.rate,), one.group))))
    ]  # fmt: skip
    yield from found[:MOST_REVERSED]
    if len(found) > MOST_REVERSED:
        yield f"{len(found) - MOST_REVERSED} more gaps by {shown(a.name)} have the other sign within strata"


def _turned(one: PooledRate, within: Within) -> str:
    assert one.crude is not None
    assert one.risk_difference is not None
    whose = f"the {RATES[one.rate].title} of {shown_name(one.group, 40)}"
    return (
        f"within {shown(within.name)} the sign of the gap turns round: {whose} is {_points(one.crude)} that of "
        f"{shown_name(one.reference, 40)} for everybody together, and "
        f"{_points(one.risk_difference.value)} it within strata"
    )


def remarks(a: AttributeAudit, confidence: float) -> Iterator[str]:
    """Strata that contribute nothing, people without one, and gaps that differ from stratum to stratum."""
    within = a.within
    if within is None:
        return
    if within.lacking:
        yield (
            f"{len(within.lacking):,} of {len(within.strata):,} strata of {shown(within.name)} lack a group of "
            f"{shown(a.name)} and contribute nothing to comparisons with it: {listed(within.lacking, MOST_NAMED)}"
        )
    if within.without:
        nowhere = f"have no value of {shown(within.name)} and are in no stratum"
        yield f"{within.without:,} people of {shown(a.name)} {nowhere}"
    for one in within.rates:
        h = one.homogeneity
        if one.rate == "selection_rate" and h is not None and not h.sparse and h.tarone.p_value < 1 - confidence:
            yield (
                f"the odds of selection of {shown_name(one.group)} against {shown_name(one.reference)} differ from "
                f"stratum to stratum of {shown(within.name)} (Breslow–Day {p_words(h.tarone.p_value)}): what is pooled "
                "is a mean of different gaps, so look at each"
            )


def _where(within: Within, strata: int) -> str:
    return f"Within {shown_name(within.name)} ({strata:,} {'stratum' if strata == 1 else 'strata'})"


def _points(difference: float) -> str:
    if abs(difference) < SLACK:
        return "the same as"
    return f"{100 * abs(difference):.1f} percentage points {'above' if difference > 0 else 'below'}"


def _ends(ci: Pair | None, confidence: float) -> str:
    assert ci is not None
    low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in ci)
    return f" ({100 * confidence:g}% interval {low} to {high}"


def _sure(ci: Pair | None) -> bool:
    """Whether an interval leaves parity out."""
    return ci is not None and (ci[0] > 0 or ci[1] < 0)
