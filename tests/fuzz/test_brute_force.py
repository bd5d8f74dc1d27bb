"""Random small data: what audits, metrics and tables say, against slow and obvious loops over rows."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing import amount, generators

import evenhand

Rng = np.random.Generator
Row = dict[str, Any]
NAN = float("nan")
WORDS = [(1, 0), ("yes", "no"), (True, False), ("0", "1")]
"""Labels: the favourable one, and the other."""


def some_rows(rng: Rng) -> tuple[list[Row], dict[str, Any]]:
    """People, and how they are to be read."""
    good, bad = WORDS[rng.integers(len(WORDS))]
    levels, weighted = int(rng.choice([1, 2, 5, 20, 1000])), rng.random() < 0.4
    rows = [
        {
            "s": int(rng.integers(0, levels + 1)) / levels,
            "y": good if rng.random() < 0.5 else bad,
            "g": str(rng.choice(["a", "b", "c"][: 2 + (levels % 2)])),
            "h": int(rng.integers(0, 2)),
            "part": str(rng.choice(["train", "test"])),
            "w": float(rng.choice([0.5, 1.25, 0.1, 0.0, 3.0])) + 0.01 * (i == 0),
        }
        for i in range(int(rng.integers(12, 60)))
    ]
    if rng.random() < 0.3:
        for row in rows:
            name = str(rng.choice(["s", "y", "g", "none"], p=[0.05, 0.05, 0.05, 0.85]))
            row[name] = None
    roles: dict[str, Any] = {"score": "s", "label": "y", "group": ["g", "h"] if rng.random() < 0.4 else "g"}
    roles |= {"favorable": good, "missing": "drop", "score_range": (0.0, 1.0)}
    roles |= {"weight": "w", "weight_kind": "sampling"} if weighted else {}
    roles |= {"risk": True} if rng.random() < 0.3 else {}
    roles |= {"where": {"part": "train"}} if rng.random() < 0.3 else {}
    return rows, roles


def columns(rows: list[Row]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in ("s", "y", "g", "h", "part", "w")}


def people(rows: list[Row], roles: dict[str, Any], threshold: float) -> list[Row]:
    """The rows that count: score (higher is better), outcome, decision, weight, and groups by attribute."""
    found = []
    for row in rows:
        if "where" in roles and row["part"] != "train":
            continue
        several = isinstance(roles["group"], list)
        if any(row[name] is None for name in ("s", "y", *(() if several else "g"))):
            continue  # who has no g is still counted by h
        weight = row["w"] if "weight" in roles else 1.0
        if weight == 0:
            continue
        risk, groups = roles.get("risk", False), {"g": row["g"] or ""}
        if several:
            groups |= {"h": str(row["h"]), "g × h": f"{row['g']} × {row['h']}" if row["g"] else ""}
        found.append(
            {
                "s": 1 - row["s"] if risk else row["s"],
                "raw": row["s"],
                "y": row["y"] == roles["favorable"],
                "d": row["s"] < threshold if risk else row["s"] >= threshold,
                "w": weight,
                **groups,
            }
        )
    return found


def share(rows: list[Row], of: Any, among: Any = lambda row: True) -> float:
    """The weighted share of those that are so among some rows; NaN of none."""
    whole = sum(row["w"] for row in rows if among(row))
    return sum(row["w"] for row in rows if among(row) and of(row)) / whole if whole else NAN


def rates(rows: list[Row]) -> dict[str, float]:
    """The rates of one group."""
    return {
        "base_rate": share(rows, lambda r: r["y"]),
        "selection_rate": share(rows, lambda r: r["d"]),
        "tpr": share(rows, lambda r: r["d"], lambda r: r["y"]),
        "fpr": share(rows, lambda r: r["d"], lambda r: not r["y"]),
        "fnr": share(rows, lambda r: not r["d"], lambda r: r["y"]),
        "ppv": share(rows, lambda r: r["y"], lambda r: r["d"]),
        "npv": share(rows, lambda r: not r["y"], lambda r: not r["d"]),
        "accuracy": share(rows, lambda r: r["d"] == r["y"]),
    }


def area_between(a: list[Row], b: list[Row], place: Any) -> float:
    """∫ |F_a − F_b| over places of scores."""
    if not a or not b:
        return NAN
    at = sorted({place(row) for row in [*a, *b]})
    return sum(
        (high - low) * abs(share(a, lambda r, x=low: place(r) <= x) - share(b, lambda r, x=low: place(r) <= x))
        for low, high in pairwise(at)
    )


def by_rank(a: list[Row], b: list[Row], both: list[Row]) -> float:
    """The same over mid-ranks in both groups, from one person to the next; the lowest is 0 and the highest 1."""
    whole, scores = sum(row["w"] for row in both), sorted({row["s"] for row in both})
    person = sum(row["w"] ** 2 for row in both) / whole
    rank = {}
    for s in scores:
        below = sum(row["w"] for row in both if row["s"] < s)
        upto = sum(row["w"] for row in both if row["s"] <= s)
        rank[s] = min(max((below + upto - person) / (2 * max(whole - person, 1e-300)), 0.0), 1.0)
    rank |= {scores[0]: 0.0, scores[-1]: 1.0} if len(scores) > 1 else {}
    return area_between(a, b, lambda row: rank[row["s"]])


def roc_points(rows: list[Row]) -> list[tuple[float, float]]:
    steps = [math.inf, *sorted({row["s"] for row in rows}, reverse=True)]
    sides = [[row for row in rows if row["y"] is y] for y in (False, True)]
    return [(share(sides[0], lambda r, t=t: r["s"] >= t), share(sides[1], lambda r, t=t: r["s"] >= t)) for t in steps]


def height(points: list[tuple[float, float]], x: float) -> float:
    """A curve of straight lines, at a place where it does not jump."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 < x < x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    raise AssertionError(x)


