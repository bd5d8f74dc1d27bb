"""Who cannot be compared: people at scores where the other group has nobody, and what their part may be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenhand.analyses.audit.gaps import RateGap
from evenhand.errors import shown_name
from evenhand.tables.arrays import Pair
from evenhand.tables.dense import Counts

MATTERS = 0.05
"""Above such a share of a group's people the largest gap over bins is not judged without them."""
NAMED = 8
"""So many bins are named."""


@dataclass(frozen=True)
class LeftOut:
    """The people of two groups in score bins that hold nobody of the other: of several groups, the worst two."""

    bins: tuple[str, ...]
    share: float
    """Of the people of the group that loses more."""
    because: str

    def ci(self, ci: Pair | None) -> Pair | None:
        """The interval of a largest gap over all bins: nothing is known about those that were not compared."""
        return None if ci is None else (ci[0], 1.0)

    def bounds(self, value: float) -> Pair | None:
        """Between what a largest gap over all bins may lie, if that matters."""
        return (value, 1.0) if self.share > MATTERS else None


def left_out(counts: Counts) -> LeftOut | None:
    """Who of these groups is in bins where another has nobody; None if everybody can be compared."""
    people = np.asarray(counts.array.sum(-1), np.float64)
    there = people > 0
    patterns, first = np.unique(there, axis=1, return_index=True)
    shares = people / np.maximum(people.sum(0), 1e-300)
    lost = shares.T @ ~patterns  # of each group, where groups of a pattern have nobody
    lost = np.where(lost > 1 - 1e-12, 0.0, lost)  # groups without a common bin are undefined, as is said elsewhere
    group, pattern = np.unravel_index(int(np.argmax(lost)), lost.shape)
    share, other = float(lost[group, pattern]), int(first[pattern])
    if share == 0:
        return None
    bins = tuple(counts.bins[k].name for k in np.flatnonzero(there[:, group] != there[:, other]))
    more = f" and {len(bins) - NAMED} more" if len(bins) > NAMED else ""
    who, whom = shown_name(counts.groups[group]), shown_name(counts.groups[other])
    percent = f"{100 * share:.2g}% of {who} have scores that nobody of {whom} has"
    return LeftOut(bins, share, f"because {percent} (bins without both: {', '.join(bins[:NAMED])}{more})")


def with_left_out(gap: RateGap, out: LeftOut | None) -> RateGap:
    """A largest gap over score bins that says whom it leaves out, and knows no more than it can."""
    if out is None:
        return gap
    return replace(
        gap,
        ci=out.ci(gap.ci),
        ci_bootstrap=out.ci(gap.ci_bootstrap),
        left_out_bins=out.bins,
        left_out_share=out.share,
        bounds=out.bounds(gap.value),
        lacking=out.because,
    )


def with_the_rest(value: float, weight: float, order: float = 1.0) -> Pair:
    """Between what a weighted mean of gaps lies when what it leaves out, of so much weight, is between 0 and 1.

    >>> with_the_rest(0.25, 0.5), with_the_rest(0.25, 0.5, float("inf"))
    ((0.125, 0.625), (0.25, 1.0))
    """
    if order == np.inf:
        return value, 1.0
    known = (1 - weight) * value**order
    return known ** (1 / order), (known + weight) ** (1 / order)
