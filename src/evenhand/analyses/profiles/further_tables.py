"""Tables of rules that have more than a number for each group: deciles of the score, strata, shares of a population."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.inference.interval import wilson

Table = tuple[list[dict[str, str]], list[list[Any]], list[str]]
"""Columns, rows and notes."""
_NUMBER = re.compile(r"\d[\d.]*")


def _column(id_: str, head: str, kind: str) -> dict[str, str]:
    return {"id": id_, "head": head, "kind": kind}


def deciles(attribute: Mapping[str, Any], names: list[str]) -> Table | None:
    """The ratio to the reference of who is strictly above each decile of the score."""
    own = {
        m["group"]: m for m in attribute["measures"] if m["id"] == "selection_ratio_by_quantile" and not m["undefined"]
    }
    first = next((own[name]["parts"] for name in names if name in own), None)
    if first is None:
        return None
    columns = [_column("category", "category", "name")]
    for part in first:
        top = round(100 * (1 - _quantile(part["name"])))
        columns.append(_column(f"top_{top}", f"top {top}%", "ratio"))
    rows: list[list[Any]] = [
        [name, *([1.0] * len(first) if name == attribute["reference"] else _ratios(own.get(name), len(first)))]
        for name in names
    ]
    return columns, rows, []


def _quantile(name: str) -> float:
    found = _NUMBER.search(name)
    assert found is not None
    return float(found[0])


def _ratios(m: Mapping[str, Any] | None, size: int) -> list[float | None]:
    if m is None:
        return [None] * size
    return [p["group"] / p["reference"] if p["reference"] else None for p in m["parts"]]


def strata(attribute: Mapping[str, Any], names: list[str], confidence: float) -> Table | None:
    """What is pooled over strata, beside what is found for everybody together."""
    within = attribute.get("within")
    if within is None:
        return None
    pooled = {one["group"]: one for one in within["rates"] if one["rate"] == "selection_rate"}
    level = f"{100 * confidence:g}% interval"
    columns = [
        _column("category", "category", "name"),
        _column("crude", "difference, everybody", "points"),
        _column("difference", f"within {within['name']}", "points"),
        _column("difference_interval", level, "points"),
        _column("odds_ratio", "odds ratio within", "ratio"),
        _column("odds_ratio_interval", level, "ratio"),
        _column("p", "p, exact within", "p"),
    ]
    rows: list[list[Any]] = []
    for name in names:
        one = pooled.get(name)
        if one is not None and not one["undefined"]:
            difference, odds = one["risk_difference"] or {}, one["odds_ratio"] or {}
            rows.append([
                name, one["crude"], difference.get("value"), difference.get("ci"), odds.get("value"), odds.get("ci"),
                one["p_value"],
            ])  # fmt: skip
        elif one is not None:
            rows.append([name, one["crude"], f"undefined {one['undefined']}", None, None, None, None])
    n = len(within["strata"])
    lacking = len(within["lacking"])
    notes = [f"Pooled over {n:,} strata (Mantel–Haenszel); in {lacking:,} of them one of the groups has nobody."]
    return columns, rows, notes


def shares(
    attribute: Mapping[str, Any], sizes: list[tuple[str, int]], population: Mapping[str, float], confidence: float
) -> Table:
    """The share of each group among the people and in a population that was stated."""
    columns = [
        _column("category", "category", "name"),
        _column("people", "people", "count"),
        _column("share", "share here", "share"),
        _column("share_interval", f"{100 * confidence:g}% interval", "share"),
        _column("population", "share of the population", "share"),
        _column("difference", "difference", "points"),
    ]
    everybody = sum(n for _, n in sizes)
    rows: list[list[Any]] = []
    for name, n in sizes:
        low, high = wilson(n / everybody, everybody, confidence)
        wanted = population.get(name)
        ends = [float(low), float(high)]
        rows.append([name, n, n / everybody, ends, wanted, None if wanted is None else n / everybody - wanted])
    absent = [name for name in population if name not in dict(sizes)]
    rows += [[name, 0, 0.0, None, population[name], -population[name]] for name in absent]
    return columns, rows, ["The interval is that of a random sample, which these people may not be."]


def blank(attribute: Mapping[str, Any]) -> Iterator[str]:
    """What stands in place of shares that nobody stated."""
    yield f"Shares of a population by {attribute['name']} were not stated (--population FILE)."
