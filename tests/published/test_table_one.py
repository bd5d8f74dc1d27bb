"""Tables 1 and 2 of Han, Jiang et al. (2023): one split shows the figures of Adult, and small files the other data."""

from __future__ import annotations

import sys
import types
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import DATA
from evenhand.published import score_panels, table_one
from evenhand.published.faces import celeba
from evenhand.published.fronts import figure_6, paying_for_abcc
from evenhand.published.item import Outcome, Setting
from evenhand.published.printed import COLUMNS, TABLES, printed_row
from evenhand.published.table_one import Case

pytest.importorskip("torch")
pytest.importorskip("sklearn", minversion="1.6")

WITHIN = {"Acc": 3, "ΔDP_b": 3, "ΔDP_c": 3, "ABPC": 10, "ABCC": 3}
"""Points of a hundred."""
OF_ONE_RUN = 17
"""The same of ABPC of one run, which differs from the next with a standard deviation of 6 and more."""


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_one, "JOBS", 1)


@pytest.fixture
def adult(data_folder: Path) -> Path:
    if not (data_folder / "adult.data").is_file():
        pytest.skip("adult.data is not here")
    return data_folder


def alone(case: Case, folder: Path, seeds: tuple[int, ...] = (0,)) -> dict[str, dict[str, float]]:
    """The methods that need no adversary, on one split for each seed: means."""
    chosen, shares = next(table_one.methods(case))
    runs = [
        table_one.figures(
            table_one.trained(case, chosen, shares, Setting(DATA, None, False, seed), folder / str(seed), 1)
        )
        for seed in seeds
    ]
    rows = {method: np.mean([run[method][0] for run in runs], axis=0) for method in runs[0]}
    return {method: dict(zip(COLUMNS.values(), row.tolist(), strict=True)) for method, row in rows.items()}


def printed(rows: tuple[str, str], method: str) -> dict[str, float]:
    return {name: mean for name, (mean, _) in zip(COLUMNS.values(), printed_row(rows, method), strict=True)}


@pytest.mark.parametrize(
    ("which", "seeds", "abpc"),
    [
        pytest.param(1, (0,), OF_ONE_RUN, id="own children, reduced"),
        pytest.param(0, (0, 1, 2), WITHIN["ABPC"], id="unmarried", marks=pytest.mark.full),
        pytest.param(1, (0, 1, 2), WITHIN["ABPC"], id="own children", marks=pytest.mark.full),
    ],
)
def test_the_printed_rows_are_about_unmarried_people_and_own_children(
    which: int, seeds: tuple[int, ...], abpc: float, adult: Path, tmp_path: Path
) -> None:
    case = list(table_one.adult_as_printed(adult))[which]
    assert len(case.people) == 48_842
    for method, found in alone(case, tmp_path, seeds).items():
        for name, within in {**WITHIN, "ABPC": abpc}.items():
            assert found[name] == pytest.approx(printed(case.rows, method)[name], abs=within), (method, name)


@pytest.mark.full
def test_women_and_men_are_closer_than_the_printed_gender(adult: Path, tmp_path: Path) -> None:
    case = list(table_one.adult_corrected(adult))[1]
    assert (len(case.people), case.group) == (45_222, "sex")
    found = alone(case, tmp_path)
    assert found["MLP"]["ΔDP_c"] < printed(case.rows, "MLP")["ΔDP_c"] - 5
    assert found["REG"]["ΔDP_c"] < 6
    assert found["REG with ABCC"]["ABCC"] < found["REG"]["ABCC"] < found["MLP"]["ABCC"] / 3
    assert np.ptp([row["Acc"] for row in found.values()]) < 4


def test_every_printed_row_is_complete() -> None:
    for rows, methods in TABLES.items():
        assert list(methods) == ["MLP", "REG", "ADV"]
        for method in methods:
            assert len(printed_row(rows, method)) == len(COLUMNS)


