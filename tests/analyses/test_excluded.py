"""Groups of a small share of the people are shown, not compared."""

import json

import numpy as np
import pytest

import evenhand
from evenhand.errors import EvenhandError, UsageError

QUICK = {"bootstrap": 50, "permutations": 50}
ROLES = {"score": "s", "label": "y", "group": "g"}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    names = np.repeat(list("abcd"), [500, 330, 155, 15])
    score = rng.random(1000).round(3)
    return {"s": score, "y": (rng.random(1000) < score).astype(int), "g": names}


def test_the_others_are_compared_as_if_the_small_ones_were_not_there(people):
    ours = evenhand.audit(people, **ROLES, exclude_below="2%", **QUICK).to_dict()["attributes"][0]
    large = {k: v[people["g"] != "d"] for k, v in people.items()}
    plain = evenhand.audit(large, **ROLES, **QUICK).to_dict()["attributes"][0]
    assert ours["excluded"] == ["d"]
    for key in ("measures", "largest", "tests", "information", "impossibility", "verdict", "reference", "too_small"):
        assert ours[key] == plain[key], key
    assert [g for g in ours["groups"] if g["name"] != "d"] == plain["groups"]


def test_their_own_numbers_and_rates_are_shown(people):
    result = evenhand.audit(people, **ROLES, exclude_below=0.02, **QUICK)
    shown = next(g for g in result.to_dict()["attributes"][0]["groups"] if g["name"] == "d")
    whole = evenhand.audit(people, **ROLES, **QUICK)
    known = next(g for g in whole.to_dict()["attributes"][0]["groups"] if g["name"] == "d")
    assert shown["n"] == 15
    for rate in ("selection_rate", "tpr", "ppv"):
        assert shown["rates"][rate] == known["rates"][rate]
    assert "not compared" in str(result)
    assert "not compared" in result.to_markdown()
    assert "not compared" in result.to_html(embed="none")
    assert any("below 2% of the people" in note for note in result.notes)


def test_the_document_is_valid_and_says_so(people):
    jsonschema = pytest.importorskip("jsonschema")
    result = evenhand.audit(people, **ROLES, exclude_below="2%", **QUICK)
    jsonschema.validate(json.loads(result.to_json()), evenhand.schema("audit"))
    assert "--exclude-below 2%" in result.to_dict()["command"]


def test_weights_and_clusters_stay(people):
    rng = np.random.default_rng(0)
    weighted = {**people, "w": rng.uniform(0.5, 2, 1000), "who": np.arange(1000) // 2}
    large = {k: v[people["g"] != "d"] for k, v in weighted.items()}
    for role in ({"weight": "w", "weight_kind": "sampling"}, {"cluster": "who"}):
        ours, plain = (
            evenhand.audit(data, **ROLES, **role, exclude_below=below, **QUICK).to_dict()["attributes"][0]
            for data, below in ((weighted, "2%"), (large, None))
        )
        assert ours["measures"] == plain["measures"]


def test_an_excluded_group_is_no_reference_and_in_no_rule(people):
    with pytest.raises(UsageError, match=r"'d' cannot be the reference because it has 1.50% of the people"):
        evenhand.audit(people, **ROLES, exclude_below="2%", reference="d")
    verdict = evenhand.check(people, "disparate_impact >= 0.1", **ROLES, exclude_below="2%", bootstrap=0)
    assert {f.group for f in verdict.findings} == {"b", "c"}
    rule = {"rule": [{"measure": "disparate_impact", "at_least": 0.1, "groups": ["d"]}]}
    with pytest.raises(EvenhandError, match="'d' is not compared because"):
        evenhand.check(people, policy=rule, **ROLES, exclude_below="2%")


def test_an_attribute_of_which_too_few_are_left_is_not_compared(people):
    rng = np.random.default_rng(1)
    data = {**people, "h": np.where(rng.random(1000) < 0.99, "x", "y")}
    result = evenhand.audit(data, score="s", group=["g", "h"], exclude_below="2%", **QUICK)
    document = {a["name"]: a for a in result.to_dict()["attributes"]}
    assert document["h"]["verdict"]["word"] == "cannot be computed"
    assert document["h"]["excluded"] == ["y"]
    assert document["g × h"]["excluded"]


@pytest.mark.parametrize("share", ["two", "50%", -0.1, "2 percent", True, [0.02]])
def test_a_share_that_is_none_is_refused(people, share):
    with pytest.raises(UsageError, match="exclude_below is a share"):
        evenhand.audit(people, **ROLES, exclude_below=share)


def test_all_excluded(people):
    with pytest.raises(UsageError, match="all would be excluded"):
        evenhand.audit(people, **ROLES, exclude_below=0.4)


def test_monitoring_excludes_by_the_baseline(people):
    months = {m: evenhand.tabulate(people, **ROLES) for m in "123"}
    report = evenhand.monitor(months, baseline=1, exclude_below="2%", bootstrap=0, measures=["demographic_parity"])
    assert report.baseline.attributes[0].excluded == ("d",)
    assert {c.gap.group for p in report.periods for c in p.comparisons} == {"b", "c"}


def test_the_explorer_of_a_page_compares_them_at_no_threshold(people):
    from html.parser import HTMLParser

    class Rows(HTMLParser):
        """What each row of the explorer holds, with the place that a script would fill."""

        def __init__(self):
            super().__init__()
            self.rows, self.inside = [], False

        def handle_starttag(self, tag, attrs):
            attrs = dict(attrs)
            if tag == "table":
                self.inside = "data-grouping" in attrs
            if self.inside and tag == "tr":
                self.rows.append([])
            if self.inside and tag in ("td", "th"):
                self.rows[-1].append((attrs.get("data-key"), []))

        def handle_data(self, data):
            if self.inside and self.rows and self.rows[-1]:
                self.rows[-1][-1][1].append(data)

    page = Rows()
    page.feed(evenhand.audit(people, **ROLES, exclude_below="2%", **QUICK).to_html())
    own = {"".join(row[0][1]): [(key, "".join(text)) for key, text in row[1:]] for row in page.rows[1:]}
    assert {"gap", "ratio"} <= {key for key, _ in own["b"]}
    assert {"gap", "ratio"}.isdisjoint(key for key, _ in own["d (not compared)"])
    assert [text for key, text in own["d (not compared)"] if key is None] == ["–", "–"]
