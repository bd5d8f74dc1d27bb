"""How many people it takes."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import called as run, check_schema, evenhand as process, people
from evenhand.analyses.planning.guide import PRIORITIES, WITHOUT_TRUTH
from evenhand.errors import UsageError
from evenhand.inference.null import rate_null
from evenhand.inference.power import CHUNK, _chunk, detectable, power_of
from evenhand.measures.registry import MEASURES, RateMeasure
from evenhand.tables.dense import Counts


def test_power_and_people_equal_statsmodels() -> None:
    power = pytest.importorskip("statsmodels.stats.power").NormalIndPower()
    effect = pytest.importorskip("statsmodels.stats.proportion").proportion_effectsize(0.42, 0.3)
    assert evenhand.power((6000, 15000), base_rate=0.3, gap=0.012).power == pytest.approx(
        power.power(
            pytest.importorskip("statsmodels.stats.proportion").proportion_effectsize(0.312, 0.3), 6000, 0.05, 2.5
        )
    )
    plan = evenhand.power(base_rate=0.3, gap=0.12, ratio=2.0, power=0.9, level=0.01)
    assert plan.n == pytest.approx(power.solve_power(effect, None, 0.01, 0.9, ratio=2.0), rel=0.05)
    exact = {(80, 1251, 0.06, 0.01): 0.419, (200, 10_000, 0.06, 0.02): 0.753, (500, 500, 0.05, 0.02): 0.696}
    for (n, m, base, share), found in exact.items():  # by enumeration with scipy's hypergeometric and binomial laws
        assert evenhand.power((n, m), base_rate=base, gap=share - base).power == pytest.approx(found, abs=6e-4)
    assert plan.n_reference == pytest.approx(2 * plan.n, abs=2)


def test_what_is_asked_for_fits_together() -> None:
    plan = evenhand.power((200, 500), base_rate=0.4)
    assert plan.below is not None
    assert plan.above is not None
    assert plan.gap is not None
    for end in (plan.below, plan.above):
        assert evenhand.power((200, 500), base_rate=0.4, gap=end - 0.4).power == pytest.approx(0.8, abs=1e-6)
    assert abs(plan.gap) == pytest.approx(max(0.4 - plan.below, plan.above - 0.4))


def test_the_planned_power_is_what_simulation_finds() -> None:
    rng = np.random.default_rng(0)
    plan = evenhand.power(base_rate=0.3, gap=0.15)
    a, b = (rng.binomial(n, p, 2000) for n, p in ((plan.n, 0.45), (plan.n_reference, 0.3)))
    found = [
        stats.chi2_contingency([[x, plan.n - x], [y, plan.n_reference - y]], correction=False).pvalue < 0.05
        for x, y in zip(a, b, strict=True)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize(
    ("sizes", "base", "share"), [((12, 9), 0.4, 0.9), ((60, 600), 0.05, 0.15), ((30, 30), 0.2, 0.5)]
)
def test_the_power_of_small_samples_is_that_of_the_audit(sizes: tuple[int, int], base: float, share: float) -> None:
    """Summed over all tables, against audits of random ones."""
    rng = np.random.default_rng(0)
    m = MEASURES["demographic_parity"]
    assert isinstance(m, RateMeasure)
    found = 0
    for _ in range(500):
        x, y = rng.binomial(sizes[0], share), rng.binomial(sizes[1], base)
        counts = Counts(np.array([[[sizes[0] - x], [sizes[1] - y]], [[x], [y]]]), ("a", "b"))
        found += rate_null(m, counts, "concept", 9, rng, 0.95).p_value <= 0.05
    claimed = evenhand.power(sizes, base_rate=base, gap=share - base).power
    assert stats.binomtest(found, 500, claimed).pvalue > 1e-3
    reach = detectable(base, *sizes)
    assert power_of(reach.above, base, *sizes) == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize(("n", "reference"), [(4, 1887), (14, 1887), (1887, 4), (3, 50)])
def test_the_exact_test_of_very_uneven_groups_rejects_what_it_should(n: int, reference: int) -> None:
    """Impossible tables used to count as infinitely likely, and nothing was ever rejected."""
    chunk = 3 * (n + reference) // 4 // CHUNK
    low, high = _chunk(n, reference, 0.05, chunk)
    for i in range(0, CHUNK, 7):
        total = chunk * CHUNK + i
        if total > n + reference:
            break
        x = np.arange(max(0, total - reference), min(n, total) + 1)
        chance = stats.hypergeom.pmf(x, n + reference, n, total)
        apart = np.round(np.abs(x / n - (total - x) / reference), 12)
        rejected = np.array([chance[apart >= size].sum() <= 0.05 for size in apart])
        middle = n * total / (n + reference)
        assert (rejected == ((x <= low[i]) & (x < middle)) | ((x >= high[i]) & (x > middle))).all()


def test_people_needed_are_enough_for_the_exact_test() -> None:
    plan = evenhand.power(base_rate=0.1, gap=0.3)
    assert plan.n < 60
    assert evenhand.power(plan.n, base_rate=0.1, gap=0.3).power >= 0.8
    assert evenhand.power(plan.n - 3, base_rate=0.1, gap=0.3).power < 0.8


def test_too_few_people_show_nothing() -> None:
    plan = evenhand.power(2, base_rate=0.5)
    assert plan.gap is None
    assert "too few people" in str(plan)
    one_way = evenhand.power(30, base_rate=0.02)
    assert one_way.below is None
    assert one_way.above is not None
    assert np.isnan(detectable(0.5, 1, 1).gap(0.5))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"base_rate": 0.5}, "say n"),
        ({"base_rate": 1.5, "n": 10}, "base_rate must be a number from 0 to 1"),
        ({"base_rate": float("nan"), "n": 10}, "base_rate"),
        ({"base_rate": "0.5", "n": 10}, "base_rate"),
        ({"base_rate": 0.5, "gap": 0.6}, "gap must lead"),
        ({"base_rate": 0.5, "gap": 0.0}, "gap must lead"),
        ({"base_rate": 0.5, "gap": 1e-12}, "too small to plan for"),
        ({"base_rate": 0.5, "n": 0}, "n is a number of people"),
        ({"base_rate": 0.5, "n": (1, 2, 3)}, "n is a number of people"),
        ({"base_rate": 0.5, "n": 1.5}, "n is a number of people"),
        ({"base_rate": 0.5, "n": True}, "n is a number of people"),
        ({"base_rate": 0.5, "n": 10, "level": 0}, "level"),
        ({"base_rate": 0.5, "n": 10, "power": 1}, "power"),
        ({"base_rate": 0.5, "n": 10, "power": 0.01}, "above the level"),
        ({"base_rate": 0.5, "gap": 0.1, "ratio": float("inf")}, "ratio"),
    ],
)
def test_plans_that_make_no_sense_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evenhand.power(**words)


def test_the_command_plans(tmp_path: Path) -> None:
    done = process("power", "--n", "200,1000", "--base-rate", "0.3", "--gap", "0.1", "--json", "-")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "evenhand/power/1"
    assert found["power"] == pytest.approx(evenhand.power((200, 1000), base_rate=0.3, gap=0.1).power)
    done = run("power", "--base-rate", "0.3", "--gap", "-0.1", "--json", tmp_path / "p.json")
    assert done.stdout.startswith("To tell 0.2 against 0.3 with 80% power")
    assert json.loads((tmp_path / "p.json").read_text())["asked"] == "n"
    for bad in (["--n", "x"], ["--n", "1,2,3"], [], ["--gap", "2"], ["--n", "1", "--power", "nan"]):
        done = run("power", "--base-rate", "0.3", *bad)
        assert done.returncode == 2, bad
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        ("power", evenhand.power(200, base_rate=0.5)),
        ("power", evenhand.power(2, base_rate=0.5)),
        ("guide", evenhand.guide(ground_truth=True, priority="errors", legal=True)),
        ("guide", evenhand.guide(classes=True, extremes=True)),
        ("guide", evenhand.guide(ground_truth=False, priority="shape", legal=True)),
        ("guide", evenhand.guide(ground_truth=True, priority="causes", legal=True)),
    ],
)
def test_plans_and_advice_have_all_views(kind: str, result: Any) -> None:
    document = json.loads(result.to_json())
    check_schema(document, evenhand.schema(kind))
    assert document == result.to_dict()
    assert " ".join(repr(result).split()) == " ".join(str(result).split())
    assert max(map(len, repr(result).splitlines())) <= 80
    text, page = result.to_markdown(), result.to_html()
    said = result.command if kind == "guide" else str(result)
    assert said in " ".join(text.replace("\\\n", "").split())
    assert said in " ".join(unescape(re.sub(r"<[^>]*>", "", page)).replace("\\\n", "").split())
    assert (document["why"] if kind == "guide" else f"{document['n']:,}") in unescape(re.sub(r"\\(.)", r"\1", text))
    assert result.plots() == ()


def test_answers_may_be_truth_values_of_numpy() -> None:
    assert evenhand.guide(classes=True, extremes=np.True_) == evenhand.guide(classes=True, extremes=True)
    with pytest.raises(UsageError, match="asks for no priority"):
        evenhand.guide(classes=True, ground_truth=np.False_)
    with pytest.raises(UsageError, match="extremes is True or False, not 1"):
        evenhand.guide(classes=True, extremes=1)  # type: ignore[arg-type]


# ---- advice that can be run -----------------------------------------------------------------------------------------

ROWS = people(200, 2)
TREE = [
    *({"ground_truth": True, "priority": p, "legal": legal} for p in PRIORITIES for legal in (False, True)),
    *(
        {"ground_truth": False, "priority": p, "legal": legal}
        for p in (None, *WITHOUT_TRUTH)
        for legal in (False, True)
    ),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guide") / "people.csv"
    names = list(ROWS)
    lines = [",".join(map(str, row)) for row in zip(*ROWS.values(), strict=True)]
    path.write_text("\n".join([",".join(names), *lines]))
    return path


@pytest.mark.parametrize("answers", TREE, ids=str)
def test_every_leaf_of_the_tree_has_a_command_that_can_be_run(answers: dict[str, Any], file: Path) -> None:
    advice = evenhand.guide(**answers)
    assert f"\n{advice.command}" in str(advice).replace(" \\\n    ", " ")
    columns = {"--score COL": "--score s", "--prediction COL": "--prediction d", "--label COL": "--label y",
               "--group COL": "--group g", "--attribute COL": "--attribute g", "--model MODEL": "--model no:model",
               "--graph GRAPH": "--graph 'g -> s'", "DATA": str(file)}  # fmt: skip
    command = advice.command
    for placeholder, own in columns.items():
        command = command.replace(placeholder, own)
    _, *words = shlex.split(command)
    done = run(*words, *([] if words[0] in ("individual", "counterfactual") else ["--bootstrap", 0]), "--json", "-")
    if words[0] == "counterfactual":
        assert (done.returncode, done.stderr.count("\n")) == (2, 2)  # there is no such model
        return
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == f"evenhand/{words[0]}/1"
    if words[0] == "audit":
        assert {m["id"] for m in document["attributes"][0]["measures"]} == set(advice.measures)


@pytest.mark.parametrize(
    ("said", "command"),
    [
        (["--no-ground-truth", "--run", "FILE", "--score", "s", "--group", "g"],
         "audit FILE --measures demographic_parity,abcc --score s --group g"),
        (["--score=s", "--run", "FILE", "--group", "g", "--label", "y", "--priority", "errors", "--reference", "g0"],
         "audit FILE --measures equalized_odds --score=s --group g --label y --reference g0"),
        (["--no-ground-truth", "--legal", "--run", "FILE", "--prediction", "d", "--group", "g"],
         "audit FILE --measures demographic_parity,disparate_impact --prediction d --group g"),
        (["--no-ground-truth", "--run", "FILE", "--score", "s", "--group", "g", "--measures", "abpc"],
         "audit FILE --score s --group g --measures abpc"),
        (["--classes", "--focus", "per-group", "--extremes", "--classes-matter", "equally", "--run", "FILE", "--label",
          "h", "--prediction", "h", "--group", "g"],
         "aggregate FILE --unit score --across-groups=-inf --across-classes=1 --label h --prediction h --group g"),
    ],
)  # fmt: skip
def test_run_is_the_command_that_it_shows(said: list[str], command: str, file: Path) -> None:
    few = ["--bootstrap", "20", "--json", "-"]
    done = run("guide", *(str(file) if word == "FILE" else word for word in said), *few)
    assert done.returncode == 0, done.stderr
    shown = done.stderr.splitlines()[-1]
    assert shown == f"$ evenhand {command.replace('FILE', str(file))} --bootstrap 20 --json=-"
    assert run(*shlex.split(shown)[2:]).stdout == done.stdout


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["--no-ground-truth", "--score", "s"], r"No such option:? '?--score\b"),  # as click says it, old or new
        (["--no-ground-truth", "people.csv"], "unexpected 'people.csv': to compute what is advised, say --run DATA"),
        (["--no-ground-truth", "--run", "people.csv", "--score", "s"], "name at least one group column"),
        (["--no-ground-truth", "--run", "people.csv", "--nonsense", "s"], r"No such option:? '?--nonsense\b"),
        (["--priority", "causes", "--run", "people.csv", "--attribute", "g"], "Missing option '--model'"),
        (["--no-ground-truth", "--run", "absent.csv", "--score", "s", "--group", "g"], "absent.csv"),
        (
            ["--no-ground-truth", "--run", "people.csv", "--score", "s", "--group", "g", "--json", "people.csv"],
            "people",
        ),
    ],
)
def test_what_cannot_be_run_is_one_sentence(said: list[str], words: str, file: Path) -> None:
    before = file.read_bytes()
    done = run("guide", *said, cwd=file.parent)
    assert done.returncode == 2
    *_, last = done.stderr.splitlines()
    assert last.startswith("evenhand: ")
    assert re.search(words, last)
    assert done.stdout == ""
    assert file.read_bytes() == before


def test_secrets_of_an_address_are_not_shown() -> None:
    done = run("guide", "--no-ground-truth", "--run", "postgresql://me:hush@h/db?table=t", "--score", "s")
    assert "$ evenhand audit 'postgresql://***@h/db?table=t'" in done.stderr
    assert "hush" not in done.stderr


def test_advice_is_run_in_python() -> None:
    few: dict[str, Any] = {"bootstrap": 20, "permutations": 0}
    advice = evenhand.guide(ground_truth=True, priority="errors", legal=True)
    found = advice.run(ROWS, score="s", label="y", group="g", **few)
    assert [m.id for m in found.attributes[0].measures] == ["disparate_impact", "equalized_odds"]
    plain = evenhand.audit(ROWS, score="s", label="y", group="g", measures=list(advice.measures), **few)
    assert found.to_dict() == plain.to_dict()
    similar = evenhand.guide(ground_truth=False, priority="individuals").run(ROWS, score="s", group="g", k=3)
    assert similar.to_dict()["schema"] == "evenhand/individual/1"
    causes = evenhand.guide(ground_truth=True, priority="causes")
    flipped = causes.run(ROWS, model=lambda x: np.where(x["g"] == "g0", 0.4, 0.6), attribute="g", features=["g"])
    assert flipped.to_dict()["schema"] == "evenhand/counterfactual/1"
    many = evenhand.guide(classes=True, focus="per-group", extremes=True).run(
        ROWS, label="h", prediction="h", group="g"
    )
    assert many.to_dict()["schema"] == "evenhand/aggregate/1"
    with pytest.raises(UsageError, match=r"say attribute= \(as in evenhand counterfactual DATA --model"):
        causes.run(ROWS, model=len)
