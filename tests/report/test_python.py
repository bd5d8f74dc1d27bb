"""What Python gives: short texts, tables for a paper, charts in their size, and progress where it is seen."""

from __future__ import annotations

import builtins
import io
import json
import logging
import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import people
from evenhand.analyses.audit.beside import Cell, _smallest
from evenhand.analyses.options import watching
from evenhand.measures.registry import MEASURES
from evenhand.report.charts.sizes import changed
from evenhand.report.latex import escaped, tabular

FAST: dict[str, Any] = {"bootstrap": 0, "permutations": 0}


def audit(groups: int = 2, seed: int = 0, **options: Any) -> evenhand.Audit:
    found = evenhand.audit(people(600, groups, seed), score="s", label="y", group="g", **{**FAST, **options})
    assert isinstance(found, evenhand.Audit)
    return found


# ---- texts ----------------------------------------------------------------------------------------------------------


def test_an_audit_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    found = audit()
    with caplog.at_level(logging.INFO):
        logging.getLogger("models").info("audited: %s", found)
        logging.getLogger("models").info("%r", found)
    assert found.to_dict()["verdict"]["word"].upper() in caplog.records[0].getMessage()
    assert [r.getMessage() for r in caplog.records] == [f"audited: {found.summary()}", found.summary()]
    assert f"{found}" == str(found) == repr(found) == found.summary()


def test_every_comparison_is_one_line() -> None:
    found = audit(3, bootstrap=50, permutations=20)
    for a in found.attributes:
        for one in (*a.measures, *a.largest):
            assert len(repr(one).splitlines()) == 1
            assert len(repr(one)) < 260
            assert repr(one).startswith(f"{one.id}, ")
    gap = found.measure("equal_opportunity", group="g0")
    low, high = gap.ci
    word = {True: "within", False: "beyond"}[gap.passes] + "?" * (not gap.conclusive)
    told = f"equal_opportunity, g0 against {gap.reference}: {gap.signed:+.3f} ({low:+.3f} to {high:+.3f}), {word}"
    assert repr(gap) == told
    assert gap == found.measure("equal_opportunity", group="g0")
    assert gap != found.measure("equal_opportunity", group="g1")
    [undefined] = audit(2, threshold=0.0, measures=["negative_predictive_parity"]).attributes[0].measures
    assert re.fullmatch(r"negative_predictive_parity, g0 against g1: undefined .*", repr(undefined))


# ---- LaTeX ----------------------------------------------------------------------------------------------------------


def test_names_are_escaped_for_latex() -> None:
    assert escaped(r"\input{/etc/passwd}") == r"\textbackslash{}input\{/etc/passwd\}"
    assert escaped("50% a_b & #1 ~ ^ $x$") == r"50\% a\_b \& \#1 \textasciitilde{} \textasciicircum{} \$x\$"
    assert escaped("[x] *") == "{[}x{]} {*}"
    assert escaped("2020-2021, a-1, -0.5 (-1)") == "2020-2021, a-1, $-$0.5 ($-$1)"
    assert escaped("a\n\x1b\u202e") == r"a\textbackslash{}n\textbackslash{}x1b\textbackslash{}u202e"
    assert tabular(["a", "b"], [["1", "2"]]).splitlines() == [
        r"\begin{tabular}{lr}", r"\hline", r"a & b \\", r"\hline", r"1 & 2 \\", r"\hline", r"\end{tabular}",
    ]  # fmt: skip


def test_latex_of_an_audit(tmp_path: Path) -> None:
    data = {"g": ["a_1 & [b]"] * 1000 + ["men"] * 1000, "d": [1] * 35 + [0] * 965 + [1] * 80 + [0] * 920}
    found = evenhand.audit(data, prediction="d", group="g", reference="men", **FAST)
    assert isinstance(found, evenhand.Audit)
    text = found.to_latex(tmp_path / "t.tex", booktabs=True)
    assert (tmp_path / "t.tex").read_text(encoding="utf-8") == text
    assert r"a\_1 \& {[}b{]} & 1,000 & 3.5\% & 0.44 \\" in text
    assert re.search(r"disparate impact & \$\\times\$0\.438 & 0\.\d+ to 0\.\d+ & .* & unequal \\\\", text)
    assert (text.count(r"\toprule"), text.count(r"\begin{tabular}"), text.count(r"\end{tabular}")) == (2, 2, 2)
    assert "rule" not in found.to_latex()
    for line in text.splitlines():  # every row has as many cells as the head
        assert line.startswith(("%", "\\", "group", "men", "a", "measure", "d")) or not line
    with pytest.raises(evenhand.UsageError, match="True or False"):
        found.to_latex(booktabs="yes")  # type: ignore[arg-type]


