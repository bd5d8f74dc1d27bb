"""Groups compared within strata → their part of the JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.strata.rates import WEIGHTS
from evenhand.analyses.audit.strata.words import rate_sentence, score_sentence
from evenhand.report.document import fields, number

if TYPE_CHECKING:
    from evenhand.analyses.audit.strata.compared import Within
    from evenhand.analyses.audit.strata.rates import PooledRate
    from evenhand.analyses.audit.strata.scores import PooledScore
    from evenhand.inference.stratified_rates import Pooled


def within_document(within: Within, confidence: float) -> dict[str, Any]:
    """All of it as plain values."""
    return {
        "columns": list(within.columns),
        "name": within.name,
        "strata": [
            {
                "name": s.name,
                "members": list(s.members),
                "people": dict(zip(within.groups, s.people, strict=True)),
                "rates": {
                    rate: dict(zip(within.groups, map(number, values), strict=True)) for rate, values in s.rates.items()
                },
            }
            for s in within.strata
        ],
        "lacking": {name: list(groups) for name, groups in within.lacking.items()},
        "without": within.without,
        "rates": [_rate(one, rate_sentence(one, within, confidence)) for one in within.rates],
        "scores": [_score(one, score_sentence(one, within, confidence)) for one in within.scores],
    }


def _rate(one: PooledRate, interpretation: str) -> dict[str, Any]:
    h = one.homogeneity
    return {
        **fields(one, "rate group reference crude undefined"),
        "left_out_share": None if one.people is None else 1 - one.people,
        "lacking": list(one.lacking),
        "differences": [number(d) for d in one.differences],
        "risk_difference": _pooled(one.risk_difference),
        "odds_ratio": _pooled(one.odds_ratio),
        "p_value": number(one.p_value),
        "tests": [fields(t, "name statistic p_value") for t in one.tests],
        "homogeneity": None
        if h is None
        else {
            "breslow_day": fields(h.test, "name statistic p_value"),
            "tarone": fields(h.tarone, "name statistic p_value"),
            **fields(h, "df sparse"),
        },
        "standardized": {whose: _pooled(p) for whose, p in zip(WEIGHTS, one.standardised, strict=False)},
        "disparity": _pooled(one.disparity),
        "disparities": [number(d) for d in one.disparities],
        "reversed": one.reversed,
        "interpretation": interpretation,
    }


def _pooled(one: Pooled | None) -> dict[str, Any] | None:
    return None if one is None else fields(one, "value ci method")


def _score(one: PooledScore, interpretation: str) -> dict[str, Any]:
    gap, null = one.gap, one.gap.null
    return {
        **fields(gap, "id group reference"),
        "crude": number(one.crude),
        **fields(gap, "undefined value signed ci method"),
        "left_out_share": None if one.people is None else 1 - one.people,
        "parts": [fields(p, "name group reference difference") for p in gap.parts],
        "resolution": gap.resolution,
        **fields(gap, "p_value"),
        "null_mean": None if null is None else number(null.mean),
        "null_95": None if null is None else number(null.high),
        "null_method": None if null is None else null.method,
        "reversed": one.reversed,
        "interpretation": interpretation,
    }