def between_curves(a: list[Row], b: list[Row]) -> float:
    """The area between two ROC curves, by the straight pieces between their corners."""
    if any({row["y"] for row in rows} != {True, False} for rows in (a, b)):
        return NAN
    one, other, area = roc_points(a), roc_points(b), 0.0
    corners = sorted({x for x, _ in [*one, *other]})
    corners = [x for x, after in pairwise([*corners, 2.0]) if after - x > 1e-12]
    for low, high in pairwise(corners):
        third = (high - low) / 3
        left, right = (height(one, x) - height(other, x) for x in (low + third, high - third))
        start, end = 2 * left - right, 2 * right - left
        crossing = start * end < 0
        area += (high - low) * (
            (start**2 + end**2) / (2 * (abs(start) + abs(end))) if crossing else abs(start + end) / 2
        )
    return area


def expected(a: list[Row], b: list[Row]) -> dict[str, float]:
    """Measures of a group against its reference, in absolute value."""
    mine, others = rates(a), rates(b)
    gap = {name: abs(mine[name] - others[name]) for name in mine}
    means = [sum(r["w"] * r["s"] for r in rows) / sum(r["w"] for r in rows) for rows in (a, b)]
    good, bad = (([r for r in a if r["y"] is y], [r for r in b if r["y"] is y]) for y in (True, False))
    by_score = [area_between(*who, lambda r: r["s"]) for who in (good, bad)]
    ranked = [by_rank(*who, [*a, *b]) for who in (good, bad)]
    return {
        "demographic_parity": gap["selection_rate"],
        "disparate_impact": mine["selection_rate"] / others["selection_rate"] if others["selection_rate"] else NAN,
        "equal_opportunity": gap["tpr"],
        "predictive_equality": gap["fpr"],
        "equalized_odds": NAN if math.isnan(gap["tpr"] + gap["fpr"]) else max(gap["tpr"], gap["fpr"]),
        "predictive_parity": gap["ppv"],
        "negative_predictive_parity": gap["npv"],
        "accuracy_parity": gap["accuracy"],
        "delta_dp_c": abs(means[0] - means[1]),
        "abcc": area_between(a, b, lambda r: r["s"]),
        "independence_standardized": by_rank(a, b, [*a, *b]),
        "equal_opportunity_uniform": by_score[0],
        "equal_opportunity_standardized": ranked[0],
        "predictive_equality_uniform": by_score[1],
        "predictive_equality_standardized": ranked[1],
        "equalized_odds_uniform": sum(by_score),
        "equalized_odds_standardized": sum(ranked),
        "roc": between_curves(a, b),
    }


def check_audit(rng: Rng) -> int:
    """One audit against loops; how many numbers were compared."""
    rows, roles = some_rows(rng)
    threshold = float(rng.choice([0.5, 0.2, 1.0]))
    known = people(rows, roles, threshold)
    if len({row["g"] for row in known} - {""}) < 2 or {row["y"] for row in known} != {True, False}:
        return 0
    if isinstance(roles["group"], list) and len({row["h"] for row in known}) < 2:
        return 0
    audit = evenhand.audit(columns(rows), **roles, threshold=threshold, bootstrap=0, permutations=0)
    compared = 0
    for attribute in audit.attributes:
        groups = {g.name: [row for row in known if row[attribute.name] == g.name] for g in attribute.groups}
        assert sum(map(len, groups.values())) == sum(row[attribute.name] != "" for row in known)
        for group in attribute.groups:
            assert group.n == len(groups[group.name])
            for name, value in rates(groups[group.name]).items():
                assert group.rates[name].value == pytest.approx(value, abs=1e-9, nan_ok=True), (name, group.name)
                compared += 1
        for gap in attribute.measures:
            value = expected(groups[gap.group], groups[gap.reference]).get(gap.id)
            if value is None:
                continue
            assert gap.value == pytest.approx(value, abs=1e-9, nan_ok=True), (gap.id, gap.group, gap.reference)
            assert math.isnan(gap.value) == (gap.undefined is not None)
            compared += 1
    return compared


