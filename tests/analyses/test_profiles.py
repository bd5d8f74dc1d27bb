"""Profiles: the options, tables and words of a rule, files of one's own, and what does not fit."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import called, check_schema
from evenhand.analyses.profiles.profile import Category
from evenhand.analyses.profiles.profile_file import read_profile
from evenhand.analyses.profiles.shipped import profile_named, shipped
from evenhand.errors import UsageError
from evenhand.measures.unknown_groups import impact_ratio_bounds

EEO = ("Hispanic or Latino", "White", "Black or African American", "Asian", "Two or More Races")
FAST = {"bootstrap": 0, "permutations": 0}
NYC = {"profile": "nyc-ll144", "group": ["sex", "race"], **FAST}


@pytest.fixture(scope="module")
def people():
    """Two sexes, five categories of which one is small, and people without one or the other."""
    rng = np.random.default_rng(3)
    n = 3000
    sex = rng.choice(["Male", "Female", ""], n, p=[0.5, 0.42, 0.08])
    race = rng.choice([*EEO, ""], n, p=[0.2, 0.4, 0.2, 0.1, 0.01, 0.09])
    chosen = rng.random(n) < np.where(sex == "Male", 0.4, 0.3) - np.where(race == "Asian", 0.08, 0)
    return {
        "sex": [s or None for s in sex], "race": [r or None for r in race], "hired": chosen.astype(int),
        "score": np.round(rng.beta(2, 2, n) + 0.1 * chosen, 3), "dept": rng.choice(["a", "b"], n),
        "repaid": rng.integers(0, 2, n),
    }  # fmt: skip


@pytest.fixture(scope="module")
def hired(people):
    return evenhand.audit(people, prediction="hired", **NYC)


def table(document, title):
    return next(t for t in document["profile"]["tables"] if t["title"] == title)


def cells(made):
    """By category, the cells by the ids of their columns."""
    heads = [c["id"] for c in made["columns"]]
    return {row[0]: dict(zip(heads, row, strict=True)) for row in made["rows"]}


def counted(people, column, value):
    """Applicants and selected, by a loop over rows."""
    rows = [h for h, v in zip(people["hired"], people[column], strict=True) if v == value]
    return len(rows), int(sum(rows))


# ---- Local Law 144 -------------------------------------------------------------------------------------------------


def test_three_tables_are_those_of_a_loop_over_rows(people, hired):
    document = hired.to_dict()
    public = [t["title"] for t in document["profile"]["tables"] if not t["annex"]]
    assert public == ["Sex", "Race/ethnicity", "Intersection of sex and race/ethnicity"]
    for title, column, values in (("Sex", "sex", ("Male", "Female")), ("Race/ethnicity", "race", EEO)):
        found = cells(table(document, title))
        assert tuple(found) == values  # the order of the rule
        loop = {v: counted(people, column, v) for v in values}
        share = {v: n / len(people["sex"]) for v, (n, _) in loop.items()}
        highest = max(s / n for v, (n, s) in loop.items() if share[v] >= 0.02)
        for value, (n, s) in loop.items():
            cell = found[value]
            assert (cell["people"], cell["selected"]) == (n, s)
            assert cell["selection_rate"] == pytest.approx(s / n, abs=1e-12)
            if share[value] >= 0.02:
                assert cell["impact_ratio"] == pytest.approx(s / n / highest, abs=1e-12)
            else:
                assert cell["impact_ratio"].startswith("left out (")
    unknown = sum(v is None for v in people["race"])
    assert (
        f"People of unknown race, who are not in this table: {unknown:,}." in table(document, "Race/ethnicity")["notes"]
    )


def test_the_intersection_is_in_the_order_of_the_rule(hired):
    names = [row[0] for row in table(hired.to_dict(), "Intersection of sex and race/ethnicity")["rows"]]
    assert names == [f"{sex} × {race}" for sex in ("Male", "Female") for race in EEO]


def test_the_annex_has_scipys_test_and_sharp_bounds(people, hired):
    document = hired.to_dict()
    found = cells(table(document, "How sure the ratios by sex are"))
    (n, s), (k, t) = counted(people, "sex", "Female"), counted(people, "sex", "Male")
    assert found["Female"]["fisher_p"] == pytest.approx(stats.fisher_exact([[s, n - s], [t, k - t]]).pvalue, rel=1e-9)
    gone, yes = counted(people, "sex", None)
    expected = impact_ratio_bounds([s, t], [n, k], yes, gone - yes, 0)
    assert found["Female"]["ratio_bounds"] == pytest.approx(expected, abs=1e-12)
    low, high = found["Female"]["ratio_interval"]
    assert low < found["Female"]["impact_ratio"] < high


def test_a_score_is_cut_strictly_above_the_median_of_everybody(people):
    audit = evenhand.audit(people, score="score", **NYC, score_range=(0, 1.2))
    document = audit.to_dict()
    made = table(document, "Sex")
    assert [c["head"] for c in made["columns"]][2:4] == ["above the median", "scoring rate"]
    above = people["score"] > np.median(people["score"])  # of those without a sex, too
    women = np.array([s == "Female" for s in people["sex"]])
    assert cells(made)["Female"]["selected"] == int((above & women).sum())


def test_facts_and_the_cover_stand_beside_the_tables(people):
    facts = {"explanation": "all applicants of 2025"}
    audit = evenhand.audit(people, prediction="hired", **NYC, facts=facts)
    signed = audit.with_cover(evenhand.Cover(date="2026-01-02"))
    told = {f["id"]: f["text"] for f in signed.to_dict()["profile"]["facts"]}
    assert told == {
        "audit_date": "2026-01-02", "source": None, "explanation": "all applicants of 2025", "distribution_date": None,
    }  # fmt: skip
    for view in (str(signed), signed.to_markdown(), signed.to_html(embed="none")):
        assert "all applicants of 2025" in view
        assert "not stated" in view


def test_every_view_begins_with_the_tables(hired):
    check_schema(json.loads(hired.to_json()), evenhand.schema("audit"))
    assert str(hired).index("impact ratio") < str(hired).index(hired.to_dict()["verdict"]["word"].upper())
    page, text = hired.to_html(embed="none"), hired.to_markdown()
    assert page.index("Race/ethnicity") < page.index("Annex: how sure") < page.index('id="verdict"')
    assert text.index("**Race/ethnicity**") < text.index("Annex: how sure") < text.index("### By sex")
    assert max(map(len, str(hired).splitlines())) <= 80


def test_a_word_document_has_them(hired):
    docx = pytest.importorskip("docx")
    from io import BytesIO

    paper = docx.Document(BytesIO(hired.to_docx()))
    heads = [[cell.text for cell in made.rows[0].cells] for made in paper.tables]
    assert ["category", "applicants", "selected", "selection rate", "impact ratio"] in heads


def test_nothing_says_that_a_rule_is_kept(hired):
    words = "complian", "comply", "complies", "lawful", "legal", "passes the"
    for view in (str(hired), json.dumps(hired.to_dict()["profile"])):
        assert not [word for word in words if word in view.lower()]


def test_what_is_stated_wins_and_is_said(people):
    audit = evenhand.audit(people, prediction="hired", **NYC, exclude_below=0.0, reference={"sex": "Female"})
    document = audit.to_dict()
    assert {o["option"]: (o["profile"], o["stated"]) for o in document["profile"]["otherwise"]} == {
        "exclude_below": ("2%", "0.0"), "reference": ("highest", "{'sex': 'Female'}"),
    }  # fmt: skip
    small = cells(table(document, "Race/ethnicity"))["Two or More Races"]
    assert isinstance(small["impact_ratio"], float)
    assert "Stated otherwise" in str(audit)
    same = evenhand.audit(people, prediction="hired", **NYC, exclude_below="2%").to_dict()
    assert same["profile"]["otherwise"] == []


def test_a_saved_table_has_the_same_tables(people, hired, tmp_path):
    counts = evenhand.tabulate(people, prediction="hired", group=["sex", "race"], missing="bounds")
    counts.save(tmp_path / "people.table")
    saved = evenhand.audit(tmp_path / "people.table", profile="nyc-ll144", **FAST)
    assert saved.to_dict()["profile"]["tables"] == hired.to_dict()["profile"]["tables"]


# ---- the command line ----------------------------------------------------------------------------------------------


@pytest.fixture
def file(people, tmp_path):
    names = ("sex", "race", "hired", "dept")
    rows = zip(*(people[name] for name in names), strict=True)
    lines = [",".join("" if v is None else str(v) for v in row) for row in rows]
    path = tmp_path / "people.csv"
    path.write_text("\n".join([",".join(names), *lines]))
    return path


def test_the_printed_command_gives_the_same_document(file, tmp_path):
    out = tmp_path / "out.json"
    said = ["--prediction", "hired", "--group", "sex,race", "--profile", "nyc-ll144", "--exclude-below", "0",
            "--fact", "explanation=everybody", "--bootstrap", "0", "--permutations", "0"]  # fmt: skip
    first = called("audit", file, *said, "--json", out)
    assert first.returncode == 0, first.stderr
    document = json.loads(out.read_text())
    words = [str(file) if word == "DATA" else word for word in shlex.split(document["command"])[1:]]
    again = called(*words, "--json", out)
    assert again.returncode == 0, again.stderr
    assert json.loads(out.read_text()) == document


def test_defaults_of_the_command_line_are_not_what_was_stated(file, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'name = "mine"\ntitle = "Mine"\ndate = 2026-01-01\nsource = ["me"]\nstates = "all"\nnot_covered = []\n'
        '[options]\nbootstrap = 0\npermutations = 0\nconfidence = 0.9\nmissing = "drop"\n'
        '[[table]]\ntitle = "By {attribute}"\ncolumns = ["category", "difference", "difference_interval"]\n'
    )
    out = tmp_path / "out.json"
    found = called("audit", file, "--prediction", "hired", "--group", "sex", "--profile", mine, "--json", out)
    assert found.returncode == 0, found.stderr
    document = json.loads(out.read_text())
    assert (document["options"]["bootstrap"], document["options"]["confidence"]) == (0, 0.9)
    assert [c["head"] for c in document["profile"]["tables"][0]["columns"]][2] == "90% interval"
    stated = called("audit", file, "--prediction", "hired", "--group", "sex", "--profile", mine, "--confidence", "0.95",
                    "--json", out)  # fmt: skip
    assert stated.returncode == 0
    assert json.loads(out.read_text())["options"]["confidence"] == 0.95


def test_codes_are_mapped_to_names(people, tmp_path, file):
    codes = {name: str(i) for i, name in enumerate(EEO, start=1)}
    coded = tmp_path / "coded.csv"
    text = file.read_text()
    for name, code in codes.items():
        text = text.replace(name, code)
    coded.write_text(text)
    names = tmp_path / "codes.toml"
    names.write_text("".join(f'{code} = "{name}"\n' for name, code in codes.items()))
    out = tmp_path / "out.json"
    said = ["--prediction", "hired", "--group", "sex,race", "--profile", "nyc-ll144", "--bootstrap", "0",
            "--permutations", "0", "--json", out]  # fmt: skip
    refused = called("audit", coded, *said)
    assert refused.returncode == 2
    assert "are no race/ethnicity of the profile 'nyc-ll144': '1', '2', '3', '4', '5'" in refused.stderr
    assert "--map race=FILE" in refused.stderr
    assert called("audit", coded, *said, "--map", f"race={names}").returncode == 0
    mapped = json.loads(out.read_text())
    assert called("audit", file, *said).returncode == 0
    plain = json.loads(out.read_text())
    assert mapped["profile"]["tables"] == plain["profile"]["tables"]
    assert any("the values of 'race' were mapped: 1 is Hispanic or Latino" in note for note in mapped["notes"])
    assert "--map race=FILE" in mapped["command"]


def test_a_value_that_means_unknown_is_counted_as_such(people):
    said = [r or "declined" for r in people["race"]]
    same = {name: name for name in EEO}
    mapped = evenhand.audit({**people, "race": said}, prediction="hired", **NYC, map={"race": {**same, "declined": ""}})
    plain = evenhand.audit(people, prediction="hired", **NYC)
    assert mapped.to_dict()["profile"] == plain.to_dict()["profile"]


@pytest.mark.parametrize(
    ("map_", "message"),
    [
        ({"race": {"White": "White"}}, "does not say what 'Asian'"),
        ({"rase": {"White": "White"}}, "did you mean 'race'"),
        ({"race": dict.fromkeys(EEO, "")}, None),
        ({"race": "codes.toml"}, "map is a dict by column"),
        ({"race": {"White": 1}}, "says the name of 'White' as a text, not 1"),
    ],
)
def test_a_map_that_does_not_fit_is_refused(people, map_, message):
    with pytest.raises(evenhand.EvenhandError, match=message):
        evenhand.audit(people, prediction="hired", **NYC, map=map_)


def test_unknown_by_a_map_needs_to_be_kept():
    people = {"d": [1, 0, 1, 0], "g": ["a", "b", "c", "a"]}
    with pytest.raises(UsageError, match="missing='bounds'"):
        evenhand.audit(people, prediction="d", group="g", map={"g": {"a": "a", "b": "b", "c": ""}}, **FAST)


# ---- other profiles ------------------------------------------------------------------------------------------------


def test_adverse_impact_is_pooled_over_strata(people):
    audit = evenhand.audit(people, prediction="hired", group="sex", within="dept", missing="bounds",
                           profile="adverse-impact", **FAST)  # fmt: skip
    document = audit.to_dict()
    first, size = (
        cells(table(document, "Selection by sex")),
        cells(table(document, "How large the difference by sex is")),
    )
    (n, s), (k, t) = counted(people, "sex", "Female"), counted(people, "sex", "Male")
    pooled = (s + t) / (n + k)
    z = (s / n - t / k) / np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / k))
    assert first["Female"]["standard_deviations"] == pytest.approx(z, rel=1e-9)
    assert size["Female"]["shortfall"] == pytest.approx(n * pooled - s, rel=1e-9)
    assert size["Female"]["odds_ratio"] == pytest.approx(s * (k - t) / (n - s) / t, rel=1e-9)
    assert first["Female"]["practical"] == ("yes" if s / n / (t / k) < 0.8 else "no")
    assert first["Female"]["statistical"] == "yes"
    strata = cells(table(document, "By sex, pooled over strata"))
    within = document["attributes"][0]["within"]["rates"][0]
    assert strata["Female"]["difference"] == within["risk_difference"]["value"]
    unknown = sum(sex is None for sex in people["sex"])  # strata do not make the unknown known
    assert f"not in this table: {unknown:,}." in table(document, "Selection by sex")["notes"][0]


def test_people_of_unknown_category_are_counted_for_each_table(people):
    made = evenhand.audit(people, prediction="hired", **{**NYC, "profile": "adverse-impact"}, missing="drop").to_dict()
    for title, columns in (("sex", ["sex"]), ("race", ["race"]), ("sex × race", ["sex", "race"])):
        unknown = sum(None in row for row in zip(*(people[c] for c in columns), strict=True))
        assert f"leave out: {unknown}." in table(made, f"Selection by {title}")["notes"][0]


def test_people_made_a_group_of_their_own_are_told(people):
    made = evenhand.audit(people, prediction="hired", **{**NYC, "profile": "adverse-impact"}, missing="group").to_dict()
    unknown = sum(s is None or r is None for s, r in zip(people["sex"], people["race"], strict=True))
    for title, n in (("race", people["race"].count(None)), ("sex × race", unknown)):
        assert table(made, f"Selection by {title}")["notes"][0].endswith(f"rows of their own, (missing): {n}.")


def test_shares_of_several_rows_a_person_are_of_rows(people, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + '[[table]]\ntitle = "T"\ncolumns = ["category", "share"]\n')
    twice = {**people, "person": np.arange(3000) // 2}
    options = {"prediction": "hired", "group": "race", "cluster": "person", "missing": "bounds", **FAST}
    made = cells(table(evenhand.audit(twice, profile=path, **options).to_dict(), "T"))
    assert made["White"]["share"] == pytest.approx(people["race"].count("White") / 3000)


def test_p_is_below_what_its_head_says_at_any_confidence():
    people = {"sex": ["f"] * 100 + ["m"] * 100, "hired": [1] * 40 + [0] * 60 + [1] * 53 + [0] * 47}
    assert 0.05 < stats.fisher_exact([[40, 60], [53, 47]])[1] < 0.2
    options = {"prediction": "hired", "group": "sex", "profile": "adverse-impact", **FAST}
    made = evenhand.audit(people, confidence=0.8, **options).to_dict()
    assert cells(table(made, "Selection by sex"))["f"]["statistical"] == "no"


def test_lending_has_ratios_by_decile(people):
    audit = evenhand.audit(people, score="score", group="sex", missing="drop", reference="Male", threshold=0.6,
                           profile="lending", score_range=(0, 1.2), **FAST)  # fmt: skip
    document = audit.to_dict()
    made = cells(table(document, "AIR by sex above each decile of the score"))
    known = np.array([s is not None for s in people["sex"]])
    score, sex = people["score"][known], np.array(people["sex"])[known]
    above = score > np.quantile(score, 0.9, method="inverted_cdf")
    ratio = above[sex == "Female"].mean() / above[sex == "Male"].mean()
    assert made["Female"]["top_10"] == pytest.approx(ratio, rel=1e-9)
    approval = table(document, "Approval by sex, against Male")
    assert "No residual SMD: undefined because there are no labels." in approval["notes"]
    smd = 100 * (score[sex == "Female"].mean() - score[sex == "Male"].mean()) / score.std()
    assert cells(approval)["Female"]["smd"] == pytest.approx(smd, rel=1e-9)


def test_a_column_that_is_undefined_is_called_as_the_rule_calls_it(people):
    options = {"score": "score", "threshold": 2, "group": "sex", "missing": "bounds", "profile": "lending", **FAST}
    made = table(evenhand.audit(people, **options).to_dict(), "Approval by sex, against Male")
    assert "No AIR: undefined because the selection rate of Male is 0." in made["notes"]


def test_lending_needs_a_score(people):
    with pytest.raises(UsageError, match=r"needs the score of people.*for ratios by decile"):
        evenhand.audit(people, prediction="hired", group="sex", missing="drop", profile="lending", **FAST)


def test_the_technical_file_compares_shares_with_a_population(people):
    shares = {"sex": {"Male": 0.49, "Female": 0.5, "X": 0.01}}
    audit = evenhand.audit(people, prediction="hired", group="sex", missing="drop", profile="eu-technical-file",
                           population=shares, **FAST)  # fmt: skip
    document = audit.to_dict()
    made = cells(table(document, "Shares by sex, here and in the population"))
    n, k = counted(people, "sex", "Male")[0], counted(people, "sex", "Female")[0]
    assert made["Male"]["share"] == pytest.approx(n / (n + k))
    assert made["Male"]["difference"] == pytest.approx(n / (n + k) - 0.49)
    assert (made["X"]["people"], made["X"]["difference"]) == (0, -0.01)
    assert "Signature" in audit.to_html(embed="none")
    assert '"--population' not in document["command"]
    assert "--population FILE" in document["command"]


@pytest.mark.parametrize("name", [p.name for p in shipped()])
def test_every_profile_shows_its_tables_in_every_view(name, people):
    roles = {"prediction": "hired"}
    if profile_named(name).needs:
        roles = {"score": "steps", "label": "repaid"}
        people = {**people, "steps": np.round(np.minimum(people["score"], 1), 1)}
    group = ["sex", "race"] if profile_named(name).categories else "sex"
    audit = evenhand.audit(people, **roles, group=group, missing="bounds", profile=name, **FAST)
    document = json.loads(audit.to_json())
    check_schema(document, evenhand.schema("audit"))
    assert document["profile"]["not_covered"]
    page, text, short = audit.to_html(embed="none"), audit.to_markdown(), str(audit)
    for made in document["profile"]["tables"]:
        for view in (page, text, *([] if made["annex"] else [short])):
            assert made["title"] in view


# ---- names, versions and files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nyc-l144", "there is no profile 'nyc-l144' .*did you mean 'nyc-ll144'"),
        ("nyc-ll144@2020-01-01", "has no version in force on 2020-01-01 \\(it has versions of: '2023-07-05'\\)"),
        ("nyc-ll144@soon", "'soon' is no day .*'2023-07-05'"),
        ("nyc-ll144@", "'' is no day"),
        ("nowhere.toml", "cannot read the profile 'nowhere.toml'"),
        (7, "a profile is the name of one, or the path"),
    ],
)
def test_a_profile_that_is_not_there(name, message):
    with pytest.raises(UsageError, match=message):
        profile_named(name)


def test_the_version_in_force_is_taken():
    assert profile_named("nyc-ll144@2030-01-01").date == "2023-07-05"


@pytest.mark.parametrize(
    ("group", "message"),
    [
        (["sex"], "needs the race/ethnicity of people"),
        (["sex", "race", "dept"], "compares the intersection of 'race', 'sex'.*--depth 2"),
        (["dept", "race"], "needs the sex of people"),
    ],
)
def test_a_column_that_is_missing_is_named(people, group, message):
    with pytest.raises(UsageError, match=message):
        evenhand.audit(people, prediction="hired", group=group, profile="nyc-ll144", **FAST)


def test_two_values_of_one_category_are_to_be_made_one(people):
    twice = [("Black" if i % 2 and r == "Black or African American" else r) for i, r in enumerate(people["race"])]
    with pytest.raises(UsageError, match="are one category of the profile 'nyc-ll144', 'Black or African American'"):
        evenhand.audit({**people, "race": twice}, prediction="hired", **NYC)


HEAD = 'name = "a"\ntitle = "A"\ndate = 2026-01-01\nsource = []\nstates = "s"\nnot_covered = []\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "[options]\nexclude_bellow = 0.02\n", "line 8: unknown key 'exclude_bellow'.*did you mean"),
        (HEAD + "[options]\nexclude_below = 2\n", "line 8: exclude_below is a share"),
        (HEAD + '[options]\nmeasures = ["shortfal"]\n', "line 8: there is no measure 'shortfal'"),
        (HEAD + '[options]\nmissing = "dropp"\n', "line 8: missing must be one of"),
        (HEAD + '[[table]]\ntitle = "T"\ncolumns = ["peeple"]\n', "line 9: there is no column 'peeple'.*'people'"),
        (HEAD + '[[table]]\ntitle = "T"\nkind = "strat"\n', "line 9: there is no table of kind 'strat'"),
        (HEAD + '[[table]]\ntitle = "T"\n', "line 8: a table of groups names its columns"),
        (HEAD + '[[table]]\ncolumns = ["people"]\n', "line 7: .*needs title"),
        (HEAD + '[[table]]\ntitle = "By {x}"\ncolumns = ["people"]\n', "line 8: a title may hold {attribute}"),
        (HEAD + '[[table]]\ntitle = "{attribute:>9}"\ncolumns = ["people"]\n', "line 8: a title may hold {attribute}"),
        (HEAD + '[[category]]\nname = "sex"\ncolumns = []\n', "line 9: columns holds a word or more"),
        (HEAD + '[[category]]\nname = "s"\ncolumns = ["s"]\nclosed = true\n', "line 10: .* names its own"),
        (HEAD + '[[table]]\ntitle = "T"\ncolumns = ["people"]\nof = ["age"]\n', "line 10: there is no .*'age'"),
        (HEAD + '[[need]]\nrole = "skore"\nfor = "x"\n', "line 8: role is one of"),
        (HEAD + "[table]\n", "line 7: write \\[\\[table\\]\\]"),
        (HEAD.replace("2026-01-01", '"soon"'), "line 3: date is a day"),
        (HEAD.replace('title = "A"\n', ""), "a profile says its title"),
        (HEAD + "signing = 1\n", "line 7: signing is true or false"),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_its_line(text, message, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_profile(path)


def test_a_category_finds_its_column_however_its_words_are_written():
    assert Category("sex", ("Sex",)).named("applicant_SEX")
    assert not Category("sex", ("Sex",)).named("sextant")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"facts": {"colour": "red"}}, "asks for no fact 'colour'"),
        ({"facts": {"source": "two\nlines"}}, "is one line"),
        ({"population": {"sex": {"Male": 0.5}}}, "shows no shares of a population"),
    ],
)
def test_what_a_profile_does_not_want_stated_is_refused(people, options, message):
    with pytest.raises(UsageError, match=message):
        evenhand.audit(people, prediction="hired", **NYC, **options)


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({"sex": {"Male": 0.7, "Female": 0.6}}, "add up to 1.3"),
        ({"sex": {"Male": "half"}}, "is a number from 0 to 1"),
        ({"sexx": {"Male": 0.5}}, "did you mean 'sex'"),
        ({"sex": {"m": 0.5}}, "none of them is a group of 'sex'"),
        ("shares", "population is a dict"),
    ],
)
def test_shares_that_do_not_fit_are_refused(people, shares, message):
    with pytest.raises(UsageError, match=message):
        evenhand.audit(people, prediction="hired", group="sex", missing="drop", profile="eu-technical-file",
                       population=shares, **FAST)  # fmt: skip


def test_facts_without_a_profile_are_refused(people):
    with pytest.raises(UsageError, match="are stated for a profile"):
        evenhand.audit(people, prediction="hired", group="sex", missing="drop", facts={"source": "x"}, **FAST)


def test_profiles_are_listed(tmp_path):
    listing = called("profiles")
    assert listing.returncode == 0
    for p in shipped():
        assert f"{p.name} · {p.date}" in listing.stdout
    out = tmp_path / "profiles.json"
    assert called("profiles", "lending", "--json", out).returncode == 0
    document = json.loads(out.read_text())
    check_schema(document, evenhand.schema("profiles"))
    assert [p["name"] for p in document["profiles"]] == ["lending"]
    assert "Does not cover" in listing.stdout


def test_a_profile_without_a_source_says_so(people, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + '[[table]]\ntitle = "T"\ncolumns = ["category"]\n')
    assert "Source: not stated\n" in called("profiles", str(path)).stdout
    audit = evenhand.audit(people, prediction="hired", group="dept", profile=path, **FAST)
    assert "Source: not stated." in audit.to_markdown()


def test_profiles_of_the_package_are_read_as_files_too():
    folder = Path(evenhand.__file__).parent / "analyses" / "profiles"
    assert sorted(p.stem for p in folder.glob("*.toml")) == [p.name for p in shipped()]
