"""A proposal of columns: right about the obvious, unclear about the rest, and never an audit."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import evenhand
from conftest import people
from evenhand.cli import cli, main
from evenhand.errors import UsageError

pd = pytest.importorskip("pandas")
ADULT = (
    "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,capital_gain,"
    "capital_loss,hours_per_week,native_country,income"
)


def lending(n: int = 400) -> Any:
    columns = people(n, levels=None)
    rng = np.random.default_rng(1)
    return pd.DataFrame({
        "customer_id": [f"c{i:05d}" for i in range(n)], "prob": columns["s"], "repaid": columns["y"],
        "gender": np.where(columns["h"] == "x", "f", "m"), "age": rng.integers(18, 80, n),
        "amount": rng.lognormal(8, 1, n).round(), "day": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
        "weight": rng.random(n).round(3) + 0.5, "branch": rng.choice(list("abcd"), n),
    })  # fmt: skip


def roles(data: Any) -> dict[str, str | None]:
    return {g.column: g.role for g in evenhand.propose(data).guesses}


def test_a_plain_table() -> None:
    found = evenhand.propose(lending())
    assert roles(lending()) == {
        "customer_id": "id", "prob": "score", "repaid": "label", "gender": "group", "age": "group", "amount": None,
        "day": "time", "weight": "weight", "branch": None,
    }  # fmt: skip
    assert found.columns == {"score": "prob", "label": "repaid", "group": ["gender", "age"], "weight": "weight"}
    assert all(g.clear for g in found.guesses)
    assert not found.found.unclear
    assert found.guesses[1].reason == "called like a score, numbers between 0 and 1 with 400 distinct values"


@pytest.mark.parametrize("form", ["csv", "parquet", "polars", "dict"])
def test_alike_from_every_form(form: str, tmp_path: Path) -> None:
    frame = lending()
    if form == "csv":
        frame.to_csv(tmp_path / "d.csv", index=False)
    elif form == "parquet":
        frame.to_parquet(tmp_path / "d.parquet")
    data: Any = {"csv": tmp_path / "d.csv", "parquet": tmp_path / "d.parquet", "dict": frame.to_dict("list"),
                 "polars": frame}[form]  # fmt: skip
    if form == "polars":
        data = pytest.importorskip("polars").from_pandas(frame)
    expected, found = (evenhand.propose(x).to_dict() for x in (frame, data))
    for document in (expected, found):
        document.pop("source")
        document.pop("command")
    assert found == expected


def test_what_values_mean() -> None:
    def meant(**columns: list[Any]) -> tuple[Any, ...]:
        rows = {"prob": [0.1, 0.2, 0.8, 0.9, 0.5, 0.6], "sex": list("fmfmfm"), **columns}
        g = evenhand.propose(rows).found
        return g.favorable, g.favorable_prediction, g.risk

    assert meant(default=[1, 1, 0, 0, 0, 1]) == ("0", None, False)
    assert meant(default=[0, 0, 1, 1, 1, 0]) == ("0", None, True)
    assert meant(churn=["no", "no", "yes", "yes", "yes", "no"]) == ("no", None, True)
    assert meant(repaid=[0, 0, 1, 1, 1, 0]) == ("1", None, False)
    own = meant(repaid=[0, 0, 1, 1, 1, 0], decision=["deny", "deny", "approve", "approve", "deny", "deny"])
    assert own == ("1", "approve", False)


def test_unclear_is_said() -> None:
    rows = {"a": [0, 1, 1, 0], "colour": ["red", "blue", "red", "blue"], "score": [0.1, 0.9, 0.4, 0.8]}
    found = evenhand.propose(rows)
    assert any(line.startswith("the groups: no column is called like") for line in found.found.unclear)
    assert not next(g for g in found.guesses if g.role == "group").clear
    income = evenhand.propose({"income": ["<=50K", ">50K"] * 5, "sex": list("fm") * 5, "score": range(10)})
    assert income.found.favorable == ">50K"
    assert any("good value of income" in line for line in income.found.unclear)
    nothing = evenhand.propose({"sex": ["f", "m"] * 3, "repaid": [0, 1] * 3})
    assert nothing.command is None
    assert nothing.lacking == "no column looks like a score or a decision, which an audit needs"
    assert "There is nothing to run yet" in repr(nothing)


def test_several_scores_are_models() -> None:
    frame = lending()
    frame = frame.rename(columns={"prob": "model_a"}).assign(model_b=lambda f: f["model_a"] ** 2)
    found = evenhand.propose(frame)
    assert found.columns["score"] == ["model_a", "model_b"]
    assert any("compared as models" in line for line in found.found.unclear)


def test_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = lending().rename(columns={"gender": "gender, as told", "prob": "my score"})
    file = tmp_path / "my people's scores.csv"
    frame.to_csv(file, index=False)
    command = evenhand.propose(file).command
    assert command is not None
    words = shlex.split(command)
    assert words[:3] == ["evenhand", "audit", str(file)]
    result = CliRunner().invoke(cli, [*words[1:], "--bootstrap", "0", "--permutations", "0", "--json", "-"])
    assert result.exit_code == 0, result.output
    names = [a["name"] for a in json.loads(result.output)["attributes"]]
    assert names[:2] == ["gender, as told", "age"]


def test_the_command_says_what_it_takes_to_read_the_file(tmp_path: Path) -> None:
    frame = lending().rename(columns={"gender": "Geschlecht, wörtlich"}).drop(columns="age")
    frame.loc[:6, "Geschlecht, wörtlich"] = None
    file, policy = tmp_path / "d.csv", tmp_path / "p.toml"
    frame.to_csv(file, index=False, sep="\t", decimal=",", encoding="latin-1")
    said = ["--encoding", "latin-1", "--delimiter", "tab", "--decimal", ","]
    found = evenhand.propose(evenhand.file(file, encoding="latin-1", delimiter="tab", decimal=","))
    assert found.columns["missing"] == "group"
    assert found.command is not None
    words = shlex.split(found.command)
    assert words[: len(said) + 3] == ["evenhand", "audit", str(file), *said]
    fast = ["--bootstrap", "0", "--permutations", "0"]
    result = CliRunner().invoke(cli, [*words[1:], *fast, "--json", "-"])
    assert result.exit_code == 0, result.output
    names = [g["name"] for g in json.loads(result.output)["attributes"][0]["groups"]]
    assert "(missing)" in names
    written = CliRunner().invoke(cli, ["init", str(file), *said, "-o", str(policy)])
    then = written.stderr.partition("then run ")[2].partition("\n")[0]
    assert shlex.split(then) == ["evenhand", "check", str(file), *said, "--policy", str(policy)]
    checked = CliRunner().invoke(cli, shlex.split(then)[1:])
    assert checked.exit_code in (0, 1), checked.output


def test_rows_without_a_score_are_left_out_and_whole_weights_are_explained(tmp_path: Path) -> None:
    frame = lending().drop(columns=["age", "day", "customer_id"]).assign(weight=[1, 2] * 200, count=[1, 2, 3, 4] * 100)
    frame.loc[:4, "prob"] = None
    frame.loc[3:9, "gender"] = None
    found = evenhand.propose(frame)
    assert found.columns["missing"] == "drop"
    assert found.found.reasons["missing"].startswith("there are rows that lack a value (5 without prob, 7 without gen")
    assert evenhand.propose(frame.drop(columns="count")).columns["weight_kind"] == "sampling"
    assert evenhand.propose(frame.drop(columns="weight")).columns["weight_kind"] == "frequency"
    evenhand.audit(frame, **found.columns, bootstrap=0, permutations=0)


@pytest.mark.parametrize(
    ("content", "because"), [(b"sex,p\nf,0.1\n\xd6,0.2\n", "--encoding cp1252"), (None, "no file")]
)
def test_an_audit_without_columns_says_why_a_file_cannot_be_read(
    content: bytes | None, because: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "d.csv"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SystemExit):
        main(["audit", str(file)])
    err = capsys.readouterr().err
    assert because in err
    assert len(err.splitlines()) == 1


def test_the_policy_is_one(tmp_path: Path) -> None:
    file, policy = tmp_path / "d.csv", tmp_path / "p.toml"
    lending().drop(columns="age").to_csv(file, index=False)
    result = CliRunner().invoke(cli, ["init", str(file), "-o", str(policy)])
    assert result.exit_code == 0, result.output
    assert 'score = "prob"  # called like a score' in policy.read_text()
    verdict = evenhand.check(file, policy=policy)
    assert verdict.to_dict()["data"]["score"] == "prob"
    again = CliRunner().invoke(cli, ["init", str(file), "-o", str(policy)])
    assert isinstance(again.exception, UsageError)
    assert "is there already" in str(again.exception)


def test_an_audit_without_columns_proposes_and_does_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.csv"
    lending().to_csv(file, index=False)
    with pytest.raises(SystemExit) as end:
        main(["audit", str(file), "--json", str(tmp_path / "out.json")])
    assert end.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    assert "--score prob --label repaid" in err
    assert err.strip().splitlines()[-1].startswith("evenhand: nothing was audited")
    assert "Parquet" not in err
    assert not (tmp_path / "out.json").exists()


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not of 'Table'"):
        evenhand.propose(evenhand.compas())
    with pytest.raises(UsageError, match="no columns with names"):
        evenhand.propose({})
    (tmp_path / "d.csv").write_text("sex,repaid\nf,1\nm,0\n")
    result = CliRunner().invoke(cli, ["init", str(tmp_path / "d.csv"), "-o", str(tmp_path / "p.toml")])
    assert "there is no policy to write" in str(result.exception)
    assert not (tmp_path / "p.toml").exists()


def test_hostile_names_stay_text() -> None:
    rows = {
        'x"; rm -rf ~; "': [0.1, 0.2, 0.9, 0.4],
        "sex\n[31m": list("fmfm"),
        "y": [0, 1, 0, 1],
        "-score": [1, 2, 3, 4],
    }
    found = evenhand.propose(rows)
    assert "\x1b" not in repr(found)
    assert evenhand.propose({"a score": [0.5, 0.1, 0.2], "sex": list("fmf")}).command == (
        "evenhand audit DATA --score 'a score' --group sex"
    )
    json.dumps(found.to_dict())


# ---- real data -------------------------------------------------------------------------------------------------------


def test_compas(data_folder: Path) -> None:
    found = evenhand.propose(data_folder / "compas-scores-two-years.csv")
    assert found.columns == {
        "score": "decile_score", "label": "two_year_recid", "group": ["sex", "age", "race"], "favorable": "0",
        "risk": True,
    }  # fmt: skip
    assert {g.column for g in found.guesses if g.role == "id"} >= {"id", "name"}
    assert any("is_recid" in line for line in found.found.unclear)
    assert evenhand.propose(data_folder / "compas_decile_counts.csv").columns == {
        "score": "decile_score", "label": "two_year_recid", "group": ["race"], "weight": "count", "favorable": "0",
        "risk": True, "weight_kind": "frequency",
    }  # fmt: skip


def test_german(data_folder: Path) -> None:
    credit = evenhand.propose(data_folder / "german_credit_data.csv")
    assert credit.columns == {"label": "Risk", "group": ["Age", "Sex"], "favorable": "good"}
    assert credit.command is None
    models = evenhand.propose(data_folder / "german_logr_predictions.csv").columns
    assert models == {"score": ["logr", "logr_debiased"], "label": "label", "group": ["sex"], "favorable": "good"}


def test_adult(data_folder: Path, tmp_path: Path) -> None:
    rows = (data_folder / "adult.data").read_text().splitlines()[:5000]
    file = tmp_path / "adult.csv"
    file.write_text("\n".join([ADULT, *rows]).replace(", ", ","))
    found = evenhand.propose(file)
    assert found.columns == {
        "label": "income",
        "group": ["age", "race", "sex"],
        "weight": "fnlwgt",
        "weight_kind": "sampling",
        "favorable": ">50K",
    }
    assert found.lacking is not None
