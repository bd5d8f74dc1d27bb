"""Individual fairness, theorems, guide, intersections and intervals of the ExFairness metric specification."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

import evenhand
from evenhand.inference.settings import Inference
from evenhand.measures.registry import MEASURES
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.published.specification_metrics import (
    EXACT,
    QUICK,
    THRESHOLD,
    Rows,
    audited,
    confused,
    decided,
    people,
)
from evenhand.tables.arrays import Floats


def individual(setting: Setting) -> Outcome:
    """The share of similar pairs that are scored alike, over all pairs, and the steepest of them."""
    rng = np.random.default_rng(setting.seed)
    x = rng.random(150)
    f = np.clip(0.2 + 0.6 * x + rng.normal(0, 0.05, 150), 0, 1)
    d, apart = (np.abs(np.subtract.outer(v, v)) for v in (x / np.ptp(x), f))
    similar = (d <= 0.05) & ~np.eye(150, dtype=bool)
    found = evenhand.individual_fairness(
        {"x": x, "score": f}, "score", columns=["x"], radius=0.05, epsilon=0.06, lipschitz=2.0, rng=setting.seed
    )
    broken = found.overall.violations
    assert broken is not None
    return Outcome((
        Value("150 people", "share of similar pairs within ε", float((apart <= 0.06)[similar].mean()),
              found.overall.alike.value, EXACT),
        Value("150 people", "share beyond L times their distance", float((apart > 2 * d)[similar].mean()),
              broken.value, EXACT),
    ))  # fmt: skip


def chouldechova(setting: Setting) -> Outcome:
    """All confusion tables of at most ten people, with fractions: no rounding can hide a difference."""
    alike: dict[tuple[Fraction, Fraction, Fraction], set[Fraction]] = {}
    tables = 0
    for tp, fp, fn, tn in product(range(10), repeat=4):
        if tp + fp + fn + tn > 10 or not tp + fn or not fp + tn or not tp + fp:
            continue
        key = Fraction(tp, tp + fp), Fraction(fp, fp + tn), Fraction(fn, tp + fn)
        alike.setdefault(key, set()).add(Fraction(tp + fn, tp + fp + fn + tn))
        tables += 1
    several = [key for key, bases in alike.items() if len(bases) > 1]
    imperfect = [key for key in several if key[0] != 1 and key[2] != 1]
    return Outcome(
        claims=(
            Claim("of any two groups with different base rates PPV, FPR or FNR differ, unless PPV is 1 or 0",
                  not imperfect, f"{tables:,} tables of at most ten people"),
            Claim("if PPV is 1 or 0 all three can be equal", bool(several), f"{len(several)} cases"),
        ),
        notes=("the document names no exception: everybody selected turning out well, or nobody, is one",),
    )  # fmt: skip


CALIBRATED = {"a": ((0.8, 40, 10), (0.2, 10, 40)), "b": ((0.5, 16, 16), (1 / 17, 4, 64))}
"""Scores of two groups, with how many people of each have the favourable and the unfavourable outcome."""


def kleinberg(setting: Setting) -> Outcome:
    """Calibrated scores of groups with other base rates and equal TPR and TNR; what cannot be equal are means."""
    rows = [(s, y, g) for g, cells in CALIBRATED.items() for s, *sizes in cells
            for y, n in zip((1, 0), sizes, strict=True) for _ in range(n)]  # fmt: skip
    score, label, group = (np.array(column) for column in zip(*rows, strict=True))
    both = {"score": score, "label": label, "group": group}
    audit = audited(both, "equal_opportunity", "predictive_equality", score_range=(0, 1), threshold=THRESHOLD)
    errors = [g.rates["ece"].value for g in audit.attributes[0].groups]
    odds = [audit.measure(id_).value for id_ in ("equal_opportunity", "predictive_equality")]
    means: list[Value] = []
    for name in "ab":
        base, favoured, others = (float(v) for v in _balance(both, name))
        total = base * favoured + (1 - base) * others
        means.append(Value(f"group {name}", "p·μ₁ + (1−p)·μ₀, which is p if scores are calibrated", base, total, EXACT))
    return Outcome(
        tuple(means),
        (
            Claim("calibration, equal TPR and equal TNR exclude each other where base rates differ",
                  not (max(*errors, *odds) < 1e-9), f"ECE {errors[0]:.3f} and {errors[1]:.3f}; base rates 0.5 and 0.2; "
                  f"gaps of TPR and TNR {odds[0]:.3f} and {odds[1]:.3f}"),
            Claim("calibration and equal mean scores of both outcomes do", _excluded()),
        ),
        notes=("the theorem is about mean scores of the people with each outcome, not about TPR and TNR at a threshold "
               "as in the document; it holds unless base rates are equal or prediction is perfect",),
    )  # fmt: skip


def _balance(rows: Rows, group: str) -> tuple[Any, Any, Any]:
    """The base rate of a group, and mean scores of its people with each outcome."""
    own, y = rows["group"] == group, rows["label"] == 1
    return rows["label"][own].mean(), rows["score"][own & y].mean(), rows["score"][own & ~y].mean()


def _excluded() -> bool:
    """Whether p·μ₁ + (1−p)·μ₀ = p has no common solution for two base rates but μ₁ = 1, μ₀ = 0."""
    solved: list[Floats] = [
        np.linalg.solve([[p, 1 - p], [q, 1 - q]], [p, q]) for p, q in product(np.arange(1, 10) / 10, repeat=2) if p != q
    ]
    return bool(np.allclose(solved, [1, 0], atol=1e-9))


def guide(setting: Setting) -> Outcome:
    """Every way through the tree."""
    leaves = {
        "opportunity": "equal_opportunity", "errors": "equalized_odds", "meaning": "predictive_parity",
        "probability": "calibration_gap", "individuals": "individual_fairness", "causes": "counterfactual_fairness",
    }  # fmt: skip
    claims = [Claim("without ground truth: demographic parity, with a law the 80% rule too",
                    "demographic_parity" in evenhand.guide(ground_truth=False).measures
                    and "disparate_impact" in evenhand.guide(ground_truth=False, legal=True).measures)]  # fmt: skip
    for priority, measure in leaves.items():
        advice = evenhand.guide(ground_truth=True, priority=priority)
        checked = "impossibility" in (advice.beware or "") or measure.endswith("fairness")
        claims.append(Claim(f"{priority}: {measure.replace('_', ' ')}", advice.measures == (measure,) and checked))
    return Outcome(claims=tuple(claims), notes=("after equal opportunity, equalized odds, predictive parity and "
                   "calibration it points to what cannot hold together",))  # fmt: skip


def intersections(setting: Setting) -> Outcome:
    """Each attribute by itself, and all combinations."""
    pairs = list(product(("Male", "Female"), ("White", "Black")))
    rows = {"gender": [g for g, _ in pairs for _ in range(4)], "race": [r for _, r in pairs for _ in range(4)],
            "decision": [0, 1, 1, 0] * 4}  # fmt: skip
    found = evenhand.audit(rows, prediction="decision", group=["gender", "race"], **QUICK)
    assert isinstance(found, evenhand.Audit)
    gender, race, both = found.attributes
    return Outcome(
        (Value("gender × race", "groups", 4, len(both.groups)),),
        (Claim("additive: each attribute by itself", [gender.name, race.name] == ["gender", "race"]),
         Claim("multiplicative: all combinations", sorted(g.members for g in both.groups) == sorted(pairs))),
    )  # fmt: skip


def intervals(setting: Setting) -> Outcome:
    """The printed bootstrap, of a gap that is large and of groups that are alike."""
    rows, usual = decided(people(setting)), Inference()
    ci = _percentile(rows, setting, usual.bootstrap)
    ours = audited(rows, "demographic_parity", bootstrap=usual.bootstrap, rng=setting.seed)
    gap = ours.measure("demographic_parity")
    assert gap.ci_bootstrap is not None
    found = sorted(abs(end) for end in gap.ci_bootstrap)
    same = confused(a=(60, 40, 60, 40), b=(60, 40, 60, 40))
    lower, _ = _percentile({k: np.array(v) for k, v in same.items()}, setting, usual.bootstrap)
    alike = audited(same, "demographic_parity").measure("demographic_parity")
    every = [g for g in audited(people(setting), *MEASURES).attributes[0].measures if g.measure.page == "decisions"]
    assert alike.ci is not None
    return Outcome(
        (Value("defaults", "resamples", 1000, usual.bootstrap), Value("defaults", "level", 0.95, usual.confidence),
         *(Value("demographic parity", end, theirs, mine, 0.005)
           for end, theirs, mine in zip(("lower end", "upper end"), ci, found, strict=True))),
        (Claim("every decision measure has an interval, also without resamples",
               all(g.ci is not None for g in every if not g.undefined), f"{len(every)} measures"),),
        notes=(f"a percentile interval of an absolute gap leaves 0 out even of groups that are alike (it begins at "
               f"{lower:.4f} here); ours is of the signed gap, or of a norm, and holds it ({alike.ci[0]:.3f} to "
               f"{alike.ci[1]:.3f})",),
    )  # fmt: skip


def _percentile(rows: Rows, setting: Setting, draws: int) -> tuple[float, float]:
    """The percentile interval of |ΔDP| over resampled rows, as printed."""
    rng = np.random.default_rng(setting.seed)
    group, decision = np.asarray(rows["group"]) == "a", np.asarray(rows["decision"])
    gaps = []
    for _ in range(draws):
        own = rng.integers(0, len(group), len(group))
        gaps.append(abs(decision[own][group[own]].mean() - decision[own][~group[own]].mean()))
    low, high = np.quantile(gaps, [0.025, 0.975])
    return float(low), float(high)
