"""Aggregates over classes and groups: published figures, brute force, properties, bad input."""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import evenhand
from conftest import WORDS, called as run, evenhand as process, jobs
from evenhand.measures.aggregation import GROUPWISE, METRICS, power_mean

QUICK: dict[str, Any] = {"bootstrap": 0, "permutations": 0}


def table(n: int = 400, seed: int = 0, **words: Any) -> evenhand.Confusion:
    found = evenhand.tabulate(jobs(n, seed=seed), **{**WORDS, **words}, classes=True)
    assert isinstance(found, evenhand.Confusion)
    return found


# ---- published -----------------------------------------------------------------------------------------------------

PUBLISHED = {
    0.5: {("score", 2, 2): 0.73412, ("gap", 2, 2): 0.16536, ("gap", 2, 1): 0.13787, ("gap", 1, 1): 0.10617,
          ("gap", 1, 2): 0.12740, ("ratio", 2, 2): 0.99904},
    None: {("score", 2, 2): 0.73800, ("gap", 2, 2): 0.16331, ("gap", 2, 1): 0.13592, ("gap", 1, 1): 0.10399,
           ("gap", 1, 2): 0.12495, ("ratio", 2, 2): 1.00404},
}  # fmt: skip


@pytest.mark.parametrize("empty", PUBLISHED)
def test_published_figures(empty: float | None, data_folder: Path) -> None:
    file = data_folder / "bios" / "epoch_9.00.csv"
    where = {"split": "valid", "group": [0, 1, 2, 3]}
    first = evenhand.aggregate(file, where=where, empty=empty, **QUICK)
    assert [(c, g) for c, g, _ in first.undefined_cells()] == [("8", "2"), ("23", "2")]
    for (unit, p, q), value in PUBLISHED[empty].items():
        found = evenhand.aggregate(first.table, unit=unit, across_groups=p, across_classes=q, empty=empty, **QUICK)
        assert found.value == pytest.approx(value, abs=1e-5), (unit, p, q)


def test_saved_counts_need_no_words_but_one_split_and_no_total(data_folder: Path) -> None:
    file = data_folder / "bios" / "epoch_9.00.csv"
    with pytest.raises(evenhand.UsageError, match=r"several splits \('test', 'valid'\)"):
        evenhand.aggregate(file, **QUICK)
    with pytest.raises(evenhand.DataError, match="counts of 'overall' in 'group' are exactly the sum"):
        evenhand.aggregate(file, where={"split": "valid"}, **QUICK)
    words = {"label": "true", "prediction": "pred", "group": "group", "weight": "count"}
    with file.open() as stream:
        rows = [r for r in csv.DictReader(stream) if r["split"] == "valid" and r["group"] != "overall"]
    columns: dict[str, list[Any]] = {k: [r[k] for r in rows] for k in ("true", "pred", "group")}
    columns["count"] = [int(r["count"]) for r in rows]
    by_hand = evenhand.tabulate(columns, **words)
    assert evenhand.aggregate(columns, **QUICK).table == by_hand
    assert evenhand.aggregate(columns, **words, **QUICK).table == by_hand


# ---- brute force: every named aggregate, in other code -------------------------------------------------------------


def rates_by_hand(columns: dict[str, Any], metric: str, group: str | None) -> dict[str, float | None]:
    rows = [
        (y, p) for y, p, g in zip(columns["y"], columns["p"], columns["g"], strict=True) if group is None or g == group
    ]
    out: dict[str, float | None] = {}
    for c in sorted({*columns["y"], *columns["p"]}):
        tp = sum(y == c and p == c for y, p in rows)
        fp = sum(y != c and p == c for y, p in rows)
        fn = sum(y == c and p != c for y, p in rows)
        tn = len(rows) - tp - fp - fn
        part, whole = {
            "tpr": (tp, tp + fn), "fnr": (fn, tp + fn), "fpr": (fp, fp + tn), "tnr": (tn, fp + tn),
            "ppv": (tp, tp + fp), "fdr": (fp, tp + fp), "npv": (tn, tn + fn), "for": (fn, tn + fn),
            "selection_rate": (tp + fp, len(rows)), "accuracy": (tp + tn, len(rows)), "f1": (2 * tp, 2 * tp + fp + fn),
        }[metric]  # fmt: skip
        out[c] = part / whole if whole else None
    return out


