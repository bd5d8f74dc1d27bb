"""Counterfactual fairness on synthetic worlds whose truth is known, on bad input, and on Adult."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import evenhand as run
from evenhand.analyses.counterfactual.document import NOT_TAKEN
from evenhand.analyses.counterfactual.graph import graphs_of, subgraph_of
from evenhand.analyses.counterfactual.gumbel_max import GumbelMax
from evenhand.analyses.counterfactual.results import ranges_of
from evenhand.analyses.counterfactual.structural_model import causal_library, structural_model_of
from evenhand.errors import DataError, EvenhandError, UsageError
from evenhand.ingest.people import read_people
from evenhand.report.document import schema

jsonschema = pytest.importorskip("jsonschema")
if not find_spec("dowhy"):
    pytest.skip("DoWhy is not installed", allow_module_level=True)

GRAPH = "sex -> skill; age -> skill; sex -> job"


def people(n: int = 800, seed: int = 0, shift: float = 0.5) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    sex, age = rng.integers(0, 2, n), rng.normal(size=n)
    boss = rng.random(n) < 0.3 + 0.4 * sex
    return {
        "sex": np.array(["f", "m"])[sex],
        "age": age,
        "skill": shift * sex + 0.3 * age + rng.normal(size=n),
        "job": np.where(boss, "boss", "clerk"),
    }


def planted(people: Any) -> Any:
    return 0.3 + 0.1 * people["skill"] + 0.15 * (people["sex"] == "m") + 0.2 * (people["job"] == "boss")


def asked(model: Any = planted, data: Any = None, **words: Any) -> Any:
    data = people() if data is None else data
    return evenhand.counterfactual_fairness(
        model, data, **{"attribute": "sex", "graph": GRAPH, "bootstrap": 20, **words}
    )


def held(estimate: Any, truth: float) -> bool:
    return bool(estimate.ci[0] - 1e-9 <= truth <= estimate.ci[1] + 1e-9)


# ---- what is true is found ----------------------------------------------------------------------------------


def test_a_fair_model_shows_nothing() -> None:
    """It takes what the attribute does not act on; and one that takes a mediator is within what fitting alone shows."""
    found = asked(lambda p: 0.5 + 0.1 * p["age"], features=["age"])
    world = found.worlds[0]
    assert found.flip is None
    assert "no way from sex" in world.because
    assert world.answer.overall.size.value == 0
    assert world.answer.overall.changed.ci == (0, 0)
    none = asked(lambda p: 0.5 + 0.1 * p["skill"], people(shift=0.0), features=["skill"], graph="sex -> skill")
    change = none.worlds[0].answer.changes[0]
    assert held(change.mean, 0)
    assert change.size.ci[0] == 0
    assert change.p_adjusted > 0.01


def test_a_planted_direct_effect_and_the_split_by_ways_are_recovered() -> None:
    found = asked(data=people(2000), bootstrap=40)
    women = found.worlds[0].answer.changes[0]
    assert (women.group, women.other) == ("f", "m")
    assert held(women.mean, 0.15 + 0.1 * 0.5 + 0.2 * 0.4)
    ways = {p.via: p.mean for p in found.worlds[0].paths if p.group == "f"}
    assert ways["direct"].value == pytest.approx(0.15, abs=1e-9)
    assert held(ways["skill"], 0.05)
    assert held(ways["job"], 0.08)
    assert ways["rest"].value == pytest.approx(0, abs=1e-9)  # the model is additive
    flip = found.flip.changes[0]
    assert flip.mean.value == pytest.approx(0.15)
    assert flip.favoured.value == flip.changed.value > 0


def test_what_acts_together_is_the_rest() -> None:
    data = people(2000)
    found = asked(lambda p: p["skill"] * (p["sex"] == "m"), data, graph="sex -> skill; age -> skill")
    for a, b in (("f", "m"), ("m", "f")):
        ways = {p.via: p.mean.value for p in found.worlds[0].paths if (p.group, p.other) == (a, b)}
        total = next(c for c in found.worlds[0].answer.changes if c.group == a).mean.value
        assert total == pytest.approx(sum(ways.values()))
    women = {p.via: p.mean for p in found.worlds[0].paths if p.group == "f"}
    assert women["skill"].value == 0
    assert held(women["rest"], 0.5)


def test_without_an_action_everybody_comes_back_exactly() -> None:
    data = people(500)
    people_ = read_people(data, ["sex", "age", "skill", "job"])
    (world,) = graphs_of(f"{GRAPH}; job -> skill")
    part = subgraph_of(world, "sex", ["skill", "job"], list(data))
    structure = structural_model_of(world, part, people_, "sex", "linear")
    seen = structure.seen(np.arange(500))
    fitted = structure.fit(seen)
    noise = fitted.abduct(seen, np.random.default_rng(0))
    ones = {name: np.ones(500) for name in part.first}
    stays = fitted.act(seen, noise, seen["sex"], ones)
    assert all((stays[name] == seen[name]).all() for name in ("skill", "job"))
    nothing = fitted.act(seen, noise, 1 - seen["sex"], {name: np.zeros(500) for name in part.first})
    assert all((nothing[name] == seen[name]).all() for name in ("skill", "job"))
    moved = fitted.act(seen, noise, 1 - seen["sex"], ones)
    assert (moved["skill"] != seen["skill"]).all()
    assert (moved["job"] != seen["job"]).any()


class Fixed:
    """A classifier that knows the chances by the only cause, 0 or 1."""

    chances = np.array([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]])

    def fit(self, X: Any, Y: Any) -> None:
        pass

    def predict_probabilities(self, causes: Any) -> Any:
        return self.chances[causes[:, 0].astype(int)]


def test_noise_of_a_category_is_that_of_gumbel_max() -> None:
    """Noise given what happened, over all that happens, is plain Gumbel noise; likelier ones keep their people."""
    rng = np.random.default_rng(0)
    n = 40_000
    causes = rng.integers(0, 2, (n, 1)).astype(float)
    values = (np.log(Fixed.chances)[causes[:, 0].astype(int)] + rng.gumbel(size=(n, 3))).argmax(1)
    choice = GumbelMax(3, Fixed).refit(causes, values)
    noise = choice.estimate_noise(values, causes, rng)
    assert (choice.chosen(causes, causes, np.ones(1), noise) == values).all()
    assert noise.mean(0) == pytest.approx([np.euler_gamma] * 3, abs=0.03)
    assert noise.var(0) == pytest.approx([np.pi**2 / 6] * 3, rel=0.05)
    assert np.corrcoef(noise.T)[0, 1] == pytest.approx(0, abs=0.02)
    there = choice.chosen(causes, 1 - causes, np.ones(n), noise)
    first = causes[:, 0] == 0  # category 0 becomes likelier for them
    assert (there[first & (values == 0)] == 0).all()
    assert (there[first & (values != 0)] == 0).any()
    assert np.bincount(there[first]) / first.sum() == pytest.approx(Fixed.chances[1], abs=0.015)


def test_confounding_is_a_curve_from_the_total_to_the_direct_effect() -> None:
    found = asked(confounding=[0, 0.5, 1]).worlds[0]
    curve = found.confounding[0]
    assert [p.share for p in curve.points] == [0, 0.5, 1]
    assert curve.points[0].mean == found.answer.changes[0].mean
    assert curve.points[2].mean.value == pytest.approx(0.15)
    assert curve.tips is None
    assert curve.points[0].mean.value > curve.points[1].mean.value > curve.points[2].mean.value
    assert curve.points[0].correlation == 0 < curve.points[1].correlation < curve.points[2].correlation < 1
    through = asked(lambda p: 0.1 * p["skill"], graph="sex -> skill", features=["skill"]).worlds[0].confounding[0]
    assert 0 < through.tips <= 1
    assert through.points[-1].mean.value == pytest.approx(0, abs=1e-12)
    assert (
        "unless a hidden cause accounts for"
        in asked(lambda p: 0.1 * p["skill"], graph="sex -> skill", features=["skill"]).to_dict()["worlds"][0][
            "confounding"
        ][0]["interpretation"]
    )


def test_a_hidden_cause_of_the_stated_strength_makes_the_stated_bias() -> None:
    """Sex acts on nothing; a hidden cause of both makes the whole association, and its correlation is about right."""
    rng = np.random.default_rng(0)
    n, rho = 200_000, 0.5
    hidden = rng.normal(size=n)
    sex = (rho * hidden + np.sqrt(1 - rho**2) * rng.normal(size=n)) > 0
    skill = rho * hidden + np.sqrt(1 - rho**2) * rng.normal(size=n)
    found = asked(
        lambda p: p["skill"], {"sex": sex, "skill": skill}, graph="sex -> skill", features=["skill"], bootstrap=0
    )
    true = np.corrcoef(hidden, sex)[0, 1]
    left = skill - np.where(sex, skill[sex].mean(), skill[~sex].mean())
    outside = hidden - np.where(sex, hidden[sex].mean(), hidden[~sex].mean())
    partial = np.corrcoef(left, outside)[0, 1]
    assert found.worlds[0].confounding[0].points[-1].correlation == pytest.approx(np.sqrt(true * partial), abs=0.03)


def test_several_worlds_give_a_range() -> None:
    worlds = {"job alone": "sex -> job", "both": GRAPH, "nothing": "sex -> height; age -> skill"}
    data = {**people(), "height": people(seed=1)["skill"]}
    found = asked(
        lambda p: 0.1 * p["skill"] + 0.2 * (p["job"] == "boss"), data, graph=worlds, features=["skill", "job"]
    )
    assert [w.name for w in found.worlds] == list(worlds)
    means = [w.answer.changes[0].mean.value for w in found.worlds]
    whole = next(r for r in found.ranges if (r.group, r.figure) == ("f", "mean"))
    assert (whole.lowest, whole.highest) == (min(means), max(means))
    assert not whole.agree
    assert whole.ci is not None
    assert whole.ci[0] <= 0 < whole.ci[1]
    two = {"job alone": "sex -> job", "both": GRAPH}
    near = asked(lambda p: 0.1 * p["skill"] + 0.2 * (p["job"] == "boss"), data, graph=two, features=["skill", "job"])
    sizes = [w.answer.changes[0].size for w in near.worlds]
    assert sizes[0].ci[1] < sizes[1].ci[0]
    between = (sizes[0].ci[1] + sizes[1].ci[0]) / 2  # one world is within, the other beyond
    for tolerance, agree in ((between, False), (0.0, True)):
        ranges = ranges_of(near.worlds, tolerance)
        assert next(r for r in ranges if (r.group, r.figure) == ("f", "size")).agree is agree
    assert "worlds" in found.plots()


# ---- given models -------------------------------------------------------------------------------------------


def test_a_fitted_structural_model_is_used_as_it_is() -> None:
    import networkx
    import pandas

    gcm = causal_library()
    data = pandas.DataFrame(people())[["sex", "age", "skill"]]
    model = gcm.InvertibleStructuralCausalModel(networkx.DiGraph([("sex", "skill"), ("age", "skill")]))
    for root in ("sex", "age"):
        model.set_causal_mechanism(root, gcm.EmpiricalDistribution())
    model.set_causal_mechanism("skill", gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor()))
    with pytest.raises(DataError, match=r"mechanism of 'skill' cannot be used.*must be fitted"):
        asked(lambda p: p["skill"], data, graph=model, features=["skill"])
    gcm.fit(model, data)
    given = asked(lambda p: p["skill"], data, graph=model, features=["skill"]).worlds[0]
    ours = asked(lambda p: p["skill"], data, graph="sex -> skill; age -> skill", features=["skill"]).worlds[0]
    assert given.answer.changes[0].mean.value == pytest.approx(ours.answer.changes[0].mean.value)
    assert given.answer.changes[0].size.floor is None
    assert any("given" in a for a in given.assumptions)
    mixed = asked(
        lambda p: p["skill"], data, graph="sex -> skill; age -> skill", features=["skill"],
        mechanisms={"skill": gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor())},
    ).worlds[0]  # fmt: skip
    assert mixed.answer.changes[0].mean.value == pytest.approx(ours.answer.changes[0].mean.value)
    for wrong in ({"nobody": 1}, {"skill": 1}, "cubic", 3):
        with pytest.raises(UsageError, match="mechanism"):
            asked(lambda p: p["skill"], data, graph="sex -> skill", features=["skill"], mechanisms=wrong)


def test_importing_dowhy_leaves_the_prompt_alone() -> None:
    import sys

    before = sys.displayhook
    causal_library()
    assert sys.displayhook is before


def test_boosted_mechanisms() -> None:
    found = asked(mechanisms="boosted", bootstrap=2, data=people(300)).worlds[0]
    assert 0.1 < found.answer.changes[0].mean.value < 0.5


def bent(n: int, seed: int = 0, strength: float = 0.6) -> dict[str, Any]:
    """Sex bends how skill follows from age: what it moves is nothing on average, and a lot in size."""
    rng = np.random.default_rng(seed)
    sex, age = rng.integers(0, 2, n), rng.normal(size=n)
    skill = strength * sex * (age**2 - 1) + 0.3 * age + rng.normal(size=n)
    return {"sex": np.array(["f", "m"])[sex], "age": age, "skill": skill}


def curved(p: Any) -> Any:
    return 0.3 + 0.1 * p["skill"] + 0.05 * p["skill"] ** 2


BENT: dict[str, Any] = {"graph": "sex -> skill; age -> skill", "features": ["skill"]}


def test_a_bent_mechanism_is_found_held_out_and_the_linear_one_is_told() -> None:
    """The true mean change is 0.036 and its mean size 0.089; a linear mechanism says 0 with an interval around it."""
    found = asked(curved, bent(2000), **BENT)
    world = found.worlds[0]
    (skill,) = world.mechanisms
    assert (skill.form, skill.chosen) == ("flexible", True)
    assert skill.held_out["flexible"] > skill.held_out["linear"] + 0.1
    assert not skill.misfit.sure
    women = world.answer.changes[0]
    assert held(women.mean, 0.036)
    assert held(women.size, 0.089)
    other = next(a for a in world.alternatives if (a.form, a.group) == ("linear", "f"))
    assert other.size < 0.01
    document = found.to_dict()["worlds"][0]
    assert document["mechanisms"][0]["held_out"] == [
        {"form": form, "explained": share} for form, share in skill.held_out.items()
    ]
    for shown in (" ".join(repr(found).split()), found.to_html()):
        assert "With linear mechanisms only" in shown
    assert "mechanism of skill (number, flexible)" in " ".join(repr(found).split())


def test_a_linear_mechanism_that_misfits_is_not_silent() -> None:
    found = asked(curved, bent(2000), mechanisms="linear", **BENT)
    assert not held(found.worlds[0].answer.changes[0].size, 0.089)
    assert found.worlds[0].mechanisms[0].misfit.sure
    assert any("the linear mechanism of 'skill' misfits" in note for note in found.notes)
    assert "misfits: causes tell" in " ".join(repr(found).split())
    assert found.worlds[0].alternatives == ()


def test_a_straight_mechanism_stays_linear_and_keeps_its_value() -> None:
    data = people(2000)
    auto, linear = (asked(curved, data, mechanisms=m, **BENT).worlds[0] for m in ("auto", "linear"))
    assert auto.mechanisms[0].form == "linear"
    assert auto.answer.changes[0].mean.value == linear.answer.changes[0].mean.value
    assert not auto.mechanisms[0].misfit.sure
    assert not auto.mechanisms[0].spread.sure
    assert {a.form for a in auto.alternatives} == {"flexible"}


def test_forms_can_be_fixed_for_all_or_for_one() -> None:
    data = bent(400)
    for said in ("flexible", {"skill": "flexible"}):
        (skill,) = asked(curved, data, mechanisms=said, bootstrap=2, **BENT).worlds[0].mechanisms
        assert (skill.form, skill.chosen, list(skill.held_out)) == ("flexible", False, ["flexible"])
    alone = asked(curved, data, graph="sex -> skill", features=["skill"], bootstrap=2).worlds[0].mechanisms[0]
    assert (alone.form, alone.chosen) == ("linear", False)  # two means are as flexible as it gets


def test_noise_that_the_attribute_spreads_is_told() -> None:
    data = people(2000)
    data["skill"] = data["skill"] * np.where(data["sex"] == "m", 3, 1)
    found = asked(curved, data, bootstrap=2, **BENT)
    assert found.worlds[0].mechanisms[0].spread.sure
    jsonschema.validate(json.loads(found.to_json()), schema("counterfactual"))
    assert any("its noise is not a person's own" in note for note in found.notes)


def test_a_bent_category_takes_the_flexible_form() -> None:
    rng = np.random.default_rng(0)
    sex, age = rng.integers(0, 2, 2000), rng.normal(size=2000)
    boss = rng.random(2000) < 1 / (1 + np.exp(-(2 * sex - 1) * (age**2 - 1)))
    data = {"sex": np.array(["f", "m"])[sex], "age": age, "job": np.where(boss, "boss", "clerk")}
    found = asked(lambda p: 1.0 * (p["job"] == "boss"), data, graph="sex -> job; age -> job", features=["job"])
    (job,) = found.worlds[0].mechanisms
    assert (job.kind, job.form) == ("category", "flexible")
    assert not job.misfit.sure
    moved = 1 / (1 + np.exp(1 - age**2)) - 1 / (1 + np.exp(age**2 - 1))
    assert held(found.worlds[0].answer.changes[0].size, float(abs(moved).mean()))


# ---- manners ------------------------------------------------------------------------------------------------


def test_same_seed_same_bytes_and_a_valid_document(tmp_path: Path) -> None:
    found = asked(graph={"a": GRAPH, "b": "sex -> job"})
    document = found.to_dict()
    jsonschema.validate(document, schema("counterfactual"))
    assert found.to_json() == asked(graph={"a": GRAPH, "b": "sex -> job"}).to_json()
    assert found.to_json() != asked(graph={"a": GRAPH, "b": "sex -> job"}, rng=1).to_json()
    text = repr(found)
    assert max(map(len, text.splitlines())) <= 80
    for words in (
        document["flip"]["label"][:30],
        "This rests on",
        "accounts for",
        "through skill",
        "Over all causal models",
    ):
        assert words in text
    page = found.to_html(tmp_path / "p.html")
    assert "What this rests on" in page
    assert 'data-chart="confounding"' in page
    jsonschema.validate(asked(lambda p: p["age"], graph=None, bootstrap=0).to_dict(), schema("counterfactual"))


def test_people_are_in_the_frame_and_not_in_the_document() -> None:
    data = people(200)
    found = asked(data=data)
    frame = found.to_frame(library="pandas")
    assert list(frame["row"]) == list(range(200))
    assert set(frame["group"]) == {"f", "m"}
    assert frame["change"].to_numpy() == pytest.approx((frame["score_there"] - frame["score"]).to_numpy())
    assert found.to_frame("flip", library="pandas")["change"].abs().to_numpy() == pytest.approx(0.15)
    with pytest.raises(UsageError, match=r"no causal model 'flop'.*did you mean 'flip'"):
        found.to_frame("flop")
    listed = [len(v) for v in _lists(found.to_dict())]
    assert max(listed) <= 31  # histograms, not people


def _lists(value: Any) -> Any:
    if isinstance(value, list):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _lists(inner)


def test_charts_are_drawn() -> None:
    found = asked(graph={"a": GRAPH, "b": "sex -> job"})
    assert found.plots() == ("changes", "paths", "confounding", "worlds")
    for name in found.plots():
        assert found.plot(name).to_svg().startswith("<svg")
    assert "flipped" in found.plot("changes", "flip").title
    for wrong in (("bars",), ("changes", "c"), ("paths", "flip")):
        with pytest.raises(UsageError):
            found.plot(*wrong)


def test_a_model_without_the_attribute_has_no_flip() -> None:
    found = asked(lambda p: p["skill"], features=["skill"])
    assert found.to_dict()["flip"] == {**found.to_dict()["flip"], "undefined": NOT_TAKEN, "answer": None}
    direct = next(p for p in found.worlds[0].paths if p.via == "direct")
    assert direct.mean == (0, (0, 0), None)
    assert "does not take" in direct.because


def test_more_than_two_groups_and_risk_scores() -> None:
    rng = np.random.default_rng(0)
    data = {"g": np.array(list("abc"))[np.arange(300) % 3], "x": rng.normal(size=300) + np.arange(300) % 3}
    found = asked(lambda p: p["x"] / 4, data, attribute="g", graph="g -> x", features=["x"], risk=True)
    answer = found.worlds[0].answer
    assert len(answer.changes) == 6
    assert {answer.largest.group, answer.largest.other} == {"a", "c"}
    up = next(c for c in answer.changes if (c.group, c.other) == ("a", "c"))
    assert up.mean.value > 0
    assert up.favoured.value == 0 < up.disfavoured.value
    assert all(c.p_adjusted >= c.p_value for c in answer.changes)
    assert "a risk: worse for them" in found.to_dict()["worlds"][0]["answer"]["changes"][1]["interpretation"]


def test_shares_that_never_vary_are_not_certain() -> None:
    data = {"sex": ["f", "m"] * 20, "x": [0.0, 1.0] * 20}
    change = asked(lambda p: 0.0 * p["x"], data, graph=None).flip.changes[0]
    assert change.changed.value == 0
    assert change.changed.ci[0] == 0 < change.changed.ci[1] < 0.3


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_every_library_gives_the_same_answer(library: str) -> None:
    data = people(150)
    module = pytest.importorskip(library)
    frame = module.table(data) if library == "pyarrow" else module.DataFrame(data)

    def score(p: Any) -> Any:
        seen.append(type(p).__module__.split(".")[0])
        return np.asarray(p["skill"]) * 0.1 + (np.asarray(p["job"]) == "boss")

    seen: list[str] = []
    words: dict[str, Any] = {"features": ["skill", "job"], "bootstrap": 3}
    assert asked(score, frame, **words).to_dict()["worlds"] == asked(score, data, **words).to_dict()["worlds"]
    assert library in seen


def test_notes_say_what_a_reader_should_know() -> None:
    data = people(100)
    data["skill"] = np.round(data["skill"] * 3)
    data["flat"] = np.zeros(100)
    graph = f"{GRAPH}; sex -> flat; sex -> hidden"
    found = asked(lambda p: 99 + p["skill"] + p["flat"], data, graph=graph, features=["skill", "flat"], bootstrap=0)
    notes = " ".join(found.notes)
    for words in (
        "'skill': whole numbers", "'flat': the same for everybody", "'hidden', 'job' are ignored",
        "everybody is decided favourably", "'hidden': in a graph but not in the data",
    ):  # fmt: skip
        assert words in notes


def test_a_mechanism_that_is_worse_than_none_is_named() -> None:
    rng = np.random.default_rng(0)
    data = {**people(60), **{f"x{i}": rng.normal(size=60) for i in range(25)}}
    causes = "; ".join(f"x{i} -> skill" for i in range(25))
    found = asked(lambda p: p["skill"], data, graph=f"sex -> skill; {causes}", features=["skill"], bootstrap=0)
    assert "the mechanism of 'skill' is worse than none" in " ".join(found.notes)


def test_duplicated_people_and_edges_change_nothing() -> None:
    data = people(100)
    once = asked(lambda p: p["skill"], data, graph="sex -> skill", features=["skill"], bootstrap=0)
    double = {k: np.concatenate([v, v]) for k, v in data.items()}
    twice = asked(lambda p: p["skill"], double, graph="sex -> skill; sex -> skill", features=["skill"], bootstrap=0)
    for a, b in zip(once.worlds[0].answer.changes, twice.worlds[0].answer.changes, strict=True):
        assert a.mean.value == pytest.approx(b.mean.value)


# ---- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"graph": "sex -> skill -> sex"}, "sex → skill → sex"),
        ({"graph": "age -> skill"}, "'sex' is not in graph"),
        ({"graph": "sex -> skil -> job"}, "no 'skil'.*did you mean 'skill'"),
        ({"attribute": "sexe"}, "no column 'sexe'.*did you mean 'sex'"),
        ({"attribute": "age", "graph": "age -> skill"}, "at most 20 groups.*cut numbers into a few ranges"),
        ({"features": ["skill", "nobody"]}, "no column 'nobody'"),
        ({"features": "skill"}, "a list of columns"),
        ({"threshold": float("nan")}, "threshold"),
        ({"tolerance": -1}, "tolerance"),
        ({"confounding": [2]}, "from -1 to 1"),
        ({"confounding": "x"}, "from -1 to 1"),
        ({"bootstrap": -1}, "bootstrap"),
        ({"numbers": ["sex"]}, "cannot be among numbers"),
        ({"numbers": ["job"]}, "must hold numbers|not a number"),
        ({"missing": "guess"}, "missing must be one of 'refuse', 'drop'"),
    ],
)
def test_refused(words: dict[str, Any], said: str) -> None:
    with pytest.raises(EvenhandError, match=said):
        asked(data=people(60), **words)


def test_missing_values_are_refused_or_dropped() -> None:
    data = people(60)
    data["skill"][3] = np.nan
    with pytest.raises(DataError, match="1 of 60 rows have none in 'skill'"):
        asked(data=data)
    found = asked(data=data, missing="drop")
    assert found.people == 59
    assert found.to_dict()["data"]["left_out"] == {"skill": 1}
    assert 3 not in found.to_frame(library="pandas")["row"].tolist()


def test_one_group_or_one_person_of_it() -> None:
    data = people(60)
    with pytest.raises(DataError, match="nobody else to be"):
        asked(data={**data, "sex": ["f"] * 60})
    with pytest.raises(DataError, match="two that read '1'"):
        asked(data={**data, "sex": [1, "1"] * 30})
    found = asked(data={**data, "sex": ["x", *data["sex"][1:]]})
    lonely = next(c for c in found.worlds[0].answer.changes if c.group == "x")
    assert lonely.mean.ci is None
    assert "one person" in lonely.undefined


def test_an_encoder_that_knows_no_other_category_is_quoted() -> None:
    def strict(p: Any) -> Any:
        if (p["sex"].to_numpy() != data["sex"]).any():
            raise ValueError("Found unknown categories ['m']")
        return np.zeros(len(p))

    data = people(60)
    with pytest.raises(DataError, match=r"people with another 'sex'; it says: ValueError: Found unknown categories"):
        asked(strict, data)


# ---- command line -------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = people(200)
    rows = zip(*(data[k].tolist() for k in data), strict=True)
    (tmp_path / "people.csv").write_text("\n".join([",".join(data), *(",".join(map(str, r)) for r in rows)]))
    (tmp_path / "mine.py").write_text(
        "def score(p): return 0.3 + 0.1 * p['skill'] + 0.15 * (p['sex'] == 'm')\ndef broken(p): return 1 / 0\n"
    )
    (tmp_path / "one.txt").write_text("sex -> skill\nage -> skill\n")
    (tmp_path / "two.dot").write_text("digraph { sex -> job }")
    return tmp_path


def test_command(folder: Path) -> None:
    words = ("counterfactual", "people.csv", "--attribute", "sex", "--bootstrap", 5)
    both = ("--model", "mine:score", "--graph", "one.txt", "--graph", "two.dot")
    found = run(*words, *both, "--json", "-", "--html", "p.html", cwd=folder)
    assert found.returncode == 0, found.stderr
    document = json.loads(found.stdout)
    jsonschema.validate(document, schema("counterfactual"))
    assert [w["name"] for w in document["worlds"]] == ["one", "two"]
    assert (folder / "p.html").stat().st_size > 10_000
    text = run(*words, "--model", "mine:score", cwd=folder)
    assert "Attribute flip" in text.stdout
    assert "0.150 higher if the model were told m" in text.stdout
    for extra, said in (
        (("--model", "mine:broken"), "it says: ZeroDivisionError"),
        (("--model", "x.pkl"), "can run any code"),
        (("--model", "mine:score", "--graph", "a -> b -> a"), "a → b → a"),
        (("--model", "mine:score", "--confounding", "x"), "--confounding takes numbers"),
        ((), "--model"),
    ):
        bad = run(*words, *extra, cwd=folder)
        assert bad.returncode == 2, bad.stderr
        assert said in bad.stderr
        lines = [line for line in bad.stderr.splitlines() if "runs its code" not in line]
        assert len(lines) == 1


def test_digits_reach_the_model_as_what_they_are_said_to_be(folder: Path) -> None:
    (folder / "codes.csv").write_text("sex,zip,code\n" + "f,007,1\nm,010,2\n" * 20)
    (folder / "strict.py").write_text(
        "def score(p):\n"
        "    assert all(isinstance(v, str) for v in p['code']) and set(p['code']) == {'1', '2'}, list(p['code'])[:3]\n"
        "    return 0.01 * p['zip']\n"
    )
    words = ("counterfactual", "codes.csv", "--attribute", "sex", "--model", "strict:score", "--bootstrap", 2)
    told = run(*words, "--text", "code", "--numbers", "zip", "--json", "-", cwd=folder)
    assert told.returncode == 0, told.stderr
    assert run(*words, "--numbers", "zip", cwd=folder).returncode == 2
    both = run(*words, "--text", "zip", "--numbers", "zip", cwd=folder)
    assert (both.returncode, "cannot be both numbers and names" in both.stderr) == (2, True)
    with (folder / "codes.csv").open("a") as file:
        file.write("f,x,3\n")
    stray = run(*words, "--text", "code", "--numbers", "zip", cwd=folder)
    assert (stray.returncode, "1 of 41 rows hold 'x'" in stray.stderr) == (2, True)


def test_text_is_said_of_files_only() -> None:
    with pytest.raises(UsageError, match=r"these data have types of their own: make column 'job' text"):
        asked(data=people(60), text=["job"])


# ---- Adult --------------------------------------------------------------------------------------------------


def test_the_worked_example(data_folder: Path) -> None:
    """As docs/analyses/counterfactual.md has it, with a third of the people."""
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    names = [
        "age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relationship", "race",
        "sex", "capital_gain", "capital_loss", "hours", "country", "income",
    ]  # fmt: skip
    adult = pd.read_csv(data_folder / "adult.data", names=names, skipinitialspace=True, na_values="?").dropna()[::3]
    words, numbers = ["sex", "marital", "occupation"], ["age", "education_num", "hours"]
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), (StandardScaler(), numbers))
    model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(adult[words + numbers], adult["income"])
    graph = (
        "sex -> marital; age -> marital; sex -> education_num; age -> education_num; sex -> occupation; "
        "education_num -> occupation; sex -> hours; marital -> hours; occupation -> hours; age -> hours"
    )
    found = evenhand.counterfactual_fairness(
        model, adult, attribute="sex", graph=graph, favorable=">50K", bootstrap=10
    )  # fmt: skip
    women = found.worlds[0].answer.changes[0]
    assert (women.group, women.other) == ("Female", "Male")
    assert 0.13 < women.mean.value < 0.19
    assert found.flip is not None
    assert found.flip.changes[0].mean.value < 0.03
    ways = {p.via: p.mean.value for p in found.worlds[0].paths if p.group == "Female"}
    assert max(ways, key=lambda w: ways[w]) == "marital"


def test_people_who_are_alike_are_counted_for_a_category_and_tell_the_same() -> None:
    gcm = causal_library()
    rng = np.random.default_rng(0)
    causes = rng.integers(0, 4, (600, 2)).astype(float)
    values = (rng.gumbel(size=(600, 3)) + causes[:, :1] * [0.0, 0.5, -0.5]).argmax(1)

    def make() -> Any:
        return gcm.ml.create_logistic_regression_classifier(C=10.0, tol=1e-8, solver="newton-cholesky")

    counted, repeated = (GumbelMax(3, make, counts=counts).refit(causes, values) for counts in (True, False))
    assert np.allclose(counted.utilities(causes), repeated.utilities(causes), atol=1e-6)
    assert counted.classifier.sklearn_model.n_iter_.max() > 0
    apart = rng.normal(size=(600, 2))  # nobody is alike: as before, to the last digit
    one, other = (GumbelMax(3, make, counts=counts).refit(apart, values) for counts in (True, False))
    assert np.array_equal(one.utilities(apart), other.utilities(apart))
