"""Where people are before and after the projection, told so that nobody stands alone: in steps of five or more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.projection.shifts import LABELS, each
from evenhand.ingest.values import label_key, name_of
from evenhand.tables.arrays import Floats

if TYPE_CHECKING:
    from evenhand.analyses.projection.results import ProjectionTest

LEAST = 5
"""So many people are in each step."""
STEPS, ARROWS = 40, 8
Step = tuple[float, float, int, int]
"""From and to which score, and how many people are there before and after."""


def stepped(before: Floats, after: Floats, n: Floats) -> tuple[Step, ...]:
    """Scores from 0 to 1 in equal steps, put together until each holds enough people, before as well as after.

    >>> stepped(np.array([0.21, 0.6]), np.array([0.31, 0.6]), np.array([5.0, 7.0]))
    ((0.0, 0.325, 5, 5), (0.325, 1.0, 7, 7))
    """
    edges = np.linspace(0, 1, STEPS + 1)
    counts = [np.histogram(scores, edges, weights=n)[0] for scores in (before, after)]
    found: list[Step] = []
    low, here = 0.0, np.zeros(2)
    for high, *there in zip(edges[1:].tolist(), *counts, strict=True):
        here = here + there
        if (here >= LEAST - 1e-9).all():
            found.append((low, high, *_whole(here)))
            low, here = high, np.zeros(2)
    if not found:
        return ()
    start, _, *last = found.pop()
    return (*found, (start, 1.0, *_whole(here + last)))


def _whole(counts: Floats) -> tuple[int, int]:
    return round(float(counts[0])), round(float(counts[1]))


def arrows(test: ProjectionTest) -> dict[str, Any] | None:
    """By the two features with the largest coefficients: where people with similar scores are on average, and go."""
    model = test._model
    if model is None or len(model.beta) < 2 or not model.norm:
        return None
    pair = np.argsort(-np.abs(model.beta), kind="stable")[:2]
    there = test.shifted_features()[:, pair]
    here = _columns(model.features, pair)
    groups = each(model.group, name_of)
    keys = groups if model.label is None else each(model.label, label_key)
    good = keys == test.data["favorable"]
    found = []
    for part in test.labels:
        for name in (test.group, test.reference):
            own = groups == name
            own = own if part.label == LABELS[None] else own & (good == (part.label == LABELS[1]))
            rows = np.flatnonzero(own & np.isfinite(there).all(1))
            rows = rows[np.argsort(model.z[rows], kind="stable")]
            for some in np.array_split(rows, max(min(ARROWS, len(rows) // LEAST), 1)):
                if len(some) >= LEAST:
                    ends = {"from": here[some].mean(0).tolist(), "to": there[some].mean(0).tolist()}
                    found.append({"label": part.label, "group": name, "n": len(some), **ends})
    return {"features": [model.names[i] for i in pair], "steps": found}


def _columns(features: Any, pair: Any) -> Floats:
    dense = features.toarray() if hasattr(features, "toarray") else features
    return np.asarray(np.asarray(dense)[:, pair], np.float64)
