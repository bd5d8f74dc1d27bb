"""What a separation bias by rank is made of: gaps between ROC curves (Theorem 4.8 of Becker et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analyses.audit.wording import measure_of
from evenhand.inference import interval
from evenhand.measures import roc_parts
from evenhand.measures.curve import Curve, norm
from evenhand.measures.registry import ScoreMeasure, ScoreOptions
from evenhand.report.format import number
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.scores import ScoreCounts


@dataclass(frozen=True)
class RocPart:
    """The part of a separation bias whose thresholds are the scores of one kind of people.

    At the scores of people with the same label it tells how far the groups are apart from one another, at those of the
    others how far their ROC curves against these people are apart.
    """

    people: str
    """The group whose scores the thresholds are."""
    label: str
    """The outcome of these people: favourable or unfavourable."""
    weight: float
    """Their share of the people of both groups."""
    area: float
    """Between the ROC curves of the group and of its reference over these people; NaN if there are none."""
    signed_area: float
    """The difference of their AUROC."""
    value: float
    """What they add to the bias: all parts add up to it."""
    share: float | None
    """The same as a share of the bias; None where that is 0."""
    ci: Pair | None = None
    """Of `value`."""


def parts(
    m: ScoreMeasure, pair: ScoreCounts, options: ScoreOptions, confidence: float, moves: Floats | None, off: float
) -> tuple[RocPart, ...]:
    """The parts of a measure that has them; `moves` are those of each part in resamples, axes (draw, kind)."""
    if m.split is None:
        return ()
    (label,) = m.labels
    people = pair.array.sum(0)
    values, (area, signed) = m.split(pair, options).norm(), roc_parts.areas(pair, label)
    whole = float(values.sum())
    found = []
    area, signed = np.minimum(area, 1.0), np.clip(signed, -1.0, 1.0)
    for k, (group, y) in enumerate(roc_parts.kinds(label)):
        value = min(float(values[k]), 1.0)
        ci = None if moves is None else interval.norm(value, moves[:, k], confidence, 1.0)
        found.append(RocPart(
            pair.groups[group], "favourable" if y else "unfavourable", float(people[group, y] / people.sum()),
            float(area[k]), float(signed[k]), value, value / whole if whole > 0 else None,
            interval.widened(ci, off, 0.0, 1.0),
        ))  # fmt: skip
    return tuple(found)


def moved(curve: Curve, centre: Curve) -> Floats:
    """How far the norm of each part may have moved in each resample, axes (draw, kind): its gaps and its weights."""
    weights = np.abs(norm(centre.gap, curve.weight) - norm(centre.gap, centre.weight))
    return np.asarray(norm(curve.gap - centre.gap, curve.weight) + weights)


NAMES = {"favourable": "actual positives", "unfavourable": "actual negatives"}


def telling(measures: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Where ROC and separation biases come from, of comparisons of the document: a sentence for each that tells.

    >>> four = [{"label": y, "share": 0.25} for y in ("favourable", "favourable", "unfavourable", "unfavourable")]
    >>> for words in telling([{"id": "equal_opportunity_standardized", "roc_parts": four, "parts": []}]):
    ...     print(words)
    equal opportunity (ranks): 50% between actual positives, 50% between ROC curves over actual negatives
    """
    for m in measures:
        if m["id"] == "roc" and len(m["parts"]) == 3:
            whole, *sources = (number(p["difference"], sign=True) for p in m["parts"])
            yield f"AUROC difference {whole}: {sources[0]} from actual positives, {sources[1]} from actual negatives"
        shares = [p["share"] for p in m["roc_parts"]]
        if shares and shares[0] is not None:
            own, among = m["roc_parts"][0]["label"], round(100 * (shares[0] + shares[1]))
            others = next(name for label, name in NAMES.items() if label != own)
            split = f"{among}% between {NAMES[own]}, {100 - among}% between ROC curves over {others}"
            yield f"{measure_of(m).title}: {split}"
