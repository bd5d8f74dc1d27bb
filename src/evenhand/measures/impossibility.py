"""What cannot hold together when base rates differ (Chouldechova 2017; Kleinberg et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.measures.rates import ratio, share
from evenhand.tables.arrays import Floats
from evenhand.tables.dense import Counts

CONFLICTS = (
    ("predictive_parity", "equal_opportunity", "predictive_equality"),
    ("calibration_gap", "equal_opportunity", "predictive_equality"),
    ("demographic_parity", "equalized_odds"),
)
"""Sets of criteria that cannot all hold when base rates differ and prediction is not perfect."""


@dataclass(frozen=True)
class ForcedError:
    """The false positive rate a group must have if PPV and TPR were the reference's."""

    group: str
    base_rate: float
    fpr: float
    forced_fpr: float


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
