"""Measures of practice on the groups of an attribute: the gap of every group to the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.analyses.audit.gaps import Gap, Part, RateGap, judged, undefined_gap
from evenhand.analyses.cutoff import cutoff, not_of_all, quantile_rule
from evenhand.analyses.options import Options
from evenhand.errors import UsageError, shown_name
from evenhand.inference import interval
from evenhand.inference.highest import against_highest
from evenhand.inference.null import Null
from evenhand.inference.significance import two_proportion_z
from evenhand.inference.two_means import mean_difference
from evenhand.measures.practice import PracticeMeasure
from evenhand.measures.rates import share, trials
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table

DECILES = tuple(k / 10 for k in range(1, 10))
NOISY = "because the counts hold noise, which this would take for people"
SPANNING = "because rows of one cluster are in several groups"
_NOTHING = 1e-300
"""In place of a ratio of 0, whose logarithm is not finite."""


@dataclass(frozen=True)
class Compared:
    """The groups of an attribute, and everybody there is."""

    table: Table
    everybody: Table
    """Also people who are in no group that is compared."""
    grouping: Grouping
    reference: int
    decisions: Counts
    options: Options
    chosen: bool
    """Whether the reference is what it is by its selection rate."""

    def pairs(self) -> list[int]:
        return [g for g in range(len(self.grouping.groups)) if g != self.reference]

    def names(self, group: int) -> tuple[str, str]:
        return self.grouping.groups[group], self.grouping.groups[self.reference]


def practice_gaps(m: PracticeMeasure, about: Compared, base: Mapping[str, Gap], spanning: bool) -> list[Gap]:
    """Every group against the reference; `base` are the gaps by the measure that says the same."""
    if about.table.noise is not None:
        return _undefined(m, about, NOISY)
    if m.scored and (why := not_of_all(about.everybody)):
        return _undefined(m, about, f"because {why}")
    found = _OF[m.id](m, about, base, spanning)
    return [g if g.undefined else replace(g, interpretation=_sentence(m, g, about.options.confidence)) for g in found]


def _undefined(m: PracticeMeasure, about: Compared, because: str) -> list[Gap]:
    return [undefined_gap(m, *about.names(g), because) for g in about.pairs()]


def _sentence(m: PracticeMeasure, gap: Gap, confidence: float) -> str:
    group, reference = map(shown_name, (gap.group, gap.reference))
    parity = 1.0 if m.scale == "ratio" else 0.0
    at = gap.estimate
    text = f"{group} and {reference} are alike" if at == parity else f"{group} {m.more if at > parity else m.less}"
    if at != parity:
        text += f" than {reference}"
    return judged(m, gap, text, confidence)


# ---- in the units of another measure ----------------------------------------------------------------------------


def _scaled(m: PracticeMeasure, about: Compared, base: Mapping[str, Gap], factor: Callable[[int], float]) -> list[Gap]:
    """The signed difference by another measure times a factor."""
    found: list[Gap] = []
    for g in about.pairs():
        names, of = about.names(g), base[about.grouping.groups[g]]
        if of.undefined or of.signed is None:
            found.append(undefined_gap(m, *names, of.undefined or "because it has no sign"))
            continue
        by = factor(g)
        signed = of.signed * by + 0.0
        found.append(
            RateGap(
                m.id, *names, m.tolerance, abs(signed), signed, _times(of.ci, by), of.method,
                ci_plain=_times(of.ci_plain, by), ci_bootstrap=_times(of.ci_bootstrap, by),
                resolution=of.resolution * abs(by), resamples_undefined=of.resamples_undefined,
                null=None if of.null is None else _null_times(of.null, abs(by)), tests=getattr(of, "tests", ()),
                detectable=None if of.detectable is None else of.detectable * abs(by),
            )
        )  # fmt: skip
    return found


def _times(ci: Pair | None, by: float) -> Pair | None:
    if ci is None:
        return None
    low, high = sorted((ci[0] * by, ci[1] * by))
    return low, high


def _null_times(null: Null, by: float) -> Null:
    return replace(
        null, mean=null.mean * by, high=null.high * by, detectable=null.detectable * by, sample=null.sample * by
    )


def _shortfall(m: PracticeMeasure, about: Compared, base: Mapping[str, Gap], spanning: bool) -> list[Gap]:
    """Expected at the pooled rate minus actual: the difference of rates times the harmonic sum of the two sizes."""
    n = np.asarray(about.decisions.array.sum((-3, -1)), np.float64)
    return _scaled(m, about, base, lambda g: -float(n[g] * n[about.reference] / (n[g] + n[about.reference])))


def _standardised(m: PracticeMeasure, about: Compared, base: Mapping[str, Gap], spanning: bool) -> list[Gap]:
    spread = _spread(_unit(about.everybody), np.asarray(about.everybody.mass, np.float64))
    off = _off(about.everybody)
    if spread <= off:
        what = "everybody has the same score" if spread == 0 else "scores are known in ranges too wide for it"
        return _undefined(m, about, f"because {what}")
    gaps = _scaled(m, about, base, lambda g: 100 / spread)
    return [replace(g, resolution=(g.resolution + off * g.value / spread) * spread / (spread - off)) for g in gaps]


def _off(table: Table) -> float:
    """How far the standard deviation of scores that are known in ranges may be from the exact one."""
    if table.spans is None or table.score is None:
        return 0.0
    low, high = table.score_range
    half = table.spans.width(table.score) / (2 * (high - low))
    return float(np.sqrt(np.average(half**2, weights=np.asarray(table.mass, np.float64))))


def _unit(table: Table) -> Floats:
    """Scores as shares of the way from the least favourable to the most favourable possible one."""
    low, high = table.score_range
    return (table.oriented() - low) / ((high - low) or 1.0)


def _spread(values: Floats, mass: Floats) -> float:
    """The standard deviation of all these people."""
    mean = np.average(values, weights=mass)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=mass)))


def _odds_ratio(m: PracticeMeasure, about: Compared, base: Mapping[str, Gap], spanning: bool) -> list[Gap]:
    p, n = share(about.decisions, "selection_rate"), trials(about.decisions, "selection_rate")
    r, confidence = about.reference, about.options.confidence

    def limits(a: Any, b: Any, level: interval.Number) -> interval.Interval:
        return odds_ratio_interval(p[a], n[a], p[b], n[b], level)

    everybody = np.arange(len(p))
    plain = limits(everybody, np.full(len(p), r), confidence)
    ends = against_highest(limits, p, n, r, confidence) if about.chosen else plain
    found: list[Gap] = []
    for g in about.pairs():
        names, of = about.names(g), base[about.grouping.groups[g]]
        if p[r] in (0, 1) or not np.isfinite(p[g]):
            what = "nobody" if p[r] == 0 else "everybody"
            found.append(undefined_gap(m, *names, f"because {what} of {shown_name(names[1])} is selected"))
            continue
        if p[g] == 1:
            found.append(undefined_gap(m, *names, f"because everybody of {shown_name(names[0])} is selected"))
            continue
        if spanning:
            found.append(undefined_gap(m, *names, SPANNING))
            continue
        value = float(p[g] / (1 - p[g]) / (p[r] / (1 - p[r])))
        null = None if of.null is None else _only_p(of.null)
        found.append(
            RateGap(
                m.id, *names, m.tolerance, value, float(p[g] - p[r]),
                (float(ends[0][g]), float(ends[1][g])), "logit with half a person more in each cell",
                ci_plain=(float(plain[0][g]), float(plain[1][g])) if about.chosen else None, null=null, ratio=value,
                tests=getattr(of, "tests", ()),
            )
        )  # fmt: skip
    return found


def _only_p(null: Null) -> Null:
    """The p-value of another measure, without the distribution that is in its units."""
    return replace(null, mean=np.nan, high=np.nan, detectable=np.nan, sample=np.zeros(0), chance=None)


def odds_ratio_interval(
    a: Floats, n_a: Floats, b: Floats, n_b: Floats, confidence: interval.Number
) -> interval.Interval:
    """Of an odds ratio: Woolf's on the logit scale, with half a person more in each cell (Gart 1966; Agresti 1999).

    >>> low, high = odds_ratio_interval(np.array(0.3), np.array(50.0), np.array(0.5), np.array(40.0), 0.95)
    >>> round(float(low), 3), round(float(high), 3)
    (0.186, 1.027)
    """
    cells = [np.maximum(k, 0.0) for k in (a * n_a, n_a - a * n_a, b * n_b, n_b - b * n_b)]
    more = [k + 0.5 for k in cells]
    middle = np.log(more[0] / more[1]) - np.log(more[2] / more[3])
    half = interval.z_value(confidence) * np.sqrt(sum(1 / k for k in more))
    low = np.where((cells[0] < 1e-9) | (cells[3] < 1e-9), 0.0, np.exp(middle - half))
    high = np.where((cells[1] < 1e-9) | (cells[2] < 1e-9), np.inf, np.exp(middle + half))
    return low, high


# ---- score minus outcome ----------------------------------------------------------------------------------------


def _residual(m: PracticeMeasure, about: Compared, base: Mapping[str, Gap], spanning: bool) -> list[Gap]:
    table, whole = about.table, about.everybody
    if whole.score_range != (0.0, 1.0):
        low, high = whole.score_range
        return _undefined(m, about, f"because the score runs from {low:g} to {high:g} and is no probability")
    if table.spans is not None:
        return _undefined(m, about, "because scores are known in ranges")
    assert table.label is not None
    assert whole.label is not None
    spread = _spread(_unit(whole) - whole.label, np.asarray(whole.mass, np.float64))
    if spread == 0:
        return _undefined(m, about, "because the score is the outcome")
    value, found = 100 * (_unit(table) - table.label) / spread, []
    for g in about.pairs():
        names = about.names(g)
        inside = (about.grouping.codes == g, about.grouping.codes == about.reference)
        apart = mean_difference(table, inside, value, table.label)
        if apart.free <= 0:
            found.append(undefined_gap(m, *names, "because a group of one shows no spread"))
            continue
        null = apart.null(about.options.confidence) if about.options.permutations else None
        parts = (Part("mean of score − outcome, % of SD", *apart.means, apart.value, None),)
        found.append(
            RateGap(
                m.id, *names, m.tolerance, abs(apart.value), apart.value, apart.ci(about.options.confidence), "Welch",
                parts=parts, null=null, detectable=None if null is None else null.detectable,
            )
        )  # fmt: skip
    return found


# ---- at every decile --------------------------------------------------------------------------------------------


def _by_quantile(m: PracticeMeasure, about: Compared, base: Mapping[str, Gap], spanning: bool) -> list[Gap]:
    try:
        cuts = {q: cutoff(quantile_rule(f"quantile:{q:g}"), about.everybody).threshold for q in DECILES}
    except UsageError:
        return _undefined(m, about, "because scores are known in ranges that go across the deciles")
    if spanning:
        return _undefined(m, about, SPANNING)
    counts = {q: about.table.decisions(about.grouping, t) for q, t in cuts.items()}
    several = {t: q for q, t in cuts.items()}  # deciles that select the same people are one
    rates = {q: (share(counts[q], "selection_rate"), trials(counts[q], "selection_rate")) for q in several.values()}
    rates = {q: (p, n) for q, (p, n) in rates.items() if 0 < (p * n).sum() < n.sum()}
    if not rates:
        return _undefined(m, about, "because every decile selects everybody or nobody")
    return [_at_deciles(m, about, g, rates) for g in about.pairs()]


def _at_deciles(m: PracticeMeasure, about: Compared, g: int, rates: Mapping[float, tuple[Floats, Floats]]) -> Gap:
    names, r, confidence = about.names(g), about.reference, about.options.confidence
    nobody = [q for q, (p, _) in rates.items() if p[r] == 0]
    if nobody:
        return undefined_gap(m, *names, f"because nobody of {shown_name(names[1])} is above the {nobody[0]:g} quantile")
    pairs = np.array([[p[g], p[r], n[g], n[r]] for p, n in rates.values()])
    a, b, n_a, n_b = pairs.T
    alone = interval.ratio_of_shares(a, n_a, b, n_b, confidence)
    level = interval.together(confidence, len(rates))
    together = interval.ratio_of_shares(a, n_a, b, n_b, level)
    with np.errstate(divide="ignore"):
        logs = np.log(a / b)
    worst = int(np.argmax(np.abs(logs)))
    low, high = _furthest(*(np.log(np.maximum(end, _NOTHING)) for end in (*alone, *together)))
    parts = tuple(
        Part(f"above the {q:g} quantile", x, y, x - y, (float(lo), float(hi)))
        for q, x, y, lo, hi in zip(rates, a.tolist(), b.tolist(), *together, strict=True)
    )
    tested = [two_proportion_z(x * n, n, y * k, k) for x, y, n, k in zip(a, b, n_a, n_b, strict=True)]
    p_value = min(1.0, len(tested) * min(t.p_value for t in tested))
    how = f"Bonferroni over {len(tested)} z tests"
    null = Null(p_value, np.nan, np.nan, np.nan, how, np.zeros(0)) if about.options.permutations else None
    return RateGap(
        m.id, *names, m.tolerance, float(np.exp(logs[worst])), float(a[worst] - b[worst]), (low, high),
        "score, corrected for skewness, deciles together", parts=parts, null=null,
        ratio=float(np.exp(logs[worst])),
    )  # fmt: skip


def _furthest(low: Floats, high: Floats, low_together: Floats, high_together: Floats) -> Pair:
    """An interval of the ratio furthest from 1, from intervals of the logarithms of all, alone and together.

    It is at least as far away as all intervals together say, on whichever side that may be, and no further than the
    end of its own interval, which is one of these.
    """
    least = float(interval.largest_difference(low_together, high_together)[0])
    below, above = (low <= -least).any(), (high >= least).any()
    ends = (low.min() if below else least, high.max() if above else -least)
    return tuple(0.0 if end <= np.log(_NOTHING) else float(np.exp(end)) for end in ends)  # type: ignore[return-value]


_OF: dict[str, Callable[[PracticeMeasure, Compared, Mapping[str, Gap], bool], list[Gap]]] = {
    "odds_ratio": _odds_ratio, "shortfall": _shortfall, "standardized_mean_difference": _standardised,
    "residual_smd": _residual, "selection_ratio_by_quantile": _by_quantile,
}  # fmt: skip


def bases(chosen: Sequence[Any]) -> list[str]:
    """The measures whose gaps are needed though nobody asked for them."""
    there = {m.id for m in chosen}
    wanted = [m.base for m in chosen if isinstance(m, PracticeMeasure) and m.base is not None]
    return [id_ for id_ in dict.fromkeys(wanted) if id_ not in there]
