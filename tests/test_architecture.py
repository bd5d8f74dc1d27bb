"""Imports point one way; heavy things load late; what is promised is there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import evenhand
import evenhand.learn

SOURCE = Path(evenhand.__file__).parent

# A room, and the rooms it may import from, lazily or for types only too. Everybody may import errors.
ARROWS: dict[str, set[str]] = {
    "files": set(),
    "tables": {"files"},
    "ingest": {"files", "tables"},
    "measures": {"tables"},
    "inference": {"tables", "measures"},
    "report": {"files"},
    "analyses": {"files", "tables", "ingest", "measures", "inference", "report"},
    "datasets": {"files", "tables", "ingest", "report"},
    "metrics": {"tables", "ingest", "measures", "inference", "analyses"},
    "learn": {"files", "tables", "ingest", "measures", "inference", "report", "analyses", "datasets"},
    "published": {"evenhand", "files", "tables", "measures", "inference", "report", "analyses", "datasets", "learn"},
    "cli": {"files", "tables", "ingest", "inference", "report", "analyses", "datasets", "learn", "published"},
    "errors": set(),
}
# The same within analyses, beyond options and reference, which everybody may import.
WITHIN: dict[str, set[str]] = {
    # sections of other results on its page, and tables of a rule
    "audit": {"individual", "counterfactual", "projection", "profiles"},
    "requirement": {"audit"},
    "models": {"audit"},
    "alternatives": {"audit", "models", "compare"},
    "monitor": {"audit"},
    "check": {"audit", "requirement"},
    "proposal": {"check"},  # the policy to begin with
    "thresholds": {"audit", "requirement"},
    "entry": {"audit", "classes", "models", "profiles", "unknown_groups"},
    "planning": {"audit", "entry", "classes", "individual", "counterfactual"},  # advice runs them
    "data": {"entry", "audit", "classes", "models", "monitor", "check", "thresholds", "projection"},
}
COMMON = {"cutoff", "errors", "options", "reference"}


PUBLIC = {
    "Advice", "Aggregate", "Alternatives", "Audit", "CandidateAudit", "Chart", "ClassAudit", "Comparison", "Confusion",
    "CounterfactualFairness", "Cover", "Curves", "Data", "DataError", "EvenhandError", "File", "IndividualFairness",
    "Inference", "MissingLibrary", "Plan", "ProbableAudit", "ProjectionTest", "ProjectionTests", "Proposal",
    "Reproduction", "Roles", "SideBySide", "Table", "TableFileError", "TableInfo", "Thresholds", "UsageError",
    "Verdict", "Watch",
    "__version__", "aggregate", "alternatives", "audit", "check", "compare", "compas", "counterfactual_fairness",
    "curves", "data", "datasets", "file", "guide", "individual_fairness", "load", "merge", "metrics", "monitor",
    "power", "privatized", "projection_test", "propose", "reproduce", "schema", "side_by_side", "suppressed",
    "table_info", "tabulate", "thresholds", "verify",
}  # fmt: skip


def module_of(path: Path) -> str:
    return ".".join(("evenhand", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module_of(path): path for path in SOURCE.rglob("*.py")}


def imported(path: Path) -> set[str]:
    """The modules of evenhand that a file imports, anywhere in it; its version is no module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "evenhand":
            full = {f"{node.module}.{alias.name}" for alias in node.names if alias.name != "__version__"}
            found |= {name if name in MODULES else str(node.module) for name in full}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "evenhand"}
    return found


def edges(depth: int) -> dict[str, set[str]]:
    """What every room imports: rooms of the root (1), or of the analyses (2)."""
    found: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        here = name.split(".")
        if len(here) <= depth or (depth == 2 and here[1] != "analyses") or here[-1] == "__main__":
            continue
        parts = [target.split(".") for target in imported(path)]
        rooms = {p[depth] if len(p) > depth else "evenhand" for p in parts if depth == 1 or p[1] == "analyses"}
        found.setdefault(here[depth], set()).update(rooms - {here[depth]})
    return found


def test_imports_between_rooms_follow_the_arrows() -> None:
    assert edges(1).keys() == ARROWS.keys()
    beyond = {room: there - ARROWS[room] - COMMON for room, there in edges(1).items()}
    assert {room: there for room, there in beyond.items() if there} == {}


def test_imports_between_analyses_follow_the_arrows() -> None:
    beyond = {room: there - WITHIN.get(room, set()) - COMMON for room, there in edges(2).items()}
    assert {room: there for room, there in beyond.items() if there} == {}


@pytest.mark.parametrize("depth", [1, 2])
def test_the_arrows_have_no_cycle(depth: int) -> None:
    TopologicalSorter(edges(depth)).prepare()  # raises CycleError


def test_the_root_is_a_short_list() -> None:
    assert len([place for place in SOURCE.iterdir() if place.name != "__pycache__"]) <= 16


def test_narwhals_is_met_at_the_border_only() -> None:
    users = {p.name for p in SOURCE.rglob("*.py") if "import narwhals" in p.read_text(encoding="utf-8")}
    assert users == {"dataframes.py", "frame.py"}


def test_torch_is_met_by_learning_and_counting_only() -> None:
    users = {
        p.relative_to(SOURCE).parts[0]
        for p in MODULES.values()
        if re.search(r"^\s*(import|from) torch", p.read_text("utf-8"), re.M)
    }
    assert users == {"learn", "ingest"}


def loaded(code: str) -> set[str]:
    script = f"import sys; {code}; print(' '.join({{m.split('.')[0] for m in sys.modules}}))"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_import_is_light() -> None:
    assert not loaded("import evenhand") & {"numpy", "narwhals", "duckdb", "scipy", "pandas", "polars", "rich", "click"}
    assert "torch" not in loaded("import evenhand.learn")
    used = loaded("import evenhand; repr(evenhand.audit(evenhand.compas()))")
    assert not used & {"pandas", "polars", "pyarrow", "matplotlib", "sklearn", "torch", "narwhals"}


def test_help_is_light() -> None:
    code = "import evenhand.cli as c\ntry: c.cli(['--help'])\nexcept SystemExit: pass\n"
    script = (
        f"import sys, io\nsys.stdout = io.StringIO()\n{code}sys.stdout = sys.__stdout__\nprint(' '.join(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {m.split(".")[0] for m in found} & {"numpy", "duckdb", "narwhals", "scipy", "rich"}


def test_public_names_are_really_there() -> None:
    assert set(evenhand.__all__) == PUBLIC
    for name in evenhand.__all__:
        assert getattr(evenhand, name) is not None
    assert dir(evenhand) == sorted(evenhand.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        evenhand.nonsense  # noqa: B018


def test_no_module_hides_a_public_function() -> None:
    for package in (evenhand, evenhand.datasets, evenhand.learn):
        inside = {name.removeprefix(f"{package.__name__}.").split(".")[0] for name in MODULES}
        assert inside & set(package.__all__) <= {"datasets", "metrics"}


def test_every_public_function_has_an_executed_example() -> None:
    names = (
        "aggregate", "alternatives", "audit", "check", "compare", "compas", "curves", "data", "guide", "load",
        "monitor", "tabulate", "thresholds", "suppressed", "merge", "privatized", "table_info", "individual_fairness",
        "counterfactual_fairness",
    )  # fmt: skip
    for name in (*names, "Confusion", "Table"):
        assert ">>> " in (getattr(evenhand, name).__doc__ or ""), name
    assert ">>> " in (evenhand.metrics.Metric.__doc__ or "")
