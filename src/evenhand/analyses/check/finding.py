"""One rule on one comparison: kept to or not, by how much, how surely, and what would settle it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from evenhand.analyses.audit.evidence import tested
from evenhand.analyses.audit.gaps import Gap, RateGap, ScoreGap
from evenhand.analyses.audit.information import Information
from evenhand.analyses.audit.largest_gap import LargestGap
from evenhand.analyses.audit.sample_size import NOBODY, Reach, Sample, reach_of, sample_needed
from evenhand.analyses.audit.verdict import word_of
from evenhand.analyses.audit.verdict_words import NOT_COMPUTED
from evenhand.analyses.check.rule import Rule
from evenhand.errors import shown_name
from evenhand.measures.measure import sized, worst_of_interval
from evenhand.measures.registry import Measure
from evenhand.tables.arrays import Pair

Status = Literal["satisfied", "violated", "not shown", "undefined", "too small", "skipped"]
FAILING = ("violated", "not shown", "undefined", "too small")
WITHOUT = "without interval"


@dataclass(frozen=True)
class Finding:
    """What one rule says about one comparison."""

    rule: Rule
    attribute: str
    group: str | None
    reference: str | None
    status: Status
    n: int | None = None
    n_reference: int | None = None
    value: float = math.nan
    """The size of the gap; of a ratio, the lower rate over the higher."""
    signed: float | None = None
    ci: Pair | None = None
    """Interval of `value`, without direction."""
    confidence: float | None = None
    null_mean: float | None = None
    """What chance alone shows on average."""
    judged: float = math.nan
    """What the limit is compared with: the value, the far end of its interval, or what is above chance."""
    by: float | None = None
    """How far `judged` is beyond the limit; 0 if it is not."""
    conclusive: bool | None = None
    """Whether the whole interval is on the side of the limit where the gap is."""
    because: str | None = None
    """Why there is nothing to judge, or why it is not judged."""
    word: str = NOT_COMPUTED
    """The verdict of an audit, with the limit of the rule as its tolerance."""
    needed: Sample | None = None
    """Of an inconclusive one: who would settle it."""
    on_limit: bool = False
    """Whether nobody would, because the gap is so near the limit."""
    direction: str | None = None
    left_out: str | None = None
    """Who could not be compared, if anybody."""

    @property
    def passes(self) -> bool | None:
        """None if it was not judged."""
        return None if self.status == "skipped" else self.status not in FAILING

    @property
    def without_interval(self) -> bool:
        """Whether it was judged by a number of which nobody knows how far it may be off."""
        return self.status in ("satisfied", "violated") and self.ci is None

    @property
    def interpretation(self) -> str:
        """The finding in words."""
        return " ".join(filter(None, (_verdict(self), self.direction, self.left_out, _open(self))))

    @property
    def pair(self) -> str:
        """Who is compared."""
        if self.group is None:
            return "all groups"
        return " against ".join(shown_name(name) for name in (self.group, self.reference) if name is not None)


def unjudged(
    rule: Rule, attribute: str, names: tuple[str | None, str | None], because: str, what: Status, outcome: str
) -> Finding:
    """A comparison that is undefined or too small: failing, or skipped."""
    return Finding(rule, attribute, *names, what if outcome == "fail" else "skipped", because=because)


def judged(
    rule: Rule,
    attribute: str,
    gap: Gap | LargestGap | Information,
    sizes: Mapping[str, int],
    confidence: float,
    resamples: int,
) -> Finding:
    """A gap that has a value, held to its rule; `resamples` is how many were asked for."""
    m, limit = rule.measure, rule.requirement
    group, reference = names_of(gap)
    value = float(sized(m, gap.value))
    chance = None if gap.null is None else gap.null.mean
    shift = _shift(rule, chance)
    ci = None if gap.ci is None else _without_direction(m, gap.ci)
    far, near = (math.nan, math.nan) if ci is None else ci if m.scale == "ratio" else ci[::-1]
    seen, far, near = value + shift, far + shift, near + shift
    number = far if rule.judge == "interval" else seen
    point, whole = bool(limit.meets(seen)), bool(limit.meets(number))
    by_size = None if point else gap.by_size(limit.bound)
    status: Status = "satisfied" if whole else "not shown" if point or by_size or math.isnan(seen) else "violated"
    conclusive = None
    if not math.isnan(far):
        conclusive = bool(limit.meets(far)) if point else math.isfinite(near) and not limit.meets(near)
    found = Finding(
        rule, attribute, group, reference, status, sizes.get(group or ""), sizes.get(reference or ""), value,
        gap.signed if isinstance(gap, Gap) else None, ci, confidence, chance, number,
        None if math.isnan(number) else float(limit.shortfall(number)), conclusive,
        _lacking(rule, gap.undefined, resamples) if math.isnan(number) else by_size,
        word=_word(m, gap, point, conclusive, by_size, confidence), direction=_direction(m, gap),
        left_out=_left_out(gap),
    )  # fmt: skip
    # no sample would take away that scores are known in ranges, or that people cannot be compared
    nearer = seen + math.copysign(gap.resolution, limit.bound - seen) if gap.resolution else seen
    return _with_sample(found, nearer, None if gap.lacking else reach_of(m, gap, shift))


def _word(
    m: Measure,
    gap: Gap | LargestGap | Information,
    within: bool,
    conclusive: bool | None,
    unjudged: str | None,
    confidence: float,
) -> str:
    """Is there a gap, and does it matter: by the limit of the rule."""
    known = {"id": m.id, "undefined": None, "unjudged": unjudged, "passes": within, "conclusive": conclusive}
    return word_of({**tested(gap), **known}, confidence)


def undecided(rule: Rule, gap: Gap | LargestGap | Information) -> str | None:
    """Why a gap cannot be held to its rule: because what is not known of its value would decide it."""
    shift = _shift(rule, None if gap.null is None else gap.null.mean)
    # what chance shows is read from the same ranges, and may be off by twice as much
    possible = gap.possible(3 if rule.judge == "excess" else 1)
    kept = rule.requirement.meets(sized(rule.measure, (gap.value, *possible)) + shift)
    return gap.open_because if kept.any() and not kept.all() else None


def _shift(rule: Rule, chance: float | None) -> float:
    """From a value to what the limit is for: of a rule about chance, to what is left when chance is taken out."""
    if rule.judge != "excess":
        return 0.0
    return math.nan if chance is None else (1.0 if rule.measure.scale == "ratio" else 0.0) - chance


def names_of(gap: Gap | LargestGap | Information) -> tuple[str | None, str | None]:
    if isinstance(gap, Information):
        return None, None
    return (gap.group, gap.reference) if isinstance(gap, Gap) else (gap.pair or (None, None))


def _without_direction(m: Measure, ci: Pair) -> Pair:
    """An interval of the size: from the end nearest to parity to the farthest, in increasing order."""
    parity = 1.0 if m.scale == "ratio" else 0.0
    far = worst_of_interval(m, ci)
    ends = sized(m, ci).tolist()
    near = max(ends) if m.scale == "ratio" else min(ends)
    near = parity if ci[0] <= parity <= ci[1] else near
    return (far, near) if m.scale == "ratio" else (near, far)


def _lacking(rule: Rule, undefined: str | None, resamples: int) -> str:
    what = "no interval" if rule.judge == "interval" else "no table with permuted group labels"
    unknown = "there are too many groups, or too few resamples"
    if rule.judge == "interval" and not resamples:
        unknown = "no resamples are drawn (bootstrap = 0)"
    why = (undefined or unknown).removeprefix("because ")
    return f"because there is {what} to judge by: {why}"


def _with_sample(found: Finding, seen: float, reach: Reach | None) -> Finding:
    f = found
    if f.conclusive is not False or reach is None or f.n is None or f.n_reference is None or f.confidence is None:
        return f
    limit, people = f.rule.requirement.bound, (f.n, f.n_reference)
    needed = sample_needed(f.rule.measure, reach, seen, limit, f.confidence, people)
    return replace(f, on_limit=True) if needed is NOBODY else replace(f, needed=needed)


def _direction(m: Measure, gap: Gap | LargestGap | Information) -> str | None:
    """Who fares better, where a gap goes one way; where it is largest, if it is one of several."""
    if isinstance(gap, Information):
        return None
    signed, names = gap.signed, names_of(gap)
    if isinstance(gap, RateGap) and len(gap.parts) > 1 and gap.worst is not None:
        return f"Most {gap.worst.where}: {gap.worst.group:.3f} against {gap.worst.reference:.3f}."
    if isinstance(gap, RateGap) and gap.ratio is not None and m.scale == "ratio":
        signed = gap.ratio - 1
    share = gap.positive_share if isinstance(gap, ScoreGap | LargestGap) and not m.signed else None
    if not signed or (share is not None and 0.25 <= share <= 0.75):
        return None
    return f"{shown_name(names[0])} {m.more if signed > 0 else m.less} than {shown_name(names[1])}."


def _left_out(gap: Gap | LargestGap | Information) -> str | None:
    if isinstance(gap, RateGap | LargestGap | Information):
        return None if gap.lacking is None else f"Left out, {gap.lacking}."
    share = gap.left_out_share
    if not share or share < 0.005:
        return None
    return f"{100 * share:.2g}% is left out of this, where the two groups cannot be compared."


def _verdict(f: Finding) -> str:
    limit = f"the limit of {f.rule.requirement.bound:.6g}"
    if f.status in ("undefined", "too small", "skipped"):
        word = {"undefined": "Undefined", "too small": "Not judged", "skipped": "Skipped"}[f.status]
        return f"{word} {f.because}."
    if f.because:
        return f"{_n(f.value)} is not shown to keep to {limit} {f.because}."
    interval = f"its {100 * (f.confidence or 0):.6g}% interval"
    if f.rule.judge == "interval" and f.ci is not None:
        if f.status == "satisfied":
            return f"{_n(f.value)}, and all of {interval} ({_span(f)}) keeps to {limit}."
        if f.status == "not shown":
            reaches = f"{interval} ({_span(f)}) reaches {_n(f.by)} {_beyond(f)} {limit}"
            return f"{_n(f.value)} itself keeps to the limit, but {reaches}: not shown to keep to it."
        short = float(f.rule.requirement.shortfall(f.value))
        return f"{_n(f.value)} is {_n(short)} {_beyond(f)} {limit}, and {interval} is {_span(f)}."
    what = _n(f.value)
    if f.rule.judge == "excess":
        counted = "with chance taken out" if f.rule.measure.scale == "ratio" else "above chance"
        what += f" where chance alone shows {_n(f.null_mean)}: {_n(f.judged)} {counted}"
    if f.status == "satisfied":
        return f"{what} keeps to {limit}{_aside(f, interval)}."
    return f"{what} is {_n(f.by)} {_beyond(f)} {limit}{_aside(f, interval)}."


def _aside(f: Finding, interval: str) -> str:
    return f" ({WITHOUT})" if f.ci is None else f" ({interval.removeprefix('its ')} {_span(f)})"


def _beyond(f: Finding) -> str:
    return "below" if f.rule.measure.scale == "ratio" else "above"


def _span(f: Finding) -> str:
    assert f.ci is not None
    return " to ".join(_n(end + _shift(f.rule, f.null_mean)) for end in f.ci)


def _n(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.0095 else f"{value:.2g}"


def _open(f: Finding) -> str | None:
    """How sure that is, and what would make it sure."""
    if f.status in ("undefined", "too small", "skipped") or f.conclusive is None:
        return None
    beyond = f.status == "violated"
    if f.conclusive:
        return "All of the interval is beyond the limit." if beyond else None
    across = "" if f.status == "not shown" else "The interval reaches across the limit; "
    if f.on_limit:
        return _sentence(f"{across}the gap is so near the limit that no sample would settle it.")
    if f.needed is None:
        return across.replace("; ", ".") or None
    people = f"{f.needed.n:,} of {shown_name(f.group)}, {f.needed.n_reference:,} of {shown_name(f.reference)}"
    what = "show that it is beyond" if beyond else "show it" if f.status == "not shown" else "settle it"
    times = f"{f.needed.factor:.1f}" if f.needed.factor < 10 else f"{f.needed.factor:,.0f}"
    return _sentence(f"{across}about {times} times as many people ({people}) would probably {what}.")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
