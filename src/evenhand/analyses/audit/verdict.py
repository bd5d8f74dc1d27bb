"""The one verdict of an audit, from its document: is there a gap, does it matter, and whom does it touch.

Every view shows this: terminal, page, Markdown, JSON and the gate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.analyses.audit.verdict_words import (
    CANNOT_TELL,
    MAY_EXCEED,
    NO_GAP,
    NOT_COMPUTED,
    SMALL,
    UNCERTAIN,
    UNEQUAL,
    attribute_sentence,
    audit_sentence,
)
from evenhand.analyses.audit.wording import measure_of
from evenhand.inference.significance import at_floor

WORDS = (UNEQUAL, UNCERTAIN, MAY_EXCEED, CANNOT_TELL, NOT_COMPUTED, SMALL, NO_GAP)
"""The worst first: a group has the worst word of its key measures, an attribute that of its groups."""


def word_of(m: Mapping[str, Any], confidence: float) -> str:
    """The word of one comparison.

    >>> gap = {"id": "disparate_impact", "undefined": None, "unjudged": None, "p_value": 1e-9, "p_adjusted": 1e-8}
    >>> gap |= {"null_method": "exact"}
    >>> word_of({**gap, "passes": False, "conclusive": True, "ci": [0.39, 0.49]}, 0.95)
    'unequal'
    >>> word_of({**gap, "p_adjusted": 0.4, "passes": True, "conclusive": False, "ci": [0.7, 1.3]}, 0.95)
    'cannot tell: too few people'
    """
    if m["undefined"] or m["unjudged"] or m["passes"] is None or (there := is_there(m, confidence)) is None:
        return NOT_COMPUTED
    within, settled = m["passes"], m["conclusive"] is True
    if there:
        return (SMALL if settled else MAY_EXCEED) if within else (UNEQUAL if settled else UNCERTAIN)
    return NO_GAP if within and settled else CANNOT_TELL


def is_there(m: Mapping[str, Any], confidence: float) -> bool | None:
    """Whether a gap is more than chance: by its adjusted p-value, or if it was not tested by its interval.

    None without either, and where no permutation came near: more of them could still show the gap.
    """
    if m["p_adjusted"] is not None:
        there = bool(m["p_adjusted"] <= 1 - confidence)
        return None if not there and at_floor(m["p_value"], m["null_method"]) else there
    if m["ci"] is None:
        return None
    low, high = m["ci"]
    parity = 1.0 if measure_of(dict(m)).scale == "ratio" else 0.0
    return (low is not None and low > parity) or (high is not None and high < parity)


def attribute_verdict(
    attribute: Mapping[str, Any], data: Mapping[str, Any], key: Sequence[str], confidence: float
) -> dict[str, Any]:
    """The verdict on the groups of one attribute."""
    compared = [m for id_ in key for m in attribute["measures"] if m["id"] == id_]
    words = {(m["group"], m["id"]): word_of(m, confidence) for m in compared}
    word, worst = _worst(compared, words)
    best = _fare(attribute, max)
    found = {
        "word": word,
        "worst": worst,
        "fares_worst": None if best is None else _fare(attribute, min),
        "fares_best": best,
        "key": list(key),
        "groups": _worst_of((group, word) for (group, _), word in words.items()),
        "measures": dict.fromkeys(key, NOT_COMPUTED) | _worst_of((id_, word) for (_, id_), word in words.items()),
    }
    return {"sentence": attribute_sentence(attribute, data, found, words), **found}


def audit_verdict(attributes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The verdict on the audit: that of its worst attribute, and a sentence about the others."""
    told = list(attributes)
    first = min(told, key=lambda a: WORDS.index(a["verdict"]["word"]))
    own = first["verdict"]
    return {
        "word": own["word"],
        "sentence": audit_sentence(first, told),
        "attribute": first["name"],
        "worst": own["worst"],
        "fares_worst": own["fares_worst"],
        "fares_best": own["fares_best"],
        "key": own["key"],
    }


def _worst(
    compared: Sequence[Mapping[str, Any]], words: Mapping[tuple[str, str], str]
) -> tuple[str, dict[str, str] | None]:
    """The worst word, and of the first key measure that has it the group for which that shows most."""
    if not words:
        return NOT_COMPUTED, None
    word = min(words.values(), key=WORDS.index)
    those = [m for m in compared if words[m["group"], m["id"]] == word]
    worst = min((m for m in those if m["id"] == those[0]["id"]), key=lambda m: _least(m, word))
    return word, {"group": worst["group"], "measure": worst["id"]}


def _least(m: Mapping[str, Any], word: str) -> tuple[float, float]:
    """The least is the largest gap; where few people may have made it, that which chance explains least."""
    p = m["p_value"] if word == CANNOT_TELL else None
    return math.inf if p is None else p, -_apart(m)


def _apart(m: Mapping[str, Any]) -> float:
    """How far two groups are apart, whichever is ahead."""
    value = m["value"]
    if value is None:
        return -math.inf
    if measure_of(dict(m)).scale != "ratio":
        return abs(float(value))
    return abs(math.log(value)) if value > 0 else math.inf


def _worst_of(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The worst word under each name."""
    found: dict[str, str] = {}
    for name, word in named:
        found[name] = min(found.get(name, word), word, key=WORDS.index)
    return found


def _fare(attribute: Mapping[str, Any], which: Any) -> str | None:
    """The group that is selected least or most often, if groups are: few people alone make nobody worst or best."""
    compared = [g for g in attribute["groups"] if g["name"] not in attribute["excluded"]]
    groups = [g for g in compared if g["rates"]["selection_rate"]["value"] is not None]
    enough = [g for g in groups if g["name"] not in attribute["too_small"]]
    told = enough if len(enough) > 1 else groups
    rates = [g["rates"]["selection_rate"]["value"] for g in told]
    if len(set(rates)) < 2:
        return None
    return str(told[rates.index(which(rates))]["name"])
