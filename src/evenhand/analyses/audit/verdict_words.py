"""A verdict in sentences: who is selected how often, whether that is chance, how sure, and what was not compared."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.analyses.audit.wording import measure_of, p_words
from evenhand.errors import shown_name
from evenhand.measures.measure import SLACK
from evenhand.measures.registry import Measure, RateMeasure
from evenhand.report.contents import capital
from evenhand.report.format import number

UNEQUAL = "unequal"
UNCERTAIN = "unequal, size uncertain"
MAY_EXCEED = "difference, may exceed the tolerance"
CANNOT_TELL = "cannot tell: too few people"
NOT_COMPUTED = "cannot be computed"
SMALL = "small but real difference"
NO_GAP = "no relevant gap"
MOST_NAMED = 5
_BARE = re.compile(r"(under )?[+-]?[\d.,–]+( and over)?|true|false|yes|no", re.IGNORECASE)
"""Names of groups that say nothing by themselves."""
FOUR_FIFTHS = 0.8
SELECTION = ("disparate_impact", "demographic_parity", "delta_dp_b")
SCOPES = {
    (False, False): "Compared were decisions only: whether people were equally qualified is not in the data.",
    (False, True): "Compared were decisions and outcomes; other qualifications are not in the data.",
    (True, False): "Compared were scores and decisions: how people turn out, or how qualified they are, is not in the "
    "data.",
    (True, True): "Compared were scores, decisions and outcomes; other qualifications are not in the data.",
}
"""By whether there are scores, and outcomes."""


def attribute_sentence(
    attribute: Mapping[str, Any],
    data: Mapping[str, Any],
    found: Mapping[str, Any],
    words: Mapping[tuple[str, str], str],
) -> str:
    """The rates of the group that fares worst beside those of its reference, then what the verdict rests on."""
    scope = SCOPES[data["score"] is not None, data["label"] is not None]
    if found["worst"] is None:
        return f"None of the key measures was computed. {scope}"
    group, id_ = found["worst"]["group"], found["worst"]["measure"]
    own = {m["id"]: m for m in attribute["measures"] if m["group"] == group}
    m = own[id_]
    sizes = {g["name"]: g["n"] for g in attribute["groups"]}
    called = {g["name"]: group_words(attribute["columns"], g["members"]) for g in attribute["groups"]}
    parts = [_rates(attribute, data, own, group, called), _evidence(m, found["word"], sizes, called)]
    return " ".join(filter(None, [*parts, *_others(found, words, group, id_, called), scope]))


def group_words(columns: Sequence[str], members: Sequence[str]) -> str:
    """A group as a sentence names it: a number, or yes and no, with the attribute that it is of.

    >>> group_words(["sex"], ["women"]), group_words(["age"], ["25–39"]), group_words(["sex", "parent"], ["f", "1"])
    ('women', 'age 25–39', 'f × parent 1')
    """
    named = (f"{c} {m}" if _BARE.fullmatch(m) else m for c, m in zip(columns, members, strict=True))
    return shown_name(" × ".join(named))


def audit_sentence(first: Mapping[str, Any], attributes: Sequence[Mapping[str, Any]]) -> str:
    """That of the worst attribute, and the words of the others."""
    text = str(first["verdict"]["sentence"])
    if len(attributes) == 1:
        return text
    rest: dict[str, list[str]] = {}
    for a in attributes:
        if a is not first:
            rest.setdefault(a["verdict"]["word"], []).append(shown_name(a["name"]))
    said = [f"by {_named(names)}: {word}" for word, names in rest.items()]
    return f"By {shown_name(first['name'])}: {text} {capital('; '.join(said))}."


# ---- rates -----------------------------------------------------------------------------------------------------------


def _rates(
    attribute: Mapping[str, Any],
    data: Mapping[str, Any],
    own: Mapping[str, Mapping[str, Any]],
    group: str,
    called: Mapping[str, str],
) -> str:
    """How often two groups are selected, the one that is selected less first."""
    pair = [g for g in attribute["groups"] if g["name"] in (group, attribute["reference"])]
    rates = {g["name"]: g["rates"]["selection_rate"]["value"] for g in pair}
    if None in rates.values():
        return ""
    (less, low), (more, high) = sorted(rates.items(), key=lambda item: item[1])
    what = f"get the favourable decision ({shown_name(data['decision_rule'], 60)})"
    if high - low < SLACK:
        return f"{percents(low)[0]} of {called[less]} and of {called[more]} {what}, equally many."
    few, many = percents(low, high)
    text = f"{few} of {called[less]} and {many} of {called[more]} {what}"
    if low == 0:
        return f"{text}."
    impact = own.get("disparate_impact")
    within = "" if impact is None or impact["passes"] is None else _held_to(low / high, impact["tolerance"])
    return f"{text}: {number(low / high, digits=2)} times as often{within}."


def _held_to(ratio: float, tolerance: float) -> str:
    share = "four fifths" if tolerance == FOUR_FIFTHS else f"the tolerance of {tolerance:g}"
    return f", below {share}" if ratio < tolerance - SLACK else ""


def percents(*shares: float) -> list[str]:
    """Shares in percent, with as many decimals for all as tell them apart and have two digits of each.

    >>> percents(0.035, 0.08), percents(0.58, 0.74), percents(0.0004, 0.5), percents(0.0, 1.0)
    (['3.5%', '8.0%'], ['58%', '74%'], ['0.04%', '50.00%'], ['0%', '100%'])
    """
    inner = [s for s in shares if 0 < s < 1]
    least = min((min(s, 1 - s) for s in inner), default=1.0)
    digits = min(0 if least >= 0.0995 else 1 - math.floor(math.log10(100 * least)) - (least < 0.00995), 4)
    while digits < 4 and len({f"{100 * s:.{digits}f}" for s in inner}) < len(set(inner)):
        digits += 1
    return [f"{100 * s:g}%" if s in (0, 1) else f"{100 * s:.{max(digits, 0)}f}%" for s in shares]


# ---- evidence --------------------------------------------------------------------------------------------------------


def _evidence(m: Mapping[str, Any], word: str, sizes: Mapping[str, int], called: Mapping[str, str]) -> str:
    """What the worst comparison says."""
    measure = measure_of(dict(m))
    if word == NOT_COMPUTED:
        because = m["undefined"] or m["unjudged"] or _untested(m)
        return f"{capital(measure.title)} cannot be judged {shown_name(because, 200)}."
    what, tolerance, chance = _subject(measure, m), _tolerance(measure, m), _chance(m)
    ends = _span(measure, m)
    between = f"; {_the(measure)} is between {ends}" if ends else ", without interval"
    about = "" if measure.id in SELECTION else f"{capital(what)} (tolerance {tolerance}). "
    if word == UNEQUAL:
        return f"{about}This is not chance{chance}{between}."
    if word == UNCERTAIN:
        across = f"{between}, so the size is uncertain" if ends else f"{between}, so the size is not known"
        return f"{about}This is not chance{chance}{across}."
    if word == MAY_EXCEED:
        return f"{about}This is not chance{chance}, and may be beyond the tolerance of {tolerance}{between}."
    if word == SMALL:
        return f"{about}This is not chance{chance}, but within the tolerance of {tolerance}{between}."
    if word == NO_GAP:
        return f"{about}Within the tolerance of {tolerance}{between}."
    return f"{about}That is too few people to tell{chance}{between}.{_settled_by(m, sizes, called)}"


def _untested(m: Mapping[str, Any]) -> str:
    """Why nothing tells whether a gap is more than chance."""
    if m["p_adjusted"] is None:
        return "without an interval or a test (bootstrap and permutations are 0)"
    return f"by so few permutations for so many comparisons ({_p(m)})"


def _subject(measure: Measure, m: Mapping[str, Any]) -> str:
    """The measure with its value."""
    if isinstance(measure, RateMeasure) and measure.signed:
        return f"{measure.title} differs by {_points(abs(m['signed']))}"
    return f"{measure.title} is {_size(measure, m['value'])}"


def _the(measure: Measure) -> str:
    return "the ratio" if measure.scale == "ratio" else "the difference" if measure.signed else "the gap"


def _size(measure: Measure, value: float) -> str:
    if measure.scale == "ratio":
        return number(min(value, 1 / value) if value > 0 else value, digits=2)
    return number(value)


def _points(difference: float) -> str:
    return f"{100 * difference:.1f} percentage points"


def _tolerance(measure: Measure, m: Mapping[str, Any]) -> str:
    if measure.scale == "ratio":
        return "four fifths" if m["tolerance"] == FOUR_FIFTHS else f"{m['tolerance']:g}"
    return f"{100 * m['tolerance']:g} points" if in_points(measure) else f"{m['tolerance']:.2g}"


def in_points(measure: Measure) -> bool:
    """Whether a gap is a difference of two shares."""
    return isinstance(measure, RateMeasure) and measure.scale == "difference" and measure.highest == 1.0


def _span(measure: Measure, m: Mapping[str, Any]) -> str | None:
    """Both ends of the interval, of a ratio as the lower rate over the higher."""
    if m["ci"] is None:
        return None
    low, high = m["ci"]
    if measure.scale == "ratio":
        high = math.inf if high is None else high
        if m["value"] > 1:
            low, high = 1 / high, 1 / low if low > 0 else math.inf
        return f"{number(low, digits=2)} and {number(high, digits=2) if math.isfinite(high) else '∞'}"
    if None in m["ci"]:
        return None
    if measure.signed and m["signed"] is not None and m["signed"] < 0:
        low, high = -high, -low
    if in_points(measure):
        return f"{100 * low:.1f} and {100 * high:.1f} points"
    return f"{number(low)} and {number(high)}"


def _chance(m: Mapping[str, Any]) -> str:
    return " (by its interval alone, untested)" if m["p_adjusted"] is None else f" ({_p(m)})"


def _p(m: Mapping[str, Any]) -> str:
    return p_words(dict(m)).replace(" .", " 0.")


def _settled_by(m: Mapping[str, Any], sizes: Mapping[str, int], called: Mapping[str, str]) -> str:
    """How many people it would probably take."""
    if m["needed"] is None:
        return ""
    few = min((m["group"], "n"), (m["reference"], "n_reference"), key=lambda g: sizes[g[0]])
    return f" About {rounded(m['needed'][few[1]]):,} people of {called[few[0]]} would settle it."


def rounded(people: int) -> int:
    """A number of people as one says it, not below it.

    >>> rounded(87), rounded(913), rounded(10_001)
    (90, 920, 11000)
    """
    step: int = 10 ** max(len(str(people)) - 2, 1)
    return -(-people // step) * step


# ---- the rest --------------------------------------------------------------------------------------------------------


def _others(
    found: Mapping[str, Any], words: Mapping[tuple[str, str], str], group: str, id_: str, called: Mapping[str, str]
) -> list[str]:
    """Other measures of the group, and other groups, that are beyond a tolerance."""
    more = [
        measure_of({"id": m}).title for (g, m), word in words.items()
        if g == group and m != id_ and word in (UNEQUAL, UNCERTAIN) and not {m, id_} <= set(SELECTION)
    ]  # fmt: skip
    groups: dict[str, list[str]] = {}
    for other, word in found["groups"].items():
        if other != group:
            groups.setdefault(word, []).append(called[other])
    lines = [f"{called[group]} is also unequal by {_named(more)}."] if more else []
    return [*lines, *(f"{capital(word)}: {_named(names)}." for word, names in groups.items())]


def _named(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return ", ".join(names[:-1]) + (" and " if names[:-1] else "") + names[-1]
