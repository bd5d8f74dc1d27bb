"""Groups compared within strata: beside the ordinary audit, from rows and tables, in every view."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

import evenhand
from evenhand.cli import main
from evenhand.errors import EvenhandError

BERKELEY = {"A": (512, 825, 89, 108), "B": (353, 560, 17, 25), "C": (120, 325, 202, 593), "D": (138, 417, 131, 375),
            "E": (53, 191, 94, 393), "F": (22, 373, 24, 341)}  # fmt: skip
FEW = {"bootstrap": 39, "permutations": 39}
NONE = {"bootstrap": 0, "permutations": 0}


@pytest.fixture(scope="module")
def berkeley():
    cells = [
        (dept, sex, admitted, count)
        for dept, (men, all_men, women, all_women) in BERKELEY.items()
        for sex, part, whole in (("male", men, all_men), ("female", women, all_women))
        for admitted, count in ((1, part), (0, whole - part))
    ]
    dept, sex, admitted, count = zip(*cells, strict=True)
    rows = {"dept": dept, "sex": sex, "admitted": admitted}
    return {name: np.repeat(values, count).tolist() for name, values in rows.items()}


@pytest.fixture(scope="module")
def scored():
    rng = np.random.default_rng(8)
    n = 900
    job = rng.integers(0, 6, n)
    b = rng.random(n) < 0.15 + 0.1 * job
    y = rng.random(n) < 0.2 + 0.1 * job
    score = np.round(1 / (1 + np.exp(-(rng.normal(0, 1, n) + job / 2 - 1.5 + y))), 2)
    third = rng.choice(["x", "y"], n)
    return {"s": score, "y": y.astype(int), "g": np.where(b, "b", "a"), "r": third, "job": [f"job {k}" for k in job]}


def within(audit, attribute=0):
    return audit.to_dict()["attributes"][attribute]["within"]


def stripped(document):
    """A document as it would be without strata."""
    document = json.loads(json.dumps(document))
    document["options"].pop("within", None)
    for key in ("verdict", "command", "caveats", "notes"):
        document.pop(key)
    for a in document["attributes"]:
        a.pop("within", None)
        a["verdict"].pop("sentence")
    return document


def test_berkeley_turns_round(berkeley):
    audit = evenhand.audit(berkeley, prediction="admitted", group="sex", within="dept", **NONE)
    document = audit.to_dict()
    pytest.importorskip("jsonschema").validate(document, evenhand.schema("audit"))
    (one,) = within(audit)["rates"]
    assert (one["crude"], one["risk_difference"]["value"]) == pytest.approx((-0.141645, 0.018425), abs=1e-6)
    assert one["reversed"] is True
    assert one["odds_ratio"]["value"] == pytest.approx(1.1053426615022164)
    assert [round(d, 3) for d in one["differences"]] == [0.203, 0.05, -0.029, 0.018, -0.038, 0.011]
    shares = {"everybody": [933, 585, 918, 792, 584, 714], "group": [108, 25, 593, 375, 393, 341],
              "reference": [825, 560, 325, 417, 191, 373]}  # fmt: skip
    for whose, people in shares.items():
        assert one["standardized"][whose]["value"] == pytest.approx(np.average(one["differences"], weights=people))
    assert document["verdict"]["word"].startswith("unequal")
    assert (
        "Within dept (6 strata), the selection rate of female is 1.8 percentage points above"
        in (document["verdict"]["sentence"])
    )
    assert any("turns round" in note and "14.2 percentage points below" in note for note in document["caveats"])
    assert any("differ from stratum to stratum" in note for note in document["notes"])


def test_conditional_demographic_disparity_is_that_of_a_loop_over_rows(scored):
    found = evenhand.audit(scored, score="s", group=["g"], within="job", threshold=0.5, **NONE)
    selected, g, job = np.array(scored["s"]) >= 0.5, np.array(scored["g"]), np.array(scored["job"])
    total, each = 0.0, []
    for k in np.unique(job):
        own = job == k
        d = (g[own & ~selected] == "a").mean() - (g[own & selected] == "a").mean()
        each.append(d)
        total += own.mean() * d
    (one,) = within(found)["rates"]
    sign = 1 if one["group"] == "a" else -1
    assert one["disparity"]["value"] == pytest.approx(sign * total, abs=1e-12)
    assert one["disparities"] == pytest.approx([sign * d for d in each], abs=1e-12)


@pytest.mark.parametrize("missing", [False, True])
def test_the_ordinary_audit_is_as_without_strata(scored, missing):
    rows = {name: list(values) for name, values in scored.items()}
    how = {"score": "s", "label": "y", "group": ["g", "r"], "threshold": 0.5, "reference": {"g": "a"}, **FEW}
    if missing:
        rows["g"][::17], rows["job"][::13], rows["r"][::34] = (
            [None] * len(rows["g"][::17]), [None] * len(rows["job"][::13]), [None] * len(rows["r"][::34])
        )  # fmt: skip
        how["missing"] = "drop"
    plain, strata = evenhand.audit(rows, **how), evenhand.audit(rows, within=["job"], **how)
    assert stripped(strata.to_dict()) == stripped(plain.to_dict())
    assert strata.table.digest() == plain.table.digest()
    found = within(strata)
    lacking = sum(g is not None and k is None for g, k in zip(rows["g"], rows["job"], strict=True))
    assert found["without"] == lacking
    assert sum(sum(s["people"].values()) for s in found["strata"]) + lacking == sum(g is not None for g in rows["g"])
    assert len(within(strata, 2)["rates"]) == 3 * len(within(strata)["rates"])


def test_saved_merged_and_counted_elsewhere_it_is_the_same(scored, tmp_path):
    polars = pytest.importorskip("polars")
    how = {"within": "job", "threshold": 0.5, **FEW}
    first = evenhand.audit(scored, score="s", label="y", group="g", **how)
    table = evenhand.tabulate(scored, score="s", label="y", group=["g", "job"])
    halves = [
        evenhand.tabulate({k: list(v)[part] for k, v in scored.items()}, score="s", label="y", group=["g", "job"])
        for part in (slice(0, 400), slice(400, None))
    ]
    table.save(tmp_path / "t.parquet")
    others = (table, tmp_path / "t.parquet", halves[0] + halves[1])
    for other in others:
        found = evenhand.audit(other, **how)
        assert found.to_dict() == first.to_dict()
    frame = polars.DataFrame({k: list(v) for k, v in scored.items()})
    assert evenhand.audit(frame, score="s", label="y", group="g", **how).to_dict() == first.to_dict()
    given = {"group": {"g": scored["g"]}, **how, "within": {"job": np.array(scored["job"])}}
    arrays = evenhand.audit(score=scored["s"], label=scored["y"], **given)
    assert within(arrays)["rates"] == within(first)["rates"]
    assert evenhand.verify(_written(first, tmp_path), tmp_path / "t.parquet")


def _written(audit, folder):
    audit.to_json(folder / "a.json")
    return folder / "a.json"


def test_scores_are_measured_on_people_with_the_same_mix(scored):
    audit = evenhand.audit(scored, score="s", label="y", group="g", reference="a", within="job", threshold=0.5, **FEW)
    found = {one["id"]: one for one in within(audit)["scores"]}
    s, g, job = (np.array(scored[name]) for name in ("s", "g", "job"))
    weight = np.array([(job == k).sum() / ((job == k) & (g == own)).sum() for k, own in zip(job, g, strict=True)])
    sides = [(s[g == own], weight[g == own]) for own in ("b", "a")]
    (x, u), (y, v) = sides
    assert found["abcc"]["value"] == pytest.approx(wasserstein_distance(x, y, u, v), abs=1e-12)
    means = [np.average(values, weights=w) for values, w in sides]
    assert found["delta_dp_c"]["signed"] == pytest.approx(means[0] - means[1], abs=1e-12)
    good = np.array(scored["y"]) == 1
    weight = np.array([((job == k) & good).sum() / ((job == k) & (g == o) & good).sum() if y else 0.0
                       for k, o, y in zip(job, g, good, strict=True)])  # fmt: skip
    x, y = ((g == own) & good for own in ("b", "a"))
    assert found["equal_opportunity_uniform"]["value"] == pytest.approx(
        wasserstein_distance(s[x], s[y], weight[x], weight[y]), abs=1e-12
    )
    assert abs(found["abcc"]["value"]) < abs(found["abcc"]["crude"]) / 2
    assert found["abcc"]["ci"][0] == 0
    assert found["abcc"]["p_value"] > 0.05 > audit.measure("abcc").p_value
    assert "density" in found["abpc"]["undefined"]


def test_in_one_stratum_every_measure_is_the_ordinary_one(scored):
    rows = {**scored, "job": ["all"] * len(scored["s"])}
    audit = evenhand.audit(rows, score="s", label="y", group="g", within="job", threshold=0.5, **NONE)
    for one in within(audit)["scores"]:
        if not one["undefined"]:
            assert one["value"] == pytest.approx(audit.measure(one["id"]).value, abs=1e-12), one["id"]
    for one in within(audit)["rates"]:
        assert one["risk_difference"]["value"] == pytest.approx(one["crude"], abs=1e-12)


def test_strata_that_lack_a_group_are_named_and_change_nothing(scored):
    more = {name: [*values, *extra] for (name, values), extra in zip(
        scored.items(), ([0.9, 0.8], [1, 0], ["a", "b"], ["x", "x"], ["alone", "lone"]), strict=True)}  # fmt: skip
    how = {"score": "s", "label": "y", "group": "g", "within": "job", "threshold": 0.5, **NONE}
    a, b = (within(evenhand.audit(rows, **how)) for rows in (scored, more))
    assert b["lacking"] == {"alone": ["b"], "lone": ["a"]}
    for x, y in zip(a["rates"], b["rates"], strict=True):
        assert y["lacking"][-2:] == ["alone", "lone"]
        assert x["risk_difference"] == y["risk_difference"]
        assert x["odds_ratio"] == y["odds_ratio"]
    for x, y in zip(a["scores"], b["scores"], strict=True):
        if x["value"] is not None and not x["id"].startswith("calibration"):
            assert x["value"] == pytest.approx(y["value"], abs=1e-12), x["id"]
    notes = evenhand.audit(more, **how).notes
    assert any("2 of 8 strata of 'job' lack a group of 'g'" in note and "'alone'" in note for note in notes)


def test_a_suppressed_table_is_compared_as_far_as_it_is_known(berkeley):
    how = {"within": "dept", **NONE}
    table = evenhand.tabulate(berkeley, prediction="admitted", group=["sex", "dept"])
    whole = within(evenhand.audit(table, **how))["rates"][0]
    assert within(evenhand.audit(evenhand.suppressed(table, below=5), **how))["rates"][0] == whole
    few = evenhand.suppressed(table, below=10)  # eight women were rejected in B
    assert few.provenance.withheld
    found = within(evenhand.audit(few, **how))
    (one,) = found["rates"]
    assert found["lacking"]["B"] == ["female"]
    assert one["crude"] is None
    assert one["differences"][0] == whole["differences"][0]
    assert one["differences"][1] is None
    without = {name: [v for v, dept in zip(values, berkeley["dept"], strict=True) if dept != "B"]
               for name, values in berkeley.items()}  # fmt: skip
    plain = within(evenhand.audit(without, prediction="admitted", group="sex", **how))["rates"][0]
    assert one["risk_difference"] == plain["risk_difference"]
    more = {
        **berkeley,
        "age": ["old", "young", "young"] * (len(berkeley["sex"]) // 3) + ["old"] * (len(berkeley["sex"]) % 3),
    }
    crossed = evenhand.suppressed(
        evenhand.tabulate(more, prediction="admitted", group=["sex", "age", "dept"]), below=10
    )
    with pytest.raises(EvenhandError, match="suppress a table that was counted by"):
        evenhand.audit(crossed, **how)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"within": "g"}, "'g' cannot be both compared"),
        ({"within": ["job", "job"]}, "repeats one"),
        ({"within": []}, "is the name of a column"),
        ({"within": "jobb"}, "jobb"),
        ({"within": "y", "prediction": "y", "score": None, "threshold": None}, "'y' everybody is decided alike"),
        ({"within": "job", "weight": "w"}, "within .--within. is not for sampling weights"),
        ({"within": "job", "cluster": "who"}, "within .--within. is not for clusters"),
        ({"within": "job", "score": ["s", "w"]}, "leave it out of an audit of several models or of classes"),
        ({"within": "apart"}, "no stratum of 'apart' has people of two groups"),
    ],
)
def test_bad_input_has_a_way_out(scored, how, said):
    n = len(scored["s"])
    apart = [f"{job} {g}" for job, g in zip(scored["job"], scored["g"], strict=True)]
    rows = {
        **scored,
        "w": np.random.default_rng(0).random(n) + 0.5,
        "who": [f"p{k // 2}" for k in range(n)],
        "apart": apart,
    }
    with pytest.raises(EvenhandError, match=said):
        evenhand.audit(rows, **{"score": "s", "group": "g", "threshold": 0.5, **NONE, **how})


def test_of_a_table_strata_are_attributes(scored):
    table = evenhand.tabulate(scored, score="s", label="y", group=["g", "job"])
    with pytest.raises(EvenhandError, match=r"'jop' is not an attribute of the table .*did you mean 'job'"):
        evenhand.audit(table, within="jop", **NONE)
    with pytest.raises(EvenhandError, match="nothing is left to compare"):
        evenhand.audit(table, within=["g", "job"], **NONE)


def test_private_tables_are_refused(scored):
    pytest.importorskip("opendp")
    table = evenhand.tabulate(scored, score="s", label="y", group=["g", "job"], score_range=(0, 1))
    with pytest.raises(EvenhandError, match="not for private tables"):
        evenhand.audit(evenhand.privatized(table, epsilon=2), within="job", **NONE)


def test_every_view_shows_strata(scored, tmp_path, capsys):
    rows = tmp_path / "rows.csv"
    names = list(scored)
    lines = [",".join(names), *(",".join(map(str, row)) for row in zip(*scored.values(), strict=True))]
    rows.write_text("\n".join(lines))
    said = ["audit", str(rows), "--score", "s", "--label", "y", "--group", "g", "--within", "job", "--threshold", "0.5"]
    few = ["--bootstrap", "39", "--permutations", "39"]
    assert main([*said, *few, "--json", str(tmp_path / "a.json"), "--html", str(tmp_path / "a.html"), "--markdown",
                 str(tmp_path / "a.md")]) in (0, None)  # fmt: skip
    text = capsys.readouterr().out
    assert "Within job: " in text
    assert "pooled (Mantel–Haenszel)" in text
    assert max(map(len, text.splitlines())) <= 80
    assert main([*said, *few, "--full"]) in (0, None)
    full = capsys.readouterr().out
    assert "odds ratio" in full
    assert "Not pooled because a density" in full
    for view in ("a.html", "a.md"):
        assert "CDD: share of rejected − of selected" in (tmp_path / view).read_text(encoding="utf-8")
    assert 'data-chart="strata"' in (tmp_path / "a.html").read_text(encoding="utf-8")
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    pytest.importorskip("jsonschema").validate(document, evenhand.schema("audit"))
    again = shlex.split(document["command"].replace("DATA", str(rows)))[1:]
    assert "--within" in again
    assert main([*again, "--json", str(tmp_path / "b.json"), "--quiet"]) in (0, None)
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "a.json").read_bytes()
    assert bool(evenhand.verify(tmp_path / "a.json", rows))


@pytest.mark.parametrize(("measure", "said"), [("equal_opportunity", "difference in TPR"), ("abcc", "null 95%")])
def test_where_selection_is_not_measured_views_show_what_is(scored, measure, said):
    how = {"within": "job", "measures": [measure], "threshold": 0.5, **NONE}
    audit = evenhand.audit(scored, score="s", label="y", group="g", **how)
    for view in (repr(audit), audit.to_markdown()):
        assert said in view.split("Within job: ")[-1]
    assert '<p class="said"></p>' not in audit.to_html()


def test_a_chart_has_every_stratum_the_pooled_gap_and_that_of_everybody(berkeley):
    pytest.importorskip("vl_convert")
    audit = evenhand.audit(berkeley, prediction="admitted", group="sex", within="dept", **NONE)
    assert "strata" in audit.plots()
    chart = audit.plot("strata")
    (one,) = within(audit)["rates"]
    assert chart.columns["stratum"] == [*"ABCDEF", "all strata, pooled", "everybody together"]
    assert chart.columns["difference"] == pytest.approx(
        [*one["differences"], one["risk_difference"]["value"], one["crude"]], abs=1e-5
    )
    assert chart.columns["low"][6:] == pytest.approx(
        [one["risk_difference"]["ci"][0], audit.measure("demographic_parity").ci[0]], abs=1e-5
    )
    assert "<svg" in chart.to_svg()
    with pytest.raises(EvenhandError, match="needs strata"):
        evenhand.audit(berkeley, prediction="admitted", group="sex", **NONE).plot("strata")


def test_who_has_no_group_is_there_within_strata_too(scored):
    rows = {**scored, "g": np.where(np.arange(900) % 9 == 0, None, scored["g"].astype(object)),
            "job": [None if i % 50 == 0 else job for i, job in enumerate(scored["job"])]}  # fmt: skip
    for roles in ({"group": "g", "threshold": "median"}, {"label": "y", "group": ["g", "r"]}):
        options = {"score": "s", **roles, "missing": "bounds", **NONE}
        ours, plain = (evenhand.audit(rows, **options, **words).to_dict() for words in ({"within": "job"}, {}))
        assert plain["attributes"][0]["unknown"]["n"] == 100
        assert stripped(ours) == stripped(plain)
        assert ours["notes"][:1] == plain["notes"][:1]  # the threshold


def test_small_groups_are_shown_in_strata_and_not_compared(scored):
    rows = {**scored, "g": np.where(np.arange(900) < 9, "tiny", scored["g"])}
    roles = {"score": "s", "group": ["g", "r"], "within": "job", "threshold": 0.5, **FEW}
    audit = evenhand.audit(rows, **roles, exclude_below="2%")
    found = within(audit)
    assert {one["group"] for one in found["rates"] + found["scores"]} == {"b"}
    assert sum(s["people"]["tiny"] for s in found["strata"]) == 9
    assert not found["lacking"]
    assert "Within job: tiny" not in audit.to_html()
    none = evenhand.audit(rows, **roles, exclude_below="40%").to_dict()["attributes"]
    assert ["within" in a for a in none] == [False, True, False]
    with pytest.raises(EvenhandError, match="all would be excluded"):
        evenhand.audit(rows, **{**roles, "group": "g"}, exclude_below="45%")


def test_a_reference_that_was_chosen_is_paid_for_within_strata_too():
    rng = np.random.default_rng(6)
    rows = {"d": rng.integers(0, 2, 600), "g": rng.choice(list("abcdef"), 600), "k": rng.choice(["x", "y"], 600)}
    roles = {"prediction": "d", "group": "g", "within": "k", **NONE}
    highest = evenhand.audit(rows, **roles, reference="highest")
    named = evenhand.audit(rows, **roles, reference=highest.attributes[0].reference)
    for ours, theirs in zip(within(highest)["rates"], within(named)["rates"], strict=True):
        assert ours["p_value"] == pytest.approx(min(3 * theirs["p_value"], 1))
        assert ours["tests"] == theirs["tests"]
        for key in ("risk_difference", "odds_ratio"):
            (low, high), (near, far) = ours[key]["ci"], theirs[key]["ci"]
            assert low < near < far < high


@pytest.mark.parametrize(
    "replications", [pytest.param(15, id="reduced"), pytest.param(400, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("kind", [(5, 100), (60, 12)], ids=["few large", "many sparse"])
def test_intervals_and_tests_of_pooled_scores_hold(replications, kind):
    """Scores that differ by nothing within strata, whose mix differs between the groups."""
    count, size = kind
    rng, held, false = np.random.default_rng(2), 0, 0
    for _ in range(replications):
        k = np.repeat(np.arange(count), size)
        g = rng.random(count * size) < 0.15 + 0.5 * k / count
        s = np.round(rng.beta(2 + 3 * k / count, 3), 2)
        rows = {"s": s, "g": np.where(g, "b", "a"), "k": k}
        audit = evenhand.audit(rows, score="s", group="g", within="k", bands="none", threshold=0.5,
                               measures=["delta_dp_c", "abcc"], bootstrap=199, permutations=99)  # fmt: skip
        mean, area = within(audit)["scores"]
        held += (mean["ci"][0] <= 0 <= mean["ci"][1]) and area["ci"][0] == 0
        false += area["p_value"] <= 0.05
    slack = 3 * np.sqrt(0.95 * 0.05 / replications)
    assert held / replications >= 0.93 - slack
    assert false / replications <= 0.05 + slack


def test_excluded_groups_are_not_compared_within_strata_either(scored):
    g = [f"{g}{r}" for g, r in zip(scored["g"], scored["r"], strict=True)]
    few = [k for k, name in enumerate(g) if name == "by"][:15]
    keep = [k for k, name in enumerate(g) if name != "by" or k in few]
    rows = {"s": scored["s"], "job": scored["job"], "g": g}
    rows = {name: [values[k] for k in keep] for name, values in rows.items()}
    large = {
        name: [v for v, own in zip(values, rows["g"], strict=True) if own != "by"] for name, values in rows.items()
    }
    said = {"score": "s", "group": "g", "threshold": 0.5, "within": "job", "reference": "ax", **FEW}
    ours = evenhand.audit(rows, **said, exclude_below="5%")
    found, plain = within(ours), within(evenhand.audit(large, **said))
    assert {one["group"] for one in found["rates"]} == {"ay", "bx"}
    for key in ("group", "differences", "risk_difference", "odds_ratio", "tests", "p_value", "lacking"):
        assert [one[key] for one in found["rates"]] == [one[key] for one in plain["rates"]]
    assert found["strata"][0]["people"]["by"] > 0
    assert not any("by against" in view for view in (ours.summary(full=True), ours.to_html(), ours.to_markdown()))


def test_where_all_but_one_are_excluded_nothing_is_compared_within(scored):
    said = {"score": "s", "threshold": 0.5, "within": "job", "exclude_below": "45%", **NONE}
    audit = evenhand.audit(scored, group=["g", "r"], **said)
    some = audit.to_dict()["attributes"]
    for view in (audit.to_html(), audit.to_markdown(), audit.summary(full=True), str(audit)):
        assert "not compared" in view
    assert [(a["name"], "within" in a) for a in some] == [("g", False), ("r", True), ("g × r", False)]
    alone = {g["name"]: g["rates"]["selection_rate"]["value"] for g in some[0]["groups"]}
    selected = {g: [s >= 0.5 for s, own in zip(scored["s"], scored["g"], strict=True) if own == g] for g in "ab"}
    assert alone == pytest.approx({g: np.mean(rows) for g, rows in selected.items()})
    with pytest.raises(EvenhandError, match="so all would be excluded"):
        evenhand.audit(scored, group="g", **said)


def test_long_names_leave_room_for_those_of_strata(scored):
    long = {**scored, "g": [f"a group of the name {g}" for g in scored["g"]]}
    text = str(evenhand.audit(long, score="s", group="g", threshold=0.5, within="job", **NONE))
    told = text[text.index("Within job: ") :]
    assert "\njob 3 " in told
    assert "difference" in told.partition("job 0")[0]
    assert max(map(len, text.splitlines())) <= 80
