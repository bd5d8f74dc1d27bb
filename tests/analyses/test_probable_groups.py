"""Groups as probabilities: estimators against loops and truth, bad input, every view."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import evenhand
from evenhand.analyses.unknown_groups.correction import corrected
from evenhand.analyses.unknown_groups.weighting import weighted
from evenhand.cli import cli

P = ["p_a", "p_b"]
QUICK: dict[str, Any] = {"bootstrap": 0}


def people(
    n: int, seed: int, rates: tuple[float, float] = (0.4, 0.6), slope: float = 0.0, sharp: float = 0.6
) -> dict[str, Any]:
    """Two groups; the decision depends on the group and, by `slope`, on the probability itself."""
    rng = np.random.default_rng(seed)
    p = rng.beta(sharp, sharp, n)
    a = rng.random(n) < p
    d = rng.random(n) < np.where(a, *rates) + slope * (p - 0.5)
    return {"d": d.astype(int), "p_a": p, "p_b": 1 - p, "a": a}


def audit(data: Any, **options: Any) -> Any:
    return evenhand.audit(data, **{"prediction": "d", "group_probability": P, "reference": "p_b"} | QUICK | options)


def true_gap(data: dict[str, Any]) -> float:
    return float(data["d"][data["a"]].mean() - data["d"][~data["a"]].mean())


# ---- estimators ----------------------------------------------------------------------------------------------------


def test_certain_probabilities_give_the_rates_of_known_groups() -> None:
    data = people(800, 0)
    sure = {**data, "p_a": data["a"].astype(float), "p_b": 1.0 - data["a"]}
    known = evenhand.audit(
        {**data, "g": np.where(data["a"], "p_a", "p_b")}, prediction="d", group="g", reference="p_b", **QUICK,
        permutations=0,
    )  # fmt: skip
    gap, theirs = audit(sure).measure("demographic_parity"), known.measure("demographic_parity")
    assert gap.weighted.value == pytest.approx(theirs.signed)
    assert gap.corrected.value == pytest.approx(theirs.signed, abs=0.002)  # one person of each group is added
    assert audit(sure).measure("disparate_impact").weighted.value == pytest.approx(theirs.ratio)
    assert audit(sure).groups[0].membership == 1


def test_weighting_is_what_a_loop_over_rows_gives() -> None:
    data = people(50, 1)
    y = np.random.default_rng(2).integers(0, 2, 50)
    found = audit({**data, "y": y}, label="y")
    for g, name in enumerate(P):
        for rate, among in (("selection_rate", None), ("tpr", 1), ("fpr", 0)):
            above = below = 0.0
            for i in range(50):
                if among is None or y[i] == among:
                    above += data[name][i] * data["d"][i]
                    below += data[name][i]
            assert found.groups[g].rates[rate][0].value == pytest.approx(above / below)


def test_the_variance_of_weighting_is_that_of_the_jackknife() -> None:
    data = people(200, 3)
    p, d = np.stack([data[c] for c in P], 1), data["d"].astype(float)
    covariance = weighted(p, d).covariance()
    left = np.array([weighted(np.delete(p, i, 0), np.delete(d, i)).rates for i in range(200)])
    jackknife = 199 * np.cov(left.T, bias=True)
    assert covariance == pytest.approx(jackknife, rel=0.05)
    assert covariance[0, 1] != 0


@pytest.mark.parametrize("cells", [1, 3])
def test_the_correction_is_where_the_em_algorithm_ends(cells: int) -> None:
    rng = np.random.default_rng(4)
    n = 300
    p = rng.dirichlet([0.5, 0.4, 0.6], n)
    hit = (rng.random(n) < 0.3 + 0.4 * p[:, 0]).astype(float)
    cell = rng.integers(0, cells, n)

    def em(p: Any, hit: Any, centre: Any) -> Any:
        theta = centre.copy()
        for _ in range(8000):
            own = p * np.where(hit[:, None] > 0, theta, 1 - theta)
            own /= own.sum(1, keepdims=True)
            theta = ((own * hit[:, None]).sum(0) + centre) / (own.sum(0) + 1)
        return theta

    whole = em(p, hit, np.full(3, hit.mean()))
    if cells > 1:
        parts = [em(p[cell == c], hit[cell == c], whole) for c in range(cells)]
        mass = np.array([p[cell == c].sum(0) for c in range(cells)])
        whole = (mass * parts).sum(0) / mass.sum(0)
    assert corrected(p, hit, cell, cells, np.ones(n))[0] == pytest.approx(whole, abs=1e-5)


def _off(rounds: int, n: int, slope: float, rates: tuple[float, float] = (0.4, 0.6)) -> tuple[float, float]:
    """By how much weighting and correction miss the true gap on average."""
    missed = []
    for seed in range(rounds):
        data = people(n, seed, rates, slope)
        gap = audit(data).measure("demographic_parity")
        missed.append([e.value - true_gap(data) for e in (gap.weighted, gap.corrected)])
    weighting, correction = np.mean(missed, axis=0)
    return float(weighting), float(correction)


def test_weighting_is_biased_and_the_correction_is_not_where_its_assumption_holds() -> None:
    weighting, correction = _off(20, 1500, slope=0.0)
    assert weighting > 0.07  # the true gap is −0.2
    assert abs(correction) < 0.02


def test_the_correction_fails_where_the_decision_follows_the_proxy() -> None:
    # The group plays no part once the probability is known: weighting is right, and the correction sees a gap twice.
    weighting, correction = _off(20, 1500, slope=0.3, rates=(0.5, 0.5))
    assert abs(weighting) < 0.02
    assert correction > 0.1


def test_a_cell_in_which_the_assumption_holds_makes_the_correction_right() -> None:
    # Poor places select fewer of everybody, and have more of group a: without the place the correction is off.
    missed = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = 3000
        place = rng.integers(0, 2, n)
        p = rng.beta(0.5 + 1.0 * place, 1.5 - 1.0 * place, n)
        a = rng.random(n) < p
        d = rng.random(n) < np.where(a, 0.5, 0.6) - 0.3 * place
        data = {"d": d.astype(int), "p_a": p, "p_b": 1 - p, "a": a, "place": place}
        with_place, without = (
            audit(data, **({} if c is None else {"proxy_cell": c})).measure("demographic_parity").corrected.value
            for c in ("place", None)
        )
        missed.append([abs(with_place - true_gap(data)), abs(without - true_gap(data))])
    assert np.mean(missed, axis=0)[0] < 0.4 * np.mean(missed, axis=0)[1]


def test_the_sensitivity_curve_meets_the_truth_at_the_true_delta() -> None:
    data = people(60_000, 7)  # at the same probabilities members are selected 0.2 less often
    gap = audit(data).measure("demographic_parity")
    slope = gap.sensitivity.group + gap.sensitivity.reference
    assert gap.weighted.value - 0.2 * slope == pytest.approx(-0.2, abs=0.01)
    curve = {p.delta: p.value for p in gap.sensitivity.curve}
    assert curve[0.0] == pytest.approx(gap.weighted.value)
    assert gap.weighted.value + gap.sensitivity.vanishes * slope == pytest.approx(0, abs=1e-12)
    low, high = gap.sensitivity.tolerated
    assert gap.weighted.value + low * slope == pytest.approx(-0.1)
    assert gap.weighted.value + high * slope == pytest.approx(0.1)


def test_of_three_groups_the_curve_is_that_of_members_who_deviate() -> None:
    # Expected values, no sampling: members of the first group are selected δ more often than the others.
    rng = np.random.default_rng(9)
    n, delta = 400, 0.15
    p = rng.dirichlet([1, 1, 1], n)
    base = rng.random(n) * 0.5
    chance = base + delta * p[:, 0]
    seen = (p * chance[:, None]).sum(0) / p.sum(0)
    truth = np.array([(p[:, 0] * (base + delta)).sum(), *(p[:, g] @ base for g in (1, 2))]) / p.sum(0)
    from evenhand.analyses.unknown_groups.sensitivity import shifted
    from evenhand.analyses.unknown_groups.weighting import Weighted

    for ref in (1, 2):
        shifts = shifted(p, Weighted(seen, np.zeros((n, 3))), 0, ref)
        assert shifts.at(delta, False, 0.95).value == pytest.approx(truth[0] - truth[ref])
        assert shifts.at(delta, True, 0.95).value == pytest.approx(truth[0] / truth[ref])


def _coverage(rounds: int, n: int, resamples: int) -> tuple[float, float]:
    """How often intervals hold what weighting and correction estimate, where the assumption of the latter holds."""
    big = people(200_000, 999)
    target = audit(big).measure("demographic_parity").weighted.value
    hits = []
    for seed in range(rounds):
        gap = audit(people(n, seed), bootstrap=resamples, rng=seed).measure("demographic_parity")
        (a, b), (c, d) = gap.weighted.ci, gap.corrected.ci
        hits.append([a <= target <= b, c <= -0.2 <= d])
    weighting, correction = np.mean(hits, axis=0)
    return float(weighting), float(correction)


def test_intervals_cover() -> None:
    weighting, correction = _coverage(25, 400, 50)
    assert weighting > 0.8
    assert correction > 0.8


@pytest.mark.full
@pytest.mark.parametrize("n", [200, 1000])
def test_intervals_cover_at_full_size(n: int) -> None:
    weighting, correction = _coverage(1000, n, 200)
    assert 0.925 < weighting < 0.975
    assert 0.92 < correction < 0.98


# ---- results, and what they are made of ----------------------------------------------------------------------------


def test_the_document_fits_its_schema_and_every_view_shows_it() -> None:
    rng = np.random.default_rng(3)
    data = people(400, 5) | {"y": rng.integers(0, 2, 400), "zip": rng.choice(["x", "z"], 400)}
    found = audit(data, label="y", proxy_cell="zip", bootstrap=50)
    document = found.to_dict()
    pytest.importorskip("jsonschema").validate(document, evenhand.schema("probable"))
    assert [m["id"] for m in document["measures"]] == [
        "demographic_parity", "disparate_impact", "equal_opportunity", "predictive_equality",
    ]  # fmt: skip
    value = f"{document['measures'][0]['corrected']['value']:+.3f}"
    for text in (repr(found), found.to_markdown(), found.to_html()):
        assert value in text
        assert "δ" in text
        assert "neither tells who belongs to a group" in " ".join(text.split())
    assert max(map(len, repr(found).splitlines())) <= 80
    assert audit(data, label="y", proxy_cell="zip", bootstrap=50).to_json() == found.to_json()


@pytest.mark.parametrize("kind", ["pandas", "polars", "csv", "parquet"])
def test_any_data_give_the_same(kind: str, tmp_path: Path) -> None:
    data = {k: v for k, v in people(200, 6).items() if k != "a"}
    pd = pytest.importorskip("pandas")
    held: Any = pd.DataFrame(data)
    if kind == "polars":
        held = pytest.importorskip("polars").DataFrame(data)
    elif kind in ("csv", "parquet"):
        path = tmp_path / f"p.{kind}"
        getattr(held, f"to_{kind}")(path, index=False)
        held = path
    assert audit(held).to_json() == audit(data).to_json()


def test_the_command_line_and_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = people(200, 6)
    lines = ["s,p_a,p_b", *(f"{d},{a!r},{1 - a!r}" for d, a in zip(data["d"], data["p_a"].tolist(), strict=True))]
    (tmp_path / "p.csv").write_text("\n".join(lines) + "\n")
    asked = "audit p.csv --score s --group-probability p_a,p_b --threshold 0.5 --bootstrap 50 --tolerance "
    asked += "disparate_impact=0.9 --json -"
    first = json.loads(CliRunner().invoke(cli, asked.split()).stdout)
    again = first["command"].replace("DATA", "p.csv").split()[1:]
    assert json.loads(CliRunner().invoke(cli, [*again, "--json", "-"]).stdout) == first
    refused = CliRunner().invoke(cli, ["audit", "p.csv", "--score", "s", "--group-probability", "p_a,p_b", "--full"])
    assert isinstance(refused.exception, evenhand.UsageError)
    assert "--full is for groups that are known" in str(refused.exception)


def test_the_chart_shows_the_curve() -> None:
    found = audit(people(200, 6))
    assert found.plots() == ("sensitivity",)
    chart = found.plot()
    curve = found.measure("demographic_parity").sensitivity.curve
    assert chart.columns["gap"] == pytest.approx([p.value for p in curve], abs=1e-4)
    assert f"δ = {found.measure('demographic_parity').sensitivity.vanishes:+.3f}" in chart.description
    assert audit(people(200, 6), measures=["disparate_impact"]).plots() == ()


def test_curves_of_several_groups_have_names_and_two_answers_are_explained() -> None:
    data = people(800, 3, rates=(0.3, 0.5))
    three = {**data, "p_a": data["p_a"] * 0.7, "p_c": data["p_a"] * 0.3}
    found = audit(three, group_probability=["p_a", "p_b", "p_c"])
    colours = [
        one["encoding"]["color"] for one in found.plot("sensitivity").spec["layer"] if "color" in one["encoding"]
    ]
    assert len(colours) == 2
    assert all(colour["legend"] is not None for colour in colours)
    unlike = any(gap.weighted.passes != gap.corrected.passes for gap in found.measures)
    assert ("by weighting / corrected" in str(found)) is unlike is True


def test_probabilities_that_do_not_tell_groups_apart_leave_the_correction_undefined() -> None:
    same = {"d": [1, 0] * 50, "p_a": [0.3] * 100, "p_b": [0.7] * 100}
    gap = audit(same).measure("demographic_parity")
    assert gap.weighted.value == pytest.approx(0)
    assert gap.corrected.undefined.startswith("because the probabilities differ too little")
    assert audit(same).to_dict()["measures"][0]["corrected"]["value"] is None


GOOD = {"d": [1, 0, 1, 0], "p_a": [0.9, 0.8, 0.2, 0.1], "p_b": [0.1, 0.2, 0.8, 0.9], "t": ["x", "y", "x", "y"],
        "q": [0.9, 0.8, 0.2, 0.1]}  # fmt: skip
BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "sum": ({"p_a": [0.9, 0.8, 0.3, 0.1]}, {}, r"add up to 1, but those of row 3 .* add up to 1.1, and 1 of 4 rows"),
    "negative": ({"p_a": [0.9, -0.2, 0.2, 0.1]}, {}, r"between 0 and 1, but row 2 has -0.2 in 'p_a'"),
    "above": ({"p_a": [0.9, 0.8, 0.2, 1.4]}, {}, r"between 0 and 1, but row 4 has 1.4 in 'p_a'"),
    "gap": ({"p_a": [0.9, None, 0.2, 0.1]}, {}, r"needs a value in every column, but 1 of 4 rows have none in 'p_a'"),
    "infinite": ({"p_a": [0.9, np.inf, 0.2, 0.1]}, {}, "infinite number"),
    "text": ({}, {"group_probability": ["p_a", "t"]}, "'t'"),
    "one": ({}, {"group_probability": ["p_a"]}, "take two columns or more, not 'p_a'"),
    "a name": ({}, {"group_probability": "p_a"}, "take two columns or more, not 'p_a'"),
    "none": ({}, {"group_probability": []}, "take two columns or more"),
    "twice": ({}, {"group_probability": ["p_a", "p_a"]}, "names 'p_a' twice"),
    "two roles": ({}, {"group_probability": ["p_a", "d"]}, "named for two roles"),
    "unknown": ({}, {"group_probability": ["p_a", "p_c"]}, "there is no column 'p_c'"),
    "unknown cell": ({}, {"proxy_cell": "zap"}, "there is no column 'zap'"),
    "one group": ({"p_a": [0.0] * 4, "p_b": [1.0] * 4}, {}, "all probability is in 'p_b'"),
    "group too": ({}, {"group": "t"}, "both say who belongs to which group"),
    "weights": ({}, {"weight": "t"}, "leave out weight="),
    "no decision": ({}, {"prediction": None}, "say how people were decided"),
    "reference": ({}, {"reference": "p_c"}, "one of the columns of probabilities"),
    "missing": ({}, {"missing": "bounds"}, "refuse or drop"),
    "threshold": ({}, {"threshold": 0.5}, "decides already"),
    "rule": (
        {},
        {"prediction": None, "score": "p_a", "threshold": "median", "group_probability": ["p_b", "q"]},
        "a threshold that is a number, not at median",
    ),
    "strata": ({}, {"within": "t"}, "audited without 'within'"),
    "option": ({}, {"permutations": 10}, "audited without 'permutations'"),
    "measure": ({}, {"measures": ["abcc"]}, "none is known of probable groups"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_a_sentence(case: str) -> None:
    data, options, message = BAD[case]
    with pytest.raises(evenhand.EvenhandError, match=message):
        audit(GOOD | data, **options)


def test_rows_may_be_left_out_and_a_cell_needs_probabilities() -> None:
    data = GOOD | {"p_a": [0.9, None, 0.2, 0.1]}
    assert audit(data, missing="drop").to_dict()["data"]["left_out"] == {"without a value of 'p_a'": 1}
    with pytest.raises(evenhand.UsageError, match="goes with group_probability="):
        evenhand.audit(GOOD, prediction="d", group="t", proxy_cell="t")
    with pytest.raises(evenhand.UsageError, match="need the rows"):
        audit(evenhand.tabulate(GOOD, prediction="d", group="t"))
