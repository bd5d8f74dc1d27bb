"""Several models of the same people: paired, each as if alone, and honest about what is not known."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

import evenhand
from conftest import called as run, check_schema, evenhand as process
from evenhand.analyses.models.paired import Question, distance, gap_errors, paired, plain_errors, resample
from evenhand.errors import DataError, UsageError
from evenhand.inference.paired_resample import Layout, Together
from evenhand.ingest.roles import Roles
from evenhand.ingest.tabulation import tabulate_together
from evenhand.measures.curve import ScoreOptions
from evenhand.measures.registry import MEASURES

peer = pytest.importorskip("sklearn.metrics")

QUICK: dict[str, Any] = {"bootstrap": 200, "permutations": 0}


def people(
    n: int, seed: int = 0, a: float = 1.5, b: float = 1.0, decimals: int = 12, own: float = 0.5
) -> dict[str, Any]:
    """Two models that share most of their errors, and favour f by different amounts."""
    rng = np.random.default_rng(seed)
    g = (rng.random(n) < 0.3).astype(int)
    y = (rng.random(n) < 0.5 - 0.1 * g).astype(int)
    shared = 0.7 * (2 * y - 1) + 0.8 * rng.normal(size=n)
    scores = {
        name: (1 / (1 + np.exp(-(shared + own * rng.normal(size=n) + shift * g)))).round(decimals)
        for name, shift in (("a", a), ("b", b))
    }
    return {**scores, "y": y, "g": np.array(["m", "f"])[g]}


def compared(data: Any, **how: Any) -> evenhand.CandidateAudit:
    found = evenhand.audit(data, score=["a", "b"], label="y", group="g", **{**QUICK, **how})
    assert isinstance(found, evenhand.CandidateAudit)
    return found


def difference(found: evenhand.CandidateAudit, id_: str, model: str = "b") -> Any:
    return next(d for d in found.differences if d.id == id_ and d.model == model)


# ---- each model as if alone ------------------------------------------------------------------------------------


@pytest.mark.parametrize("risk", [False, True])
def test_the_audit_of_a_model_is_what_it_is_alone(risk: bool) -> None:
    data = people(400)
    how = {"risk": risk, "bootstrap": 60, "permutations": 40, "reference": "m", "rng": 5}
    found = compared(data, threshold=[0.4, 0.6], **how)
    for name, threshold in (("a", 0.4), ("b", 0.6)):
        alone = evenhand.audit(data, score=name, label="y", group="g", threshold=threshold, **how)
        assert found[name].to_json() == alone.to_json()


def test_tables_of_models_are_those_of_single_scores_from_every_source(tmp_path: Path) -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")

    data = people(300, decimals=2)
    file = tmp_path / "people.csv"
    pd.DataFrame(data).to_csv(file, index=False)
    words = {"score": ["a", "b"], "label": "y", "group": "g"}
    arrays = tabulate_together(
        None, Roles(score={"a": data["a"], "b": data["b"]}, label=data["y"], group={"g": data["g"]})
    )
    for source in (data, pd.DataFrame(data), pl.DataFrame(data), pl.DataFrame(data).lazy(), file):
        joint = tabulate_together(source, Roles(**words))
        assert joint.index.rows == 300
        assert (joint.scores == arrays.scores).all()
        for k, name in enumerate("ab"):
            assert joint.of(k) == evenhand.tabulate(source, score=name, label="y", group="g")
            assert (joint.of(k).n == arrays.of(k).n).all()


def test_a_row_without_one_score_is_left_out_for_all() -> None:
    data = people(50)
    data["b"][3] = np.nan
    with pytest.raises(DataError, match="without a finite score 'b'"):
        compared(data)
    found = compared(data, missing="drop")
    assert {found[m].table.rows for m in "ab"} == {49}
    assert found["a"].table.left_out == {"without a finite score 'b'": 1}


# ---- performance -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decimals", [1, 12])
@pytest.mark.parametrize("risk", [False, True])
def test_performance_agrees_with_scikit_learn(decimals: int, risk: bool) -> None:
    data = people(500, decimals=decimals)
    data["a"] = data["a"].clip(0.05, 0.95)
    found = compared(data, risk=risk).candidates[0].performance
    y, p = data["y"], 1 - data["a"] if risk else data["a"]
    decided = data["a"] < 0.5 if risk else data["a"] >= 0.5
    assert found["accuracy"].value == pytest.approx(peer.accuracy_score(y, decided))
    assert found["balanced_accuracy"].value == pytest.approx(peer.balanced_accuracy_score(y, decided))
    assert found["auroc"].value == pytest.approx(peer.roc_auc_score(y, p))
    assert found["average_precision"].value == pytest.approx(peer.average_precision_score(y, p))
    assert found["log_loss"].value == pytest.approx(peer.log_loss(y, p))
    assert found["brier"].value == pytest.approx(peer.brier_score_loss(y, p))
    for estimate in found.values():
        assert estimate.ci is not None
        assert estimate.ci[0] < estimate.value < estimate.ci[1]


def test_performance_that_does_not_exist_says_why() -> None:
    data = people(200, decimals=1)
    data["a"] = np.where(data["y"] == 1, 0.0, data["a"])
    found = compared(data)
    assert found.candidates[0].performance["log_loss"].undefined == (
        "because a person was given probability 0 of what happened"
    )
    assert difference(found, "log_loss").undefined is not None
    data = people(200)
    data["a"] = 10 * data["a"]
    assert "no probabilities" in str(compared(data).candidates[0].performance["brier"].undefined)
    without = evenhand.audit(people(200), score=["a", "b"], group="g", **QUICK)
    assert without.candidates[0].performance["auroc"].undefined == "because there are no labels"
    assert without.tradeoffs[0].recommended is None
    assert "no labels" in without.tradeoffs[0].because


# ---- differences -----------------------------------------------------------------------------------------------


def rows_resampled(data: Any, draws: int, seed: int, apart: bool) -> dict[str, np.ndarray]:
    """The plain bootstrap of rows, in independent code: the models together, or each on its own draws."""
    rng = np.random.default_rng(seed)
    n, f, y = len(data["y"]), data["g"] == "f", data["y"]
    out: dict[str, list[float]] = {"demographic_parity": [], "equal_opportunity": [], "auroc": [], "abcc": []}
    for _ in range(draws):
        i = rng.integers(0, n, n)
        j = rng.integers(0, n, n) if apart else i
        values = []
        for rows, name in ((i, "a"), (j, "b")):
            s, of_f, label = data[name][rows], f[rows], y[rows]
            grid = np.linspace(0, 1, 400)
            favourable = int(label.sum())
            above = rankdata(s)[label == 1].sum() - favourable * (favourable + 1) / 2  # pairs that s puts in order
            cdf = [np.searchsorted(np.sort(s[who]), grid, side="right") / who.sum() for who in (of_f, ~of_f)]
            values.append(
                {
                    "demographic_parity": abs((s[of_f] >= 0.5).mean() - (s[~of_f] >= 0.5).mean()),
                    "equal_opportunity": abs(
                        (s[of_f & (label == 1)] >= 0.5).mean() - (s[~of_f & (label == 1)] >= 0.5).mean()
                    ),
                    "auroc": above / (favourable * (n - favourable)),
                    "abcc": np.abs(cdf[0] - cdf[1]).mean(),
                }
            )
        for id_, column in out.items():
            column.append(values[1][id_] - values[0][id_])
    return {id_: np.array(column) for id_, column in out.items()}


def test_paired_intervals_are_those_of_resampled_rows_and_narrower_than_unpaired() -> None:
    data = people(3000, own=0.2)
    found = compared(data, bootstrap=2000, measures=["demographic_parity", "equal_opportunity", "abcc"], reference="m")
    together, apart = (rows_resampled(data, 1500, 1, unpaired) for unpaired in (False, True))
    for id_ in together:
        d = difference(found, id_)
        ci = d.ci_bootstrap or d.ci
        width = ci[1] - ci[0]
        low, high = np.quantile(together[id_], [0.025, 0.975])
        assert width == pytest.approx(high - low, rel=0.07)  # 5 % and what 1,500 draws leave uncertain
        assert together[id_].std() < 0.75 * apart[id_].std()
        low, high = np.quantile(apart[id_], [0.025, 0.975])
        assert width < 0.8 * (high - low)
        assert d.ci[0] <= d.difference <= d.ci[1]
        assert d.ci[1] - d.ci[0] < 1.15 * width  # both models are far from parity


def test_a_difference_is_of_distances_from_parity() -> None:
    data = people(500, a=-1.5, b=1.5)
    found = compared(data, reference="m")
    for id_ in ("demographic_parity", "disparate_impact", "abcc"):
        d, m = difference(found, id_), MEASURES[id_]
        gaps = [found[model].measure(id_, "f").value for model in "ab"]
        assert (d.other, d.value) == tuple(gaps)
        assert d.difference == pytest.approx(float(distance(m, gaps[1]) - distance(m, gaps[0])))
    signed = difference(found, "demographic_parity")
    assert signed.signed_difference == pytest.approx(
        found["b"].measure("demographic_parity").signed - found["a"].measure("demographic_parity").signed
    )
    assert signed.signed_difference > 0.5
    assert signed.ci_signed[0] > 0.4
    assert signed.p_signed < 0.02


def test_a_model_against_itself_differs_in_nothing() -> None:
    data = people(300)
    data["b"] = data["a"].copy()
    found = compared(data)
    for d in found.differences:
        if d.undefined is None:
            assert d.difference == 0
            assert d.p_value in (None, 1.0)
            assert d.better is None
    assert [p.on_front for p in found.tradeoffs[0].places] == [True, True]
    assert [p.best_share for p in found.tradeoffs[0].places] == [0.5, 0.5]


def test_the_better_model_is_told() -> None:
    data = people(2000, a=2.0, b=0.0)
    found = compared(data, reference="m", measures=["abcc", "equalized_odds"])
    assert difference(found, "abcc").better is True
    assert difference(found, "equalized_odds").p_adjusted < 0.05
    t = found.tradeoffs[0]
    assert t.recommended == "b"
    assert "nearest in 100% of resamples" in t.because
    turned = evenhand.audit(data, score=["b", "a"], label="y", group="g", reference="m", measures=["abcc"], **QUICK)
    assert difference(turned, "abcc", "a").better is False
    for one in (found, turned):  # page and Markdown name the model
        gaps = one.to_html().partition("<caption>Sizes of gaps")[2].partition("</table>")[0]
        assert set(re.findall(r"<bdi>(\w)</bdi></td></tr>", gaps)) == {"b"}
        rows = one.to_markdown().partition("### What differs")[2].partition("\n\n<sub>")[0].splitlines()
        assert {row.split("|")[-2].strip() for row in rows if row.startswith("| area between CDFs")} == {"b"}


def flipped(positives: int) -> dict[str, Any]:
    """The second model turns every decision about the f with the favourable label, and no other."""
    rng = np.random.default_rng(0)
    y = np.r_[rng.integers(0, 2, 300), np.ones(positives), np.zeros(40 - positives)].astype(int)
    a = np.where(rng.random(340) < 0.3 + 0.4 * y, 0.8, 0.2)
    a[300 : 300 + positives] = 0.2
    b = a.copy()
    b[300 : 300 + positives] = 0.8
    return {"a": a, "b": b, "y": y, "g": ["m"] * 300 + ["f"] * 40}


def test_a_handful_of_people_prove_nothing() -> None:
    d = difference(compared(flipped(5), reference="m", bootstrap=1000), "equal_opportunity")
    assert d.signed_difference == pytest.approx(1.0)
    assert (d.ci, d.ci_signed, d.p_value, d.p_signed, d.better) == (None,) * 5
    d = difference(compared(flipped(20), reference="m", bootstrap=1000), "equal_opportunity")
    assert d.p_value >= 2 / 1001  # no tail is made up for twenty people
    assert d.ci_signed is None  # resamples of people who all moved alike never vary


def test_a_resample_without_a_rate_is_not_one_without_a_gap() -> None:
    data = flipped(3)
    joint = tabulate_together(data, Roles(score=["a", "b"], label="y", group="g"))
    question = Question(0, "g", ("f", "m"), 1, [MEASURES["equal_opportunity"]])
    tables, rng = [joint.of(0), joint.of(1)], np.random.default_rng(0)
    draws = resample(joint, tables, [0.5, 0.5], [question], ScoreOptions(), 500, rng, lambda _: None)
    signed, sizes = draws["g", "equal_opportunity", "f"][0, :2]
    assert np.isnan(signed).sum() == np.isnan(sizes).sum() > 5


def test_a_perfect_model_of_few_people_is_not_perfect_for_certain() -> None:
    y = np.arange(30) % 2
    data = {"a": y * 0.6 + 0.2, "b": 0.8 - y * 0.6, "y": y, "g": ["f", "f", "m"] * 10}
    good, bad = (c.performance for c in compared(data).candidates)
    for id_ in ("accuracy", "auroc", "average_precision", "balanced_accuracy"):
        assert good[id_].value == 1
        assert good[id_].ci[0] < 0.9 < good[id_].ci[1] == 1
    assert bad["accuracy"].ci[0] == 0 < bad["accuracy"].ci[1] < 0.2


@pytest.mark.parametrize(("n", "right"), [(50, 0.95), (300, 0.8)])
def test_intervals_of_performance_cover(n: int, right: float) -> None:
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, n)
        a = np.where(rng.random(n) < right, y, 1 - y) * 0.6 + 0.2
        data = {"a": a, "b": 1 - a, "y": y, "g": rng.integers(0, 2, n)}
        low, high = compared(data, measures=["demographic_parity"]).candidates[0].performance["accuracy"].ci
        held += low <= right <= high
    assert held >= 52  # of 60: 95 % falls below once in 200


def test_intervals_hardly_depend_on_the_seed() -> None:
    data = people(600)
    ends = [
        difference(compared(data, rng=seed, bootstrap=1000, measures=["demographic_parity"]), "demographic_parity").ci
        for seed in range(4)
    ]
    assert np.ptp(np.array(ends), axis=0).max() < 0.15 * (ends[0][1] - ends[0][0])


def test_weights_and_clusters_stay_paired() -> None:
    data = people(400)
    data["w"] = np.random.default_rng(1).lognormal(size=400)
    data["who"] = np.arange(400) // 2
    plain = difference(compared(data, reference="m"), "demographic_parity")
    weighted = difference(compared(data, weight="w", reference="m"), "demographic_parity")
    clustered = difference(compared(data, cluster="who", reference="m"), "demographic_parity")
    assert weighted.ci[1] - weighted.ci[0] > plain.ci[1] - plain.ci[0]
    assert clustered.difference == plain.difference
    doubled = {k: np.repeat(v, 2) for k, v in data.items() if k != "who"} | {"who": np.repeat(np.arange(400), 2)}
    twice = difference(compared(doubled, cluster="who", reference="m"), "demographic_parity")
    assert twice.ci[1] - twice.ci[0] == pytest.approx(plain.ci[1] - plain.ci[0], rel=0.2)


def test_a_sample_of_very_many_people_says_the_same() -> None:
    data = people(60_000)
    joint = tabulate_together(data, Roles(score=["a", "b"], label="y", group="g"))
    place = np.arange(joint.index.cells)
    assert Together(joint.index, [Layout(place, (len(place),))]).scale == pytest.approx(np.sqrt(5 / 6))
    found = difference(compared(data, measures=["demographic_parity"], reference="m"), "demographic_parity")
    rounded = {**data, "a": data["a"].round(2), "b": data["b"].round(2)}
    few = difference(compared(rounded, measures=["demographic_parity"], reference="m"), "demographic_parity")
    assert found.ci[1] - found.ci[0] == pytest.approx(few.ci[1] - few.ci[0], rel=0.2)


def coverage(
    n: int, replications: int, a: float, b: float, ids: list[str]
) -> tuple[dict[str, float], dict[str, float]]:
    """How often intervals of differences hold the truth, and how often no difference is rejected."""

    def answers(data: Any, draws: int, seed: int) -> Any:
        joint = tabulate_together(data, Roles(score=["a", "b"], label="y", group="g"))
        tables = [joint.of(0), joint.of(1)]
        values = {}
        for id_ in ids:
            gaps = [
                evenhand.audit(t, reference="m", bootstrap=0, permutations=0, measures=[id_]).measure(id_).value
                for t in tables
            ]
            values[id_] = float(distance(MEASURES[id_], gaps[1]) - distance(MEASURES[id_], gaps[0]))
        question = Question(0, "g", ("f", "m"), 1, [MEASURES[i] for i in ids])
        rng = np.random.default_rng(seed)
        draws_of = (
            resample(joint, tables, [0.5, 0.5], [question], ScoreOptions(), draws, rng, lambda _: None) if draws else {}
        )
        return values, draws_of

    truth, _ = answers(people(1_000_000, 99, a, b), 0, 0)
    held, rejected = dict.fromkeys(ids, 0), dict.fromkeys(ids, 0)
    for r in range(replications):
        values, draws = answers(people(n, r, a, b), 200, r)
        for id_ in ids:
            found = paired(values[id_], gap_errors(values[id_], draws["g", id_, "f"], 1, 0), 0.95, n)
            assert found.ci is not None
            held[id_] += found.ci[0] <= truth[id_] <= found.ci[1]
            rejected[id_] += found.p_value <= 0.05
    return {i: held[i] / replications for i in ids}, {i: rejected[i] / replications for i in ids}


IDS = ["demographic_parity", "disparate_impact", "equalized_odds", "abcc", "equal_opportunity_standardized", "xroc"]


@pytest.mark.parametrize(("a", "b"), [(0.8, 0.2), (0.5, 0.0), (0.3, 0.3)])
def test_intervals_of_differences_cover(a: float, b: float) -> None:
    held, rejected = coverage(500, 40, a, b, IDS)
    assert min(held.values()) >= 0.85  # of 40: 95 % falls below once in 200
    if a == b:
        assert max(rejected.values()) <= 0.15


@pytest.mark.full
@pytest.mark.parametrize(("a", "b"), [(0.8, 0.2), (0.5, 0.0), (0.3, 0.3)])
def test_intervals_of_differences_cover_in_full(a: float, b: float) -> None:
    held, rejected = coverage(600, 300, a, b, IDS)
    assert min(held.values()) >= 0.90
    if a == b:
        assert max(rejected.values()) <= 0.08


def test_plain_errors_are_centred() -> None:
    values = np.stack([np.arange(12.0).reshape(1, 12), np.zeros((1, 12))])
    assert plain_errors(values, 0, 0, 1).mean() == pytest.approx(0)


# ---- the trade-off ----------------------------------------------------------------------------------------------


def test_places_front_and_distance() -> None:
    data = people(400)
    data["c"] = np.where(data["y"] == 1, 0.1, 0.9)  # always wrong
    found = evenhand.audit(
        data, score=["a", "b", "c"], label="y", group="g", performance="auroc", fairness="abcc", **QUICK
    )
    t = found.tradeoffs[0]
    for place in t.places:
        audit = found[place.model]
        assert place.fairness == pytest.approx(1 - max(g.value for g in audit.attributes[0].measures if g.id == "abcc"))
        assert place.dto == pytest.approx(np.hypot(1 - place.performance, 1 - place.fairness))
        better = [
            q.model
            for q in t.places
            if q.performance >= place.performance and q.fairness >= place.fairness and q.model != place.model
        ]
        assert (place.on_front, sorted(place.dominated_by)) == (not better, sorted(better))
    assert t.recommended == min(t.places, key=lambda p: p.dto).model
    assert sum(p.best_share for p in t.places) == pytest.approx(1)


def test_an_undefined_measure_leaves_a_model_out_and_says_so() -> None:
    data = {"a": [0.1, 0.2, 0.8, 0.9], "b": [0.1, 0.7, 0.6, 0.2], "y": [1, 1, 0, 1], "g": ["f", "f", "m", "m"]}
    found = compared(data, bootstrap=0)
    assert found.tradeoffs[0].recommended is None
    assert "no row with the unfavourable label" in found.tradeoffs[0].because


def test_groups_without_the_measure_are_left_out_by_name() -> None:
    data = people(300)
    data = {k: np.append(v, {"g": "x", "y": 1}.get(k, 0.5)) for k, v in data.items()}  # one x, and only one label
    t = compared(data, reference="m").tradeoffs[0]
    assert t.left_out == ("x",)
    assert t.recommended is not None
    assert "undefined for 'x', who are left out" in t.because
    assert {p.group for p in t.places} == {"f"}


# ---- documents, command line, bad input --------------------------------------------------------------------------


def test_the_document_fits_its_schema_and_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    data = people(200)
    found = compared(data, rng=3)
    document = found.to_dict()
    check_schema(document, evenhand.schema("candidates"))
    for candidate in document["candidates"]:
        check_schema(candidate["audit"], evenhand.schema("audit"))
    assert found.to_json(tmp_path / "x.json") == compared(data, rng=3).to_json()
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == document
    assert set(found.to_frame("pandas")["model"]) == {"a", "b"}
    assert "Trade-off" in repr(found)
    assert "<script" not in found._repr_html_()


def test_many_models_groups_and_hostile_names() -> None:
    rng = np.random.default_rng(0)
    n = 300
    names = ["[red]x[/red]", "</script>\n", "m" * 300, "d", "e", "f"]
    data = {name: rng.random(n) for name in names} | {"y": rng.integers(0, 2, n), "g": rng.integers(0, 6, n)}
    found = evenhand.audit(
        data, score=names, label="y", group="g", measures=["demographic_parity"], bootstrap=50, permutations=0
    )
    text = repr(found)
    assert "[red]x[/red]" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "2 more models" in text
    check_schema(found.to_dict(), evenhand.schema("candidates"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    data = people(200)
    path = tmp_path / "people.csv"
    rows = zip(*data.values(), strict=True)
    path.write_text("\n".join([",".join(data), *(",".join(map(str, row)) for row in rows)]), encoding="utf-8")
    return path


def test_the_command(file: Path, tmp_path: Path) -> None:
    base = ["audit", file, "--score", "a,b", "--label", "y", "--group", "g", "--bootstrap", "60", "--permutations", "0"]
    done = process(
        *base, "--threshold", "0.4,0.5", "--performance", "auroc", "--fairness", "abcc", "--json", tmp_path / "o.json"
    )
    assert done.returncode == 0, done.stderr
    assert "a: favourable at scores ≥ 0.4" in done.stdout
    assert "Trade-off: AUROC against" in done.stdout
    document = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert document["schema"] == "evenhand/candidates/1"
    assert document["tradeoffs"][0]["fairness"] == "abcc"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--score", "a,nobody"], "no column 'nobody'"),
        (["--score", "a,a"], "repeats one"),
        (["--score", "a,g"], "must hold numbers"),
        (["--score", "a,b", "--threshold", "0.1,0.2,0.3"], "2 scores but 3 thresholds"),
        (["--score", "a", "--threshold", "0.1,0.2"], "several models"),
        (["--score", "a", "--fairness", "abcc"], "several models"),
        (["--score", "a,b", "--fairness", "abcd"], "did you mean 'ab"),
        (["--score", "a,b", "--performance", "acuracy"], "did you mean 'accuracy'"),
        (["--score", "a,b", "--prediction", "y"], "belongs to one model"),
        (["--score", "a,b", "--metric", "tpr"], "for classes, not for scores"),
        (["--score", "a,b", "--threshold", "x"], "takes numbers"),
        (["--score", "a,b", "--threshold", "nan"], "finite number"),
        (["--score", "a,b", "--reference", "q"], "'q'"),
        (["--score", "a,b", "--score-range", "0,0.1"], "inside the stated range"),
    ],
)
def test_bad_words_get_one_sentence(file: Path, words: list[str], message: str) -> None:
    done = run("audit", file, "--label", "y", "--group", "g", "--bootstrap", "0", "--permutations", "0", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_bad_calls_are_refused() -> None:
    data = people(50)
    with pytest.raises(UsageError, match="one at a time"):
        evenhand.tabulate(data, score=["a", "b"], label="y", group="g")
    with pytest.raises(UsageError, match="at least one score"):
        evenhand.audit(score={}, label=data["y"], group=data["g"])
    with pytest.raises(DataError, match="same length"):
        evenhand.audit(score={"a": data["a"], "b": data["b"][:-1]}, label=data["y"], group=data["g"])
    with pytest.raises(UsageError, match="two or more groups"):
        evenhand.audit({**data, "g": ["x"] * 50}, score=["a", "b"], label="y", group="g", **QUICK)
    with pytest.raises(UsageError, match="no model 'c'"):
        compared(data)["c"]
    single = evenhand.audit(data, score=["a"], label="y", group="g", **QUICK)
    assert isinstance(single, evenhand.Audit)
    constant = compared({**data, "b": np.full(50, 0.5)})
    assert "b: the score is constant (0.5): it cannot tell anyone apart" in constant.notes
    assert constant.candidates[1].performance["auroc"].value == 0.5
    assert list(constant) == ["a", "b"]
    by_name = compared(data, threshold={"b": 0.3, "a": 0.6})
    assert [by_name[m].options.threshold for m in "ab"] == [0.6, 0.3]
    with pytest.raises(UsageError, match="must name every model"):
        compared(data, threshold={"a": 0.3})
    for score in (["a", None], ["a", 3], [], {"": data["a"]}):
        with pytest.raises(UsageError, match=r"score"):
            evenhand.audit(data, score=score, label="y", group="g", **QUICK)


# ---- p-values in every view ------------------------------------------------------------------------------------


def test_p_values_at_the_floor_of_their_resamples_are_bounds_in_every_view() -> None:
    data = people(60, a=4.0, b=0.0, own=0.05)
    found = compared(data, bootstrap=99, measures=["demographic_parity", "abcc"])
    document = found.to_dict()
    (bound,) = (d for d in document["differences"] if d["id"] == "abcc")
    assert bound["p_value"] == 0.02
    assert bound["p_value_at_most"] is bound["p_adjusted_at_most"] is True
    assert bound["p_adjusted"] > bound["p_value"]
    both = f"≤.020    ≤{bound['p_adjusted']:.3f}".replace("≤0", "≤")
    assert both in str(found)
    assert "≤.020" in found.to_html()
    check_schema(json.loads(found.to_json()), evenhand.schema("candidates"))


def test_a_p_value_that_was_counted_is_no_bound() -> None:
    errors = np.random.default_rng(0).normal(size=(1, 99))
    assert paired(0.0, errors, 0.95, 40).at_most is False
    assert paired(9.0, errors, 0.95, 40).at_most is True
    assert paired(9.0, errors, 0.95, 10_000).at_most is False  # by a normal tail