# ---- several audits -------------------------------------------------------------------------------------------------


def test_side_by_side_shows_what_the_audits_hold() -> None:
    audits = {"A_1": audit(bootstrap=50), "B|2": audit(seed=1, bootstrap=50)}
    table = evenhand.side_by_side(audits, measures=["demographic_parity", "abcc"])
    frame = json.loads(table.to_frame("pandas").to_json(orient="records"))
    assert [(row["name"], row["measure"]) for row in frame] == [
        (name, id_) for name in audits for id_ in ("demographic_parity", "abcc")
    ]
    for row in frame:
        gap = audits[row["name"]].measure(row["measure"])
        assert row["value"] == pytest.approx(gap.estimate)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(gap.ci)
        assert (row["group"], row["reference"], row["attribute"]) == (gap.group, gap.reference, "g")
    text, latex = table.to_markdown(), table.to_latex(booktabs=True)
    assert len(text.splitlines()) == 6
    assert "A\\_1" in text
    assert "B\\|2" in text
    assert r"A\_1" in latex
    assert r"B$|$2" in latex
    assert repr(table) == text.rstrip("\n") == table._repr_markdown_().rstrip("\n")


def test_the_key_measures_of_all_are_the_columns() -> None:
    one = audit()
    decisions = evenhand.audit(people(600, 2), prediction="d", label="y", group="g", **FAST)
    table = evenhand.side_by_side({"scores": one, "decisions": decisions})
    assert [cell.measure.id for cell in table.lines[0].cells] == [
        "disparate_impact", "equal_opportunity", "predictive_equality",
    ]  # fmt: skip


def test_of_several_groups_the_most_different_pair_or_the_one_named() -> None:
    found = audit(4, bootstrap=50)
    table = evenhand.side_by_side({"x": found}, measures=["demographic_parity"])
    [cell] = table.lines[0].cells
    largest = next(one for one in found.attributes[0].largest if one.id == "demographic_parity")
    assert (cell.value, cell.ci, (cell.group, cell.reference)) == (largest.value, largest.ci, largest.pair)
    assert "most different pair of groups of g" in repr(table)
    named = evenhand.side_by_side({"x": found}, measures=["demographic_parity"], group={"x": "g1"})
    assert named.lines[0].cells[0].value == found.measure("demographic_parity", group="g1").signed


def cell(value: float, ci: tuple[float, float] | None, id_: str = "demographic_parity") -> Cell:
    return Cell(MEASURES[id_], "a", "b", value, ci, None if ci else "because nobody is there", True)


@pytest.mark.parametrize(
    ("cells", "best"),
    [
        ([cell(0.3, (0.2, 0.4)), cell(0.1, (0.05, 0.15))], 1),
        ([cell(-0.3, (-0.4, -0.2)), cell(0.1, (-0.05, 0.15))], 1),
        ([cell(0.3, (0.2, 0.4)), cell(0.1, (0.05, 0.25))], None),
        ([cell(0.3, (0.2, 0.4)), cell(-0.1, (-0.25, -0.05))], None),
        ([cell(0.3, (0.2, 0.4)), cell(0.3, (0.2, 0.4))], None),
        ([cell(0.3, (0.2, 0.4)), cell(0.1, (0.05, 0.15)), cell(np.nan, None)], None),
        ([cell(0.3, (0.2, 0.4))], None),
        ([cell(0.5, (0.4, 0.6), "disparate_impact"), cell(1.1, (0.9, 1.2), "disparate_impact")], 1),
        ([cell(2.5, (2.0, 3.0), "disparate_impact"), cell(0.8, (0.7, 0.9), "disparate_impact")], 1),
        ([cell(0.0, (0.0, 0.2), "disparate_impact"), cell(0.3, (0.1, 0.9), "disparate_impact")], None),
    ],
)
def test_best_is_marked_only_where_intervals_do_not_overlap(cells: list[Cell], best: int | None) -> None:
    assert _smallest(cells) == best
    assert _smallest(cells[::-1]) == (None if best is None else len(cells) - 1 - best)


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (({},), "a dict from names to audits"),
        (([],), "a dict from names to audits"),
        (({"a": 3},), "audit each by itself"),
        (({"a": "A"}, {"measures": "abcc"}), "list of ids"),
        (({"a": "A"}, {"measures": ["abccc"]}), "did you mean 'abcc'"),
        (({"a": "A"}, {"measures": [["abcc"]]}), "list of ids"),
        (({"a": "A"}, {"attribute": "sex"}), "no attribute 'sex'"),
        (({"a": "A"}, {"group": "g7"}), "compares no group 'g7'"),
        (({"a": "A"}, {"group": {"b": "g1"}}), "a row that is not there, 'b'"),
    ],
)
def test_misuse_of_side_by_side(arguments: tuple[Any, ...], because: str) -> None:
    audits, *rest = arguments
    if isinstance(audits, dict):
        audits = {k: audit() if v == "A" else v for k, v in audits.items()}
    with pytest.raises(evenhand.UsageError, match=because):
        evenhand.side_by_side(audits, **(rest[0] if rest else {}))