def mean_by_hand(values: list[float], power: float) -> float:
    if power == math.inf:
        return max(values)
    if power == -math.inf:
        return min(values)
    if power <= 0 and min(values) == 0:
        return 0.0
    if power == 0:
        return math.prod(values) ** (1 / len(values))
    return (sum(v**power for v in values) / len(values)) ** (1 / power)


def step_by_hand(name: Any, unit: str, rates: list[float], base: float, gamma: float) -> float | None:
    gaps = [abs(r - base) for r in rates]
    ratios = [r / base for r in rates] if base > 0 else []
    units = {"gap": gaps, "ratio": ratios, "score": rates}
    if not isinstance(name, str):
        return mean_by_hand(units[unit], name) if units[unit] else None
    if name == "variance":
        return sum(g * g for g in gaps) / (len(gaps) - 1) if len(gaps) > 1 else None
    if name in ("min ratio", "ratio threshold") and not ratios:
        return None
    if name == "max ratio" and min(rates) == 0:
        return math.inf if max(rates) > 0 else None
    return {
        "mean gap": lambda: sum(gaps) / len(gaps),
        "max gap": lambda: max(gaps),
        "min score": lambda: min(rates),
        "min ratio": lambda: min(ratios),
        "max difference": lambda: max(rates) - min(rates),
        "max ratio": lambda: max(rates) / min(rates),
        "difference threshold": lambda: sum(g <= gamma for g in gaps) / len(gaps),
        "ratio threshold": lambda: sum(abs(r - 1) <= gamma for r in ratios) / len(ratios),
        "sum of gaps": lambda: sum(gaps),
        "fairlib": lambda: sum(gaps),
    }[name]()


CASES = [
    *((unit, power) for unit in ("gap", "score", "ratio") for power in (1, 2, 0, -1, 3.5, -5, math.inf, -math.inf)),
    *((None, name) for name, step in GROUPWISE.items() if step.unit),
]


@pytest.mark.parametrize(("unit", "name"), CASES)
@pytest.mark.parametrize("metric", METRICS)
def test_every_aggregate_against_brute_force(unit: str | None, name: Any, metric: str) -> None:
    columns = {k: v.tolist() for k, v in jobs(90, classes=4, seed=3).items()}
    t = table_of(columns)
    groups = {g: rates_by_hand(columns, metric, g) for g in sorted(set(columns["g"]))}
    overall = rates_by_hand(columns, metric, None)
    betas = {}
    for c, base in overall.items():
        rates = [r[c] for r in groups.values() if r[c] is not None]
        betas[c] = step_by_hand(name, unit or "gap", rates, base or 0.0, 0.17) if rates and base is not None else None
    gamma = 0.17 if isinstance(name, str) and "threshold" in name else None
    for q in (2,) if name == "fairlib" else (1, 2, math.inf):
        expected = mean_by_hand([b for b in betas.values() if b is not None], q)
        expected = 1 - expected if name == "fairlib" else expected
        found = evenhand.aggregate(
            t, metric=metric, unit=unit, across_groups=name, across_classes=q, gamma=gamma, **QUICK
        )
        if expected == math.inf:
            assert np.isnan(found.value)
            assert "infinite" in (found.undefined or "")
        else:
            assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-12)
    for c, b in betas.items():
        got = found.beta[t.classes.index(c)]
        assert (np.isnan(got) and b is None) or got == pytest.approx(b, rel=1e-9, abs=1e-12)


def table_of(columns: dict[str, Any], **words: Any) -> evenhand.Confusion:
    found = evenhand.tabulate(columns, **{**WORDS, **words}, classes=True)
    assert isinstance(found, evenhand.Confusion)
    return found


def test_the_mean_over_groups_as_baseline_and_empty_cells() -> None:
    columns = {"y": list("aaabbc"), "p": list("abacbc"), "g": list("xxyyxx")}
    a = evenhand.aggregate(table_of(columns), average="mean", **QUICK)
    assert a.overall == pytest.approx([(0.5 + 1) / 2, (1 + 0) / 2, 1.0])
    half = evenhand.aggregate(table_of(columns), empty=0.5, across_classes=1, **QUICK)
    assert half.matrix[2].tolist() == [1.0, 0.5]
    assert half.value == pytest.approx(np.mean([(1 / 6 + 1 / 3) / 2, 0.5, 0.25]))
    assert "y has nobody of class c" in half.undefined_cells()[0][2]