# ---- data that are not here, as small files of their form ----------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks that hardly learn."""
    small = {"hidden": [4], "dropout": 0.5, "batch_size": 64, "epochs": 1}
    for module in (table_one, sys.modules["evenhand.published.fronts"]):
        monkeypatch.setattr(module, "ALONE", small)
        monkeypatch.setattr(module, "GAME", {**small, "warm_up": 1, "adversary_steps": "epoch"})


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of two states as the survey has them, and what stands for folktables, which reads them."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    (tmp_path / "2018" / "1-Year").mkdir(parents=True)
    for number in ("06", "32"):
        n = 150
        people = pd.DataFrame({
            "AGEP": rng.integers(18, 80, n), "COW": rng.integers(1, 9, n), "OCCP": rng.choice([10, 110, 4700], n),
            "WKHP": rng.integers(1, 60, n), "SEX": rng.integers(1, 3, n), "RAC1P": rng.integers(1, 3, n),
            "PINCP": rng.integers(0, 100_000, n), "ESR": rng.choice([1.0, 6.0], n),
        })  # fmt: skip
        people.to_csv(tmp_path / "2018" / "1-Year" / f"psam_p{number}.csv", index=False)

    class Source:
        def __init__(self, survey_year: str, horizon: str, survey: str, root_dir: str) -> None:
            self.folder = Path(root_dir) / survey_year / horizon

        def get_data(self, states: list[str], download: bool) -> Any:
            names = {"CA": "06", "NV": "32"}
            return pd.concat([pd.read_csv(self.folder / f"psam_p{names[s]}.csv") for s in states])

    class Problem:
        def __init__(self, columns: list[str], target: str, least: float, most: float) -> None:
            self.columns, self.target, self.least, self.most = columns, target, least, most

        def df_to_pandas(self, data: Any) -> Any:
            label = (data[self.target] > self.least) & (data[self.target] <= self.most)
            return data[self.columns], label.to_frame(), data["SEX"]

    columns = ["AGEP", "COW", "OCCP", "WKHP", "SEX", "RAC1P"]
    fake = types.ModuleType("folktables")
    fake.__dict__.update(ACSDataSource=Source, ACSIncome=Problem(columns, "PINCP", 50_000, 10**9),
                         ACSEmployment=Problem(columns, "ESR", 0, 1))  # fmt: skip
    fake.__spec__ = types.SimpleNamespace(name="folktables")  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "folktables", fake)
    return tmp_path


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("cases", "rows"),
    [(table_one.acs_income, {"race", "gender"}), (table_one.acs_employment, {"gender"})],
    ids=["income", "employment"],
)
def test_the_survey_has_its_rows(cases: Any, rows: set[str], survey: Path) -> None:
    found = table_one.table(Setting(survey, None, False, 0), cases)
    check(found, 300, {(of, m) for of in rows for m in ("MLP", "REG", "ADV")})
    assert any("CA, NV" in note for note in found.notes)


@pytest.mark.usefixtures("quick")
def test_the_faces_have_their_rows(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    (tmp_path / "img_align_celeba").mkdir()
    lines = ["121", "Attractive Male Smiling Young"]
    for i in range(121):
        name = f"{i:06}.jpg"
        signs = rng.choice(["-1", "1"], 4)
        lines.append(f"{name}  {' '.join(signs)}")
        if i:
            points = rng.integers(0, 256, (20, 18, 3), dtype=np.uint8)
            image.fromarray(points).save(tmp_path / "img_align_celeba" / name)
    (tmp_path / "list_attr_celeba.txt").write_text("\n".join(lines))
    found = table_one.table(Setting(tmp_path, None, False, 0), celeba)
    check(found, 120, {(of, m) for of in ("age", "gender") for m in ("MLP", "REG", "ADV")})
    assert any("1 people without an image" in note for note in found.notes)


def check(found: Outcome, people: int, rows: set[tuple[str, str]]) -> None:
    """Every row is there, beside the printed one, and every observation is judged."""
    total, *values = found.values
    assert (total.column, total.found) == ("people", people)
    assert {(v.row.split(", ")[1].split(": ")[0], v.row.split(": ")[1]) for v in values} == rows
    assert len(values) == len(rows) * len(COLUMNS)
    assert all(v.published is not None and np.isfinite(v.found) for v in values if v.column != "ABPC")
    assert len(found.claims) == 5


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "no column 'Attractive'"), ("1\nAttractive Male Young\n", "line 3"),
     ("1\nAttractive Male Young\na.jpg 1 1\n", "needs 4 values"),
     ("1\nAttractive Male Young\na.jpg 1 1 1\n", "no image")],
)  # fmt: skip
def test_odd_files_of_faces(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "list_attr_celeba.txt").write_text(text)
    with pytest.raises(evenhand.DataError, match=says):
        list(celeba(tmp_path))


@pytest.mark.usefixtures("quick")
def test_figures_of_several_models_are_drawn_of_the_survey(survey: Path) -> None:
    setting = Setting(survey, survey / "runs", False, 0)
    three = score_panels.three_models(setting, table_one.acs_employment, 0.1554)
    (pdf,) = three.charts
    assert [panel["title"]["text"] for panel in pdf.spec["concat"]] == ["Model 1", "Model 2", "Model 3"]
    (printed,) = [v for v in three.values if v.published is not None]
    assert (printed.row, printed.column, printed.published) == ("Model 2", "ΔDP_b", 0.1554)
    two = score_panels.two_models(setting, table_one.acs_employment)
    assert [chart.name for chart in two.charts] == ["pdf", "cdf"]
    assert {v.row for v in two.values} == {"biased MLP", "debiased MLP"}
    four = score_panels.bias_densities(setting, table_one.acs_employment)
    assert all(v.agrees for v in four.values)
    assert [chart.title.split(":")[0] for chart in four.charts] == ["MLP", "ADV"]
    found = {(v.row, v.column): v.found for v in (*three.values, *two.values)}
    assert found["Model 1", "ABCC"] == found["biased MLP", "ABCC"]  # the same run


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("figure", [figure_6, paying_for_abcc])
def test_fronts_have_a_point_for_each_strength(figure: Any, survey: Path) -> None:
    found = figure(Setting(survey, None, False, 0), partial(table_one.acs_employment))
    tried = {v.row for v in found.values if "strength" in v.row}
    assert len(tried) == 4
    assert {v.column for v in found.values} == {"accuracy", "ABCC"}
    (chart,) = found.charts
    points = [row for panel in chart.spec["hconcat"] for row in panel["data"]["values"]]
    assert len(points) == 4
    assert {row["front"] for row in points} <= {"yes", "no"}
    assert any(row["front"] == "yes" for row in points)