# ---- charts ---------------------------------------------------------------------------------------------------------


def test_a_chart_is_saved_in_its_size(tmp_path: Path) -> None:
    chart = audit().plot("cdf")
    before = json.dumps(chart.spec)
    chart.save(tmp_path / "c.json", width=300, height=120, title="Ours")
    made = json.loads((tmp_path / "c.json").read_text())
    assert (made["width"], made["height"], made["title"]["text"]) == (300, 120, "Ours")
    assert json.dumps(chart.spec) == before
    chart.save(tmp_path / "d.json", title="")
    assert "title" not in json.loads((tmp_path / "d.json").read_text())
    pytest.importorskip("vl_convert")
    sizes = []
    for width in (200, 400):
        chart.save(tmp_path / "c.svg", width=width, title="")
        sizes.append(int(re.search(r'width="(\d+)', (tmp_path / "c.svg").read_text())[1]))  # type: ignore[index]
    assert sizes[1] - sizes[0] == 200


def test_panels_have_one_size() -> None:
    parts = changed(audit().plot("groups").spec, width=200)["hconcat"]
    assert {part["width"] for part in parts} == {200}


@pytest.mark.parametrize(
    "said", [{"width": 0}, {"width": 1.5}, {"height": True}, {"width": 10**6}, {"title": 3}, {"height": 100}]
)
def test_sizes_that_make_no_sense(said: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(evenhand.UsageError):
        audit().plot("groups").save(tmp_path / "c.svg", **said)
    assert not [*tmp_path.iterdir()]


# ---- progress -------------------------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.report.progress.PATIENCE", 0)
    monkeypatch.setattr("evenhand.report.progress.PAUSE", 0)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = type("ZMQInteractiveShell", (), {})
    monkeypatch.setattr(builtins, "get_ipython", shell, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))


def last_line(text: str) -> str:
    """What is seen of a line that writes over itself."""
    seen = ""
    for part in text.split("\r"):
        seen = part + seen[len(part) :]
    return seen.strip()


@pytest.mark.usefixtures("impatient", "notebook")
def test_a_notebook_shows_progress_and_wipes_it_out(capsys: pytest.CaptureFixture[str]) -> None:
    audit()
    out, err = capsys.readouterr()
    assert re.search(r"\r +\d+% comparing the groups of g", out)
    assert (last_line(out), err) == ("", "")
    assert max(map(len, out.split("\r"))) <= 70
    audit(progress=False)
    assert capsys.readouterr() == ("", "")

    def fail() -> None:
        with watching(None) as tell:
            tell(0.5, "half\x1b way")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    out = capsys.readouterr().out
    assert "half\\x1b way" in out
    assert last_line(out) == ""


@pytest.mark.usefixtures("impatient")
def test_elsewhere_progress_is_silent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for progress in (None, True, False):
        audit(progress=progress)
    assert capsys.readouterr() == ("", "")
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", terminal)
    audit()
    assert terminal.getvalue() == ""
    audit(progress=True)
    assert "comparing the groups" in terminal.getvalue()


def test_progress_may_be_a_function() -> None:
    told: list[float] = []
    audit(progress=lambda share, what: told.append(share))
    assert told
    with pytest.raises(evenhand.UsageError, match="progress is a function"):
        audit(progress=3)
