"""The few measures that a verdict is about, by what the data hold; all others are exploratory."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from evenhand.measures.registry import MEASURES, Measure

SAME = {"delta_dp_b": "demographic_parity", "independence_uniform": "abcc"}
"""Measures that are another one under another name."""
_DECISIONS = ("disparate_impact", "demographic_parity")
_ERRORS = ("equal_opportunity", "predictive_equality")
_BY_DATA = {
    (False, False): _DECISIONS,
    (False, True): (*_DECISIONS, *_ERRORS, "predictive_parity"),
    (True, False): ("disparate_impact", "delta_dp_c", "abcc"),
    (True, True): (
        "disparate_impact", *_ERRORS, "abcc", "equal_opportunity_standardized", "calibration_uniform",
        "auroc_difference",
    ),
}  # fmt: skip
"""By whether there is a score, and whether there are outcomes."""


def key_measures(chosen: Iterable[Measure], scores: bool, labels: bool) -> tuple[str, ...]:
    """The key measures among those that were chosen; of a few that were named instead, all of them.

    >>> key_measures(MEASURES.values(), scores=False, labels=False)
    ('disparate_impact', 'demographic_parity')
    >>> key_measures([MEASURES["abpc"], MEASURES["abcc"]], scores=True, labels=True)
    ('abpc', 'abcc')
    """
    known = list(chosen)
    ids = [m.id for m in known if m.tolerance != float("inf")] or [m.id for m in known]
    key = tuple(id_ for id_ in _BY_DATA[scores, labels] if id_ in ids)
    return key if is_whole(ids) else counted_once(ids)


def key_of(id_: str) -> tuple[str, ...]:
    """The kinds of data of which it is a key measure.

    >>> key_of("abcc"), key_of("roc")
    (('scores', 'scores and outcomes'), ())
    """
    return tuple(
        f"{'scores' if score else 'decisions'}{' and outcomes' if label else ''}"
        for (score, label), key in _BY_DATA.items()
        if id_ in key
    )


def is_whole(ids: Collection[str]) -> bool:
    """Whether nobody chose among the measures."""
    return set(MEASURES) <= set(ids)


def counted_once(ids: Iterable[str]) -> tuple[str, ...]:
    """Measures without those that are another one of them under another name.

    >>> counted_once(["demographic_parity", "delta_dp_b", "independence_uniform"])
    ('demographic_parity', 'independence_uniform')
    """
    there = list(dict.fromkeys(ids))
    return tuple(id_ for id_ in there if SAME.get(id_) not in there)