def test_binary_is_one_class_and_agrees_with_the_audit_of_it() -> None:
    t = table()
    a = evenhand.aggregate(t, across_groups="max difference", across_classes="binary", positive="class 3", **QUICK)
    one = evenhand.audit(t.of_class("class 3"), measures=["equal_opportunity"], **QUICK)
    assert a.value == pytest.approx(one.attributes[0].largest[0].value)
    with pytest.raises(evenhand.UsageError, match="say which is positive="):
        evenhand.aggregate(t, across_classes="binary", **QUICK)
    numbered = evenhand.tabulate({"y": [0, 1, 2, 2], "p": [0, 1, 2, 1], "g": list("abab")}, **WORDS)
    with pytest.raises(
        evenhand.UsageError, match=r"there are 3 \('0', '1', '2'\).*--positive"
    ):  # "1" is a name like others
        evenhand.aggregate(numbered, across_classes="binary", **QUICK)
    two = evenhand.tabulate({"y": [0, 1, 1, 1], "p": [1, 1, 0, 1], "g": list("abab")}, **WORDS)
    b = evenhand.aggregate(two, across_classes="binary", across_groups="max difference", **QUICK)
    assert (b.value, b.choices.recipe.positive) == (1.0, 1)


def test_weights_are_normalised() -> None:
    t = table()
    sizes = t.sizes(t.groupings[0])
    named = dict(zip(t.groupings[0].groups, sizes.tolist(), strict=True))
    by_size = evenhand.aggregate(t, weights="size", **QUICK)
    gaps = np.abs(by_size.matrix - by_size.overall[:, None])
    assert by_size.beta == pytest.approx((gaps * sizes / sizes.sum()).sum(1))
    assert evenhand.aggregate(t, weights={g: 7 * n for g, n in named.items()}, **QUICK).value == by_size.value
    alone = evenhand.aggregate(t, class_weights={c: int(c == "class 1") for c in t.classes}, **QUICK)
    assert alone.value == pytest.approx(evenhand.aggregate(t, **QUICK).beta[1])


# ---- properties ------------------------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.one_of(st.floats(0, 1e3), st.just(float("nan"))), min_size=1, max_size=8),
    st.lists(st.floats(-60, 60), min_size=2, max_size=2),
)
def test_power_means_grow_with_the_power(values: list[float], powers: list[float]) -> None:
    v = np.array(values)
    low, high = sorted(powers)
    ends = [float(power_mean(v, p)) for p in (-np.inf, low, high, np.inf)]
    if np.isnan(v).all():
        assert np.isnan(ends).all()
        return
    for a, b in itertools.pairwise(ends):
        assert a <= b * (1 + 1e-9) + 1e-300
    same = np.full(5, 0.3)
    assert float(power_mean(same, low)) == pytest.approx(0.3)


@pytest.mark.parametrize("power", [-np.inf, -1e308, -5, -1e-12, 0, 1e-300])
def test_a_value_of_zero_makes_a_mean_of_low_power_zero(power: float) -> None:
    assert float(power_mean(np.array([0.0, 1.0, 0.5]), power)) == 0
    assert float(power_mean(np.array([0.0, 1.0]), power, np.array([0.0, 1.0]))) == 1


def test_extreme_powers_lose_nothing() -> None:
    v = np.array([0.2, 0.5, 0.9])
    assert float(power_mean(v, 1e6)) == pytest.approx(0.9, rel=1e-5)
    assert float(power_mean(v, 1e-9)) == pytest.approx(float(power_mean(v, 0)), rel=1e-8)
    assert float(power_mean(np.array([np.inf, 1.0]), 2)) == np.inf
    big = np.array([1e200, 1e200])
    assert float(power_mean(big, 3)) == pytest.approx(1e200)


ALL = [(None, name) for name, step in GROUPWISE.items() if step.unit] + [("score", 2), ("ratio", 1), ("gap", -3)]


