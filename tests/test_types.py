"""A type checker knows what comes back: the kind of data decides the kind of result."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import evenhand
from evenhand.inference.settings import Inference, InferenceArgs, ResamplingArgs
from evenhand.ingest.roles import ColumnArgs, Roles, RolesArgs

ROOT = Path(__file__).parents[1]
REVEALED = {
    "evenhand.audit(table, threshold=5)": "Audit",
    "evenhand.audit(confusion, metric='tpr')": "ClassAudit",
    "evenhand.audit(joint, threshold=[0.5, 0.6])": "CandidateAudit",
    "evenhand.audit(rows, score='p', label='y', group='g', confidence=0.9)": "Audit",
    "evenhand.audit(score=numbers, group=['a', 'b'])": "Audit",
    "evenhand.audit(rows, score=['a', 'b'], group='g')": "CandidateAudit",
    "evenhand.audit(rows, prediction='d', group='g')": "Audit | ClassAudit | CandidateAudit",
    "evenhand.audit(rows, prediction='d', group_probability=['p', 'q'])": "ProbableAudit",
    "evenhand.data(rows, score='p', label='y', group='g').audit(threshold=0.5)": "Audit",
    "evenhand.data(rows, score=['a', 'b'], group='g').audit()": "CandidateAudit",
    "evenhand.data(rows, label='y', prediction='d', group='g').audit()": "Audit | ClassAudit",
    "evenhand.data(rows, score='p', group='g').table()": "Table",
    "evenhand.data(table).audit()": "Audit",
    "evenhand.data(confusion).audit()": "ClassAudit",
    "evenhand.data(joint).audit()": "CandidateAudit",
    "evenhand.data(table).check('abcc <= 0.1')": "Verdict",
    "evenhand.data(rows, score='p', group='g').check(require='abcc <= 0.1', threshold=0.5)": "Verdict",
    "evenhand.data(rows, score='p', group='g').thresholds(by_group=True)": "Thresholds",
    "evenhand.data(rows, score='p', group='g').monitor(time='day')": "Watch",
    "evenhand.data(rows, score='p', group='g').curves('g')": "Curves",
    "evenhand.data(rows, score='p', group='g').projection_test()": "ProjectionTest | Any",
    "evenhand.data(rows, label='y', prediction='d', group='g').aggregate(metric='fpr')": "Aggregate",
    "evenhand.tabulate(rows, score='p', group='g')": "Table",
    "evenhand.tabulate(rows, label='y', prediction='d', group='g', classes=True)": "Confusion",
    "evenhand.tabulate(rows, label='y', prediction='d', group='g')": "Table | Confusion",
}
REFUSED = {
    "evenhand.audit(table, thresold=0.5)": 'did you mean "threshold"',
    "evenhand.check(table, treshold=0.5)": 'did you mean "threshold"',
    "evenhand.data(rows, scroe='p')": 'did you mean "score"',
    "evenhand.data(rows, score='p').check(requir='x')": 'did you mean "require"',
    "evenhand.thresholds(table, threshold=[0.5])": 'incompatible type "list[float]"',
    "evenhand.adit(table)": 'has no attribute "adit"',
}
START = """import numpy as np, evenhand
from evenhand.tables.joint import JointTable
def f(table: evenhand.Table, confusion: evenhand.Confusion, joint: JointTable, rows: dict[str, list[float]]) -> None:
    numbers = np.zeros(2)
"""


def test_a_type_checker_knows_the_kind_of_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = pytest.importorskip("mypy.api")
    lines = [*(f"    reveal_type({call})\n" for call in REVEALED), *(f"    {call}\n" for call in REFUSED)]
    script = tmp_path / "script.py"
    script.write_text(START + "".join(lines), encoding="utf-8")
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    said: dict[int, str] = {}
    # the settings and the cache are those of the project: what was checked before is not checked again
    for line in api.run([f"--config-file={ROOT / 'pyproject.toml'}", str(script)])[0].splitlines():
        if found := re.match(r".*script\.py:(\d+): (?:note|error): (.*)", line):
            said.setdefault(int(found[1]), found[2])
    first = START.count("\n") + 1
    for place, kind in enumerate(REVEALED.values(), first):
        assert re.sub(r"[\w.]+\.", "", said[place]) == f'Revealed type is "{kind}"'
    for place, message in enumerate(REFUSED.values(), first + len(REVEALED)):
        assert message in said[place]


def test_signatures_have_the_words_of_roles_and_inference() -> None:
    roles, inference = {f.name for f in fields(Roles)}, {f.name for f in fields(Inference)}
    assert RolesArgs.__optional_keys__ == roles
    assert ColumnArgs.__optional_keys__ == roles - {"score"}
    assert InferenceArgs.__optional_keys__ == inference - {"seed"} | {"rng"}
    assert ResamplingArgs.__optional_keys__ == InferenceArgs.__optional_keys__ - {"confidence"}
    for f in (*fields(Roles), *fields(Inference)):
        assert f.metadata["help"].endswith("."), f.name


@pytest.mark.parametrize("name", sorted({*evenhand.__all__} - {"__version__"}))
def test_no_public_function_spells_very_many_options(name: str) -> None:
    public: Any = getattr(evenhand, name)
    if inspect.isfunction(public):
        own = [p for p in inspect.signature(public).parameters.values() if p.kind is not p.VAR_KEYWORD]
        assert len(own) <= 13, name
