"""What cannot hold together when base rates differ, and by how much it must fail.

Three theorems, each of which is stated only where its premises hold in the data. With base rate p:

- PPV, TPR and FPR (Chouldechova 2017): FPR = p/(1−p) · (1−PPV)/PPV · TPR, if 0 < PPV < 1.
- Calibration within groups and equal mean scores of actual positives and of actual negatives (Kleinberg, Mullainathan &
  Raghavan 2016): calibrated scores have the mean p, so p·μ₁ + (1−p)·μ₀ = p; if prediction is not perfect. It is about
  mean scores, not about TPR and FPR at a threshold.
- Selection rate, TPR and FPR: the selection rate is p·TPR + (1−p)·FPR, if TPR and FPR differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.measures.rates import ratio, share
from evenhand.tables.arrays import Floats
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping, sum_by
from evenhand.tables.table import Table


@dataclass(frozen=True)
class ForcedError:
    """The false positive rate a group must have if PPV and TPR were the reference's."""

    group: str
    base_rate: float
    fpr: float
    forced_fpr: float


@dataclass(frozen=True)
class Forced:
    """What a group has, and what it would have to have."""

    group: str
    now: float
    forced: float
    """NaN for a group with one outcome only; above 1 it cannot be had at all."""


@dataclass(frozen=True)
class Conflict:
    """Criteria that exclude each other on these data."""

    criteria: tuple[str, ...]
    theorem: str
    unless: str
    """What no other model with these base rates can do without, if it is to meet them all."""
    equalised: str
    """What every group is given of the reference."""
    gives: str
    """What must then differ."""
    forced: tuple[Forced, ...]


def forced_fpr(base_rate: Floats, ppv: float, tpr: float) -> Floats:
    """FPR = p/(1−p) · (1−PPV)/PPV · TPR: what equal PPV and TPR force on a group with base rate p.

    >>> import numpy as np
    >>> forced_fpr(np.array([0.5, 0.6]), ppv=0.75, tpr=0.6).round(2).tolist()
    [0.2, 0.3]
    """
    odds = ratio(base_rate, 1 - base_rate)
    return odds * (1 - ppv) / ppv * tpr if ppv > 0 else np.full_like(odds, np.nan)


def forced_errors(decisions: Counts, reference: int) -> list[ForcedError]:
    """Each group's false positive rate, and what it would have to be."""
    base = share(decisions, "base_rate")
    ppv, tpr = (float(share(decisions, r)[reference]) for r in ("ppv", "tpr"))
    forced = forced_fpr(base, ppv, tpr)
    fpr = share(decisions, "fpr")
    return [ForcedError(g, float(base[i]), float(fpr[i]), float(forced[i])) for i, g in enumerate(decisions.groups)]


def chouldechova(decisions: Counts, reference: int) -> Conflict | None:
    """Equal PPV, TPR and FPR; None unless some but not all of the selected turn out well and somebody is rejected."""
    ppv, tpr = (float(share(decisions, r)[reference]) for r in ("ppv", "tpr"))
    if not 0 < ppv < 1 or not decisions.array[..., 0, :, :].any():
        return None
    forced = forced_fpr(share(decisions, "base_rate"), ppv, tpr)
    return Conflict(
        ("predictive_parity", "equal_opportunity", "predictive_equality"), "Chouldechova 2017", "PPV is 1",
        "PPV and TPR", "FPR", _forced(decisions, share(decisions, "fpr"), forced),
    )  # fmt: skip


def with_parity(decisions: Counts, reference: int) -> Conflict | None:
    """Equal selection rates, TPR and FPR; None unless TPR and FPR of the reference differ.

    >>> import numpy as np
    >>> decisions = np.array([[[2, 1], [3, 3]], [[1, 4], [1, 1]]])  # decision × group × label
    >>> [round(f.forced, 2) for f in with_parity(Counts(decisions, ("a", "b")), 0).forced]
    [0.62, 0.57]
    """
    tpr, fpr = (float(share(decisions, r)[reference]) for r in ("tpr", "fpr"))
    if np.isnan(tpr + fpr) or tpr == fpr:
        return None
    base = share(decisions, "base_rate")
    return Conflict(
        ("demographic_parity", "equalized_odds"), "law of total probability", "decisions ignore the outcome",
        "TPR and FPR", "selection rate",
        _forced(decisions, share(decisions, "selection_rate"), base * tpr + (1 - base) * fpr),
    )  # fmt: skip


def kleinberg(table: Table, grouping: Grouping, decisions: Counts, bins: Counts, reference: int) -> Conflict | None:
    """Calibration within groups and balance for both outcomes, of scores that are probabilities.

    None if prediction is perfect: if scores divide the two outcomes, or no score bin has both of them.
    """
    assert table.label is not None
    score, favourable = table.oriented(), table.label
    if not (bins.array.sum(-2) > 0).all(-1).any() or score[favourable].min() > score[~favourable].max():
        return None
    means = _means(table, grouping)
    positive = float(means[reference, 1])
    if not positive < 1:
        return None
    base = share(decisions, "base_rate")
    return Conflict(
        ("calibration_gap", "equal_opportunity_uniform", "predictive_equality_uniform"), "Kleinberg et al. 2016",
        "prediction is perfect", "mean score of actual positives", "calibrated mean score of actual negatives",
        _forced(decisions, means[:, 0], ratio(base, 1 - base) * (1 - positive)),
    )  # fmt: skip


def _means(table: Table, grouping: Grouping) -> Floats:
    """Mean score by group and label."""
    assert table.label is not None
    size, inside = 2 * len(grouping.groups), grouping.inside
    key = (2 * grouping.codes + table.label)[inside]
    sums, people = (sum_by(key, mass[inside], size) for mass in (table.mass * table.oriented(), table.mass))
    return ratio(sums, people).reshape(-1, 2)


def _forced(decisions: Counts, now: Floats, forced: Floats) -> tuple[Forced, ...]:
    """By group; with one outcome only, a group has no such rates to be equalised."""
    base = share(decisions, "base_rate")
    known = np.where((base > 0) & (base < 1), forced, np.nan)
    return tuple(Forced(g, float(now[i]), float(known[i])) for i, g in enumerate(decisions.groups))
