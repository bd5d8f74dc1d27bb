"""The words that names of columns are made of, and those by which an outcome is a bad one."""

from __future__ import annotations

import re
from collections.abc import Collection

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zà-ÿ]+|[0-9]+")
BAD_OUTCOMES = frozenset((
    "bad", "default", "defaults", "defaulted", "recid", "recidivism", "recidivist", "recidivated", "recidivate",
    "reoffend", "reoffended", "rearrest", "rearrested", "arrest", "arrested", "reconviction", "reconvicted",
    "fraud", "fraudulent", "churn", "churned", "delinquent", "delinquency", "chargeoff", "bankrupt",
    "bankruptcy", "failure", "failed", "fail", "dropout", "death", "died", "dead", "deceased", "mortality",
    "readmission", "readmitted", "disease", "complication", "relapse", "insolvent", "insolvency", "overdue",
    "late", "violation", "unpaid", "loss", "crime", "victim", "attrition",
))  # fmt: skip
_NEGATIONS = frozenset(("no", "not", "non", "never", "without", "un"))


def words(name: str) -> list[str]:
    """The words of a name, in small letters.

    >>> words("two_year_recid"), words("isFraud"), words("default payment.next")
    (['two', 'year', 'recid'], ['is', 'fraud'], ['default', 'payment', 'next'])
    """
    return [word.lower() for word in _WORD.findall(name)]


def has(name: str, of: Collection[str]) -> bool:
    """Whether a name has one of these words."""
    return any(word in of for word in words(name))


def is_bad_outcome(name: str) -> bool:
    """Whether a column is called like something that is bad if it happens.

    >>> is_bad_outcome("two_year_recid"), is_bad_outcome("no_default"), is_bad_outcome("repaid")
    (True, False, False)
    """
    return has(name, BAD_OUTCOMES) and not has(name, _NEGATIONS)
