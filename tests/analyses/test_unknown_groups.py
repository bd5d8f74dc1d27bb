"""What people without a group could change: bounds against every assignment, one after another."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import evenhand
from conftest import people
from evenhand.cli import cli
from evenhand.measures.unknown_groups import impact_ratio_bounds, largest_mean_gap, least_highest

QUICK: dict[str, Any] = {"bootstrap": 0, "permutations": 0}


def some_unknown(columns: dict[str, Any], share: float = 0.1, groups: tuple[str, ...] = ("g",), seed: int = 5) -> Any:
    rng = np.random.default_rng(seed)
    n = len(columns["s"])
    return columns | {g: np.where(rng.random(n) < share, None, columns[g].astype(object)) for g in groups}


def unknown_of(audit: evenhand.Audit, attribute: str) -> dict[str, Any]:
    pytest.importorskip("jsonschema").validate(audit.to_dict(), evenhand.schema("audit"))
    return next(a["unknown"] for a in audit.to_dict()["attributes"] if a["name"] == attribute)


# ---- sharp: the least and the most over all assignments ------------------------------------------------------------


def _rates(d: Any, y: Any) -> dict[str, float]:
    def of(part: Any, whole: Any) -> float:
        return float(part.sum() / whole.sum()) if whole.sum() else np.nan

    return {
        "selection_rate": of(d, d | True), "tpr": of(d & y, y), "fpr": of(d & ~y, ~y), "ppv": of(d & y, d),
        "npv": of(~d & ~y, ~d), "accuracy": of(d == y, d | True), "tnr": of(~d & ~y, ~y), "fnr": of(~d & y, y),
        "fdr": of(d & ~y, d), "for": of(~d & y, ~d),
    }  # fmt: skip


SIGNED = {
    "demographic_parity": "selection_rate", "equal_opportunity": "tpr", "predictive_equality": "fpr",
    "predictive_parity": "ppv", "negative_predictive_parity": "npv", "accuracy_parity": "accuracy",
}  # fmt: skip


def _measured(s: Any, d: Any, y: Any, group: Any, a: str, b: str) -> dict[str, float]:
    own, other = _rates(d[group == a], y[group == a]), _rates(d[group == b], y[group == b])
    gaps = {id_: own[rate] - other[rate] for id_, rate in SIGNED.items()}
    return gaps | {
        "disparate_impact": own["selection_rate"] / other["selection_rate"],
        "treatment_equality": own["fnr"] / own["fpr"] - other["fnr"] / other["fpr"] if own["fpr"] * other["fpr"] else 0,
        "delta_dp_c": s[group == a].mean() - s[group == b].mean(),
        "equalized_odds": max(abs(own[r] - other[r]) for r in ("tpr", "fpr")),
    }


@pytest.mark.parametrize(("groups", "seed"), [(2, 0), (2, 1), (3, 2), (3, 3)])
def test_bounds_are_the_ends_of_all_assignments(groups: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, lacking = 40, 6
    names = [f"g{i}" for i in range(groups)]
    s, group = rng.integers(0, 11, n) / 10, np.array(names, object)[rng.integers(0, groups, n)]
    y = rng.random(n) < 0.3 + 0.4 * s
    group[:lacking] = None
    audit = evenhand.audit(
        {"s": s, "y": y.astype(int), "g": group}, score="s", label="y", group="g", reference="g0", missing="bounds",
        threshold=0.5, **QUICK,
    )  # fmt: skip
    found: dict[tuple[str, str], list[float]] = {}
    of_groups: dict[tuple[str, str], list[float]] = {}
    for choice in product(names, repeat=lacking):
        group[:lacking] = choice
        for name in names:
            for rate, value in _rates(s[group == name] >= 0.5, y[group == name]).items():
                of_groups.setdefault((name, rate), []).append(value)
        for a in names[1:]:
            for id_, value in _measured(s, s >= 0.5, y, group, a, "g0").items():
                found.setdefault((id_, a), []).append(value)
    unknown = unknown_of(audit, "g")
    assert unknown["n"] == lacking
    assert unknown["selected"] == int((s[:lacking] >= 0.5).sum())
    known = {(m["id"], m["group"]): m for m in unknown["measures"]}
    for key, values in found.items():
        if key[0] == "treatment_equality" and known[key]["undefined"]:
            continue  # a false positive rate of 0
        assert known[key]["undefined"] is None, key
        low, high = known[key]["bounds"]
        least = min(values)
        if key[0] == "equalized_odds":  # 0 where a gap vanishes on the way, which whole people may miss
            assert low <= least + 1e-12
            assert low in (0.0, pytest.approx(least))
        else:
            assert low == pytest.approx(least, abs=1e-12), key
        assert high == pytest.approx(max(values), abs=1e-12), key
        assert known[key]["ci"] is None or known[key]["ci"][0] <= low <= high <= known[key]["ci"][1]
    for g in unknown["groups"]:
        for rate, told in g["rates"].items():
            if rate != "base_rate":
                values = of_groups[g["group"], rate]
                assert told["bounds"] == pytest.approx([np.nanmin(values), np.nanmax(values)], abs=1e-12)


def test_people_of_whom_part_is_known_can_only_be_where_that_fits() -> None:
    rng = np.random.default_rng(8)
    n, lacking = 60, 5
    a, b = (np.array(names, object)[rng.integers(0, 2, n)] for names in (["f", "m"], ["x", "y"]))
    d = rng.integers(0, 2, n)
    a[:3], b[2:lacking] = None, None  # two lack the first, one both, two the second
    audit = evenhand.audit(
        {"d": d, "a": a, "b": b}, prediction="d", group=["a", "b"], reference={"a": "m", "b": "x"}, missing="bounds",
        **QUICK,
    )  # fmt: skip
    known = {m["group"]: m for m in unknown_of(audit, "a × b")["measures"] if m["id"] == "demographic_parity"}
    found: dict[str, list[float]] = {g: [] for g in known}
    for first in product("fm", repeat=3):
        for second in product("xy", repeat=3):
            a[:3], b[2:lacking] = first, second
            rate = {f"{one} × {two}": d[(a == one) & (b == two)].mean() for one, two in product("fm", "xy")}
            for g, values in found.items():
                values.append(rate[g] - rate["m × x"])
    for g, values in found.items():
        assert known[g]["bounds"] == pytest.approx([min(values), max(values)], abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_unknown_may_belong_to_a_group_that_is_excluded(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, lacking = 60, 5
    s, group = rng.integers(0, 11, n) / 10, np.array(["a", "b"], object)[rng.integers(0, 2, n)]
    group[-2:], group[:lacking] = "small", None
    audit = evenhand.audit(
        {"s": s, "g": group}, score="s", group="g", reference="a", missing="bounds", exclude_below="5%", **QUICK
    )
    (known,) = (m for m in unknown_of(audit, "g")["measures"] if m["id"] == "delta_dp_c")
    found = []
    for choice in product(["a", "b", "small"], repeat=lacking):
        group[:lacking] = choice
        found.append(s[group == "b"].mean() - s[group == "a"].mean())
    assert known["bounds"] == pytest.approx([min(found), max(found)], abs=1e-12)


def test_intervals_with_bounds_allow_for_the_choice_of_the_highest() -> None:
    rng = np.random.default_rng(3)
    group = np.array(list("abcdefgh"), object)[rng.integers(0, 8, 800)]
    rows = {"d": rng.integers(0, 2, 800), "g": group}
    rows["g"][:1] = None
    plain = {"prediction": "d", "group": "g", "missing": "bounds", **QUICK}
    highest = evenhand.audit(rows, reference="highest", **plain)
    named = evenhand.audit(rows, reference=highest.attributes[0].reference, **plain)
    for ours, theirs in zip(unknown_of(highest, "g")["measures"], unknown_of(named, "g")["measures"], strict=True):
        assert ours["bounds"] == theirs["bounds"]
        if ours["id"] in ("demographic_parity", "disparate_impact"):
            assert ours["ci"][0] < theirs["ci"][0] < theirs["ci"][1] < ours["ci"][1]


@pytest.mark.parametrize("seed", range(12))
def test_the_ratio_to_the_highest_shares_the_rejected_among_the_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(2, 5))
    n = rng.integers(1, 12, groups)
    s = rng.integers(0, n + 1)
    u1, u0 = (int(u) for u in rng.integers(0, 5, 2))
    own: list[list[float]] = [[] for _ in range(groups)]
    for plus in product(range(u1 + 1), repeat=groups):
        if sum(plus) != u1:
            continue
        for minus in product(range(u0 + 1), repeat=groups):
            if sum(minus) == u0 and (s + plus).sum():
                rates = (s + plus) / (n + plus + minus)
                for g in range(groups):
                    own[g].append(rates[g] / rates.max())
    for g in range(groups):
        bounds = impact_ratio_bounds(s.tolist(), n.tolist(), u1, u0, g)
        if bounds is None:
            assert not own[g]
        else:
            assert bounds == pytest.approx((min(own[g]), max(own[g])))


def test_a_ratio_of_bounds_would_promise_too_much() -> None:
    # 30 rejected people cannot lower both others at once.
    assert least_highest([60, 60], [100, 100], 30) == pytest.approx(60 / 115)
    assert least_highest([60, 60], [100, 100], 30) > 60 / 130
    assert least_highest([0, 0], [5, 5], 3) == 0
    with pytest.raises(evenhand.UsageError, match="two or more groups"):
        impact_ratio_bounds([1], [2], 0, 0, 0)
    with pytest.raises(evenhand.UsageError, match="at least one person"):
        impact_ratio_bounds([1, 3], [2, 2], 0, 0, 0)
    with pytest.raises(evenhand.UsageError, match="not negative"):
        impact_ratio_bounds([1, 1], [2, 2], -1, 0, 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_gap_of_means_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, u = (rng.random(k).round(1) + shift for k, shift in ((3, rng.normal()), (2, 0.0), (6, 0.0)))
    for others in (False, True):
        best = max(
            np.r_[a, [v for v, at in zip(u, choice, strict=True) if at == 0]].mean()
            - np.r_[b, [v for v, at in zip(u, choice, strict=True) if at == 1]].mean()
            for choice in product(range(2 + others), repeat=len(u))
        )
        mine, theirs = largest_mean_gap(a, b, u, others)
        assert np.r_[a, mine].mean() - np.r_[b, theirs].mean() == pytest.approx(best)


# ---- the rest of an audit, and tables -------------------------------------------------------------------------------


def test_everything_else_is_as_if_they_were_left_out() -> None:
    data = some_unknown(people(300), groups=("g", "h"))
    options: dict[str, Any] = {"score": "s", "label": "y", "bootstrap": 20, "permutations": 20, "threshold": 0.5}
    bounds, dropped = (
        evenhand.audit(data, group=["g", "h"], missing=missing, **options).to_dict() for missing in ("bounds", "drop")
    )
    for ours, theirs in zip(bounds["attributes"], dropped["attributes"], strict=True):
        assert ours["unknown"]["n"] > 0
        assert theirs["unknown"] is None
        for a in (ours, theirs):
            a.pop("unknown")
            a["groups"] = [{k: v for k, v in g.items() if k != "left_out"} for g in a["groups"]]
        assert ours == theirs


def test_who_has_no_score_is_left_out_and_who_has_no_group_at_all_is_not() -> None:
    data = some_unknown(people(), groups=("g", "h"), share=0.3)
    s = data["s"].astype(float)
    s[:7] = np.nan
    table = evenhand.tabulate({**data, "s": s}, score="s", group=["g", "h"], missing="bounds")
    assert table.rows == len(s) - 7
    assert dict(table.left_out) == {"without a finite score 's'": 7}
    both = sum(g is None and h is None for g, h in zip(data["g"][7:], data["h"][7:], strict=True))
    assert both > 0
    assert evenhand.audit(table, **QUICK).to_dict()["attributes"][2]["unknown"]["n"] > both


def test_a_saved_table_knows_them_and_tables_add_up(tmp_path: Path) -> None:
    data = some_unknown(people(400))
    halves = [{k: v[part] for k, v in data.items()} for part in (slice(0, 150), slice(150, 400))]
    columns: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}
    whole = evenhand.tabulate(data, **columns, missing="bounds")
    parts = [evenhand.tabulate(half, **columns, missing="bounds") for half in halves]
    assert evenhand.merge(parts).digest() == whole.digest()
    whole.save(tmp_path / "t.parquet")
    again = evenhand.load(tmp_path / "t.parquet")
    assert again == whole
    first, second = (evenhand.audit(t, threshold=0.5, **QUICK).to_dict() for t in (whole, again))
    assert first == second
    assert first["command"].count("--missing bounds") == 1
    # A part that left them out makes what they could change unknown.
    mixed = evenhand.merge([parts[0], evenhand.tabulate(halves[1], **columns, missing="drop")])
    told = unknown_of(evenhand.audit(mixed, threshold=0.5, **QUICK), "g")
    assert told["measures"] == []
    assert "rows without a group were left out of a table" in told["undefined"]


def test_suppressed_tables_say_that_it_is_not_known_and_private_ones_have_nobody_without_a_group() -> None:
    table = evenhand.tabulate(some_unknown(people(2000)), prediction="d", group="g", missing="bounds")
    found = unknown_of(evenhand.audit(evenhand.suppressed(table, below=10), **QUICK), "g")
    assert "when the table was suppressed" in found["undefined"]
    assert found["measures"] == []
    pytest.importorskip("opendp")
    assert unknown_of(evenhand.audit(evenhand.privatized(table, epsilon=5), **QUICK), "g") is None


@pytest.mark.parametrize("engine", ["pandas", "polars", "csv", "parquet"])
def test_every_engine_keeps_them(engine: str, tmp_path: Path) -> None:
    data = some_unknown(people(300))
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(data)
    held: Any = frame
    if engine == "polars":
        held = pytest.importorskip("polars").DataFrame({k: v.tolist() for k, v in data.items()})
    elif engine == "csv":
        held = tmp_path / "people.csv"
        frame.to_csv(held, index=False)
    elif engine == "parquet":
        held = tmp_path / "people.parquet"
        frame.to_parquet(held)
    columns: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "missing": "bounds"}
    assert evenhand.tabulate(held, **columns).digest() == evenhand.tabulate(data, **columns).digest()


def test_scores_on_a_grid_keep_them_too() -> None:
    data = some_unknown(people(5000, levels=None))
    columns: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "missing": "bounds"}
    table = evenhand.tabulate(data, **columns)
    told = unknown_of(evenhand.audit(table, threshold=0.5, **QUICK), "g")
    assert told["n"] == sum(g is None for g in data["g"])


def test_weights_and_clusters() -> None:
    data = some_unknown(people(300)) | {"id": np.arange(300) // 2}
    plain = {"prediction": "d", "group": "g", "missing": "bounds", "reference": "g0"}
    weighted = evenhand.audit(data, weight="w", **plain, **QUICK)
    gone, d, w = np.array([g is None for g in data["g"]]), data["d"] == 1, data["w"]
    in_1, in_0 = data["g"] == "g1", data["g"] == "g0"
    most = w[d & (in_1 | gone)].sum() / w[in_1 | (gone & d)].sum() - w[d & in_0].sum() / w[in_0 | (gone & ~d)].sum()
    found = {(m["id"], m["group"]): m for m in unknown_of(weighted, "g")["measures"]}
    assert found["demographic_parity", "g1"]["bounds"][1] == pytest.approx(most)
    clustered = evenhand.audit(data, cluster="id", **plain, bootstrap=100, permutations=0)
    alone = {(m["id"], m["group"]): m for m in unknown_of(evenhand.audit(data, **plain, **QUICK), "g")["measures"]}
    for m in unknown_of(clustered, "g")["measures"]:
        assert m["bounds"] == alone[m["id"], m["group"]]["bounds"]
        assert m["undefined"] or m["ci"] is not None


def test_nobody_without_a_group_leaves_bounds_at_the_value() -> None:
    audit = evenhand.audit(people(200), prediction="d", group="g", missing="bounds", **QUICK)
    told = unknown_of(audit, "g")
    assert told["n"] == 0
    for m, gap in zip(told["measures"], audit.attributes[0].measures, strict=True):
        if m["undefined"] is None:
            assert m["bounds"] == [m["value"]] * 2
            assert m["ci"] == pytest.approx(gap.ci)
    assert not [c for c in audit.caveats if "have no" in c]


def test_what_it_says_in_every_view(tmp_path: Path) -> None:
    n = 1000
    sex = np.repeat(["f", "m"], n // 2).astype(object)
    d = (np.arange(n) % 10 < np.where(sex == "f", 5, 6)).astype(int)
    sex[::8] = None
    audit = evenhand.audit({"d": d, "sex": sex}, prediction="d", group="sex", reference="m", missing="bounds", **QUICK)
    (caveat,) = (c for c in audit.caveats if "depending on who they are" in c)
    bounds = {m["id"]: m["bounds"] for m in unknown_of(audit, "sex")["measures"]}["disparate_impact"]
    assert caveat.startswith("125 people have no sex: depending on who they are, the ratio of f to m could be between ")
    assert f"between {bounds[0]:.3f} and {bounds[1]:.3f}, across its tolerance" in caveat
    page = audit.to_html(tmp_path / "page.html")
    for text in (audit.summary(), audit.summary(full=True), audit.to_markdown(), page):
        plain = " ".join(text.split())
        assert "125 people have no sex" in plain
        assert f"{bounds[0]:.3f}" in plain
    assert "People without a group" in page
    assert evenhand.verify(tmp_path / "page.html", {"d": d, "sex": sex})


def test_bounds_that_stay_on_one_side_are_a_note() -> None:
    d = np.r_[np.ones(900), np.zeros(100), np.ones(100), np.zeros(900)]
    sex = np.repeat(np.array(["m", "f"], object), 1000)
    sex[::400] = None
    audit = evenhand.audit({"d": d, "sex": sex}, prediction="d", group="sex", missing="bounds", **QUICK)
    assert not any("have no sex" in c for c in audit.caveats)
    assert any("have no sex: whoever they are, every key measure stays" in note for note in audit.notes)


def test_several_models_keep_people_whose_score_nobody_else_has() -> None:
    data = some_unknown(people(200))
    data["g"][0], data["s"][0] = None, 0.777
    options: dict[str, Any] = {"score": ["s", "t"], "label": "y", "group": "g", "bootstrap": 40, "permutations": 0}
    both = {**data, "t": data["s"][::-1].copy()}
    found = evenhand.audit(both, missing="bounds", measures=["delta_dp_c", "demographic_parity"], **options)
    told = found.candidates[0].audit.attributes[0].unknown
    assert told is not None
    assert told.people.n == sum(g is None for g in data["g"])


def test_classes_and_misspelt_choices_are_refused() -> None:
    data = {"y": list("abcabc"), "p": list("abcacb"), "g": ["x", "x", "z", "z", None, "x"]}
    with pytest.raises(evenhand.UsageError, match="bounds are for scores and for decisions of two values"):
        evenhand.audit(data, label="y", prediction="p", group="g", missing="bounds")
    for groups, message in (([None] * 4, "nobody has one in 'g'"), (["a", None] * 2, "'g' has only 'a'")):
        with pytest.raises(evenhand.UsageError, match=message):
            evenhand.audit({"d": [1, 0, 0, 1], "g": groups}, prediction="d", group="g", missing="bounds")
    with pytest.raises(evenhand.UsageError, match="missing must be"):
        evenhand.audit(data, label="y", prediction="p", group="g", missing="bound")


def test_the_command_gives_the_same_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = some_unknown(people(300))
    lines = ["s,y,g", *(f"{s},{y},{g or ''}" for s, y, g in zip(data["s"], data["y"], data["g"], strict=True))]
    (tmp_path / "p.csv").write_text("\n".join(lines) + "\n")
    asked = "audit p.csv --score s --label y --group g --missing bounds --bootstrap 0 --permutations 0 --json -"
    first = json.loads(CliRunner().invoke(cli, asked.split()).stdout)
    again = first["command"].replace("DATA", "p.csv").split()[1:]
    assert json.loads(CliRunner().invoke(cli, [*again, "--json", "-"]).stdout) == first
    assert first["attributes"][0]["unknown"]["n"] > 0


# ---- intervals ------------------------------------------------------------------------------------------------------


def _coverage(rounds: int, n: int, hidden: tuple[float, float]) -> tuple[float, float]:
    """How often the interval of the ratio holds the true one, and bounds hold that of the sample with all groups.

    Selected and rejected members of the group lack it with these chances; of others nobody does: the worst case.
    """
    covered = kept = 0
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        group = rng.random(n) < 0.4
        d = rng.random(n) < np.where(group, 0.45, 0.5)
        lost = group & (rng.random(n) < np.where(d, *hidden))
        seen = np.where(lost, None, np.where(group, "a", "b").astype(object))
        audit = evenhand.audit(
            {"d": d.astype(int), "g": seen}, prediction="d", group="g", reference="b", missing="bounds",
            measures=["demographic_parity"], **QUICK,
        )  # fmt: skip
        assert audit.attributes[0].unknown is not None
        (found,) = audit.attributes[0].unknown.measures
        assert found.ci is not None
        assert found.bounds is not None
        covered += found.ci[0] <= -0.05 <= found.ci[1]
        truth = d[group].mean() - d[~group].mean()
        kept += found.bounds[0] - 1e-12 <= truth <= found.bounds[1] + 1e-12
    return covered / rounds, kept / rounds


@pytest.mark.parametrize("hidden", [(0.3, 0.0), (0.01, 0.0)])
def test_intervals_cover_the_truth_and_bounds_always_the_sample(hidden: tuple[float, float]) -> None:
    covered, kept = _coverage(60, 400, hidden)
    assert kept == 1
    assert covered > 0.85


@pytest.mark.full
@pytest.mark.parametrize("n", [100, 400, 2000])
@pytest.mark.parametrize("hidden", [(0.3, 0.0), (0.0, 0.3), (0.01, 0.0), (0.2, 0.2)])
def test_intervals_cover_at_full_size(n: int, hidden: tuple[float, float]) -> None:
    covered, kept = _coverage(2000, n, hidden)
    assert kept == 1
    assert covered > 0.93
