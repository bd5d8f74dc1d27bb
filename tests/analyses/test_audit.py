"""The audit as a whole: references, products, thresholds, documents, frames, views."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import people
from evenhand.analyses.audit.full_text import TITLE
from evenhand.analyses.audit.text import render
from evenhand.measures.impossibility import forced_fpr
from evenhand.measures.registry import MEASURES
from evenhand.report.console import as_html, as_text

WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "bootstrap": 50, "permutations": 50}
HOSTILE = [
    "</script><script>window.pwned=1</script>",
    "[bold red]x[/]",
    "\x1b[31mred",
    "a\nb\tc",
    "‏עברית 🦊",
    "x" * 10_000,
    "a × b",
]


@lru_cache
def hostile() -> evenhand.Audit:
    n = 40 * len(HOSTILE)
    rng = np.random.default_rng(0)
    return evenhand.audit(
        score=rng.random(n),
        label=rng.integers(0, 2, n),
        group={"<b>g</b>": HOSTILE * 40, "h": ["a", "b"] * (n // 2)},
        bootstrap=20,
        permutations=20,
    )


# ---- who is compared with whom ---------------------------------------------------------------------------------


def test_the_largest_group_is_the_reference_by_default() -> None:
    a = evenhand.audit(people(400, groups=3), **WORDS)
    attribute = a.attributes[0]
    assert attribute.reference == max(attribute.groups, key=lambda g: g.n).name
    assert {g.group for g in attribute.measures} == {g.name for g in attribute.groups} - {attribute.reference}
    assert len(attribute.measures) == 2 * len(MEASURES)


@pytest.mark.parametrize("value", [2, "2", 2.0, np.int64(2)])
def test_a_reference_may_be_given_as_it_is_in_the_data(value: Any) -> None:
    a = evenhand.audit(score=[0.1, 0.9, 0.8], group=[1, 2, 1], reference=value)
    assert a.attributes[0].reference == "2"


def test_several_attributes_and_their_product() -> None:
    columns = people(600, groups=2)
    a = evenhand.audit(columns, **{**WORDS, "group": ["g", "h"]}, reference={"h": "y"})
    assert [x.name for x in a.attributes] == ["g", "h", "g × h"]
    g, h, product = a.attributes
    assert h.reference == "y"
    assert product.reference.endswith(" × y")
    assert {p.name for p in product.groups} == {"g0 × x", "g0 × y", "g1 × x", "g1 × y"}
    assert product.groups[0].members == ("g0", "x")
    assert sum(p.n for p in product.groups) == sum(p.n for p in g.groups) == 600
    alone = evenhand.audit(columns, **WORDS)
    assert [m.value for m in alone.attributes[0].measures] == [m.value for m in g.measures]


def test_a_reference_of_one_of_several_attributes() -> None:
    columns = people(300, groups=2)
    a = evenhand.audit(columns, **{**WORDS, "group": ["g", "h"]}, reference="x")
    assert a.attributes[1].reference == "x"
    columns["g"] = np.where(columns["g"] == "g0", "x", "z")
    with pytest.raises(evenhand.UsageError, match="'x' is a group of 'g', 'h': say which"):
        evenhand.audit(columns, **{**WORDS, "group": ["g", "h"]}, reference="x")


def test_names_that_look_like_products_stay_apart() -> None:
    t = evenhand.tabulate(score=[0.1, 0.2], group={"p": ["a × b", "a"], "q": ["c", "b × c"]})
    assert t.groupings[-1].groups == ("'a' × 'b × c'", "'a × b' × 'c'")


# ---- the decision -----------------------------------------------------------------------------------------------


def test_a_threshold_includes_its_score() -> None:
    a = evenhand.audit(score=[0.5, 0.4, 0.5, 0.6], group=["a", "a", "b", "b"])
    assert [g.rates["selection_rate"].value for g in a.attributes[0].groups] == [0.5, 1.0]


def test_a_risk_at_the_threshold_is_unfavourable() -> None:
    a = evenhand.audit(score=[5, 4, 5, 6], group=["a", "a", "b", "b"], risk=True, threshold=5)
    assert [g.rates["selection_rate"].value for g in a.attributes[0].groups] == [0.5, 0.0]
    assert a.to_dict()["data"]["decision_rule"] == "score < 5"


def test_the_default_threshold_is_said_where_it_is_not_obvious() -> None:
    a = evenhand.audit(score=[300, 850, 600, 700], group=["a", "a", "b", "b"])
    assert a.options.threshold == 575
    assert "middle of the score range [300, 850] is used: 575" in " ".join(a.notes)
    assert not any("threshold" in n for n in evenhand.audit(score=[0.1, 0.9], group=["a", "b"]).notes)


def test_a_prediction_decides_instead_of_the_score() -> None:
    columns = people(300)
    a = evenhand.audit(columns, **WORDS, prediction="d")
    for group in a.attributes[0].groups:
        assert group.rates["selection_rate"].value == pytest.approx(columns["d"][columns["g"] == group.name].mean())
    assert a.measure("calibration_gap").undefined is None
    assert a.to_dict()["data"]["decision_rule"] == "d is 1"


@pytest.mark.parametrize(
    ("labels", "favorable"),
    [([1, 0], 1), ([True, False], 1), ([True, False], True), (["1", "0"], 1), ([1.0, 0.0], "1"), (["true", "false"], 1),
     (["good", "bad"], "good"), ([1, 2], 1), ([1, -1], 1), (["1.0", "0.0"], 1), ([0, 1], 0), ([0, 1], "0"),
     ([2.5, 1], 2.5)],
)  # fmt: skip
def test_favourable_values_of_every_spelling(labels: list[Any], favorable: Any) -> None:
    a = evenhand.audit(score=[0.9, 0.1, 0.8, 0.2], label=labels * 2, group=["a", "a", "b", "b"], favorable=favorable)
    assert [g.rates["accuracy"].value for g in a.attributes[0].groups] == [1.0, 1.0]


# ---- weights ------------------------------------------------------------------------------------------------------


def test_whole_weights_count_people() -> None:
    columns = people(200)
    columns["s"] = (np.arange(200) // 8 + 1) / 30  # every combination at most once
    columns["g"], columns["y"] = np.array([*"aabbccdd"] * 25), np.arange(200) % 2
    columns["k"] = np.arange(200) % 5 + 1
    expanded = {c: np.repeat(v, columns["k"]) for c, v in columns.items()}
    weighted = evenhand.audit(columns, **WORDS, weight="k").to_dict()
    rows = evenhand.audit(expanded, **WORDS).to_dict()
    assert weighted["attributes"] == rows["attributes"]
    assert weighted["data"] == rows["data"]
    assert any("read as numbers of people" in note for note in weighted["notes"])


def test_sampling_weights_have_an_effective_size() -> None:
    columns = people(400, groups=2)
    plain = evenhand.audit(columns, **WORDS)
    constant = evenhand.audit({**columns, "c": np.full(400, 2.5)}, **WORDS, weight="c")
    varied = evenhand.audit(columns, **WORDS, weight="w")
    a, b, c = (x.measure("demographic_parity").ci for x in (plain, constant, varied))
    assert a is not None
    assert b == pytest.approx(a)
    assert c is not None
    assert c[1] - c[0] > a[1] - a[0]
    survey = evenhand.audit({**columns, "c": np.full(400, 7)}, **WORDS, weight="c", weight_kind="sampling")
    assert survey.measure("demographic_parity").ci == pytest.approx(a)
    assert survey.attributes[0].groups[0].n == plain.attributes[0].groups[0].n


# ---- impossibility ------------------------------------------------------------------------------------------------


def test_forced_errors_satisfy_chouldechovas_identity() -> None:
    a = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian").attributes[0].impossibility
    assert a.base_rates_differ
    assert a.p_value < 1e-10
    assert ("predictive_parity", "equal_opportunity", "predictive_equality") in a.conflicts
    own = next(f for f in a.forced if f.group == "Caucasian")
    assert own.forced_fpr == pytest.approx(own.fpr, abs=1e-12)
    p, ppv, tpr = 0.4, 0.7, 0.6
    fpr = float(forced_fpr(np.array([p]), ppv, tpr)[0])
    assert tpr * p / (tpr * p + fpr * (1 - p)) == pytest.approx(ppv)


def test_equal_base_rates_exclude_nothing() -> None:
    a = (
        evenhand.audit(score=[0.1, 0.9] * 20, label=[0, 1] * 20, group=["a", "a", "b", "b"] * 10)
        .attributes[0]
        .impossibility
    )
    assert not a.base_rates_differ
    assert a.conflicts == ()
    assert a.p_value == 1


# ---- documents ----------------------------------------------------------------------------------------------------

AUDITS = {
    "compas": lambda: evenhand.audit(evenhand.compas(), threshold=5),
    "no bootstrap": lambda: evenhand.audit(people(100), **{**WORDS, "bootstrap": 0, "permutations": 0}),
    "no labels": lambda: evenhand.audit(score=[0.2, 0.9, 0.6], group=["m", "f", "f"]),
    "no scores": lambda: evenhand.audit(prediction=[0, 1, 1], label=[0, 1, 0], group=["m", "f", "x"]),
    "undefined": lambda: evenhand.audit(score=[0.1] * 4, label=[1, 0, 0, 0], group=["m", "m", "f", "f"]),
    "product": lambda: evenhand.audit(people(300), **{**WORDS, "group": ["g", "h"]}, weight="w"),
    "dropped": lambda: evenhand.audit(score=[0.1, np.nan, 0.3, 0.9], group=["m", "m", "f", "x"], missing="drop"),
    "hostile": hostile,
}


@pytest.mark.parametrize("name", AUDITS)
def test_documents_follow_the_schema(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(AUDITS[name]().to_json())
    jsonschema.Draft202012Validator.check_schema(evenhand.schema("audit"))
    jsonschema.validate(document, evenhand.schema("audit"))


@pytest.mark.parametrize("name", AUDITS)
def test_terminal_text_fits_and_is_printable(name: str) -> None:
    document = AUDITS[name]().to_dict()
    for much in ("verdict", "key", "full"):
        text = as_text(render(document, much))
        assert "\x1b" not in text
        assert all(len(line) <= 80 for line in text.splitlines())
        assert all(line.isprintable() for line in text.splitlines())


def test_names_survive_the_document_and_are_escaped_in_html() -> None:
    a = hostile()
    assert {g["name"] for g in json.loads(a.to_json())["attributes"][0]["groups"]} == set(HOSTILE)
    page = as_html(render(a.to_dict()))
    assert "<script>window" not in page
    assert "<b>g</b>" not in page
    assert "<script>window" not in a._repr_html_()
    assert "[bold red]x[/]" in as_text(render(a.to_dict()))


def test_the_text_shows_what_the_document_holds() -> None:
    a = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian")
    text = a.summary(full=True)
    for measure in a.attributes[0].measures:
        assert f"{measure.value:.3f}" in text
        assert MEASURES[measure.id].titled(TITLE) in text
    assert "decile_score < 5" in text
    assert "African-American receives the favourable decision less often" in text


def test_left_out_rows_are_reported_per_group() -> None:
    columns: dict[str, Any] = people(100)
    columns["s"][columns["g"] == "g1"] = np.nan
    columns["s"][0:3] = np.inf
    a = evenhand.audit(columns, **WORDS, missing="drop")
    gone = int(np.sum(~np.isfinite(columns["s"])))
    document = a.to_dict()
    assert document["data"]["left_out"] == {"without a finite score 's'": gone}
    assert document["data"]["rows"] == 100 - gone
    assert sum(g["left_out"] for g in document["attributes"][0]["groups"]) < gone  # g1 is gone altogether
    assert any("every row of these groups was left out: 'g1 of g'" in note for note in a.notes)
    assert f"Left out: {gone} rows without a finite score 's'" in repr(a)


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    a = evenhand.audit(evenhand.compas(), bootstrap=0, permutations=0)
    text = a.to_json(tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == text
    with pytest.raises(evenhand.UsageError, match="cannot write"):
        a.to_json(tmp_path / "no" / "a.json")
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_saved_table_gives_the_same_audit(tmp_path: Path) -> None:
    t = evenhand.tabulate(people(300), score="s", label="y", group=["g", "h"])
    t.save(tmp_path / "t")
    again = evenhand.audit(t, rng=1, bootstrap=99, permutations=99).to_json()
    assert evenhand.audit(tmp_path / "t", rng=1, bootstrap=99, permutations=99).to_json() == again
    assert evenhand.audit(str(tmp_path / "t"), rng=1, bootstrap=99, permutations=99).to_json() == again


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "duckdb"])
def test_frames(library: str) -> None:
    pytest.importorskip(library)
    nw = pytest.importorskip("narwhals")
    a = evenhand.audit(people(200), **WORDS)
    native = a.to_frame(library)
    assert type(native).__module__.split(".")[0] in (library, f"_{library}")
    if library == "duckdb":
        rows = native.project('id, "group", value').fetchall()
    else:
        rows = nw.from_native(native).select("id", "group", "value").rows()
    assert len(rows) == 2 * len(MEASURES)
    values = {(id_, group): value for id_, group, value in rows}
    for gap in a.attributes[0].measures:
        assert values[gap.id, gap.group] == pytest.approx(gap.value)


def test_frames_come_in_the_library_of_the_data() -> None:
    pd, pl, pa = (pytest.importorskip(m) for m in ("pandas", "polars", "pyarrow"))
    columns = people(100)
    for data, kind in (
        (pd.DataFrame(columns), pd.DataFrame),
        (pl.DataFrame(columns), pl.DataFrame),
        (pl.DataFrame(columns).lazy(), pl.DataFrame),
        (pa.table(columns), pa.Table),
    ):
        assert isinstance(evenhand.audit(data, **WORDS).to_frame(), kind)
    with pytest.raises(evenhand.UsageError, match="library must be one of"):
        evenhand.audit(columns, **WORDS).to_frame("excel")


def test_undefined_values_are_null_in_frames() -> None:
    pl = pytest.importorskip("polars")
    frame = evenhand.audit(score=[0.2, 0.9], group=["m", "f"]).to_frame("polars")
    row = frame.filter(pl.col("id") == "equal_opportunity").to_dicts()[0]
    assert row["value"] is None
    assert row["undefined"] == "because there are no labels"


def test_choosing_measures() -> None:
    a = evenhand.audit(people(100), **WORDS, measures=["disparate_impact", "demographic_parity"])
    assert {g.id for g in a.attributes[0].measures} == {"disparate_impact", "demographic_parity"}
    with pytest.raises(evenhand.UsageError, match="no measure 'equal_opportunity'"):
        a.measure("equal_opportunity")


def test_many_groups_are_quick_and_say_what_was_left_out() -> None:
    rng = np.random.default_rng(0)
    n = 8_000
    a = evenhand.audit(
        score=rng.random(n), label=rng.integers(0, 2, n), group=rng.integers(0, 501, n), bands="none",
        bootstrap=20, permutations=20,
    )  # fmt: skip
    assert len(a.attributes[0].groups) == 501
    assert any("501 groups: most bootstrap intervals were left out" in note for note in a.notes)
    assert a.attributes[0].measures[0].ci is not None
    assert a.attributes[0].measures[0].ci_bootstrap is None


# ---- the guide ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "measures"),
    [
        ({"ground_truth": False}, ("demographic_parity", "abcc")),
        ({"ground_truth": False, "legal": True}, ("demographic_parity", "abcc", "disparate_impact")),
        ({"ground_truth": False, "priority": "decisions"}, ("demographic_parity",)),
        ({"ground_truth": False, "priority": "shape"}, ("demographic_parity", "abcc", "abpc")),
        ({"ground_truth": False, "priority": "individuals"}, ("individual_fairness",)),
        ({"ground_truth": True, "priority": "opportunity"}, ("equal_opportunity",)),
        ({"ground_truth": True, "priority": "errors", "legal": True}, ("equalized_odds", "disparate_impact")),
        ({"ground_truth": True, "priority": "meaning"}, ("predictive_parity",)),
        ({"ground_truth": True, "priority": "probability"}, ("calibration_gap",)),
        ({"ground_truth": True, "priority": "individuals"}, ("individual_fairness",)),
        ({"ground_truth": True, "priority": "causes"}, ("counterfactual_fairness",)),
    ],
)
def test_the_guide_follows_the_tree(answers: dict[str, Any], measures: tuple[str, ...]) -> None:
    advice = evenhand.guide(**answers)
    assert advice.measures == measures
    needs_rows = measures[0].endswith("fairness")
    assert ("random decision" in (advice.beware or "")) == (not answers["ground_truth"] and not needs_rows)
    assert ("impossibility" in (advice.beware or "")) == (answers["ground_truth"] and not needs_rows)


def test_the_guide_refuses_nonsense() -> None:
    with pytest.raises(evenhand.UsageError, match=r"priority is one of .*did you mean 'errors'"):
        evenhand.guide(ground_truth=True, priority="error")
    with pytest.raises(
        evenhand.UsageError, match=r"without ground truth the priority is one of 'decisions', .* not 'errors'"
    ):
        evenhand.guide(ground_truth=False, priority="errors")


# ---- what a person reads about whole scores -----------------------------------------------------------------


def test_the_report_tells_shares_and_who_is_favoured() -> None:
    text = evenhand.audit(evenhand.compas(), reference="Caucasian", bootstrap=200, permutations=200).summary(full=True)
    assert "for: how much of the gap favours African-American" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "calibration (ranks)" in text
    some = evenhand.audit(
        evenhand.compas(), reference="Caucasian", bootstrap=200, permutations=200, measures=["abcc", "xroc"]
    ).summary(full=True)
    assert "African-American is scored less favourably and wins fewer comparisons across groups." in " ".join(
        some.split()
    )


def test_no_interval_is_no_doubt() -> None:
    text = evenhand.audit(evenhand.compas(), bootstrap=0, permutations=0, measures=["abcc"]).summary(full=True)
    assert "beyond ?" not in text
    assert "cannot settle" not in text
    assert "certainly" not in text


def test_too_few_resamples_are_remarked() -> None:
    a = evenhand.audit(evenhand.compas(), bootstrap=10, permutations=10, measures=["abcc"])
    assert any("10 resamples are too few to know an interval at 95%" in note for note in a.notes)
    assert a.measure("abcc").ci == (0, 1)


def test_many_groups_show_the_measures_asked_for() -> None:
    data = people(900, groups=9)
    some = {**WORDS, "measures": ["abcc", "roc", "xroc", "calibration_uniform"]}
    text = evenhand.audit(data, **some).summary(full=True)
    for title in ("ABCC", "ROC", "cross-ROC", "calibration (scores)"):
        assert title in text
    everything = evenhand.audit(data, **WORDS).summary(full=True)
    assert "23 more measures are in --json" in " ".join(everything.split())
    assert max(map(len, everything.splitlines())) <= 80


def test_pairs_without_direction_are_shown_without_one() -> None:
    text = evenhand.audit(people(300, groups=3), **{**WORDS, "measures": ["abpc", "abcc"]}).summary(full=True)
    shown = text.partition("The most different pair")[2].partition("without direction")[0]
    assert " – " in [line for line in shown.splitlines() if "ABPC" in line][-1]
    assert " > " in [line for line in shown.splitlines() if "ABCC" in line][-1]


def test_nobody_is_favoured_where_all_groups_are_alike() -> None:
    everybody = {"score": np.full(60, 0.7), "group": np.repeat(["a", "b", "c"], 20), "score_range": (0, 1)}
    ids = ["abcc", "demographic_parity", "disparate_impact"]
    text = evenhand.audit(**everybody, measures=ids, bootstrap=50, permutations=50).summary(full=True)
    shown = text.partition("The most different pair")[2].partition("without direction")[0]
    assert [line.count(" > ") for line in shown.splitlines() if "0.000" in line or "×1.000" in line] == [0, 0, 0]


def test_shares_left_out_are_told() -> None:
    rng = np.random.default_rng(0)
    s, g = rng.random(60), np.repeat(["a", "b"], 30)
    a = evenhand.audit(score=s, label=rng.integers(0, 2, 60), group=g, bootstrap=50, permutations=50)
    gap = a.measure("calibration_uniform")
    assert gap.left_out_share
    assert f"{100 * gap.left_out_share:.2g}% of people are in bins without both groups" in gap.interpretation
    assert f"calibration (scores): {100 * gap.left_out_share:.2g}% left out" in a.summary(full=True)


def test_interpretations_read_as_sentences() -> None:
    a = evenhand.audit(evenhand.compas(), reference="Caucasian", bootstrap=200, permutations=200)
    assert a.measure("equal_opportunity_standardized").interpretation.startswith(
        "African-American is ranked less favourably among actual positives than Caucasian: equal opportunity (ranks) "
        "0.161, 0% of it in favour of African-American (95% interval 0.1"
    )
    assert a.measure("calibration_standardized").interpretation.startswith(
        "African-American is scored more generously than Caucasian: calibration (ranks) 0.034, 79% of it in favour"
    )
    assert a.measure("roc").interpretation.startswith("African-American and Caucasian differ in both directions: ROC")
