"""Section 3 and Appendix A of Han, Baldwin & Cohn 2023: from the rates of classes and groups to one number."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import evenhand
from evenhand.errors import DataError
from evenhand.files.paths import shown_path
from evenhand.measures.aggregation import power_mean
from evenhand.published.aggregation_printed import (
    GROUPS,
    PRINTED_ORDER,
    PROFESSIONS,
    TOTAL_4,
    table_4,
)
from evenhand.published.item import Claim, Outcome, Setting, Value

MODEL_1, MODEL_2 = "bios/epoch_9.00.csv", "bios/epoch_5.00.csv"
"""Confusion counts of both models: by split, group, true and predicted class."""
COLUMNS = ("split", "group", "true", "pred", "count")
ALONE: dict[str, Any] = {"bootstrap": 0, "permutations": 0}
HALF = 0.5
"""What the published figures count a class and group without people as."""
DISCUSSED = ("professor", "DJ", "paralegal")
"""The professions that Appendix A reads Figure 6 by."""
ERRORS = 4.0
"""A share of other people may be so many standard errors away, besides the rounding of the printed one."""


def counts(setting: Setting, name: str, split: str) -> dict[str, list[Any]]:
    """The counts of a model on a split, its groups and classes by their names."""
    file = setting.file(name)
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            rows = [[row[c] for c in COLUMNS] for row in csv.DictReader(stream)]
        kept = [row[1:] for row in rows if row[0] == split and row[1] != "overall"]
        groups, true, predicted = ([names[int(row[i])] for row in kept]
                                   for i, names in enumerate((GROUPS, PROFESSIONS, PROFESSIONS)))  # fmt: skip
        return {"group": groups, "true": true, "pred": predicted, "count": [int(row[3]) for row in kept]}
    except (OSError, KeyError, ValueError, IndexError) as error:
        raise DataError(
            f"{shown_path(file)} must hold the confusion counts published with the paper, with the columns "
            f"{', '.join(COLUMNS)}: get it again ({error})"
        ) from error


def aggregate(setting: Setting, name: str = MODEL_1, split: str = "valid", **words: Any) -> evenhand.Aggregate:
    """The aggregate of a model: where nobody is, as published."""
    return evenhand.aggregate(counts(setting, name, split), **{"empty": HALF, **ALONE, **words})


def both(setting: Setting) -> evenhand.Aggregate:
    """Model 1, with Model 2 against it."""
    return aggregate(setting, against=counts(setting, MODEL_2, "valid"))


# ---- section 3 -------------------------------------------------------------------------------------------------------

GAMMA = 0.1


def _gaps(m: Sequence[float], base: float) -> list[float]:
    return [abs(v - base) for v in m]


GROUP_WISE: dict[str, Callable[[Sequence[float], float], float]] = {
    "mean gap": lambda m, base: sum(_gaps(m, base)) / len(m),
    "variance": lambda m, base: sum(g**2 for g in _gaps(m, base)) / (len(m) - 1),
    "max gap": lambda m, base: max(_gaps(m, base)),
    "min score": lambda m, base: min(m),
    "min ratio": lambda m, base: min(v / base for v in m),
    "max difference": lambda m, base: max(m) - min(m),
    "max ratio": lambda m, base: max(m) / min(m),
    "difference threshold": lambda m, base: sum(g <= GAMMA for g in _gaps(m, base)) / len(m),
    "ratio threshold": lambda m, base: sum(abs(v / base - 1) <= GAMMA for v in m) / len(m),
}
"""The rows of Table 1, as a loop."""
CLASS_WISE: dict[str, Callable[[Sequence[float]], float]] = {
    "binary": lambda beta: beta[0],
    "quadratic mean": lambda beta: math.sqrt(sum(b * b for b in beta) / len(beta)),
    "mean": lambda beta: sum(beta) / len(beta),
}


def table_1(setting: Setting) -> Outcome:
    """Every row of the table, by its formula in a loop and as an aggregate."""
    table = aggregate(setting).table
    first = evenhand.aggregate(table, empty=HALF, **ALONE)
    place = first.classes.index("paralegal")
    m, base = first.matrix[place].tolist(), float(first.overall[place])
    values = []
    for name, formula in GROUP_WISE.items():
        gamma = GAMMA if "threshold" in name else None
        words: dict[str, Any] = {"across_classes": "binary", "positive": "paralegal", "gamma": gamma}
        found = evenhand.aggregate(table, across_groups=name, empty=HALF, **words, **ALONE).value
        values.append(Value(f"over groups: {name}", "of paralegals", formula(m, base), found, 1e-12))
    for name, over in CLASS_WISE.items():
        positive = first.classes[0] if name == "binary" else None
        found = evenhand.aggregate(table, across_classes=name, positive=positive, empty=HALF, **ALONE).value
        values.append(Value(f"over classes: {name}", "of mean gaps", over(first.beta.tolist()), found, 1e-12))
    signed = sum(0 <= v - base <= GAMMA for v in m) / len(m)
    text = GROUP_WISE["difference threshold"](m, base)
    claim = Claim(
        "the thresholds of the table, printed without absolute values, are those of the text (§3.2.1)",
        signed == text, f"share of groups within {GAMMA:g}: {signed:g} as printed, {text:g} by the text",
    )  # fmt: skip
    notes = ("published: the printed formula, as a loop over Model 1's rates",
             "thresholds are those of the text: groups that fare worse count")  # fmt: skip
    return Outcome(tuple(values), (claim,), notes=notes)


V = (0.9, 0.5, 0.75, 0.6)
TABLE_2: dict[float, tuple[str, Callable[[Sequence[float]], float]]] = {
    -math.inf: ("minimum", min),
    -1: ("harmonic mean", lambda v: len(v) / sum(1 / x for x in v)),
    1: ("arithmetic mean", lambda v: sum(v) / len(v)),
    2: ("quadratic mean", lambda v: math.sqrt(sum(x * x for x in v) / len(v))),
    math.inf: ("maximum", max),
}


def table_2(setting: Setting) -> Outcome:
    """Means of each exponent, by the printed formula and ours."""
    shown = ", ".join(f"{v:g}" for v in V)
    values = (Value(f"p = {p:g}", name, formula(V), float(power_mean(np.array(V), p)), 1e-12)
              for p, (name, formula) in TABLE_2.items())  # fmt: skip
    return Outcome(tuple(values), notes=(f"published: the printed formula, of the values {shown}",))


def generalised_mean(setting: Setting) -> Outcome:
    """What section 3.3 says of generalised means, on random rates; and its formula with weights."""
    rng = np.random.default_rng(setting.seed)
    powers = np.array([-np.inf, -5, -1, 0, 0.5, 1, 2, 7, np.inf])
    rates = rng.random((1000, 4))
    means = np.stack([power_mean(rates, p) for p in powers])
    alike = np.array([power_mean(np.full(4, 0.3), p) for p in powers])
    gaps = np.abs(rates - rates.mean(1, keepdims=True))
    variance, quadratic = (gaps**2).sum(1) / 3, power_mean(gaps, 2.0)
    v, w, n = np.array(V), np.full(4, 0.25), 4
    printed = float(((w * v**2).sum() / n) ** 0.5)
    plain = float(power_mean(v, 2.0, w))
    return Outcome(
        claims=(
            Claim("of values that differ, the mean grows with the exponent", bool((np.diff(means, axis=0) > 0).all())),
            Claim("it also grows of values that are alike", bool((np.diff(alike) > 1e-12).any()),
                  "then all means are that value: > must be ≥"),
            Claim("the variance of gaps is proportional to their squared quadratic mean: G/(G − 1) times it",
                  bool(np.allclose(variance, 4 / 3 * quadratic**2))),
            Claim("the quadratic mean of gaps is the standard deviation of scores",
                  bool(np.allclose(quadratic, rates.std(1))), "if M̄ is the mean over groups, and divided by G"),
            Claim("the printed mean with equal weights is the plain one", math.isclose(printed, plain),
                  f"quadratic: {printed:.4f} as printed, {plain:.4f} plain"),
        ),
        notes=("weights that add up to 1 must not be divided by n once more: a misprint; ours gives the plain mean",),
    )  # fmt: skip


def section_4_1(setting: Setting) -> Outcome:
    """Accuracy, and 1 − the quadratic mean of sums of gaps, of both models."""
    values = []
    for model, name in (("Model 1", MODEL_1), ("Model 2", MODEL_2)):
        for split in ("valid", "test"):
            a = aggregate(setting, name, split, across_groups="fairlib")
            c = a.table.counts(a.grouping)
            right = float(c.mass[c.true == c.predicted].sum() / c.mass.sum())
            by_hand = 1 - math.sqrt(float((np.abs(a.matrix - a.overall[:, None]).sum(1) ** 2).mean()))
            values += [Value(f"{model}, {split}", "accuracy", None, right),
                       Value(f"{model}, {split}", "fairness", by_hand, a.value, 1e-12)]  # fmt: skip
    return Outcome(tuple(values), notes=(
        "published: fairness by the formula of the text; no numbers of these two models are printed",
    ))  # fmt: skip


# ---- appendix A ------------------------------------------------------------------------------------------------------


def _apart(a: evenhand.Aggregate, profession: str) -> dict[str, float]:
    """How far apart the rates of a profession are: by each attribute within the other, at most, and on average."""
    row = dict(zip(a.groups, a.matrix[a.classes.index(profession)].tolist(), strict=True))
    by = {
        "status": [abs(row[f"{sex}, wealthy"] - row[f"{sex}, rest"]) for sex in ("male", "female")],
        "gender": [abs(row[f"male, {status}"] - row[f"female, {status}"]) for status in ("wealthy", "rest")],
    }
    means = {word: sum(gaps) / 2 for word, gaps in by.items()}
    return {**means, "most": max(row.values()) - min(row.values()), "mean": sum(row.values()) / 4}


def figure_1(setting: Setting) -> Outcome:
    """The rates of the professions that the text discusses."""
    a = both(setting)
    assert a.against is not None
    values = [
        Value(f"{profession}, {group}", model, None, float(one.matrix[one.classes.index(profession), g]))
        for profession in DISCUSSED
        for g, group in enumerate(a.groups)
        for model, one in (("Model 1", a), ("Model 2", a.against.aggregate))
    ]
    return Outcome(tuple(values), notes=(_IMPUTED, "the figure has no numbers, only colours"))


_IMPUTED = "no woman of the rest is a DJ or a rapper: a rate of nobody counts as 0.5, as in the published figures"


def figure_6(setting: Setting) -> Outcome:
    """All rates of both models as heatmaps, and what the text reads off them."""
    a = both(setting)
    assert a.against is not None
    own = {p: _apart(a, p) for p in DISCUSSED}
    other = {p: _apart(a.against.aggregate, p) for p in DISCUSSED}
    dj, dj_2, law, law_2 = own["DJ"], other["DJ"], own["paralegal"], other["paralegal"]
    widest = max(one["professor"]["most"] for one in (own, other))
    rates = [one.matrix[one.classes.index("paralegal")] for one in (a, a.against.aggregate)]
    claims = (
        Claim("professor: little difference between groups in either model", widest < 0.1, f"at most {widest:.3f}"),
        Claim("DJ: Model 1 is fairer by economic status than by gender", dj["status"] < dj["gender"],
              f"mean differences {dj['status']:.3f}, {dj['gender']:.3f}"),
        Claim("DJ: Model 2 is biased by both", min(dj_2["status"], dj_2["gender"]) > 0.1,
              f"{dj_2['status']:.3f}, {dj_2['gender']:.3f}"),
        Claim("DJ: Model 2 appears to have the higher TPR", dj_2["mean"] > dj["mean"],
              f"means over groups {dj['mean']:.3f}, {dj_2['mean']:.3f}; of all DJs "
              f"{_overall(a):.3f}, {_overall(a.against.aggregate):.3f}"),
        Claim("paralegal: Model 2 is fairer by economic status", law_2["status"] < law["status"],
              f"mean differences {law['status']:.3f}, {law_2['status']:.3f}"),
        Claim("paralegal: Model 2 is fairer by gender", law_2["gender"] < law["gender"],
              f"mean differences {law['gender']:.3f}, {law_2['gender']:.3f}; largest of all "
              f"{law['most']:.3f}, {law_2['most']:.3f}"),
        Claim("paralegal: Model 2 performs worse for every group", bool((rates[1] < rates[0]).all())),
    )  # fmt: skip
    notes = (_IMPUTED, "what the text reads off the figure fits the development split, not the test split",
             "paralegals are 46 people there, 2 of them men who are not wealthy")  # fmt: skip
    return Outcome((), claims, (a.plot("scores"), a.plot("matrix"), a.plot("ratios"), a.plot("difference")), notes)


def _overall(a: evenhand.Aggregate) -> float:
    return float(a.overall[a.classes.index("DJ")])


def figure_7(setting: Setting) -> Outcome:
    """The confusion matrix of every group, drawn and counted."""
    a = aggregate(setting, empty=None)
    columns = counts(setting, MODEL_1, "valid")
    cells = {(g, t, p): n for g, t, p, n in zip(*columns.values(), strict=True)}
    names = [c["name"] for c in a.to_dict()["classes"]]
    same = all(
        group["confusion"][i][j] == cells.get((group["name"], true, predicted), 0)
        for group in a.to_dict()["groups"]
        for i, true in enumerate(names)
        for j, predicted in enumerate(names)
    )
    claim = Claim("the matrices in JSON are the published counts, cell by cell", same)
    return Outcome((), (claim,), (a.plot("confusion"),))


def appendix_a_4(setting: Setting) -> Outcome:
    """How many numbers confusion matrices are, beside the people they count."""
    a = aggregate(setting, split="test")
    numbers = len(a.groups) * len(a.classes) ** 2
    return Outcome(
        (Value("confusion matrices", "numbers", 3e3, float(numbers), 500),
         Value("test set", "people", 4e4, float(a.table.rows), 5e3)),
        notes=("of the 4 × 10⁴ people only those count whose gender and economic status are known",),
    )  # fmt: skip


def table_4_(setting: Setting) -> Outcome:
    """Who is there: the training set as printed, and the other two splits, which are random people of the same kind."""
    printed = table_4()
    a = evenhand.aggregate(aggregate(setting).table + aggregate(setting, split="test").table, **ALONE)
    people, everybody = a.joint.sum(1), int(a.joint.sum())
    values = []
    for name, (n, _) in printed.items():
        share, found = n / TOTAL_4[0], people[a.classes.index(name)] / everybody
        values.append(Value(name, "% of people", 100 * share, 100 * found, 100 * _error(share, everybody, TOTAL_4[0])))
    cells = [
        (shares[group] / 100, int(a.joint[c, a.groups.index(group)]) / int(people[c]), int(people[c]), n)
        for name, (n, shares) in printed.items()
        for c in [a.classes.index(name)]
        for group in PRINTED_ORDER
    ]
    within = sum(abs(share - found) <= 0.005 + _error(share, *sizes) for share, found, *sizes in cells)
    total = sum(n for n, _ in printed.values())
    for group, theirs in zip(PRINTED_ORDER, TOTAL_4[1], strict=True):
        own = sum(n * shares[group] for n, shares in printed.values()) / total
        values.append(Value("total, from the printed rows", f"% {group}", theirs, own, 1.0))
    return Outcome(
        tuple(values),
        (Claim("the rows add up to the printed number of people", total == TOTAL_4[0], f"{total:,}"),
         Claim("groups have the printed shares of each profession, as far as random splits do", within == len(cells),
               f"{within} of {len(cells)}")),
        notes=("the training set is not published: shares are compared with those of the development and test sets",
               "the printed total has its columns in another order: that of the codes of groups"),
    )  # fmt: skip


def _error(share: float, found: int, printed: int) -> float:
    """How far apart two shares of random people may be."""
    return ERRORS * math.sqrt(max(share * (1 - share), 0.005) * (1 / found + 1 / printed))
