"""Whom groups are compared with: the group that is selected most often."""

import json

import numpy as np
import pytest

import evenhand
from evenhand.errors import UsageError

QUICK = {"bootstrap": 0, "permutations": 200}


def people(**groups):
    """Decisions of groups, from (selected, people)."""
    names = np.repeat(list(groups), [n for _, n in groups.values()])
    decided = np.concatenate([np.arange(n) < k for k, n in groups.values()]).astype(int)
    return {"hired": decided, "race": names}


def audit(data, **options):
    return evenhand.audit(data, prediction="hired", favorable=1, group="race", **{**QUICK, **options})


def told(result):
    return result.to_dict()["attributes"][0]


def test_the_highest_is_the_reference_and_of_several_the_larger():
    result = audit(people(a=(30, 100), b=(10, 20), c=(20, 40)), reference="highest")
    assert (told(result)["reference"], told(result)["reference_rule"]) == ("c", "highest")
    assert told(audit(people(a=(30, 100), b=(10, 20))))["reference_rule"] == "largest"
    assert told(audit(people(a=(30, 100), b=(10, 20)), reference="b"))["reference_rule"] == "named"


def test_intervals_of_selection_allow_for_the_choice_and_the_plain_one_stands_beside():
    data = people(a=(30, 100), b=(45, 100), c=(44, 100))
    chosen, named = (audit(data, reference=r) for r in ("highest", "b"))
    for id_ in ("disparate_impact", "demographic_parity", "delta_dp_b"):
        ours, plain = (a.measure(id_, "a") for a in (chosen, named))
        assert ours.value == plain.value
        assert ours.ci_plain == plain.ci
        assert plain.ci_plain is None
        assert ours.ci[0] <= plain.ci[0]
        assert ours.ci[1] > plain.ci[1]
        assert ours.p_value == pytest.approx(min(1.5 * plain.p_value, 1))
        assert "times 1.5 for the choice of the reference" in ours.null.method


def test_of_two_groups_the_choice_changes_nothing():
    data = people(a=(30, 100), b=(45, 90))
    chosen, named = (audit(data, reference=r).measure("disparate_impact") for r in ("highest", "b"))
    assert chosen.ci == pytest.approx(named.ci, rel=1e-12)
    assert chosen.p_value == named.p_value


def test_the_document_is_valid_and_its_command_gives_it_again():
    jsonschema = pytest.importorskip("jsonschema")
    result = audit(people(a=(30, 100), b=(10, 20), c=(20, 40)), reference="highest")
    document = result.to_dict()
    jsonschema.validate(json.loads(result.to_json()), evenhand.schema("audit"))
    assert "--reference highest" in document["command"]
    assert any("selected most often" in note for note in document["notes"])


def test_a_group_that_is_called_highest_is_meant():
    result = audit(people(highest=(30, 100), low=(10, 20)), reference="highest")
    assert (told(result)["reference"], told(result)["reference_rule"]) == ("highest", "named")
    assert any("has a group called 'highest'" in note for note in result.notes)


def test_of_several_columns_each_has_its_own_and_their_intersection_too():
    rng = np.random.default_rng(0)
    data = {
        "hired": rng.integers(0, 2, 400),
        "race": rng.choice(["x", "y", "z"], 400),
        "sex": rng.choice(["f", "m"], 400),
    }
    for stated, rules in (
        ("highest", ["highest"] * 3),
        ({"race": "highest", "sex": "f"}, ["highest", "named", "highest"]),
    ):
        result = evenhand.audit(data, prediction="hired", group=["race", "sex"], reference=stated, **QUICK)
        document = result.to_dict()["attributes"]
        assert [a["reference_rule"] for a in document] == rules
        for a in document:
            rates = {g["name"]: g["rates"]["selection_rate"]["value"] for g in a["groups"]}
            if stated == "highest":
                assert rates[a["reference"]] == max(rates.values())
        assert stated == "highest" or document[2]["reference"].endswith("f")
    assert "--reference race=highest --reference sex=f" in result.to_dict()["command"]


def test_it_is_refused_where_nothing_is_decided_or_intervals_could_not_allow_for_it():
    with pytest.raises(UsageError, match="nothing is decided here"):
        evenhand.thresholds(evenhand.compas(), reference="highest")
    with pytest.raises(UsageError, match="would not allow for the choice"):
        audit(people(a=(30, 100), b=(10, 20)), reference="highest", bootstrap=100, interval="percentile")


def test_policies_and_monitoring_know_it():
    data = people(a=(30, 100), b=(45, 100), c=(44, 100))
    table = evenhand.tabulate(data, prediction="hired", group="race", favorable=1)
    verdict = evenhand.check(table, "disparate_impact >= 0.8", reference="highest")
    assert {f.reference for f in verdict.findings} == {"b"}
    months = {"1": table, "2": table}
    report = evenhand.monitor(months, reference="highest", baseline=1, bootstrap=0, measures=["disparate_impact"])
    assert {a.reference for a in report.baseline.attributes} == {"b"}


def test_a_misspelt_highest_is_recognised():
    with pytest.raises(UsageError, match="did you mean 'highest'"):
        evenhand.audit({"d": [0, 1], "g": ["f", "m"]}, prediction="d", group="g", reference="higest")