@pytest.mark.parametrize(("unit", "name"), ALL)
def test_names_order_and_doubling_change_nothing(unit: str | None, name: Any) -> None:
    columns = jobs(300, seed=5)
    words = {"unit": unit, "across_groups": name, **QUICK}
    value = evenhand.aggregate(table_of(columns), **words).value
    renamed = {
        **columns, "g": np.array([f"z{9 - int(g[1:])}" for g in columns["g"]]),
        "y": np.array([f"x{9 - int(c[6:])}" for c in columns["y"]]),
        "p": np.array([f"x{9 - int(c[6:])}" for c in columns["p"]]),
    }  # fmt: skip
    assert evenhand.aggregate(table_of(renamed), **words).value == pytest.approx(value, rel=1e-12)
    t = table_of(columns)
    assert evenhand.aggregate(t + t, **words).value == pytest.approx(value, rel=1e-12)
    order = np.random.default_rng(0).permutation(300)
    assert evenhand.aggregate(table_of({k: v[order] for k, v in columns.items()}), **words).value == value
    weighted = table_of({**columns, "c": np.full(300, 2.5)}, weight="c", weight_kind="sampling")
    assert evenhand.aggregate(weighted, **words).value == pytest.approx(value, rel=1e-9)


def test_identical_groups_show_no_gap() -> None:
    columns = jobs(200)
    twice = {k: np.concatenate([v, v]) for k, v in columns.items()}
    twice["g"] = np.repeat(["a", "b"], 200)
    for name in ("mean gap", "variance", "max gap", "max difference", "sum of gaps"):
        a = evenhand.aggregate(table_of(twice), across_groups=name, bootstrap=99, permutations=99)
        assert (a.value, a.ci[0], a.p_value) == (pytest.approx(0, abs=1e-12), 0.0, 1.0)
    assert evenhand.aggregate(table_of(twice), across_groups="fairlib", **QUICK).value == pytest.approx(1)
    assert evenhand.aggregate(table_of(twice), across_groups="max ratio", **QUICK).value == pytest.approx(1)


