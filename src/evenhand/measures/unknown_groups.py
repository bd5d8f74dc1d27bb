"""Between what measures may lie when it is not known to which group some people belong.

Rates of one group, differences and ratios of two are extreme where everybody who is decided as it suits the one is in
it, and everybody who is not is in the other: `Counts.regrouped` makes these counts, and any measure of rates does the
rest. Here are the measures for which that is not enough.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.errors import UsageError, number, shown
from evenhand.tables.arrays import Floats, Pair

_HALVINGS = 200


def least_highest(selected: Sequence[float], people: Sequence[float], rejected: int) -> float:
    """The least that the highest selection rate can be, if so many rejected people more are in some of these groups.

    They are shared out as water fills a vessel: every rate above a level is brought down to it. People are whole.

    >>> least_highest([30, 20], [50, 40], 30)
    0.4166666666666667
    """
    s, n = (np.asarray(values, np.float64) for values in (selected, people))
    low, high = 0.0, float((s / n).max())

    def needed(level: float) -> Floats:
        return np.maximum(np.ceil(s / level * (1 - 1e-12)) - n, 0.0)

    for _ in range(_HALVINGS if high > 0 else 0):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if needed(middle).sum() <= rejected else (middle, high)
    return float((s / (n + needed(high))).max()) if high > 0 else 0.0


def impact_ratio_bounds(
    selected: Sequence[float], people: Sequence[float], unknown_selected: int, unknown_rejected: int, group: int
) -> Pair | None:
    """Between what the ratio of a group's selection rate to the highest of all groups lies, whoever the unknown are.

    Every unknown person may belong to any of the groups. The most: those selected are in the group, and those rejected
    are shared among the others so that the highest of these is as low as it can be, not all in each of them. The least:
    those rejected are in the group, and those selected in the one other that becomes the highest. None where nobody is
    selected, so that there is no ratio.

    >>> [round(end, 3) for end in impact_ratio_bounds([40, 30, 20], [100, 60, 40], 10, 30, 0)]
    [0.513, 1.0]
    """
    if len(selected) != len(people) or len(people) < 2:
        raise UsageError("an impact ratio compares two or more groups: give selected and people of each")
    if not all(0 <= number(s) <= number(n) and number(n) > 0 for s, n in zip(selected, people, strict=True)):
        raise UsageError("of every group at least one person, and no more selected than there are, must be known")
    if not (number(unknown_selected) >= 0 and number(unknown_rejected) >= 0):
        raise UsageError(
            f"numbers of unknown people are not negative: {shown(unknown_selected)}, {shown(unknown_rejected)}"
        )
    s, n = (np.asarray(values, np.float64) for values in (selected, people))
    others = np.arange(len(n)) != group
    if not s.sum() + unknown_selected:
        return None
    most = float((s[group] + unknown_selected) / (n[group] + unknown_selected))
    level = least_highest(s[others].tolist(), n[others].tolist(), int(unknown_rejected))
    least = float(s[group] / (n[group] + unknown_rejected))
    highest = float(((s[others] + unknown_selected) / (n[others] + unknown_selected)).max())
    return (least / highest if least < highest else 1.0), (most / level if most < level else 1.0)


def largest_mean_gap(group: Floats, reference: Floats, unknown: Floats, others: bool) -> tuple[Floats, Floats]:
    """The unknown values of the group, and those of its reference, for which its mean is furthest above the other.

    To exchange two people so that the higher value is in the group never makes the gap smaller, so the group has the
    highest of the unknown and the reference the lowest. How many of each is found by trying all. With `others` some may
    belong to neither; then each takes as many as move its own mean, unless they would take the same people.

    >>> [values.tolist() for values in largest_mean_gap(np.r_[.5], np.r_[.5], np.r_[.2, .9, .6], False)]
    [[0.9, 0.6], [0.2]]
    """
    up = np.sort(unknown)
    down, count = up[::-1], np.arange(len(up) + 1)
    of_group = (group.sum() + np.r_[0.0, np.cumsum(down)]) / (len(group) + count)
    of_reference = (reference.sum() + np.r_[0.0, np.cumsum(up)]) / (len(reference) + count)
    mine, theirs = int(of_group.argmax()), int(of_reference.argmin())
    if not others or mine + theirs > len(up):
        mine = int((of_group - of_reference[::-1]).argmax())
        theirs = len(up) - mine
    return down[:mine], up[:theirs]
