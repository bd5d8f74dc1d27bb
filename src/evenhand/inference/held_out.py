"""People divided at random into some to select on and others to confirm with, from their counts alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenhand.errors import UsageError
from evenhand.tables.arrays import Ints
from evenhand.tables.joint import JointTable
from evenhand.tables.table import Table

MOST_DRAWN = 10**9
"""Up to so many people numpy draws without replacement; of more, each goes either way by a coin of its own."""


def divided(joint: JointTable, share: float, rng: np.random.Generator) -> tuple[JointTable, JointTable]:
    """A share of the people drawn without replacement, and the others.

    People of one cell are alike, so it is enough to draw how many of them go where: what two halves of the rows would
    be. Neither part then tells anything about the other. The rows of a person stay together.

    >>> from evenhand.ingest.roles import Roles
    >>> from evenhand.ingest.tabulation import tabulate_together
    >>> people = {"a": [0.2, 0.2, 0.7, 0.7], "b": [0.1, 0.1, 0.9, 0.9], "g": ["f", "m", "f", "m"]}
    >>> joint = tabulate_together(people, Roles(score=["a", "b"], group="g"))
    >>> [part.index.rows for part in divided(joint, 0.5, np.random.default_rng(0))]
    [2, 2]
    """
    table = joint.index
    if table.weight2 is not None and not table.clustered:
        raise UsageError(
            "people with survey weights cannot be divided by their counts: name a column that says who is to select "
            "on and who to confirm with, as in --split part=select,confirm"
        )
    first = _of_clusters(table, share, rng) if table.clustered else _of_people(table.n, share, rng)
    return _some(joint, first), _some(joint, table.n - first)


def _of_people(n: Ints, share: float, rng: np.random.Generator) -> Ints:
    """How many people of each cell are drawn."""
    people = int(n.sum())
    if people >= MOST_DRAWN:
        return np.asarray(rng.binomial(n, share), np.int64)
    return np.asarray(rng.multivariate_hypergeometric(n, round(share * people), method="marginals"), np.int64)


def _of_clusters(table: Table, share: float, rng: np.random.Generator) -> Ints:
    assert table.cluster is not None
    drawn = np.zeros(table.people, np.bool_)
    drawn[rng.permutation(table.people)[: round(share * table.people)]] = True
    return np.where(drawn[table.cluster], table.n, 0)


def _some(joint: JointTable, n: Ints) -> JointTable:
    """So many people of each cell."""
    there = n > 0
    if not there.any():
        raise UsageError(f"of {joint.index.people:,} people nobody is left in one of the parts: take another share")
    some = joint.index.of_some(there)
    return replace(joint, index=some if joint.index.clustered else replace(some, n=n[there]))
