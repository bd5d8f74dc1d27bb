"""The audit of many classes, end to end, and the guide to aggregates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import WORDS, called as run, evenhand as process, jobs
from evenhand.inference.significance import fisher, holm
from evenhand.report.format import p_values

QUICK: dict[str, Any] = {"bootstrap": 99, "permutations": 99}


@pytest.fixture(scope="module")
def audit() -> evenhand.ClassAudit:
    found = evenhand.audit(jobs(600), **{**WORDS, "group": ["g", "h"]}, **QUICK)
    assert isinstance(found, evenhand.ClassAudit)
    return found


def test_every_attribute_and_their_product(audit: evenhand.ClassAudit) -> None:
    assert [a.name for a in audit.attributes] == ["g", "h", "g × h"]
    text = repr(audit)
    assert max(map(len, text.splitlines())) <= 80
    for word in ("600 people · 5 classes", "true positive rate", "The same of other rates", "macro-F1", "Checklist"):
        assert word in text
    assert "Checklist" in audit._repr_html_()


def test_the_document_keeps_to_its_schema(audit: evenhand.ClassAudit, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(audit.to_json(tmp_path / "a.json"), parse_constant=lambda c: pytest.fail(c))
    jsonschema.validate(document, evenhand.schema("classes"), cls=jsonschema.Draft202012Validator)
    assert document["schema"] == "evenhand/classes/1"
    first = document["attributes"][0]
    assert [m["metric"] for m in first["other_metrics"]] == ["fpr", "ppv", "npv", "selection_rate", "accuracy", "f1"]
    assert len(first["classes"]) == 5
    again = evenhand.audit(jobs(600), **{**WORDS, "group": ["g", "h"]}, **QUICK)
    assert again.to_json() == audit.to_json()


def test_an_aggregate_alone_is_what_it_is_in_an_audit(audit: evenhand.ClassAudit) -> None:
    for metric in ("tpr", "ppv", "f1"):
        for name in ("g", "g × h"):
            alone = evenhand.aggregate(audit.table, metric=metric, attribute=name, **QUICK)
            inside = audit.aggregate(metric, name)
            assert (alone.value, alone.ci, alone.p_value) == (inside.value, inside.ci, inside.p_value)
    with pytest.raises(evenhand.UsageError, match="no metric 'auc'"):
        audit.aggregate("auc")
    with pytest.raises(evenhand.UsageError, match="no attribute 'q'"):
        audit.aggregate(attribute="q")


def test_performance_of_groups(audit: evenhand.ClassAudit) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    columns = jobs(600)
    for own in audit.attributes[0].performance:
        chosen = columns["g"] == own.group
        y, p = columns["y"][chosen], columns["p"][chosen]
        assert own.accuracy == pytest.approx((y == p).mean())
        assert own.macro_f1 == pytest.approx(metrics.f1_score(y, p, average="macro"))
        assert own.accuracy_ci[0] < own.accuracy < own.accuracy_ci[1]
        assert own.macro_f1_ci is not None
        assert own.macro_f1_ci[0] < own.macro_f1 < own.macro_f1_ci[1]


def test_the_worst_cells_have_exact_tests_adjusted_for_all(audit: evenhand.ClassAudit) -> None:
    columns = jobs(600)
    found = {(d.name, d.group): d for d in audit.attributes[0].deviations}
    assert len(found) == 15
    p = {}
    for c, g in found:
        own, rest = ((columns["y"] == c) & (columns["g"] == g)), ((columns["y"] == c) & (columns["g"] != g))
        hit = columns["p"] == c
        p[c, g] = fisher(int((own & hit).sum()), int(own.sum()), int((rest & hit).sum()), int(rest.sum())).p_value
    for (key, d), adjusted in zip(found.items(), holm([p[k] for k in found]), strict=True):
        assert d.p_value == pytest.approx(p[key])
        assert d.p_adjusted == pytest.approx(adjusted)
    order = [d.p_value for d in audit.attributes[0].deviations]
    assert np.round(order, 12).tolist() == sorted(np.round(order, 12).tolist())


def test_p_values_are_raw_and_adjusted_and_bounds_where_they_are(audit: evenhand.ClassAudit) -> None:
    worst = audit.attributes[0].deviations[0]
    assert any(line.split()[-2:] == list(p_values(vars(worst))) for line in str(audit).splitlines())
    columns = jobs(600)
    columns["p"] = np.where(columns["g"] == columns["g"][0], columns["y"], columns["y"][::-1])
    far = evenhand.aggregate(columns, label="y", prediction="p", group="g", permutations=99, bootstrap=0)
    assert far.p_value == 0.01
    assert "(p ≤ .010)" in far.to_dict()["interpretation"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "duckdb"])
def test_the_frame(audit: evenhand.ClassAudit, library: str) -> None:
    pytest.importorskip(library)
    frame = audit.to_frame(library)
    rows = len(frame) if library != "duckdb" else len(frame.fetchall())
    assert rows == 5 * (3 + 2 + 6)


def test_classes_only_predicted_or_never_are_named() -> None:
    columns = {"y": list("aabbcc"), "p": list("aabbad"), "g": list("xyxyxy")}
    found = evenhand.audit(columns, **WORDS, bootstrap=0, permutations=0)
    assert any("occur only in predictions" in n and "'d'" in n for n in found.notes)
    assert any("never predicted" in n and "'c'" in n for n in found.notes)
    tpr = found.to_dict()["attributes"][0]["classes"][3]
    assert (tpr["value"], tpr["undefined"]) == (None, "because there is nobody of class d")


def test_sampling_weights() -> None:
    found = evenhand.audit(jobs(), **WORDS, weight="w", **QUICK)
    a = found.attributes[0].aggregate
    assert a.chance is not None
    assert a.chance.method == "99 resamples, recentred"
    assert a.ci[0] <= a.value <= a.ci[1]
    threshold = evenhand.aggregate(a.table, across_groups="difference threshold", **QUICK)
    assert threshold.result.untested is not None
    assert "sampling weights" in threshold.result.untested


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "threshold": ({"threshold": 0.5}, "'threshold' does not apply to 5 classes"),
    "several": ({"ranks": "mid", "reference": "g0"}, "'reference', 'ranks' do not apply"),
    "measures": ({"measures": ["abcc"]}, "'measures' does not apply"),
    "stratified": ({"stratified": True}, "'stratified' does not apply"),
    "binary": ({"across_classes": "binary"}, "'binary' is about one class"),
    "unit": ({"unit": "gaps"}, "did you mean 'gap'"),
    "metric": ({"metric": "tprr"}, "did you mean 'tpr'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_options_of_other_audits_are_refused(name: str) -> None:
    words, message = REFUSED[name]
    with pytest.raises(evenhand.UsageError, match=message):
        evenhand.audit(jobs(60), **WORDS, **words)


def test_options_of_classes_are_refused_by_other_audits() -> None:
    with pytest.raises(evenhand.UsageError, match="leave out 'metric', 'unit': for labels and predictions"):
        evenhand.audit(evenhand.compas(), metric="tpr", unit="gap")
    with pytest.raises(evenhand.UsageError, match=r"two values, but .* have 5 classes"):
        evenhand.projection_test(evenhand.tabulate(jobs(60), **WORDS))
    one_group = {k: v[:40] for k, v in jobs(40).items()} | {"g": ["x"] * 40}
    with pytest.raises(evenhand.UsageError, match="two or more groups"):
        evenhand.audit(one_group, **WORDS)


def test_on_the_command_line(tmp_path: Path) -> None:
    t = evenhand.tabulate(jobs(), **WORDS)
    t.save(tmp_path / "t.table")
    done = process(
        "audit", tmp_path / "t.table", "--metric", "ppv", "--across-groups", "max gap", "--json", tmp_path / "a.json"
    )
    assert done.returncode == 0, done.stderr
    assert "Evenhand audit of classes" in done.stdout
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document["options"]["across_groups"]["power"] == "inf"
    rows = tmp_path / "rows.csv"
    rows.write_text("y,p,g,s\na,a,x,0.1\nb,c,y,0.2\nc,c,x,0.3\na,b,y,0.4\n", encoding="utf-8")
    words = ("--label", "y", "--prediction", "p", "--group", "g")
    done = run("audit", rows, *words, "--bootstrap", "99", "--permutations", "99")
    assert done.returncode == 0, done.stderr
    saved = run("tabulate", rows, *words, "-o", tmp_path / "u.table")
    assert "3 classes" in saved.stderr
    for bad in (("--score", "s"), ("--threshold", "1"), ("--favorable", "a"), ("--unit", "x"), ("--reference", "x")):
        done = run("audit", rows, *words, *bad)
        assert (done.returncode, done.stdout) == (2, ""), bad
        assert done.stderr.startswith("evenhand: ")
        assert done.stderr.count("\n") == 1


def test_many_classes_are_shortened_for_the_eye() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 60, 3000)
    columns = {
        "y": y,
        "p": np.where(rng.random(3000) < 0.7, y, rng.integers(0, 60, 3000)),
        "g": rng.integers(0, 9, 3000),
    }
    found = evenhand.audit(columns, **WORDS, bootstrap=50, permutations=50)
    text = repr(found)
    assert "3 smaller groups and 45 more classes are not shown" in text
    assert len(found.to_dict()["attributes"][0]["classes"]) == 60


# ---- guide -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"focus": "per-group", "extremes": True}, ("score", "-inf", "-1")),
        ({"focus": "per-group", "extremes": False, "groups_matter": "worst-most"}, ("score", "-1", "-1")),
        ({"focus": "between-groups", "extremes": True, "classes_matter": "equally"}, ("gap", "inf", "1")),
        ({"focus": "between-groups", "scale": "absolute", "groups_matter": "worst-most"}, ("gap", "2", "2")),
        ({}, ("gap", "1", "2")),
        ({"scale": "relative", "extremes": True, "classes_matter": "one"}, ("ratio", "-inf", "binary")),
        ({"legal": True, "extremes": True}, ("ratio", "-inf", "-1")),
    ],
)
def test_the_guide_follows_the_figure(answers: dict[str, Any], expected: tuple[str, str, str]) -> None:
    advice = evenhand.guide(classes=True, **answers)
    assert (advice.unit, advice.across_groups, advice.across_classes) == expected
    t = evenhand.tabulate(jobs(100), **WORDS)
    positive = "class 1" if expected[2] == "binary" else None
    evenhand.aggregate(
        t, unit=expected[0], across_groups=expected[1], across_classes=expected[2], positive=positive, **QUICK
    )


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"focus": "both"}, "focus is one of 'per-group', 'between-groups'"),
        ({"focus": "per-group", "scale": "relative"}, "has no scale"),
        ({"extremes": True, "groups_matter": "equally"}, "leave groups_matter out"),
        ({"extremes": "yes"}, "extremes is True or False"),
        ({"classes_matter": "some"}, "classes matter is one of"),
        ({"priority": "errors"}, "asks for no priority"),
    ],
)
def test_answers_that_contradict_each_other(answers: dict[str, Any], message: str) -> None:
    with pytest.raises(evenhand.UsageError, match=message):
        evenhand.guide(classes=True, **answers)


def test_answers_about_classes_need_classes() -> None:
    with pytest.raises(evenhand.UsageError, match="'focus' is about many classes"):
        evenhand.guide(ground_truth=True, priority="errors", focus="per-group")
    with pytest.raises(evenhand.UsageError, match="say whether true outcomes are known"):
        evenhand.guide()
    flags = ("--classes", "--focus", "between-groups", "--scale", "absolute", "--extremes", "--classes-matter")
    done = run("guide", *flags, "worst-most", stdin="")
    assert "--unit gap --across-groups=inf --across-classes=2" in " ".join(done.stdout.replace("\\\n", "").split())
    assert max(map(len, done.stdout.splitlines())) <= 80
    plain = run("guide", "--no-ground-truth", "--legal", stdin="").stdout
    assert max(map(len, plain.splitlines())) <= 80
    assert "abcc" in plain
    assert "only the decisions" not in plain  # scores need no labels either


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--classes",), "say --focus per-group|between-groups, --extremes/--variability, --classes-matter equally|"),
        (("--classes", "--focus", "between-groups", "--extremes"), "say --scale absolute|relative, --classes-matter"),
        (("--classes", "--focus", "per-group", "--variability"), "say --groups-matter equally|worst-most, --classes-m"),
        (("--focus", "per-group"), "--focus is about many classes: say --classes too"),
        (("--ground-truth", "--variability", "--scale", "absolute"), "are about many classes"),
    ],
)
def test_the_guide_recommends_nothing_unasked(flags: tuple[str, ...], message: str) -> None:
    done = run("guide", *flags, stdin="")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_what_was_taken_for_an_answer_is_said() -> None:
    text = str(evenhand.guide(classes=True, focus="per-group", extremes=True))
    assert "Not answered, and taken as usual: classes_matter = worst-most." in text
    assert "Not answered" not in str(
        evenhand.guide(classes=True, focus="per-group", extremes=True, classes_matter="one")
    )


def test_a_stray_value_does_not_go_unnoticed() -> None:
    columns = {"y": [0, 1] * 100 + [2], "p": [0, 1, 1, 0] * 50 + [0], "g": ["f", "m", "m"] * 67}
    found = evenhand.audit(columns, **WORDS, **QUICK)
    assert isinstance(found, evenhand.ClassAudit)
    note = "'2' occurs in 1 of 201 rows: if it is an error, recode it, or state the favourable value (--favorable)"
    assert any(note in n for n in found.notes)
    three = {**columns, "y": [0, 1] * 100 + [0], "p": [0, 1, 2, 0] * 50 + [0]}
    assert not any("occurs in" in n for n in evenhand.audit(three, **WORDS, **QUICK).notes)
    few = evenhand.audit({"y": list("aabbc"), "p": list("abbac"), "g": list("fmfmf")}, **WORDS, **QUICK)
    assert not any("occurs in" in n for n in few.notes)
    asked = evenhand.tabulate(columns, **WORDS, classes=True)
    assert not any("occurs in" in n for n in asked.notes)


def test_small_aggregates_keep_two_digits() -> None:
    from evenhand.analyses.classes.text import _others

    row = {
        "metric": "fpr",
        "value": 0.00021,
        "corrected": 0.00015,
        "ci": [0.0, 0.0017],
        "null_95": 0.00034,
        "p_value": 0.2,
        "null_method": "exact",
    }
    grid = _others({"other_metrics": [row]}, {"confidence": 0.95})
    assert [next(iter(c.cells)) for c in grid.columns][1:5] == ["0.00021", "0.00015", "0.000, 0.0017", "0.00034"]


def test_macro_f1_is_of_the_classes_that_all_groups_have() -> None:
    columns = {"y": list("aaaabbbb") * 2, "p": list("aaabbbba") * 2, "g": ["f"] * 8 + ["m"] * 8}
    stray = {**columns, "p": [*columns["p"][:-1], "c"]}
    found = evenhand.audit(stray, **WORDS, **QUICK)
    f, m = found.attributes[0].performance
    assert f.macro_f1 == pytest.approx(0.75)
    assert m.macro_f1 == pytest.approx((6 / 7 + 6 / 8) / 2)  # of a and b; c has nobody
    assert (f.macro_f1_classes, m.macro_f1_classes) == (2, 2)
    assert m.macro_f1_ci is not None
    assert m.macro_f1_ci[1] > m.macro_f1
    assert found.to_dict()["attributes"][0]["groups"][0]["macro_f1"]["classes"] == 2
    assert "macro-F1 of the 2 classes that have people in every group" in repr(found)


def test_no_class_that_all_groups_have() -> None:
    columns = {"y": list("aabbcc"), "p": list("abbcca"), "g": list("ffmmnn")}
    found = evenhand.audit(columns, **WORDS, **QUICK)
    macro = found.to_dict()["attributes"][0]["groups"][0]["macro_f1"]
    assert macro == {"value": None, "ci": None, "classes": 0, "undefined": "because no class has people in every group"}
    assert "macro-F1 is undefined because" in repr(found)
    assert found.aggregate().undefined == "because no class has a value"
