"""Bad input gets an error with the rule, the value and the way out: on every entry, and never a number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import evenhand
from evenhand.cli import main
from evenhand.errors import listed, nearest, shown

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

GOOD: dict[str, list[Any]] = {
    "s": [0.1, 0.4, 0.6, 0.9, 0.3, 0.8],
    "y": [0, 0, 1, 1, 1, 0],
    "g": ["f", "m", "f", "m", "f", "m"],
    "d": [0, 0, 1, 1, 0, 1],
    "w": [1.5, 1.0, 2.0, 0.5, 1.0, 1.0],
}


def _frame(columns: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(columns)


def _csv(columns: dict[str, list[Any]], folder: Path) -> Path:
    pd.DataFrame(columns).to_csv(folder / "d.csv", index=False)
    return folder / "d.csv"


def _parquet(columns: dict[str, list[Any]], folder: Path) -> Path:
    pd.DataFrame(columns).to_parquet(folder / "d.parquet")
    return folder / "d.parquet"


ENTRIES: dict[str, Callable[[dict[str, list[Any]], Path], Any]] = {
    "dict": lambda c, _: c,
    "numpy": lambda c, _: {k: np.array(v) for k, v in c.items()},
    "pandas": lambda c, _: pd.DataFrame(c),
    "polars": lambda c, _: pl.DataFrame(c),
    "lazy": lambda c, _: pl.DataFrame(c).lazy(),
    "pyarrow": lambda c, _: pa.table(c),
    "duckdb": lambda c, _: duckdb.from_arrow(pa.table(c)),
    "csv": _csv,
    "parquet": _parquet,
}
WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}

# what is changed in the columns, what is changed in the words, and what the message must say
CASES: dict[str, tuple[dict[str, list[Any]], dict[str, Any], str]] = {
    "unknown score": ({}, {"score": "ss"}, r"no column 'ss' in .*it has: 's', 'y', 'g', 'd', 'w'.*did you mean 's'"),
    "unknown group": ({}, {"group": "sex"}, "no column 'sex'"),
    "unknown label": ({}, {"label": "Y"}, "no column 'Y' .*did you mean 'y'"),
    "unknown weight": ({}, {"weight": "v"}, "no column 'v'"),
    "one unknown group": ({}, {"group": ["g", "sex"]}, "no column 'sex'"),
    "group twice": ({}, {"group": ["g", "g"]}, "name of its own"),
    "no group": ({}, {"group": []}, "name of a column"),
    "no score": ({}, {"score": None}, "name a score .* or a prediction"),
    "NaN score": (
        {"s": [0.1, float("nan"), 0.6, 0.9, 0.3, 0.8]},
        {},
        r"1 rows without a finite score 's' \(by g: m 1\).*missing='drop'",
    ),
    "infinite score": ({"s": [0.1, 0.4, 0.6, float("inf"), float("-inf"), 0.8]}, {}, r"2 rows without a finite score"),
    "no label": ({"y": [0, 0, 1, None, 1, 0]}, {}, "1 rows without a label 'y'"),
    "no group value": ({"g": ["f", None, "f", "m", None, "m"]}, {}, "2 rows without a group 'g'"),
    "empty group value": ({"g": ["f", "", "f", "m", "f", "m"]}, {}, "1 rows without a group 'g'"),
    "three labels": (
        {"y": [0, 0, 1, 2, 1, 0]},
        {},
        r"label has two values, but column 'y' has 3 \('0', '1', '2'\).*recode",
    ),
    "unknown favourable": (
        {},
        {"favorable": "yes"},
        r"favourable value 'yes' is not in label column 'y' \(it has: .*0.*1",
    ),
    "misspelt favourable": (
        {"y": ["good", "bad", "good", "bad", "bad", "bad"]},
        {"favorable": "god"},
        "favourable value 'god' is not in label column .*did you mean 'good'",
    ),
    "default favourable of words": ({"y": ["good", "bad"] * 3}, {}, "favourable value 1 is not in .*name one of them"),
    "no favourable value": ({}, {"favorable": None}, "favourable value must be a value of 'y', not None"),
    "scores as decisions": (
        {},
        {"score": None, "prediction": "s"},
        "prediction has two values, but column 's' has 6 .*score=",
    ),
    "prediction in other words": (
        {"y": ["good", "bad"] * 3},
        {"favorable": "good", "score": None, "prediction": "d"},
        "favourable value 'good' is not in prediction column 'd'.*favorable_prediction=, --favorable-prediction",
    ),
    "words as score": ({"s": ["high"] * 6}, {}, "'s' .*must hold numbers, but holds"),
    "words as weight": ({"w": ["high"] * 6}, {"weight": "w"}, "'w' .*must hold numbers, but holds"),
    "negative weight": (
        {"w": [1, 1, -2, 1, 1, 1]},
        {"weight": "w"},
        "must not be negative, but 1 rows have a negative 'w'",
    ),
    "NaN weight": (
        {"w": [1.0, 1.0, float("nan"), 1.0, 1.0, 1.0]},
        {"weight": "w"},
        "1 rows without a finite weight 'w'",
    ),
    "only zero weights": ({"w": [0.0] * 6}, {"weight": "w"}, "no rows are left"),
    "fractions as frequencies": (
        {},
        {"weight": "w", "weight_kind": "frequency"},
        "frequency weights are whole numbers, but 2 rows",
    ),
    "narrow range": ({}, {"score_range": (0.2, 1)}, r"inside the stated range \[0.2, 1\], not 0.1 to 0.9"),
    "inverted range": ({}, {"score_range": (1, 0)}, "lower first"),
    "infinite range": ({}, {"score_range": (0, float("inf"))}, "finite"),
    "range of words": ({}, {"score_range": "ab"}, "two numbers"),
    "range of three": ({}, {"score_range": (0, 1, 2)}, "two numbers"),
    "unknown missing": ({}, {"missing": "ignore"}, "one of 'refuse', 'drop', 'group', 'bounds', not 'ignore'"),
    "unknown weight kind": ({}, {"weight_kind": "x"}, "weight_kind must be one of"),
    "no rows": ({k: [] for k in GOOD}, {}, "no rows|empty|must hold numbers"),
    "all rows dropped": ({"s": [float("nan")] * 6}, {"missing": "drop"}, "no rows are left"),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("case", CASES)
def test_bad_data(case: str, entry: str, tmp_path: Path) -> None:
    columns, words, message = CASES[case]
    source = ENTRIES[entry]({**GOOD, **columns}, tmp_path)
    for call in (evenhand.tabulate, evenhand.audit):
        with pytest.raises(evenhand.EvenhandError, match=message) as error:
            call(source, **{**WORDS, **words})
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 600


BAD_OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "threshold nan": ({"threshold": float("nan")}, "threshold must be a finite number"),
    "threshold word": (
        {"threshold": "high"},
        "threshold must be a finite number, 'median' or 'quantile:Q' with Q between 0 and 1, not 'high'",
    ),
    "threshold truth": ({"threshold": True}, "threshold must be a finite number"),
    "confidence 1": ({"confidence": 1}, "confidence must be"),
    "confidence 95": ({"confidence": 95}, "from 0.5 to below 1, such as 0.95, not 95"),
    "confidence nan": ({"confidence": float("nan")}, "confidence must be"),
    "confidence word": ({"confidence": "high"}, "confidence must be"),
    "bootstrap negative": ({"bootstrap": -1}, "bootstrap must be a whole number"),
    "bootstrap fraction": ({"bootstrap": 10.5}, "bootstrap must be a whole number"),
    "bootstrap absurd": ({"bootstrap": 10**9}, "to a million"),
    "seed": ({"rng": "x"}, "rng must be"),
    "reference": (
        {"reference": "mm"},
        r"reference 'mm' is not a group of 'g' \(there are: 'f', 'm'\); did you mean 'm'",
    ),
    "reference attribute": ({"reference": {"sex": "m"}}, "no attribute 'sex'"),
    "reference of attribute": ({"reference": {"g": "x"}}, "reference 'x' is not a group of 'g'"),
    "measure": ({"measures": ["demografic_parity"]}, "did you mean 'demographic_parity'"),
    "measure of nothing": ({"measures": []}, "name at least one measure"),
    "measure text": ({"measures": "abcc"}, "measures is a list of ids, not 'abcc'"),
    "measure number": ({"measures": [3]}, "there is no measure 3"),
    "variant": ({"measures": ["equal_opportunity_uniform_w0.5"]}, "there is no measure"),
    "variant of nothing": ({"measures": ["roc_w2"]}, "there is no measure 'roc_w2'"),
    "ranks": ({"ranks": "middle"}, "ranks must be one of 'published', 'mid', not 'middle'"),
    "ranks number": ({"ranks": 1}, "ranks must be one of"),
    "bins 1": ({"calibration_bins": 1}, "calibration_bins must be a whole number from 2 to 10,000, not 1"),
    "bins fraction": ({"calibration_bins": 10.0}, "calibration_bins must be a whole number"),
    "bins absurd": ({"calibration_bins": 10**6}, "calibration_bins must be a whole number"),
    "bandwidth word": (
        {"bandwidth": "wide"},
        "bandwidth must be 'scott', 'silverman', 'common' or a number, not 'wide'",
    ),
    "bandwidth 0": ({"bandwidth": 0}, "bandwidth is a share of the score range, from 1e-05 to 10, not 0"),
    "bandwidth nan": ({"bandwidth": float("nan")}, "bandwidth is a share"),
    "bandwidth truth": ({"bandwidth": True}, "bandwidth is a share"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options(case: str) -> None:
    options, message = BAD_OPTIONS[case]
    with pytest.raises(evenhand.UsageError, match=message):
        evenhand.audit(GOOD, **WORDS, **options)


def test_prediction_and_threshold_contradict_each_other() -> None:
    with pytest.raises(evenhand.UsageError, match="prediction column decides already"):
        evenhand.audit(GOOD, label="y", group="g", prediction="d", threshold=0.5)


def test_a_table_takes_no_columns() -> None:
    with pytest.raises(evenhand.UsageError, match="knows its columns already: leave out 'score', 'group'"):
        evenhand.audit(evenhand.compas(), score="s", group="g")
    with pytest.raises(evenhand.UsageError, match="leave out 'favorable', 'risk'"):
        evenhand.audit(evenhand.compas(), favorable=0, risk=True)
    with pytest.raises(evenhand.UsageError, match="table already"):
        evenhand.tabulate(evenhand.compas(), score="s", group="g")


@pytest.mark.parametrize(
    ("data", "words", "message"),
    [
        (np.zeros((3, 2)), {"score": "s", "group": "g"}, "no column names"),
        ([1, 2, 3], {"score": "s", "group": "g"}, "no column names"),
        (3, {"score": "s", "group": "g"}, "must be a dataframe"),
        (None, {"score": "s", "group": "g"}, "names a column, but there are no data"),
        (None, {"score": [0.1, 0.2], "group": ["a"]}, "same length, but they have: 'score' 2, 'group' 1"),
        (None, {"score": [[0.1], [0.2]], "group": ["a", "b"]}, "one-dimensional"),
        (None, {"score": np.zeros((2, 2)), "group": ["a", "b"]}, "one-dimensional"),
        (None, {"score": 0.5, "group": ["a", "b"]}, "must be a column: a name"),
        (None, {"score": [0.1, 1j], "group": ["a", "b"]}, "must hold numbers, but holds 1j"),
        (None, {"score": ["0.1", "0.2"], "group": ["a", "b"]}, "must hold numbers, but holds '0.1'"),
        (None, {"score": np.array(["2024-01-01"] * 2, "M8[D]"), "group": ["a", "b"]}, "must hold numbers"),
        (None, {"score": [0.1, 0.2], "group": [["a"], ["b"]]}, "one-dimensional"),
        (None, {"score": [0.1, 0.2], "group": [1, "1"]}, "holds both 1 and '1'"),
        (None, {"score": [0.1, 0.2], "group": {"a": ["x", "y"], "b": ["x"]}}, "same length"),
        (None, {"score": [0.1, 0.2], "group": None}, "name at least one group column"),
        ({"s": [0.1], "g": [{"a": 1}]}, {"score": "s", "group": "g"}, "plain value"),
        ("absent.csv", {"score": "s", "group": "g"}, "no file 'absent.csv'"),
        ("absent*.csv", {"score": "s", "group": "g"}, "no file matches"),
        ("absent.csv", {"score": [1.0], "group": "g"}, "must be the name of a column of the file"),
    ],
)
def test_bad_shapes(data: Any, words: dict[str, Any], message: str) -> None:
    with pytest.raises(evenhand.EvenhandError, match=message):
        evenhand.tabulate(data, **words)


def test_one_group_cannot_be_compared() -> None:
    t = evenhand.tabulate(score=[0.1, 0.2], group=["a", "a"])  # a shard may well hold one group
    with pytest.raises(evenhand.UsageError, match="two or more groups, but 'group' has only 'a'"):
        evenhand.audit(t)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"s,y,g\n", "no rows"),
        ("ragged.csv", b"s,y,g\n0.1,1,a\n0.2,0,b,c,d\n", "cannot read .*ragged.csv"),
        ("latin.csv", "s,y,g\n0.1,1,é\n0.2,0,b\n".encode("latin-1"), "cannot read .*latin.csv"),
        ("words.csv", b"s,y,g\n0.1,1,a\nabc,0,b\n", "'s' .*must hold numbers, but holds 'abc'"),
        ("commas.csv", b's;y;g\n"0,1";1;a\n"0,2";0;b\n', "holds '0,[12]': if it is 0.[12], say --decimal ,"),
        ("broken.parquet", b"PAR1 nothing here PAR1", "cannot read .*broken.parquet"),
        ("broken.feather", b"ARROW1 nothing here", "cannot read .*broken.feather"),
        ("broken.jsonl", b'{"s": 0.1, "y"', "cannot read .*broken.jsonl"),
        ("data.xlsx", b"PK", "cannot read .*data.xlsx.*damaged, or no workbook"),
        ("data.docx", b"PK", "should end in one of"),
        ("noname", b"s,y,g\n", "should end in one of"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(evenhand.DataError, match=message) as error:
        evenhand.audit(tmp_path / name, **WORDS)
    assert "\n" not in str(error.value)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_words_in_a_score_are_not_dropped(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("s,g\n0.1,a\nunknown,b\n0.3,b\n")
    with pytest.raises(evenhand.DataError, match="holds 'unknown'"):
        evenhand.tabulate(tmp_path / "d.csv", score="s", group="g", missing="drop")
    (tmp_path / "d.csv").write_text("s,g\n0.1,a\nNA,b\n0.3,b\n")
    assert dict(evenhand.tabulate(tmp_path / "d.csv", score="s", group="g", missing="drop").left_out) == {
        "without a finite score 's'": 1
    }


def test_folders_must_hold_one_kind(tmp_path: Path) -> None:
    with pytest.raises(evenhand.DataError, match="holds no file"):
        evenhand.tabulate(tmp_path, score="s", group="g")
    (tmp_path / "a.csv").write_text("s,g\n1,a\n")
    (tmp_path / "b.tsv").write_text("s\tg\n1\ta\n")
    with pytest.raises(evenhand.DataError, match="mixes 'csv', 'tsv' files"):
        evenhand.tabulate(tmp_path, score="s", group="g")


def test_a_dataframe_with_a_repeated_column() -> None:
    frame = pd.DataFrame([[0.1, "a", 0.2], [0.3, "b", 0.4]], columns=["s", "g", "s"])
    with pytest.raises(evenhand.EvenhandError, match="must be unique"):
        evenhand.tabulate(frame, score="s", group="g")


# ---- undefined, said aloud ------------------------------------------------------------------------------------


def test_no_positives_in_a_group_is_undefined_not_zero() -> None:
    a = evenhand.audit(
        score=[0.9, 0.1, 0.8, 0.2], label=[1, 0, 0, 0], group=["m", "m", "f", "f"], reference="m", bootstrap=50
    )
    for id_ in ("equal_opportunity", "equalized_odds", "treatment_equality"):
        gap = a.measure(id_)
        assert np.isnan(gap.value)
        assert gap.passes is None
        assert gap.undefined == "because group f has no row with the favourable label"
    assert a.measure("predictive_equality").value == 0.5
    assert a.to_dict()["attributes"][0]["groups"][0]["rates"]["tpr"] == {
        "value": None,
        "ci": None,
        "undefined": "because the group has no row with the favourable label",
    }


def test_labels_without_any_positive() -> None:
    a = evenhand.audit(score=[0.9, 0.1, 0.8, 0.2], label=[0, 0, 0, 0], group=["m", "m", "f", "f"])
    assert a.measure("equal_opportunity").undefined
    assert a.measure("demographic_parity").value == 0


def test_nobody_selected() -> None:
    a = evenhand.audit(score=[0.1, 0.1, 0.2, 0.2], label=[0, 1, 0, 1], group=["m", "m", "f", "f"])
    assert a.measure("disparate_impact").undefined == "because the selection rate of f is 0"
    assert "nobody receives the favourable decision at the threshold 0.5" in " ".join(a.notes)
    assert a.measure("predictive_parity").undefined == "because group m has nobody with the favourable decision"


def test_constant_score_is_remarked() -> None:
    a = evenhand.audit(score=[0.7] * 6, label=[0, 1] * 3, group=["m", "f"] * 3, bootstrap=50, permutations=50)
    assert any("score is constant (0.7)" in note for note in a.notes)
    assert a.measure("demographic_parity").value == 0


def test_a_turned_score_is_remarked() -> None:
    a = evenhand.audit(score=[0.1, 0.2, 0.8, 0.9], label=[1, 1, 0, 0], group=["m", "f"] * 2)
    assert any("check which value is favourable" in note for note in a.notes)


def test_no_score_bin_in_common() -> None:
    a = evenhand.audit(score=[0.05, 0.06, 0.95, 0.96], label=[0, 1, 0, 1], group=["m", "m", "f", "f"])
    gap = a.measure("calibration_gap")
    assert gap.undefined == "because no score bin holds people of both groups"
    assert len(gap.empty_bins) == 10


def test_two_people() -> None:
    a = evenhand.audit(score=[0.2, 0.9], label=[0, 1], group=["m", "f"])
    assert a.measure("demographic_parity").value == 1
    assert not a.measure("demographic_parity").conclusive
    assert a.to_json()


def test_without_labels_independence_remains() -> None:
    a = evenhand.audit(score=[0.2, 0.9, 0.6], group=["m", "f", "f"])
    assert a.measure("demographic_parity").value == 1
    assert a.measure("equal_opportunity").undefined == "because there are no labels"
    assert a.attributes[0].impossibility.undefined == "because there are no labels"


def test_without_scores_calibration_is_undefined() -> None:
    a = evenhand.audit(prediction=[0, 1, 1], label=[0, 1, 0], group=["m", "f", "f"])
    assert a.measure("calibration_gap").undefined == "because there is no score"
    assert a.to_dict()["data"]["score_range"] is None


@pytest.mark.parametrize(
    "scores", [[-1e300, 1e300, 0], [5e-324, 1e-310, 0], [300, 850, 700], [-4.2, 3.1, 0.0], [7, 7, 7]]
)
def test_scores_of_any_range_give_finite_answers(scores: list[float]) -> None:
    for risk in (False, True):
        a = evenhand.audit(
            score=scores * 4, label=[0, 1, 1] * 4, group=["m", "f", "f", "m"] * 3, risk=risk, bootstrap=20
        )
        assert np.isfinite(a.measure("demographic_parity").value)
        assert a.to_json()


def test_a_range_beyond_floats_is_refused() -> None:
    with pytest.raises(evenhand.DataError, match="range is a finite number: rescale"):
        evenhand.tabulate(score=[-1.7e308, 1.7e308], group=["m", "f"])


# ---- messages -----------------------------------------------------------------------------------------------


def test_messages_stay_short_with_hostile_names() -> None:
    names = ["x" * 10_000, "a\nb", "\x1b[31mred"] * 20
    with pytest.raises(evenhand.EvenhandError) as error:
        evenhand.tabulate({n + str(i): [1] for i, n in enumerate(names)}, score="zz", group="g")
    text = str(error.value)
    assert len(text) < 1500
    assert text.isprintable()


def test_helpers_of_messages() -> None:
    assert nearest("x" * 10_000, ["y" * 10_000]) == ""
    assert nearest("Race", ["race"]) == "; did you mean 'race'?"
    assert listed(["a"] * 10, 2) == "'a', 'a' and 8 more"
    assert len(shown("x" * 10_000)) < 70


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("r.csv", "m,p,f\n", "compare r.csv --method m --performance p --fairness f"),
        ("r.csv", "m,p,f\na,,1\n", "compare r.csv --method m --performance p --fairness f"),
        ("g.txt", "a -> b\nb -> a\n", "counterfactual d.csv --model os:getcwd --attribute g --graph g.txt"),
        ("g.txt", "x -> y\n", "counterfactual d.csv --model os:getcwd --attribute g --features s --graph g.txt"),
        ("g.txt", "g -> q -> s\n", "counterfactual d.csv --model os:getcwd --attribute g --features s --graph g.txt"),
        ("g.txt", "a -> a\n", "counterfactual d.csv --model os:getcwd --attribute g --graph g.txt"),
        ("m.skops", "junk", "counterfactual d.csv --model m.skops --attribute g"),
        (
            "a.json",
            '{"schema": "evenhand/individual/1"}',
            "audit d.csv --score s --group g --html x --also a.json",
        ),
        ("a.json", "[1]", "audit d.csv --score s --group g --html x --also a.json"),
        ("p.toml", '[audit]\nscore = "q"\ngroup = "g"\n', "check d.csv --policy p.toml --require abcc<=1"),
    ],
)
def test_messages_about_a_file_name_it(
    file: str,
    text: str,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("s,g\n0.1,a\n0.2,b\n")
    Path(file).write_text(text)
    with pytest.raises(SystemExit) as caught:
        main(words.split())
    assert caught.value.code == 2
    assert file in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--grid", "--suppress-below 5 --like"])
def test_messages_about_a_saved_table_name_it(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("s,g\n0.1,a\n0.2,b\n")
    columns = {"y": list("abc"), "p": list("abb"), "g": list("xyx")}
    evenhand.tabulate(columns, label="y", prediction="p", group="g").save("k.table")
    with pytest.raises(SystemExit):
        main(["tabulate", "d.csv", "--score", "s", "--group", "g", *option.split(), "k.table", "-o", "x.table"])
    assert "'k.table'" in capsys.readouterr().err
