"""Tests of hypotheses on counts."""

from __future__ import annotations

import numpy as np

from evenhand.cells import Floats


def equal_shares(p: Floats, n: Floats) -> float:
    """p-value of Pearson's χ² test that several shares are equal; NaN if there are fewer than two.

    >>> import numpy as np
    >>> round(equal_shares(np.array([0.5, 0.7]), np.array([100.0, 100.0])), 4)
    0.0039
    """
    from scipy.special import chdtrc

    known = (n > 0) & np.isfinite(p)
    p, n = p[known], n[known]
    if len(p) < 2:
        return float("nan")
    pooled = float((p * n).sum() / n.sum())
    if pooled in (0.0, 1.0):
        return 1.0
    statistic = float((n * (p - pooled) ** 2).sum() / (pooled * (1 - pooled)))
    return float(chdtrc(len(p) - 1, statistic))
