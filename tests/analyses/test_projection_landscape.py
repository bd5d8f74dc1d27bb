"""Projection tests over a number that tells scores or models apart, such as a penalty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import called as run, check_schema
from evenhand.analyses.projection.projection_test import projection_test
from evenhand.analyses.projection.several import ProjectionTests
from evenhand.errors import UsageError

SCORES = ["a", "b", "c"]


def people(n: int = 300) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    g = rng.choice(["f", "m", "x"], n)
    z = rng.normal(0.6 * (g == "m"), 1.0)
    y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    return {name: 1 / (1 + np.exp(-z * s)) for name, s in zip(SCORES, (1, 0.5, 0.01), strict=True)} | {"y": y, "g": g}


def landscape_of(**words: Any) -> ProjectionTests:
    columns = {"label": "y", "group": "g", "reference": "m", **words}
    return projection_test(people(), score=SCORES, along={"penalty": [1, 10, 100]}, **columns)


def test_every_test_has_the_number_of_its_score() -> None:
    found = landscape_of()
    assert found.along is not None
    assert found.along.values == (1.0, 1.0, 10.0, 10.0, 100.0, 100.0)
    assert [t.data["score"] for t in found] == ["a", "a", "b", "b", "c", "c"]
    document = found.to_dict()
    check_schema(document, evenhand.schema("projections"))
    assert document["along"] == {"name": "penalty", "values": list(found.along.values)}
    assert "penalty" in repr(found)
    assert "at penalty" in found.interpretation or "in none of" in found.interpretation
    plain = projection_test(people(), score=SCORES, label="y", group="g", reference="m")
    assert [t.p_value for t in plain] == [t.p_value for t in found]
    assert plain.to_dict()["along"] is None
    with pytest.raises(UsageError, match="needs a number for each of the scores"):
        plain.plot("landscape")


def test_the_chart_shows_every_test() -> None:
    found = landscape_of()
    assert found.plots() == ("landscape",)
    chart = found.plot()
    assert chart.columns["penalty"] == [1, 1, 10, 10, 100, 100]
    assert chart.columns["p-value"] == pytest.approx([t.p_value for t in found], abs=1e-5)
    times = [t.statistic / t.critical_value for t in found]
    assert chart.columns["statistic ÷ critical value"] == pytest.approx(times, rel=1e-3)
    top, below = chart.spec["vconcat"]
    assert [len(row["hconcat"]) for row in (top, below)] == [2, 2]
    pytest.importorskip("vl_convert")
    assert chart.to_svg().startswith("<svg")
    assert "The test over penalty" in found.to_html()
    unlabelled = landscape_of(label=None, criterion="demographic_parity").plot()
    assert "accuracy" not in unlabelled.columns


def test_the_landscape_of_a_constant_score_is_drawn() -> None:
    data = {**people(), "c": np.full(300, 0.5)}
    found = projection_test(data, score=SCORES, label="y", group="g", reference="m", along={"x": [0, 1, 2]})
    assert found.plot().columns["statistic ÷ critical value"][-2:] == [None, None]
    assert [t.p_value for t in found][-2:] == [1.0, 1.0]
    pytest.importorskip("vl_convert")
    found.plot().to_svg()


def test_accuracy_is_that_at_one_half() -> None:
    data = people()
    own = data["g"] != "x"
    test = projection_test(data, score="a", label="y", group="g", reference="m", compare="f")
    assert test.accuracy == pytest.approx(((data["a"] >= 0.5) == data["y"])[own].mean())
    risk = projection_test({**data, "r": 1 - data["a"]}, score="r", label="y", group="g", reference="m", compare="f",
                           risk=True)  # fmt: skip
    assert risk.accuracy == pytest.approx(test.accuracy)
    assert (
        projection_test(data, score="a", group="g", criterion="demographic_parity", reference="m")[0].accuracy is None
    )


def test_models_are_tested_over_their_penalty() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(1)
    g = rng.choice(["f", "m"], 400)
    X = rng.normal(size=(400, 2)) + np.where(g == "m", 0.6, 0)[:, None]
    y = (rng.random(400) < 1 / (1 + np.exp(-X.sum(1)))).astype(int)
    models = {p: linear_model.LogisticRegression(C=1 / p).fit(X, y) for p in (0.1, 10.0, 1000.0)}
    found = projection_test.from_models(models, X, y, g, along="penalty", reference="f")
    alone = [projection_test.from_model(m, X, y, g, reference="f") for m in models.values()]
    assert [t.to_json() for t in found] == [t.to_json() for t in alone]
    assert [t.space for t in found] == ["features"] * 3
    assert "penalty 1000" in repr(found)
    with pytest.raises(UsageError, match="mapping from a number"):
        projection_test.from_models(list(models.values()), X, y, g)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="there is one"):
        projection_test.from_models({1.0: models[0.1]}, X, y, g)


@pytest.mark.parametrize(
    ("along", "message"),
    [
        ([1, 2, 3], "a name and a number for each score"),
        ({}, "a name and a number for each score"),
        ({"a": [1, 2, 3], "b": [1, 2, 3]}, "a name and a number for each score"),
        ({1: [1, 2, 3]}, "is a text, not 1"),
        ({"a": [1, 2]}, "there are 3"),
        ({"a": "123"}, "there are 3"),
        ({"a": [1, 2, float("nan")]}, "a name and a number"),
        ({"a": [1, 2, "3"]}, "a name and a number"),
        ({"a": [1, 2, 2]}, "different numbers"),
    ],
)
def test_odd_numbers_are_refused(along: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        projection_test(people(), score=SCORES, label="y", group="g", along=along)


def test_the_command_takes_numbers(tmp_path: Path) -> None:
    data = people()
    lines = [",".join(data), *(",".join(map(str, row)) for row in zip(*data.values(), strict=True))]
    (tmp_path / "p.csv").write_text("\n".join(lines))
    call = ["projection-test", str(tmp_path / "p.csv"), "--score", "a,b,c", "--label", "y", "--group", "g"]
    out = run(*call, "--along", "penalty=1,10,100", "--html", str(tmp_path / "page.html")).stdout
    assert "penalty" in out
    assert "The test over penalty" in (tmp_path / "page.html").read_text()