# ---- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [{}, {"across_groups": "max ratio"}, {"across_groups": "fairlib"}, {"unit": "score", "across_groups": -5}]
)
def test_documents_keep_to_the_schema(words: dict[str, Any], tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    columns = {k: v.tolist() for k, v in jobs(30, classes=6).items()}
    a = evenhand.aggregate(table_of(columns), **words, bootstrap=60, permutations=60, why={"unit": "it is asked for"})
    text = a.to_json(tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == text
    document = json.loads(text, parse_constant=lambda c: pytest.fail(f"{c} in JSON"))
    jsonschema.validate(document, evenhand.schema("aggregate"), cls=jsonschema.Draft202012Validator)
    assert [item["item"] for item in document["checklist"]] == ["data", "metric", "unit", "groups", "classes"]
    assert document["checklist"][2]["why"] == "it is asked for"
    assert sum(cell["n"] for c in document["classes"] for cell in c["cells"]) == 30
    assert max(map(len, repr(a).splitlines())) <= 80
    assert "Checklist" in a._repr_html_()
    again = evenhand.aggregate(
        table_of(columns), **words, bootstrap=60, permutations=60, why={"unit": "it is asked for"}
    )
    assert again.to_json() == text


def test_the_frame_has_a_row_for_every_class_and_group() -> None:
    pl = pytest.importorskip("polars")
    a = evenhand.aggregate(pl.DataFrame({k: v.tolist() for k, v in jobs(100).items()}), **WORDS, **QUICK)
    frame = a.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.shape[0] == a.matrix.size
    assert frame["gap"].to_numpy() == pytest.approx(np.abs(a.matrix - a.overall[:, None]).ravel())


def test_undefined_is_said() -> None:
    only_guessed = {"y": list("aabb"), "p": list("abca"), "g": list("xyxy")}
    a = evenhand.aggregate(table_of(only_guessed), **QUICK)
    assert a.undefined_class(2) == "because there is nobody of class c"
    assert np.isnan(a.beta[2])
    assert np.isfinite(a.value)
    b = evenhand.aggregate(table_of(only_guessed), across_classes="binary", positive="c", **QUICK)
    assert np.isnan(b.value)
    assert b.undefined == "because there is nobody of class c"
    assert b.to_dict()["value"] is None
    zero = {"y": list("aaaabc"), "p": list("aaabbc"), "g": list("xxyxyx")}
    ratio = evenhand.aggregate(table_of({**zero, "p": list("aabbbc")}), across_groups="max ratio", **QUICK)
    assert "infinite: 'a'" in (ratio.undefined or "")
    assert ratio.to_dict()["value"] is None
    one = evenhand.aggregate(
        table_of({"y": list("aab"), "p": list("aab"), "g": list("xyy")}), across_groups="variance", **QUICK
    )
    assert one.undefined_class(1) == "because only group y has people of class b"


def test_one_class_and_one_row() -> None:
    same = evenhand.aggregate(
        {"y": ["a", "a"], "p": ["a", "a"], "g": ["x", "y"]}, **WORDS, bootstrap=99, permutations=99
    )
    assert (same.value, same.p_value) == (0.0, 1.0)
    with pytest.raises(evenhand.UsageError, match="two or more groups, but 'g' has only 'x'"):
        evenhand.aggregate({"y": ["a"], "p": ["b"], "g": ["x"]}, **WORDS)


def test_hundreds_of_classes() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 400, 20_000)
    columns = {
        "y": y,
        "p": np.where(rng.random(20_000) < 0.6, y, rng.integers(0, 400, 20_000)),
        "g": rng.integers(0, 5, 20_000),
    }
    a = evenhand.aggregate(columns, **WORDS, bootstrap=200, permutations=200)
    assert a.matrix.shape == (400, 5)
    # groups are alike, which a mean gap of 0.13 of nine people per cell does not contradict
    assert a.ci[0] == 0 <= a.corrected <= a.ci[1] < 0.06 < a.value
    text = repr(a)
    assert "385 more classes are not shown" in text


def test_several_attributes() -> None:
    t = table(group=["g", "h"])
    assert evenhand.aggregate(t, **QUICK).grouping.name == "g × h"
    by_h = evenhand.aggregate(t, attribute="h", **QUICK)
    assert by_h.value == pytest.approx(evenhand.aggregate(table(group="h"), **QUICK).value)
    assert evenhand.aggregate(t, attribute=["g", "h"], **QUICK).value == evenhand.aggregate(t, **QUICK).value
    with pytest.raises(evenhand.UsageError, match="'q' is not an attribute"):
        evenhand.aggregate(t, attribute="q", **QUICK)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "metric": ({"metric": "trp"}, "metric must be one of .*'tpr'"),
    "metric of no text": ({"metric": 3}, "metric must be one of"),
    "unit": ({"unit": "gaps"}, "did you mean 'gap'"),
    "unit against the name": (
        {"unit": "ratio", "across_groups": "max gap"},
        "'max gap' is made of gaps, not of ratios",
    ),
    "power nan": ({"across_groups": float("nan")}, "across_groups must be an exponent"),
    "power nan in words": ({"across_classes": "nan"}, "across_classes must be an exponent"),
    "name": ({"across_groups": "max gapp"}, "did you mean 'max gap'"),
    "group function over classes": ({"across_classes": "variance"}, "across_classes must be an exponent"),
    "truth value": ({"across_groups": True}, "across_groups must be an exponent"),
    "list": ({"across_groups": [1]}, "across_groups must be an exponent"),
    "twice": ({"group": 1, "across_groups": 2}, "say the same"),
    "fairlib over classes": ({"across_groups": "fairlib", "across_classes": 1}, "quadratic mean over classes"),
    "gamma alone": ({"gamma": 0.1}, "gamma is for"),
    "gamma negative": ({"across_groups": "ratio threshold", "gamma": -1}, "gamma must be a number from 0"),
    "average": ({"average": "median"}, "average must be one of"),
    "empty": ({"empty": 1.5}, "empty is a rate from 0 to 1"),
    "empty nan": ({"empty": float("nan")}, "empty is a rate from 0 to 1"),
    "positive alone": ({"positive": "class 1"}, "positive is for across_classes='binary'"),
    "positive unknown": ({"positive": "class 9", "across_classes": "binary"}, "not one of the classes"),
    "weights": ({"weights": "people"}, "weights is 'size'"),
    "weights incomplete": ({"weights": {"g0": 1}}, "'g1' has none"),
    "weights unknown": ({"weights": {"g0": 1, "g1": 1, "g2": 1, "g9": 1}}, "there is no 'g9'"),
    "weights negative": ({"weights": {"g0": 1, "g1": -1, "g2": 1}}, "numbers from 0, not all 0"),
    "weights of a range": ({"weights": "size", "across_groups": "max difference"}, "not for 'max difference'"),
    "why": ({"why": "because"}, "why is a dict"),
    "why of what": ({"why": {"group": "x"}}, "did you mean 'groups'"),
    "confidence": ({"confidence": 2}, "confidence must be"),
    "bootstrap": ({"bootstrap": -1}, "bootstrap must be"),
    "words of rows": ({"weight": "w"}, "knows its columns already"),
    "seed": ({"rng": -1}, "rng must be"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused(name: str) -> None:
    words, message = REFUSED[name]
    with pytest.raises((evenhand.UsageError, evenhand.DataError), match=message):
        evenhand.aggregate(table(60), **{**QUICK, **words})


def test_rows_need_their_columns_named() -> None:
    columns = {k: v.tolist() for k, v in jobs(20).items()}
    with pytest.raises(evenhand.UsageError, match="only counts with the columns 'group', 'true', 'pred', 'count'"):
        evenhand.aggregate(columns)
    with pytest.raises(evenhand.UsageError, match="name group="):
        evenhand.aggregate(columns, label="y", prediction="p")
    with pytest.raises(evenhand.UsageError, match="no prediction"):
        evenhand.aggregate(evenhand.compas())
    arrays = evenhand.aggregate(label=columns["y"], prediction=columns["p"], group=columns["g"], **QUICK)
    assert arrays.value == evenhand.aggregate(columns, **WORDS, across_groups=1, **QUICK).value


def test_on_the_command_line(tmp_path: Path) -> None:
    t = table()
    t.save(tmp_path / "t.table")
    found = process("aggregate", tmp_path / "t.table", "--across-groups", "-inf", "--unit", "score", "--json", "-")
    assert (
        json.loads(found.stdout)["value"] == evenhand.aggregate(t, unit="score", across_groups=-math.inf, **QUICK).value
    )
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        columns = jobs()
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    words = ("--label", "y", "--prediction", "p", "--group", "g,h", "--attribute", "h", "--where", "g=g0,g1")
    found = run("aggregate", tmp_path / "rows.csv", *words, "--bootstrap", "99", "--permutations", "99")
    assert found.returncode == 0, found.stderr
    assert "Checklist" in found.stdout
    for bad in (
        ("--across-groups", "nonsense"), ("--where", "g"), ("--where", "g=q"), ("--empty", "2"), ("--gamma", "1"),
        ("--unit", "gap", "--across-groups", "min score"), ("--json", str(tmp_path / "no" / "x.json")),
    ):  # fmt: skip
        refused = run("aggregate", tmp_path / "rows.csv", *words, *bad)
        assert (refused.returncode, refused.stdout) == (2, ""), bad
        assert refused.stderr.startswith("evenhand: ")
        assert "Traceback" not in refused.stderr


# ---- attacks ---------------------------------------------------------------------------------------------------------


def test_a_class_of_one_group_is_no_parity() -> None:
    apart = {"y": list("aaaabbbb"), "p": list("aabbbbaa"), "g": list("ffffmmmm")}
    for words in ({}, {"unit": "ratio"}, *({"across_groups": name} for name, step in GROUPWISE.items() if step.unit)):
        if words.get("across_groups") == "min score":
            continue
        a = evenhand.aggregate(apart, **WORDS, **words, bootstrap=99, permutations=99)
        assert (a.ci, a.p_value, a.to_dict()["value"]) == (None, None, None), words
        assert a.undefined == "because no class has a value"
        assert a.undefined_class(0) == "because only group f has people of class a"
        assert a.matrix[0, 0] == 0.5
    part = {"y": list("aaaabbbb"), "p": list("aabbbbbb"), "g": list("ffmmmmmm")}
    a = evenhand.aggregate(part, **WORDS, across_classes="mean", bootstrap=99, permutations=99)
    assert a.value == a.beta[0] == 0.5  # not 0.25
    assert a.ci is not None
    assert a.ci[1] > 0.25
    assert a.chance is not None
    assert a.chance.high == 0.5
    assert "Left out of δ: b (because only group m has people of class b)" in " ".join(repr(a).split())
    assert "1 of 2 classes left out" in a.interpretation
    score = evenhand.aggregate(a.table, unit="score", across_classes="mean", **QUICK)
    assert score.beta.tolist() == [0.5, 1.0]
    half = evenhand.aggregate(a.table, across_classes="mean", empty=0.5, **QUICK)
    assert half.value == pytest.approx((0.5 + 0.25) / 2)


def test_predicted_by_one_group_only() -> None:
    columns = {"y": list("aaaabbbbcc"), "p": list("aabbbbbbcb"), "g": list("fmfmfmfmfm")}
    a = evenhand.aggregate(columns, **WORDS, metric="ppv", **QUICK)
    assert a.undefined_class(2) == "because only group f has people predicted to be of class c"


def test_huge_weights_and_powers_have_their_limits() -> None:
    t = table()
    with np.errstate(all="raise", under="ignore"):
        plain = evenhand.aggregate(t, **QUICK).value
        for huge in (1e308, 1e-308):
            same = evenhand.aggregate(t, weights=dict.fromkeys(("g0", "g1", "g2"), huge), **QUICK)
            assert same.value == pytest.approx(plain)
        for power in (1e308, -1e308):
            found = evenhand.aggregate(t, unit="score", across_groups=power, across_classes=power, **QUICK)
            limit = evenhand.aggregate(t, unit="score", across_groups=power * 10, across_classes=power * 10, **QUICK)
            assert found.value == pytest.approx(limit.value)
    assert float(power_mean(np.array([0.2, 0.8]), 1e-310)) == pytest.approx(0.4)


def test_imputed_cells_are_marked() -> None:
    columns = {"y": list("aaabbc"), "p": list("abacbc"), "g": list("xxyyxx")}
    a = evenhand.aggregate(columns, **WORDS, empty=0.5, **QUICK)
    text = repr(a)
    assert "0.500°" in text
    assert "° nobody to compute the rate of: counts as 0.5" in text
    assert "undefined" not in text
    assert any("1 cell without rows counts as 0.5" in note for note in a.notes)


def test_left_out_classes_and_infinite_ends_are_said() -> None:
    columns = {"y": list("aabbcc"), "p": list("aaabcc"), "g": list("xyxyxy")}
    never = evenhand.aggregate({**columns, "p": list("aabbaa")}, **WORDS, unit="ratio", **QUICK)
    assert "Left out of δ: c (because its rate is 0 overall)" in " ".join(repr(never).split())
    ratio = evenhand.aggregate(columns, **WORDS, unit="ratio", **QUICK).to_dict()
    assert headline_of({**ratio, "ci": [0.5, None]}).endswith("interval 0.5000, ∞")


def headline_of(document: dict[str, Any]) -> str:
    from evenhand.analyses.classes.text import render_aggregate
    from evenhand.report.console import as_text

    return next(line for line in as_text(render_aggregate(document)).splitlines() if "δ =" in line)


@pytest.mark.parametrize("people", [1, 1_000, 1_000_000])
def test_numbers_are_never_cut_off(people: int) -> None:
    race = [
        "African-American",
        "Asian / Pacific Islander",
        "Caucasian",
        "Hispanic or Latino",
        "Native American",
        "漢字",
    ]
    names = ["professor of something or other", "nurse", "software engineer"]
    rows = [(f"{r} × {s}", y, p) for r in race for s in ("Female", "Male") for y in names for p in names]
    columns = {
        "g": [r[0] for r in rows], "y": [r[1] for r in rows], "p": [r[2] for r in rows],
        "k": [people * (1 + i % 7) for i in range(len(rows))],
    }  # fmt: skip
    a = evenhand.aggregate(columns, **WORDS, weight="k", **QUICK)
    text = repr(a)
    assert max(map(len, text.splitlines())) <= 80
    document = a.to_dict()
    largest = sorted(document["groups"], key=lambda g: -g["n"])[:6]
    shown = {g["name"] for g in largest}
    for c in document["classes"]:
        lines = [line.split() for line in text.splitlines() if line.startswith(c["name"][:9])]
        words = [word for line in lines for word in line]
        assert f"{c['n']:,}" in words
        for cell in c["cells"]:
            assert cell["group"] not in shown or (f"{cell['n']:,}" in words and f"{cell['value']:.3f}" in words)
    assert re.search(r"  a .* × Female, b ", text)
    assert "6 smaller groups are not shown" in text
    assert "0 more" not in text
    audit = repr(evenhand.audit(a.table, bootstrap=0, permutations=50))
    assert "1.0…" not in audit
    assert max(map(len, audit.splitlines())) <= 80


def test_a_gap_of_exactly_the_limit_keeps_to_it() -> None:
    y, p, g = ["a"] * 20 + ["b"] * 20, ["a"] * 9 + ["b"] + ["a"] * 7 + ["b"] * 23, ["x"] * 10 + ["y"] * 10
    a = evenhand.aggregate(
        {"y": y, "p": p, "g": g * 2}, **WORDS, across_groups="difference threshold", gamma=0.1, **QUICK
    )
    assert a.beta.tolist() == [1.0, 1.0]
    r = evenhand.aggregate(a.table, across_groups="ratio threshold", gamma=0.125, **QUICK)
    assert r.beta.tolist() == [1.0, 1.0]
