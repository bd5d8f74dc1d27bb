"""The same gaps in another norm: L_p, Wasserstein-p and mean ratios of score, calibration and ROC biases."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np

from evenhand.measures import resolution, score_bias
from evenhand.measures.curve import even_points, joined, parted
from evenhand.measures.measure import ScoreMeasure
from evenhand.measures.score_measures import moved, off

_NAME = re.compile(r"ratio|[wl](?:[0-9]+(?:\.[0-9]+)?|inf)", re.ASCII)
_VARIED = ("score-bias", "calibration-bias", "roc-bias")
_LARGER = " Large gaps count for more than many small ones."
_LARGEST = " Only the largest gap counts, which is mostly noise where people are few."


def variant(plain: ScoreMeasure, name: str) -> ScoreMeasure | None:
    """The measure in the norm of that name: l2, linf, w2, ratio; None if it has no such norm.

    >>> from evenhand.measures.score_measures import biases
    >>> uniform, ranked = biases("independence")
    >>> [m and m.title for m in (variant(uniform, "l2"), variant(ranked, "ratio"), variant(uniform, "l0.5"))]
    ['independence (scores, L2)', 'independence (ranks, ratio)', None]
    """
    if plain.page not in _VARIED or not _NAME.fullmatch(name):
        return None
    suffix = name if name == "ratio" else name.capitalize()
    title, short = (_with_suffix(text, suffix) for text in (plain.title, plain.short))
    plain = replace(plain, id=f"{plain.id}_{name}", title=title, short=short)
    of_scores, labels, ranked = plain.page == "score-bias", plain.labels or (None,), plain.ranked
    if name == "ratio":
        return _mean_ratio(plain, labels[0], ranked) if of_scores and len(labels) == 1 else None
    p = float(name[1:])
    if p < 1 or f"{p:g}" != name[1:] or (name[0] == "w" and (p == np.inf or not of_scores)):
        return None
    # norms of two classes that are each as large as they may be
    tolerance = round(plain.tolerance / plain.classes * plain.classes ** (1 / p), 3)
    more = _LARGEST if p == np.inf else _LARGER if p > 1 else ""
    plain = replace(plain, order=p, tolerance=tolerance, split=None, limits=plain.limits + more)
    if not of_scores:
        return replace(
            plain, formula=_of_order(plain.formula, p), signed_resolution=plain.resolution,
            resolution=plain.resolution and partial(plain.resolution, p=p),
        )  # fmt: skip
    each = "" if len(labels) == 1 else "Σ over y of "
    if name[0] == "w":
        return replace(
            plain, formula=f"({each}∫ |Q(group) − Q(reference)|^{p:g} du)^(1/{p:g})",
            curve=lambda counts, options, like: joined([
                score_bias.quantile_gap(counts, y, ranked, options, part)
                for y, part in zip(labels, parted(like, len(labels)), strict=True)
            ]),
            grid=lambda counts, options: joined([even_points()] * len(labels)), resolution=moved(labels, ranked, p),
            signed_resolution=moved(labels, ranked),
        )  # fmt: skip
    return replace(
        plain, formula=_of_order(f"{each}∫ |F(group) − F(reference)| d{'r' if ranked else 's'}", p),
        resolution=off(labels, p, lambda counts, y, options: resolution.of_cdfs(counts, y, ranked, options, p)),
        signed_resolution=moved(labels, ranked),  # no gap may be larger, and all of them may have grown
    )  # fmt: skip


def _mean_ratio(plain: ScoreMeasure, label: int | None, ranked: bool) -> ScoreMeasure:
    return replace(
        plain, formula="∫ min(P(S>s | group), P(S>s | reference)) / max(…)", scale="ratio", tolerance=0.8,
        summaries=None, split=None,
        curve=lambda counts, options, like: score_bias.shortfall(counts, label, ranked, options, like),
        grid=lambda counts, options: score_bias.shortfall(counts, label, ranked, options),
        resolution=lambda counts, options: resolution.of_ratio(counts, label, ranked, options),
    )  # fmt: skip


def _of_order(formula: str, p: float) -> str:
    """The formula of a sum or an integral of absolute gaps with its L_p norm, or the largest gap."""
    match = re.fullmatch(r"(Σ over y of |)([∫Σ]) (\|.*\|)(.*)", formula)
    assert match is not None
    each, adds, gap, weight = match.groups()
    if p == np.inf:
        return f"{'max over bins' if adds == 'Σ' else 'sup over s and y' if each else 'sup'} {gap}"
    return f"({each}{adds} {gap}^{p:g}{weight})^(1/{p:g})"


def _with_suffix(title: str, suffix: str) -> str:
    return f"{title[:-1]}, {suffix})" if title.endswith(")") else f"{title} ({suffix})"
