"""Groups compared within strata as rows of text, from the document: what terminal, page, Markdown and Word show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.audit.brief import percent_column
from evenhand.analyses.audit.key_tables import Rows
from evenhand.analyses.audit.wording import measure_of
from evenhand.errors import shown_name
from evenhand.measures.rates import RATES
from evenhand.report.format import interval, number, p_value, percent

FEW_STRATA = 12
NOTED = 0.1
"""If so large a share of the people are left out, that is said beside the number."""
WHOSE = {"everybody": "everybody's", "group": "the group's", "reference": "the reference's"}


def shown_group(attribute: dict[str, Any]) -> str:
    """The group whose strata are shown first: that of the verdict, else the first that is compared."""
    worst = attribute["verdict"]["worst"]
    return str(_compared(attribute)[0] if worst is None else worst["group"])


def groups_of(attribute: dict[str, Any]) -> list[str]:
    """All groups that are compared, the one that is shown first before the others."""
    return sorted(_compared(attribute), key=shown_group(attribute).__ne__)


def _compared(attribute: dict[str, Any]) -> list[str]:
    aside = {attribute["reference"], *attribute["excluded"]}
    return [g["name"] for g in attribute["groups"] if g["name"] not in aside]


def title(attribute: dict[str, Any], group: str) -> str:
    """Who is compared within what."""
    both = f"{shown_name(group, 30)} against {shown_name(attribute['reference'], 30)}"
    return f"Within {shown_name(attribute['within']['name'], 40)}: {both}"


def shown_rate(attribute: dict[str, Any], group: str) -> dict[str, Any] | None:
    """The rate that is shown stratum by stratum: how often people are selected, if that was measured."""
    return next(iter(pooled_rates(attribute, group).values()), None)


def strata(attribute: dict[str, Any], group: str, most: int | None = None) -> Rows:
    """People, rates and the difference in each stratum, the largest strata if there are more than asked for."""
    within, reference = attribute["within"], attribute["reference"]
    if (own := shown_rate(attribute, group)) is None:
        return Rows([], [])
    rate = own["rate"]
    places = _largest(within["strata"], (group, reference), most)
    chosen = [within["strata"][k] for k in places]
    rates = [percent_column([s["rates"][rate][g] for s in chosen]) for g in (group, reference)]
    rows = [
        [
            shown_name(s["name"], 30), f"{s['people'][group]:,}", f"{s['people'][reference]:,}",
            rates[0][i], rates[1][i], points(own["differences"][k]),
        ]
        for i, (k, s) in enumerate(zip(places, chosen, strict=True))
    ]  # fmt: skip
    names = shown_name(group, 14), shown_name(reference, 14)
    heads = ["stratum", *names, *(f"{RATES[rate].short}, {n}" for n in names), "difference"]
    return Rows(heads, rows)


def more(attribute: dict[str, Any], shown: Rows, where: str) -> str | None:
    """How many strata are not in a table that has some, and where they are."""
    rest = len(attribute["within"]["strata"]) - len(shown.rows)
    return f"and {rest:,} more strata: {where}" if shown.rows and rest > 0 else None


def pooled(attribute: dict[str, Any], group: str, confidence: float) -> Rows:
    """Each rate for everybody, and pooled over strata."""
    level = f"{100 * confidence:g}% interval"
    rows = []
    for rate, one in pooled_rates(attribute, group).items():
        rd, odds = one["risk_difference"], one["odds_ratio"]
        rows.append([
            RATES[rate].title, points(one["crude"]), *_with_interval(rd),
            "–" if odds is None else number(odds["value"], digits=2) if odds["value"] is not None else "∞",
            "–" if odds is None else interval(odds["ci"], digits=2), p_value(one["p_value"]),
        ])  # fmt: skip
    return Rows(["rate", "everybody", "within", level, "odds ratio", level, "p"], rows)


def first(attribute: dict[str, Any], group: str, confidence: float) -> Rows:
    """All that is pooled of the rate shown: by Mantel and Haenszel, with shares of strata, and as a disparity."""
    one = shown_rate(attribute, group)
    if one is None or one["risk_difference"] is None:
        return Rows([], [])
    same = (m for m in attribute["measures"] if m["group"] == group and m["signed"] is not None)
    crude = next((m["ci"] for m in same if getattr(measure_of(m), "components", ()) == (one["rate"],)), None)
    rows = [["for everybody together", *_with_interval({"value": one["crude"], "ci": crude})]]
    rows.append(["pooled (Mantel–Haenszel)", *_with_interval(one["risk_difference"])])
    rows += [[f"with {WHOSE[whose]} mix of strata", *_with_interval(p)] for whose, p in one["standardized"].items()]
    if one["disparity"] is not None:
        rows.append(["CDD: share of rejected − of selected", *_with_interval(one["disparity"])])
    what = "selection" if one["rate"] == "selection_rate" else RATES[one["rate"]].short
    return Rows([f"difference in {what}", "points", f"{100 * confidence:g}% interval"], rows)


def scores(attribute: dict[str, Any], group: str, confidence: float) -> Rows:
    """Each score-level measure for everybody, and of groups with the same mix of strata."""
    rows = []
    for one in attribute["within"]["scores"]:
        if one["group"] == group and one["value"] is not None:
            measure = measure_of(one)
            value = one["signed"] if measure.signed else one["value"]
            crude = one["crude"] if measure.signed or one["crude"] is None else _unsigned(attribute, one)
            rows.append([
                measure.title, number(crude, sign=measure.signed), number(value, sign=measure.signed),
                interval(one["ci"], sign=measure.signed), number(one["null_95"]), p_value(one["p_value"]),
            ])  # fmt: skip
    return Rows(["measure", "everybody", "within", f"{100 * confidence:g}% interval", "null 95%", "p"], rows)


def undefined(attribute: dict[str, Any], group: str) -> Iterator[str]:
    """What is not pooled, by reason."""
    by: dict[str, list[str]] = {}
    for one in attribute["within"]["rates"] + attribute["within"]["scores"]:
        if one["group"] == group and one["undefined"]:
            name = RATES[one["rate"]].title if "rate" in one else measure_of(one).title
            by.setdefault(one["undefined"], []).append(name)
    yield from (f"Not pooled {because}: {', '.join(names)}" for because, names in by.items())
    for one in attribute["within"]["scores"]:
        if one["group"] == group and (one["left_out_share"] or 0) > NOTED and not one["undefined"]:
            yield (
                f"{measure_of(one).title} rests on {percent(1 - one['left_out_share'])} of the people: the others are "
                "where their stratum has nobody of the other group"
            )


def pooled_rates(attribute: dict[str, Any], group: str) -> dict[str, dict[str, Any]]:
    """Of one group, by rate."""
    return {one["rate"]: one for one in attribute["within"]["rates"] if one["group"] == group}


def points(difference: float | None) -> str:
    """A difference of shares as people say it."""
    return "–" if difference is None else f"{100 * difference:+.1f}".replace("-", "−")


def _with_interval(one: dict[str, Any] | None) -> list[str]:
    if one is None:
        return ["–", "–"]
    return [points(one["value"]), "–" if one["ci"] is None else " to ".join(map(points, one["ci"]))]


def _unsigned(attribute: dict[str, Any], one: dict[str, Any]) -> float | None:
    """What an ordinary comparison found by the same measure, without a sign."""
    same = (m for m in attribute["measures"] if (m["id"], m["group"]) == (one["id"], one["group"]))
    return next((m["value"] for m in same), None)


def _largest(found: list[dict[str, Any]], pair: tuple[str, str], most: int | None) -> list[int]:
    """The places of the largest strata, in their order."""
    if most is None or len(found) <= most:
        return list(range(len(found)))
    sizes = [sum(s["people"][g] for g in pair) for s in found]
    return sorted(sorted(range(len(found)), key=lambda k: (-sizes[k], k))[:most])
