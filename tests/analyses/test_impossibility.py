"""What the audit says cannot hold together: only what the data at hand exclude, and by how much."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.analyses.audit.attribute import Impossibility
from evenhand.measures.impossibility import chouldechova, with_parity
from evenhand.measures.rates import share
from evenhand.tables.dense import Counts

QUICK: dict[str, Any] = {"bootstrap": 0, "permutations": 0, "reference": "a"}
CHOULDECHOVA = ("predictive_parity", "equal_opportunity", "predictive_equality")
KLEINBERG = ("calibration_gap", "equal_opportunity_uniform", "predictive_equality_uniform")
PARITY = ("demographic_parity", "equalized_odds")


def rows(cells: dict[tuple[str, Any, int], int]) -> dict[str, Any]:
    """Columns from numbers of people by group, score (or decision) and label."""
    group, value, label = zip(*(key for key, n in cells.items() for _ in range(n)), strict=True)
    return {"group": group, "score": np.array(value, float), "label": label}


def stated(cells: dict[tuple[str, Any, int], int]) -> tuple[evenhand.Audit, Impossibility]:
    audit = evenhand.audit(**rows(cells), **QUICK)
    found = audit.attributes[0].impossibility
    assert found.base_rates_differ
    return audit, found


def met(audit: evenhand.Audit, criteria: tuple[str, ...]) -> bool:
    return all(audit.measure(id_).value == pytest.approx(0, abs=1e-12) for id_ in criteria)


MEETING = {
    "perfect prediction": {("a", 0.9, 1): 60, ("a", 0.1, 0): 140, ("b", 0.9, 1): 150, ("b", 0.1, 0): 50},
    "PPV 1 and equal FNR": {
        ("a", 0.9, 1): 30, ("a", 0.1, 1): 30, ("a", 0.1, 0): 140, ("b", 0.9, 1): 75, ("b", 0.1, 1): 75,
        ("b", 0.1, 0): 50,
    },
    "nobody selected": {("a", 0.1, 1): 60, ("a", 0.1, 0): 140, ("b", 0.1, 1): 150, ("b", 0.1, 0): 50},
    "decisions ignore the outcome": {
        ("a", 0.9, 1): 30, ("a", 0.1, 1): 30, ("a", 0.9, 0): 70, ("a", 0.1, 0): 70, ("b", 0.9, 1): 75,
        ("b", 0.1, 1): 75, ("b", 0.9, 0): 25, ("b", 0.1, 0): 25,
    },
    "equal TPR and FPR": {
        ("a", 0.9, 1): 48, ("a", 0.1, 1): 12, ("a", 0.9, 0): 28, ("a", 0.1, 0): 112, ("b", 0.9, 1): 120,
        ("b", 0.1, 1): 30, ("b", 0.9, 0): 10, ("b", 0.1, 0): 40,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", MEETING)
def test_what_the_data_meet_is_not_called_impossible(name: str) -> None:
    audit, found = stated(MEETING[name])
    assert not any(met(audit, criteria) for criteria in found.conflicts if audit.measure(criteria[0]).undefined is None)
    expected = {
        "perfect prediction": {PARITY},
        "PPV 1 and equal FNR": {KLEINBERG, PARITY},
        "nobody selected": {KLEINBERG},
        "decisions ignore the outcome": {CHOULDECHOVA, KLEINBERG},
        "equal TPR and FPR": {CHOULDECHOVA, KLEINBERG, PARITY},
    }
    assert set(found.conflicts) == expected[name]


def test_each_line_says_what_would_have_to_give() -> None:
    audit, found = stated(MEETING["equal TPR and FPR"])
    one, two, three = found.statements
    assert [f.forced for f in one.forced] == pytest.approx([0.2, 3 * 48 / 60 * 28 / 48])  # odds 3, PPV 48/76, TPR 0.8
    assert [f.forced for f in three.forced] == pytest.approx([0.38, 0.65])  # 0.3·0.8 + 0.7·0.2, 0.75·0.8 + 0.25·0.2
    positive = (48 * 0.9 + 12 * 0.1) / 60
    assert [f.forced for f in two.forced] == pytest.approx([(3 / 7) * (1 - positive), 3 * (1 - positive)])
    text = " ".join(audit.summary(full=True).split())
    assert "With the PPV and TPR of a, the FPR would have to be: a 0.200, b 1.400 (impossible)." in text
    assert "With the TPR and FPR of a, the selection rate would have to be: a 0.380, b 0.650." in text
    assert "no imperfect model" not in text
    assert "the FPR would have to be: a 0.200" in audit.to_html()


def test_forced_rates_by_brute_force() -> None:
    """All decisions about 12 and 12 people: those with the reference's rates have exactly the forced one."""
    seen = 0
    for tp, fp in product(range(1, 4), range(1, 9)):
        reference = np.array([[9 - fp, 3 - tp], [fp, tp]])  # decision × label
        for tp_b, fp_b in product(range(7), range(7)):
            counts = Counts(np.stack([[[6 - fp_b, 6 - tp_b], [fp_b, tp_b]], reference], axis=1), ("b", "a"))
            rates = {r: share(counts, r) for r in ("ppv", "tpr", "fpr", "selection_rate")}
            first, second = chouldechova(counts, 1), with_parity(counts, 1)
            same = {r: np.isclose(v[0], v[1]) for r, v in rates.items()}
            if same["ppv"] and same["tpr"]:
                assert first is not None
                assert rates["fpr"][0] == pytest.approx(first.forced[0].forced)
                assert not same["fpr"]
                seen += 1
            if same["tpr"] and same["fpr"] and second is not None:
                assert rates["selection_rate"][0] == pytest.approx(second.forced[0].forced)
                assert not same["selection_rate"]
                seen += 1
    assert seen > 5


def test_calibrated_scores_have_the_forced_balance() -> None:
    """Groups calibrated at every score, with the same mean score of actual positives: their negatives' means differ."""
    a = {("a", 0.2, 1): 20, ("a", 0.2, 0): 80, ("a", 0.8, 1): 80, ("a", 0.8, 0): 20}  # positives' mean 0.68
    # of b's positives 0.6 at 0.8 and 0.4 at 0.5: the mean 0.68 again, from another base rate
    b = {("b", 0.5, 1): 40, ("b", 0.5, 0): 40, ("b", 0.8, 1): 60, ("b", 0.8, 0): 15}
    audit, found = stated(a | b)
    statement = next(one for one in found.statements if one.criteria == KLEINBERG)
    for forced in statement.forced:
        assert forced.forced == pytest.approx(forced.now)  # both are calibrated, with equal means of positives
    assert audit.measure("calibration_gap").value == 0
    parts = audit.measure("equal_opportunity_uniform").parts[0]
    assert parts.group == pytest.approx(parts.reference)
    assert statement.forced[0].now != pytest.approx(statement.forced[1].now, abs=0.05)


def test_scores_that_are_no_probabilities_and_groups_of_one_outcome() -> None:
    cells = {(g, 600 + 200 * s, y): n for (g, s, y), n in MEETING["equal TPR and FPR"].items()}
    found = evenhand.audit(**rows(cells), threshold=700, **QUICK).attributes[0].impossibility
    assert set(found.conflicts) == {CHOULDECHOVA, PARITY}
    one_sided = MEETING["equal TPR and FPR"] | {("c", 0.9, 1): 40, ("c", 0.1, 1): 10}
    for statement in stated(one_sided)[1].statements:
        assert [np.isnan(f.forced) for f in statement.forced] == [False, False, True]