def check_table(rng: Rng, folder: Path) -> int:
    """One table: its cells, whatever the order of rows; parts add up to the whole; saved and loaded it is the same."""
    rows, roles = some_rows(rng)
    known = people(rows, roles, 0.5)
    if not known:
        return 0
    table = evenhand.tabulate(columns(rows), **roles)
    names = ["g", "h"] if isinstance(roles["group"], list) else ["g"]
    cells = Counter((row["raw"], row["y"], *(row[name] for name in names)) for row in known)
    mine = {
        (float(s), bool(y), *(a.groups[c] for a, c in zip(table.attributes, codes, strict=True))): int(n)
        for s, y, codes, n in zip(table.score, table.label, table.codes.T, table.n, strict=True)
    }
    assert mine == dict(cells)
    if table.weight is not None:
        sums: dict[Any, list[float]] = {key: [] for key in cells}
        for row in known:
            sums[(row["raw"], row["y"], *(row[name] for name in names))].append(row["w"])
        for key, w, w2 in zip(mine, table.weight, table.weight2, strict=True):
            assert (w, w2) == (math.fsum(sums[key]), math.fsum(v * v for v in sums[key]))  # rounded once
    mixed = [rows[i] for i in rng.permutation(len(rows))]
    again = evenhand.tabulate(columns(mixed), **roles)
    assert (again, again.digest()) == (table, table.digest())
    if rng.random() < 0.1:  # files are slow
        table.save(folder / "saved.table")
        assert evenhand.load(folder / "saved.table") == table
    cut = int(rng.integers(1, len(rows)))
    halves = [half for half in (rows[:cut], rows[cut:]) if {r["y"] for r in people(half, roles, 0.5)} == {True, False}]
    if "where" in roles or len(halves) < 2:
        return 4
    both = [evenhand.tabulate(columns(half), **roles) for half in halves]
    assert both[0] + both[1] == both[1] + both[0]
    whole = both[0] + both[1]
    assert (whole.score.tolist(), whole.n.tolist(), whole.codes.tolist()) == (
        table.score.tolist(), table.n.tolist(), table.codes.tolist(),
    )  # fmt: skip
    if table.weight is None:
        assert whole == table
    else:
        np.testing.assert_allclose(whole.weight, table.weight, rtol=4e-16)
    return 6


METRICS = ("demographic_parity", "equalized_odds", "equal_opportunity", "abcc", "roc", "equal_opportunity_standardized")


def check_metric(rng: Rng) -> int:
    """One metric of two groups."""
    rows, roles = some_rows(rng)
    roles = {k: v for k, v in roles.items() if k not in ("where", "risk", "weight")} | {"group": "g"}
    rows = [row for row in rows if all(row[name] is not None for name in "syg") and row["g"] != "c"]
    known = people(rows, roles, 0.5)
    if len({row["g"] for row in known}) < 2 or {row["y"] for row in known} != {True, False}:
        return 0
    of, name = columns(rows), str(rng.choice(METRICS))
    words: dict[str, Any] = {
        "favorable": roles["favorable"],
        "score_range": (0.0, 1.0),
        "bootstrap": 0,
        "permutations": 0,
    }
    decided = name in METRICS[:3] and len(set(of["s"])) > 2
    if name in METRICS[:3] and not decided:
        return 0  # two numbers are taken for decisions
    found = getattr(evenhand.metrics, name)(
        of["y"], of["s"], sensitive_features=of["g"], **words, **({"threshold": 0.5} if decided else {})
    )
    a, b = ([row for row in known if row["g"] == g] for g in found.pair)
    assert float(found) == pytest.approx(expected(a, b)[name], abs=1e-9, nan_ok=True), name
    return 1


@amount(reduced=12, full=3000)
def test_audits_equal_loops_over_rows(cases: int) -> None:
    assert sum(check_audit(rng) for rng in generators(cases, 2)) > 10 * cases


@amount(reduced=30, full=1500)
def test_tables_equal_loops_over_rows(cases: int, tmp_path: Path) -> None:
    assert sum(check_table(rng, tmp_path) for rng in generators(cases, 3)) > 2 * cases


@amount(reduced=25, full=1500)
def test_metrics_equal_loops_over_rows(cases: int) -> None:
    assert sum(check_metric(rng) for rng in generators(cases, 4)) > cases / 4
