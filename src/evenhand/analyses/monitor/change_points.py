"""When a gap changed: each change once, dated by its most likely first period, with an interval.

An alarm says that a gap is another one than in the baseline, and comes late where the change is small; it cannot tell
since when. So the gaps of all periods of a comparison with an alarm are cut where that explains them best: constant
before and after, with the noise that their intervals tell (maximum likelihood). The periods at which a cut explains
them nearly as well are the interval of the date: the likelihood ratio at the true one exceeds −2 ln(1 − √level), 7.35
for 95 %, no more often than said, because its largest value on either side has an exponential tail (Eo & Morley
2015). More cuts are made where each is beyond doubt. Comparisons show the same change if their intervals overlap, at
the level at which those of all comparisons hold together: one of many would miss the date by chance, and be another.

Nothing here raises an alarm, or takes one back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand.analyses.audit.gaps import Gap
from evenhand.analyses.monitor.history import Alarm, Period
from evenhand.analyses.monitor.sequential import Key
from evenhand.errors import shown, shown_name
from evenhand.inference.interval import together, z_value
from evenhand.tables.arrays import Floats, Ints


@dataclass(frozen=True)
class Shift:
    """One comparison that changed."""

    attribute: str
    id: str
    group: str
    reference: str
    direction: str
    """worse or better: further from parity, or nearer to it."""
    before: float
    after: float
    """The mean gap of the periods before, and of those since."""


@dataclass(frozen=True)
class Change:
    """One change, by all comparisons that show it; the clearest of them comes first and dates it."""

    since: str
    """The most likely first period."""
    interval: tuple[str, str]
    """From which to which period it may have begun."""
    direction: str
    """worse, better, or mixed if comparisons disagree."""
    shifts: tuple[Shift, ...]
    alarm: str | None = None
    """When it first raised an alarm; None if it did not, as a return to what was before."""
    last: str | None = None
    """The last period at which it did, before the same comparisons changed again."""


@dataclass(frozen=True)
class Series:
    """One comparison over time: gaps (of ratios their logarithms) and what they weigh, by period."""

    places: Ints
    values: Floats
    weights: Floats
    baseline: int
    """So many of the first belong to the baseline."""

    def gain(self, start: int, stop: int) -> Floats:
        """Twice the logarithm of the likelihood ratio of a cut before each of start + 1 … stop − 1, against none."""
        w = np.cumsum(self.weights[start:stop])
        s = np.cumsum((self.weights * self.values)[start:stop])
        w0, s0 = w[:-1], s[:-1]
        return np.asarray(s0**2 / w0 + (s[-1] - s0) ** 2 / (w[-1] - w0) - s[-1] ** 2 / w[-1])

    def level(self, start: int, stop: int) -> float:
        return float(np.average(self.values[start:stop], weights=self.weights[start:stop]))

    def first_cut(self, start: int) -> int:
        """The first cut inside a stretch: the baseline is one."""
        return max(start + 1, self.baseline)


@dataclass(frozen=True)
class Cut:
    """Where a series changes: places of its most likely first period, and of the first and last likely one."""

    key: Key
    place: int
    first: int
    last: int
    reach: tuple[int, int]
    """The first and last likely place where the intervals of all comparisons are to hold together."""
    gain: float
    before: float
    after: float

    def overlaps(self, other: Cut) -> bool:
        return self.reach[0] <= other.reach[1] and other.reach[0] <= self.reach[1]


def dated(
    periods: Sequence[Period],
    alarms: Sequence[Alarm],
    before: Mapping[Key, Gap],
    false_alarms: float,
    confidence: float,
) -> tuple[tuple[Alarm, ...], tuple[Change, ...]]:
    """Every change once, and the alarms with the date of theirs."""
    raised: dict[Key, list[Alarm]] = {}
    for alarm in alarms:
        raised.setdefault((alarm.attribute, alarm.id, alarm.group), []).append(alarm)
    names = [p.name for p in periods]
    series = {key: _series(periods, key, before[key], confidence) for key in raised}
    doubt = _doubt(false_alarms, len(raised), len(names))
    levels = confidence, together(confidence, len(raised))
    cuts = []
    for key, own in raised.items():
        first = min(own, key=lambda a: names.index(a.period))
        latest = names.index(first.period)
        cuts += _cuts(key, series[key], latest, doubt, levels) or [_window(key, first, before[key], names)]
    found = [_Found(group) for group in _grouped(cuts)]
    told: dict[tuple[Key, str], Alarm] = {}
    for key, own in raised.items():
        for alarm in own:
            change = _of_alarm(found, key, names.index(alarm.period))
            change.alarms.append(alarm)
            told[key, alarm.direction] = replace(alarm, since=names[change.cuts[0].place])
    found.sort(key=lambda f: f.cuts[0].place)
    seen = _seen(periods)
    return tuple(told.values()), tuple(f.told(names, before, f.seen(names, seen, found)) for f in found)


def unsteady(
    periods: Sequence[Period],
    alarms: Sequence[Alarm],
    before: Mapping[Key, Gap],
    false_alarms: float,
    confidence: float,
) -> str | None:
    """The note that a gap changed within the baseline already, so that no date of a change can be right.

    Distances are left out: a small period shows larger ones without any change.
    """
    keys = {(a.attribute, a.id, a.group) for a in alarms if before[a.attribute, a.id, a.group].measure.signed}
    needed = float(z_value(1 - _doubt(false_alarms, len(keys), len(periods)))) ** 2
    found = []
    for key in sorted(keys):
        series = _series(periods, key, before[key], confidence)
        if series.baseline > 1:
            gain = series.gain(0, series.baseline)
            found.append((float(gain.max()), key, int(series.places[1 + int(gain.argmax())])))
    gain_, key, place = max(found, default=(0.0, ("", "", ""), 0))
    if gain_ < needed:
        return None
    return (
        f"{key[1]} of {shown(key[2])} changed within the baseline already, most likely in "
        f"{shown_name(periods[place].name)}: changes are dated after the baseline only, so take one that ends before "
        "(--baseline FIRST..LAST)"
    )


def _doubt(false_alarms: float, comparisons: int, periods: int) -> float:
    """The level at which one cut is beyond doubt, all that could be made considered."""
    return false_alarms / max(comparisons * periods, 1)


@dataclass
class _Found:
    cuts: list[Cut]
    alarms: list[Alarm] = field(default_factory=list)

    def told(self, names: Sequence[str], before: Mapping[Key, Gap], seen: Sequence[int]) -> Change:
        clearest = self.cuts[0]
        shifts = tuple(_shift(c, before[c.key]) for c in self.cuts)
        ways = {s.direction for s in shifts}
        return Change(
            names[clearest.place],
            (names[clearest.first], names[clearest.last]),
            ways.pop() if len(ways) == 1 else "mixed",
            shifts,
            names[min(seen)] if seen else None,
            names[max(seen)] if seen else None,
        )

    def seen(
        self, names: Sequence[str], flagged: Mapping[Key, Sequence[tuple[int, int]]], found: Sequence[_Found]
    ) -> list[int]:
        """At which periods this change was seen: by its alarms, and by windows that lie between it and the next one.

        An alarm stands for the first change in its direction, and windows that hold two changes tell about neither.
        """
        places: list[int] = []
        for cut in self.cuts:
            others = (c.place for f in found if f is not self for c in f.cuts if c.key == cut.key)
            stop = min((place for place in others if place > cut.place), default=len(names))
            places += [place for first, place in flagged.get(cut.key, ()) if cut.place <= first and place < stop]
            own = [a for a in self.alarms if (a.attribute, a.id, a.group) == cut.key]
            places += [names.index(a.period) for a in own]
            places += [min(names.index(a.last), stop - 1) for a in own]
        return places


def _seen(periods: Sequence[Period]) -> dict[Key, list[tuple[int, int]]]:
    """The first and last period of every window that raised an alarm, by comparison."""
    tested = [place for place, p in enumerate(periods) if p.status == "tested"]
    seen: dict[Key, list[tuple[int, int]]] = {}
    for look, place in enumerate(tested):
        for c in periods[place].comparisons:
            if c.alarm and c.finding is not None:
                first = tested[max(look - c.finding.window + 1, 0)]
                seen.setdefault((c.attribute, c.gap.id, c.gap.group), []).append((first, place))
    return seen


def _shift(cut: Cut, gap: Gap) -> Shift:
    worse = abs(cut.after) > abs(cut.before)
    ends = (float(np.exp(v)) if gap.scale == "ratio" else v for v in (cut.before, cut.after))
    return Shift(*cut.key, gap.reference, "worse" if worse else "better", *ends)


def _window(key: Key, alarm: Alarm, gap: Gap, names: Sequence[str]) -> Cut:
    """What an alarm alone knows, where its period has no value: some time in its window."""
    last, first = names.index(alarm.period), names.index(alarm.window_start)
    with np.errstate(divide="ignore"):  # a ratio may be 0
        ends = [float(np.log(v)) if gap.scale == "ratio" else v for v in (alarm.before or 0.0, alarm.after or 0.0)]
    return Cut(key, last, first, last, (first, last), 0.0, *ends)


def _of_alarm(found: Sequence[_Found], key: Key, place: int) -> _Found:
    """The last change of a comparison up to an alarm."""
    own = [(c.place, f) for f in found for c in f.cuts if c.key == key]
    earlier = [pair for pair in own if pair[0] <= place]
    return max(earlier or own, key=lambda pair: pair[0])[1]


def _grouped(cuts: Sequence[Cut]) -> list[list[Cut]]:
    """Cuts of the same change: those that overlap the clearest one, at most one of each comparison."""
    groups: list[list[Cut]] = []
    for cut in sorted(cuts, key=lambda c: -c.gain):
        near = [g for g in groups if g[0].overlaps(cut) and all(c.key != cut.key for c in g)]
        if near:
            min(near, key=lambda g: abs(g[0].place - cut.place)).append(cut)
        else:
            groups.append([cut])
    return groups


def _series(periods: Sequence[Period], key: Key, baseline: Gap, confidence: float) -> Series:
    """The gaps of a comparison; of a baseline from elsewhere, one for all of it."""
    rows = []
    for place, period in enumerate(periods):
        if period.status in ("baseline", "tested"):
            gaps = [c.gap for c in period.comparisons if (c.attribute, c.gap.id, c.gap.group) == key]
            rows += [(place, *point, period.status) for g in gaps if (point := _point(g, confidence))]
    if not any(status == "baseline" for *_, status in rows) and (point := _point(baseline, confidence)):
        rows.insert(0, (-1, *point, "baseline"))
    places, values, weights = (np.array([row[k] for row in rows]) for k in range(3))
    count = sum(status == "baseline" for *_, status in rows)
    return Series(places.astype(np.int64), values, weights, count)


def _point(gap: Gap, confidence: float) -> tuple[float, float] | None:
    """The gap of a period and its weight, one over its variance; None if there is no value or no interval."""
    if gap.undefined or gap.ci is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        value, *ends = (np.log(x) if gap.scale == "ratio" else x for x in (gap.estimate, *gap.ci))
        spread = max(ends[1] - value, value - ends[0], 1e-6) / float(z_value(confidence))
    return (float(value), float(1 / spread**2)) if np.isfinite(value) and np.isfinite(spread) else None


def _cuts(key: Key, series: Series, latest: int, doubt: float, levels: tuple[float, float]) -> list[Cut]:
    """Where a series with an alarm changes: at least once up to the alarm, and wherever that is beyond doubt.

    `levels` are those of the interval of a date, of this comparison alone and of all together.
    """
    if len(series.values) <= max(series.baseline, 1) or latest not in series.places:
        return []  # the period of the alarm has no gap of its own, such as the ratio to a rate of 0
    latest = max(latest, int(series.places[series.first_cut(0)]))
    needed = float(z_value(1 - doubt)) ** 2
    count = len(series.values)
    at = sorted(_split(series, 0, count, needed))
    if not any(series.places[k] <= latest for k in at):
        stop = at[0] if at else count
        at = sorted([*at, _best(series, 0, stop, latest)])
    while True:
        for _ in range(2):  # each again, now that its neighbours are known
            edges = [0, *at, count]
            at = [_best(series, edges[k], edges[k + 2], latest if k == 0 else None) for k in range(len(at))]
        edges = [0, *at, count]
        found = [_cut(key, series, edges[k], edges[k + 1], edges[k + 2], levels) for k in range(len(at))]
        weakest = int(np.argmin([c.gain for c in found]))
        rest = at[:weakest] + at[weakest + 1 :]
        if found[weakest].gain >= needed or not any(series.places[k] <= latest for k in rest):
            return found
        at = rest  # what seemed to be a change on the way to another one


def _split(series: Series, start: int, stop: int, needed: float) -> list[int]:
    """Cuts of a stretch that each explain enough, by halves."""
    if series.first_cut(start) >= stop:
        return []
    k = _best(series, start, stop)
    if series.gain(start, stop)[k - start - 1] < needed:
        return []
    return [*_split(series, start, k, needed), k, *_split(series, k, stop, needed)]


def _best(series: Series, start: int, stop: int, latest: int | None = None) -> int:
    """The cut of a stretch that explains the most, not after a place if there is one it must not be after."""
    first = series.first_cut(start)
    gain = series.gain(start, stop)[first - start - 1 :]
    if latest is not None:
        gain = np.where(series.places[first:stop] <= latest, gain, -np.inf)
    return first + int(np.argmax(gain))


def _cut(key: Key, series: Series, start: int, k: int, stop: int, levels: tuple[float, float]) -> Cut:
    first = series.first_cut(start)
    gain = series.gain(start, stop)[first - start - 1 :]
    own = float(gain[k - first])
    alone, reach = (_likely(series.places[first:stop], gain, own, level) for level in levels)
    return Cut(key, int(series.places[k]), *alone, reach, own, series.level(start, k), series.level(k, stop))


def _likely(places: Ints, gain: Floats, own: float, confidence: float) -> tuple[int, int]:
    """The first and last place at which a cut explains nearly as much."""
    near = np.flatnonzero(gain >= own + 2 * np.log(1 - np.sqrt(confidence)))
    return int(places[near[0]]), int(places[near[-1]])
