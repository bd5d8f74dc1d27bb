"""Rates of classes and groups as tables of colours, confusion matrices, a second model, and the checklist."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import called

QUICK: dict[str, Any] = {"bootstrap": 0, "permutations": 0}
ROLES = {"label": "job", "prediction": "one", "group": "sex"}


def people(n: int = 300) -> dict[str, list[str]]:
    rng = np.random.default_rng(3)
    job, sex = rng.choice(["dj", "nurse", "poet"], n), rng.choice(["f", "m"], n)
    guesses = (np.where(rng.random(n) < right, job, rng.choice(["dj", "nurse", "poet"], n)) for right in (0.5, 0.8))
    one, two = guesses
    return {"job": job.tolist(), "one": one.tolist(), "two": two.tolist(), "sex": sex.tolist()}


def cells(spec: dict[str, Any]) -> dict[tuple[str, str], Any]:
    return {(x["class"], x["group"]): x["value"] for x in spec["data"]["values"]}


def test_heatmaps_show_scores_gaps_and_ratios() -> None:
    a = evenhand.aggregate(people(), **ROLES, **QUICK)
    assert a.plots() == ("matrix", "scores", "ratios", "confusion")
    base = a.overall[:, None]
    for name, numbers in (("matrix", a.matrix - base), ("scores", a.matrix), ("ratios", a.matrix / base)):
        chart = a.plot(name)
        found = cells(chart.spec)
        for c, job in enumerate(a.classes):
            for g, sex in enumerate(a.groups):
                assert found[job, sex] == pytest.approx(numbers[c, g], abs=1e-4)
                assert chart.columns[sex][c] == pytest.approx(numbers[c, g], abs=1e-4)
    assert "Charts" in a.to_html()


def test_a_rate_of_nobody_is_empty_and_a_ratio_of_0_is_drawn() -> None:
    data = {"job": list("aabbaab"), "one": list("aabbbbb"), "sex": list("ffffmmx")}
    a = evenhand.aggregate(data, **ROLES, **QUICK)
    assert cells(a.plot("scores").spec)["b", "m"] is None
    assert cells(a.plot("ratios").spec)["a", "m"] == 0
    assert a.plot("scores").note == "cells marked – have no people, or nobody to compare with: 2"


def test_a_class_of_one_group_shows_no_parity() -> None:
    data = {"job": list("aabbaabb"), "one": list("aabbbbbb"), "sex": list("ffffmmff")}
    a = evenhand.aggregate({**data, "job": [*data["job"], "c"], "one": [*data["one"], "c"], "sex": [*data["sex"], "f"]},
                           **ROLES, **QUICK)  # fmt: skip
    assert cells(a.plot("scores").spec)["c", "f"] == 1
    for name in ("matrix", "ratios"):
        assert cells(a.plot(name).spec)["c", "f"] is None


def test_what_counts_as_a_rate_is_marked_and_never_the_widest_gap() -> None:
    data = {"job": list("aaaabb"), "one": list("aaabbb"), "sex": list("ffmmff")}
    a = evenhand.aggregate(data, **ROLES, **QUICK, empty=0.0)
    chart = a.plot("matrix")
    texts = {(x["class"], x["group"]): x["text"] for x in chart.spec["data"]["values"]}
    assert texts["b", "m"] == "-1.00°"
    assert "The widest gap is +0.250: class a in group f, of 2 people." in chart.description
    assert "° nobody to compute the rate of: counts as 0, as asked" in str(chart.note)


def test_what_nobody_has_is_told_from_0_where_cells_are_narrow() -> None:
    rng = np.random.default_rng(0)
    n, groups = 2000, [f"group {i}" for i in range(12)]
    data = {"job": rng.choice(["a", "b", "c"], n).tolist(), "one": rng.choice(["a", "b"], n).tolist(),
            "two": rng.choice(["a", "b", "c"], n).tolist(), "sex": rng.choice(groups, n).tolist()}  # fmt: skip
    data["job"] = ["a" if g == "group 0" else job for job, g in zip(data["job"], data["sex"], strict=True)]
    left, right = evenhand.aggregate(data, **ROLES, **QUICK, against="two").plot("scores").spec["hconcat"]
    for panel in (left, right):
        values = panel["data"]["values"]
        assert panel["layer"][1]["data"]["values"] == [x for x in values if x["value"] is None] != []
        assert panel["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == -90


def test_what_has_no_rate_takes_no_room_from_wide_gaps() -> None:
    """Of more classes and groups than fit, empty ones give way first."""
    rng = np.random.default_rng(1)
    n, jobs, sexes = 3000, [f"j{i:02}" for i in range(45)], [f"g{i:02}" for i in range(16)]
    job, sex = rng.integers(0, 45, n), rng.integers(0, 16, n)
    keep = ~((job < 6) & (sex > 0)) & ~((sex < 3) & (job >= 8))  # six classes of one group, three groups of few classes
    one = np.where(rng.random(n) < 0.5, job, rng.integers(0, 45, n))
    data = {"job": np.array(jobs)[job[keep]], "one": np.array(jobs)[one[keep]], "sex": np.array(sexes)[sex[keep]]}
    a = evenhand.aggregate(data, **ROLES, **QUICK)
    chart = a.plot("matrix")
    base = a.overall[:, None]
    gaps = np.where((~np.isnan(a.matrix)).sum(1, keepdims=True) < 2, np.nan, np.abs(a.matrix - base))
    widest = np.nanmax(np.where(np.isnan(gaps), -1, gaps), axis=1)
    shown = {c for c, _ in cells(chart.spec)}
    assert len(shown) == 40
    assert {a.classes[c] for c in np.argsort(-widest, kind="stable")[:40]} == shown
    assert f"{np.nanmax(gaps):.3f}" in chart.description


def test_a_second_model_stands_beside_the_first() -> None:
    data = people()
    a = evenhand.aggregate(data, **ROLES, **QUICK, against="two")
    two = evenhand.aggregate(data, **{**ROLES, "prediction": "two"}, **QUICK)
    assert a.against is not None
    assert a.against.aggregate.value == two.value
    left, right = a.plot("scores").spec["hconcat"]
    assert (left["title"]["text"], right["title"]["text"]) == ("one", "two")
    assert list(cells(right).values()) == pytest.approx(two.matrix.ravel().tolist(), abs=1e-5)
    drawn = cells(a.plot("difference").spec)
    assert list(drawn.values()) == pytest.approx((a.matrix - two.matrix).ravel().tolist(), abs=1e-5)
    document = a.to_dict()
    pytest.importorskip("jsonschema").validate(document, evenhand.schema("aggregate"))
    assert document["against"]["difference"] == pytest.approx(a.value - two.value)
    assert document["against"]["classes"] == two.to_dict()["classes"]
    assert "  one: δ = " in repr(a)
    assert "  two: δ = " in repr(a)
    assert a.plot("confusion").title.endswith(": one")
    second = a.plot("confusion_against")
    assert second.title.endswith(": two")
    assert second.columns == two.plot("confusion").columns
    tables = [evenhand.tabulate(data, **{**ROLES, "prediction": p}) for p in ("one", "two")]
    again = evenhand.aggregate(tables[0], against=tables[1], **QUICK)
    assert again.against is not None
    assert (again.against.own, again.against.name) == ("model 1", "model 2")
    assert again.plot("difference").columns == a.plot("difference").columns


def test_a_class_that_one_model_never_predicts_stands_in_both() -> None:
    data = people()
    a = evenhand.aggregate(data | {"two": ["clown", *data["two"][1:]]}, **ROLES, **QUICK, against="two")
    assert a.against is not None
    assert a.classes == a.against.aggregate.classes == ("clown", "dj", "nurse", "poet")
    assert a.notes[-1] == "only two predicts 'clown': both models are aggregated over the classes of both"
    assert a.value == evenhand.aggregate(data, **ROLES, **QUICK).value  # nobody has a TPR of it
    pytest.importorskip("jsonschema").validate(a.to_dict(), evenhand.schema("aggregate"))
    assert a.to_dict()["against"]["groups"][0]["confusion"][0] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("one", "the second model is the first one: both are column 'one'"),
        ("three.csv", "three.csv"),
        ("tow", "neither a column nor a file: 'tow' .*'one', 'two'.*did you mean 'two'"),
        ({**people(), "sex": ["f", "m", "x"] * 100}, "over the same groups, but only one of them has 'x'"),
        (
            {**people(), "job": ["poet", "dj", "nurse", "clown"] * 75},
            "over the same classes, but only one of them has 'clown'",
        ),
    ],
)
def test_what_is_no_second_model_is_refused(against: Any, message: str) -> None:
    with pytest.raises(evenhand.EvenhandError, match=message):
        evenhand.aggregate(people(), **ROLES, **QUICK, against=against)


def test_a_saved_table_and_rows_may_be_two_models(tmp_path: Path) -> None:
    data = people()
    two, some = tmp_path / "two.table", tmp_path / "some.table"
    evenhand.tabulate(data, **{**ROLES, "prediction": "two"}).save(two)
    evenhand.tabulate({k: v[:200] for k, v in data.items()}, **{**ROLES, "prediction": "two"}).save(some)
    a = evenhand.aggregate(data, **ROLES, **QUICK, against=str(two))
    assert a.against is not None
    assert a.against.aggregate.value == evenhand.aggregate(data, **{**ROLES, "prediction": "two"}, **QUICK).value
    assert a.notes == ()
    (note,) = evenhand.aggregate(data, **ROLES, **QUICK, against=some).notes
    assert note.startswith("both models were not applied to the same people: their numbers differ in 6 of 6")
    with pytest.raises(evenhand.UsageError, match=r"the second model is the first one: both are .*two\.table"):
        evenhand.aggregate(two, **QUICK, against=str(two))


@pytest.mark.parametrize("weight", [None, [0.5, 1.5] * 150])
def test_confusion_matrices_count_everybody(weight: list[float] | None) -> None:
    data: dict[str, Any] = people()
    words = {} if weight is None else {"weight": "w", "weight_kind": "sampling"}
    a = evenhand.aggregate(data | {"w": weight or [1.0] * 300}, **ROLES, **words, **QUICK)
    document = a.to_dict()
    found: Counter[tuple[str, str, str]] = Counter()
    for row in zip(data["sex"], data["job"], data["one"], weight or [1] * 300, strict=True):
        found[row[:3]] += row[3]
    names = [c["name"] for c in document["classes"]]
    for g in document["groups"]:
        for i, row in enumerate(g["confusion"]):
            assert row == [pytest.approx(found[g["name"], names[i], other]) for other in names]
    chart = a.plot("confusion")
    assert len(chart.spec["concat"]) == 2
    assert chart.columns["f: right"] == pytest.approx([found["f", job, job] for job in names])
    for panel, sex in zip(chart.spec["concat"], ("f", "m"), strict=True):
        for cell in panel["data"]["values"]:
            mass = found[sex, cell["true"], cell["predicted"]]
            assert cell["text"] == (str(int(mass)) if mass == int(mass) else f"{mass:.1f}")
            whole = sum(n for (s, job, _), n in found.items() if (s, job) == (sex, cell["true"]))
            assert cell["share"] == pytest.approx(found[sex, cell["true"], cell["predicted"]] / whole, abs=1e-4)


def test_many_classes_are_drawn_in_part_and_too_many_numbers_are_left_to_the_table() -> None:
    rng = np.random.default_rng(0)
    names = np.array([f"class {i}" for i in range(250)])
    data = {"job": names[rng.integers(0, 250, 4000)], "one": names[rng.integers(0, 250, 4000)],
            "sex": rng.choice(["f", "m"], 4000)}  # fmt: skip
    a = evenhand.aggregate(data, **ROLES, **QUICK)
    chart = a.plot("confusion")
    assert "the 30 of 250 classes with most people" in str(chart.note)
    assert len(chart.columns["class"]) == 30
    assert [g["confusion"] for g in a.to_dict()["groups"]] == [None, None]


def test_cells_of_few_people_give_way_but_never_all() -> None:
    names = [f"class {i}" for i in range(30)]
    pairs = [(a, b, g) for g in "fm" for a in names for b in names]
    for more in ([], [pairs[7], pairs[8]]):
        job, one, sex = zip(*(pairs + more), strict=True)
        chart = evenhand.aggregate({"job": job, "one": one, "sex": sex}, **ROLES, **QUICK).plot("confusion")
        drawn = sum(len(panel["data"]["values"]) for panel in chart.spec["concat"])
        assert drawn == (2 if more else 1800)
        assert (chart.note == "cells of up to 1 person are not drawn") == bool(more)


# ---- the checklist ---------------------------------------------------------------------------------------------------


def ticked(a: evenhand.Aggregate) -> list[str]:
    return [item["item"] for item in a.to_dict()["checklist"] if item["ticked"]]


def test_the_checklist_ticks_what_was_said() -> None:
    data = people()
    plain = evenhand.aggregate(data, **ROLES, **QUICK)
    assert ticked(plain) == ["data"]
    assert " ".join(repr(plain).split()).count("default, not stated by the user") == 4
    said = {"metric": "tpr", "unit": "gap", "across_groups": 1, "across_classes": 2}
    stated = evenhand.aggregate(data, **ROLES, **QUICK, **said)
    assert stated.value == plain.value
    assert ticked(stated) == ["data", "metric", "unit"]  # functions need a reason, too
    assert repr(stated).count("stated without a reason") == 2
    why = {"groups": "no group counts more", "classes": "rare jobs matter"}
    assert ticked(evenhand.aggregate(data, **ROLES, **QUICK, **said, why=why)) == [
        "data", "metric", "unit", "groups", "classes"
    ]  # fmt: skip
    assert ticked(evenhand.aggregate(data, **ROLES, **QUICK, why=why)) == ["data"]
    assert ticked(evenhand.aggregate(data, **ROLES, **QUICK, across_groups="max gap")) == ["data", "unit"]


def test_weights_are_said() -> None:
    words: dict[str, Any] = {**ROLES, **QUICK, "weights": {"f": 2, "m": 1}, "class_weights": "size"}
    a = evenhand.aggregate(people(), **words)
    entries = {i["item"]: i for i in a.to_dict()["checklist"]}
    assert entries["groups"]["answer"] == "mean (power 1), weighted (f 2, m 1)"
    assert entries["groups"]["why"] == "every group counts by its weight"
    assert entries["classes"]["why"] == "classes with larger gaps count more, and by their weights"
    assert ticked(a) == ["data"]  # weights are no function
    assert " ".join(repr(a).split()).count("(the function is the default, not stated by the user") == 2
    assert "weighted mean over groups, weighted quadratic mean over classes" in " ".join(repr(a).split())
    assert "the weighted mean of gaps over groups, over classes (weighted quadratic mean)" in a.interpretation
    shares = evenhand.aggregate(people(), **words, across_groups="ratio threshold").to_dict()["checklist"][3:]
    assert [item["why"] for item in shares] == [
        "how many groups keep to a limit, and by their weights",
        "classes with larger values count more, and by their weights",  # shares of groups, no ratios
    ]
    largest = evenhand.aggregate(people(), **words, across_groups="max gap").to_dict()["checklist"][3]
    assert largest["why"] == "the group with the largest value decides"


def test_weights_and_reasons_on_the_command_line(tmp_path: Path) -> None:
    data = people()
    file, found = tmp_path / "people.csv", tmp_path / "found.json"
    rows = ["job,one,two,sex", *map(",".join, zip(*data.values(), strict=True))]
    file.write_text("\n".join(rows))
    roles = [w for role, column in ROLES.items() for w in (f"--{role}", column)]
    command = ["aggregate", str(file), *roles, "--bootstrap", "0", "--permutations", "0"]
    result = called(*command, "--weights", "f=2,m=1", "--class-weights", "size", "--against", "two", "--across-groups",
                    "1", "--why", "groups=women count twice", "--json", str(found))  # fmt: skip
    assert result.returncode == 0, result.stderr
    document = json.loads(found.read_text())
    words = {"weights": {"f": 2, "m": 1}, "class_weights": "size", "across_groups": 1}
    python = evenhand.aggregate(data, **ROLES, **QUICK, **words, why={"groups": "women count twice"}, against="two")
    assert document["value"] == python.value
    assert document["against"]["value"] == python.to_dict()["against"]["value"]
    assert document["checklist"] == python.to_dict()["checklist"]
    assert "☑ groups: mean (power 1), weighted (f 2, m 1) (women count twice)" in result.stdout
    for words_, message in (
        (["--weights", "f=2"], "'m' has none"),
        (["--weights", "people"], "--weights takes size, or a number for every name"),
        (["--weights", "f=1,f=2,m=1"], "--weights names 'f' twice"),
        (["--why", "groups"], "--why takes ITEM=TEXT"),
        (["--why", "groups=a", "--why", "groups=b"], "--why names 'groups' twice"),
        (["--why", "group=a"], "did you mean 'groups'"),
    ):
        refused = called(*command, *words_)
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
