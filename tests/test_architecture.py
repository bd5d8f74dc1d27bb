"""Imports point one way; heavy things load late; what is promised is there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evenhand

SOURCE = Path(evenhand.__file__).parent

# layer: what it may import. Everything may import errors.
ARROWS: dict[str, set[str]] = {
    "provenance": set(),
    "errors": set(),
    "masking": set(),
    "files": {"masking"},
    "toml_lines": set(),
    "toml_files": {"files", "masking", "toml_lines"},
    "results": {"files", "page", "report"},  # a result makes its views when asked
    "cells": set(),
    "runs": {"ingest", "cells"},
    "standings": {"runs", "tradeoff", "inference", "cells"},
    "questions": {"runs", "standings", "tradeoff"},
    "comparison": {"charts", "results", "questions", "runs", "standings", "tradeoff", "inference", "report"},
    "tradeoff": {"cells"},
    "groupings": {"provenance", "cells"},
    "rules": {"table", "confusion"},  # their types only
    "noise": set(),
    "table": {
        "provenance",
        "spans",
        "noise",
        "cells",
        "groupings",
        "rules",
        "storage",
    },  # Table.save calls storage when it is used
    "confusion": {"provenance", "table", "cells", "groupings", "rules", "storage"},
    "storage": {"provenance", "masking", "noise", "grid", "spans", "table", "confusion", "cells", "files"},
    "suppression": {"provenance", "spans", "table", "confusion", "cells", "groupings"},
    "privacy": {"provenance", "spans", "noise", "table", "confusion", "cells"},
    "disclosure": {"results", "scores", "storage", "table", "confusion", "cells", "groupings", "report"},
    "examples": {"table", "cells"},
    "datasets": {"cells", "files", "ingest", "report"},  # report makes a dataframe when asked
    "ingest": {
        "masking",
        "provenance",
        "grid",
        "spans",
        "table",
        "confusion",
        "joint",
        "cells",
        "files",
        "storage",
    },
    "pairs": {
        "cells",
        "charts",
        "files",
        "groupings",
        "inference",
        "ingest",
        "options",
        "page",
        "report",
        "results",
    },
    "learn": {
        "auditing",
        "cells",
        "charts",  # plot calls it when it is used
        "comparison",
        "datasets",
        "files",
        "ingest",
        "measures",
        "options",
        "paired",
        "report",
        "results",
        "scores",
        "storage",
        "table",
        "toml_files",
        "toml_lines",
        "__version__",
    },
    "scores": {"table", "cells"},
    "measures": {"scores", "table", "confusion", "cells"},
    "inference": {"noise", "table", "confusion", "cells"},
    "recipes": {"measures", "cells"},
    "classwise": {"measures", "inference", "confusion", "cells"},
    "aggregation": {
        "results",
        "classwise",
        "recipes",
        "options",
        "measures",
        "inference",
        "ingest",
        "storage",
        "report",
        "table",
        "confusion",
        "groupings",
        "cells",
    },
    "classaudit": {
        "charts",  # plot calls it when it is used, here and in other results
        "results",
        "aggregation",
        "classwise",
        "options",
        "measures",
        "inference",
        "report",
        "confusion",
        "groupings",
        "cells",
    },
    "joint": {"table", "cells"},
    "paired": {"joint", "measures", "inference", "scores", "table", "cells"},
    "differences": {"auditing", "cells", "gaps", "paired", "measures", "inference", "scores"},
    "candidates": {
        "page",
        "charts",
        "results",
        "auditing",
        "differences",
        "joint",
        "options",
        "paired",
        "tradeoff",
        "measures",
        "inference",
        "report",
        "table",
    },
    "nulls": {"measures", "inference", "scores", "table", "cells"},
    "ordinary": {"measures", "inference", "table", "cells"},
    "gaps": {"nulls", "ordinary", "measures", "inference", "table", "cells"},
    "evidence": {"gaps", "nulls", "measures", "inference"},
    "distances": {"gaps", "nulls", "ordinary", "measures", "inference", "scores", "table", "cells"},
    "extremes": {"gaps", "nulls", "measures", "inference", "table", "cells"},
    "options": {"nulls", "measures", "inference", "table"},
    "planning": {"inference"},
    "policy": {"gaps", "measures", "cells"},
    "gate": {
        "toml_files",
        "toml_lines",
        "page",
        "files",
        "policy",
        "references",
        "results",
        "auditing",
        "attributes",
        "extremes",
        "gaps",
        "options",
        "report",
        "measures",
        "inference",
        "ingest",
        "storage",
        "confusion",
        "joint",
        "table",
    },
    "sweep": {"policy", "measures", "table", "cells"},
    "separate": {"sweep", "policy", "measures", "table", "cells"},
    "choosing": {"cutoffs", "attributes", "gaps", "policy", "measures", "cells"},  # of cutoffs its type only
    "cutoffs": {
        "results",
        "choosing",
        "separate",
        "sweep",
        "policy",
        "tradeoff",
        "auditing",
        "references",
        "options",
        "report",
        "measures",
        "inference",
        "ingest",
        "table",
        "cells",
    },
    "logistic": {"ingest", "cells"},
    "projection": {
        "auditing",
        "confusion",
        "ingest",
        "logistic",
        "references",
        "report",
        "inference",
        "storage",
        "files",
        "table",
        "cells",
    }
    | {"__version__"},
    "summaries": {"extremes", "gaps", "measures", "inference", "table", "cells"},
    "references": {"ingest", "table"},
    "attributes": {
        "summaries",
        "distances",
        "evidence",
        "extremes",
        "gaps",
        "nulls",
        "options",
        "ordinary",
        "measures",
        "inference",
        "scores",
        "table",
    },
    "drowned": {"evidence", "extremes", "attributes", "gaps", "summaries", "measures", "groupings", "table", "cells"},
    "auditing": {
        "drowned",
        "page",
        "charts",
        "results",
        "candidates",  # audit calls it when several scores are given
        "joint",
        "attributes",
        "classaudit",
        "confusion",
        "references",
        "evidence",
        "gaps",
        "options",
        "measures",
        "inference",
        "ingest",
        "storage",
        "files",
        "scores",
        "table",
        "report",
    },
    "report": {
        "watch",
        "ingest",
        "groupings",
        "pairs",  # the types of its results
        "gate",  # the types of a verdict
        "candidates",
        "differences",
        "choosing",
        "cutoffs",
        "separate",
        "comparison",
        "runs",
        "standings",
        "aggregation",
        "classaudit",
        "recipes",
        "confusion",
        "disclosure",
        "projection",
        "attributes",
        "auditing",
        "options",
        "summaries",
        "extremes",
        "gaps",
        "nulls",
        "measures",
        "inference",
        "table",
        "cells",
        "__version__",
    },
    "page": {
        "watch",
        "pairs",
        "auditing",  # its type, and those of candidates and watching
        "candidates",
        "charts",
        "report",
        "policy",
        "gaps",
        "measures",
        "groupings",
        "table",
        "cells",
        "__version__",
    },
    "charts": {
        "watch",
        "aggregation",  # of these and the next five their types only
        "auditing",
        "candidates",
        "classaudit",
        "comparison",
        "standings",
        "attributes",
        "files",
        "gaps",
        "groupings",
        "measures",
        "nulls",
        "paired",
        "shapes",
        "table",
        "tradeoff",
        "cells",
    },
    "shapes": {"options", "references", "report", "measures", "inference", "scores", "table", "cells"},
    "metrics": {"auditing", "extremes", "gaps", "options", "measures", "ingest"},
    "advice": set(),
    "cli": {
        "learn",  # bench
        "page",  # what fits into a page, before any work
        "masking",
        "pairs",
        "watch",
        "results",
        "advice",
        "aggregation",
        "auditing",
        "comparison",
        "classaudit",
        "cutoffs",
        "disclosure",
        "privacy",
        "suppression",
        "examples",
        "files",
        "gate",
        "ingest",
        "options",
        "planning",
        "projection",
        "report",
        "storage",
        "__version__",
    },
    "__main__": {"cli"},
    "__init__": {
        "pairs",
        "watch",
        "advice",
        "aggregation",
        "auditing",
        "candidates",
        "charts",
        "comparison",
        "classaudit",
        "confusion",
        "cutoffs",
        "disclosure",
        "privacy",
        "suppression",
        "examples",
        "gate",
        "ingest",
        "planning",
        "projection",
        "shapes",
        "storage",
        "table",
        "datasets",
        "metrics",
    },
    "watch": {
        "masking",
        "auditing",
        "cells",
        "charts",
        "confusion",
        "distances",
        "files",
        "gaps",
        "inference",
        "ingest",
        "measures",
        "options",
        "page",
        "policy",
        "references",
        "report",
        "results",
        "scores",
        "storage",
        "table",
    },
    "spans": {"grid", "cells"},
    "grid": {"cells"},
}


def modules() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in SOURCE.rglob("*.py"):
        found.setdefault(path.relative_to(SOURCE).parts[0].removesuffix(".py"), []).append(path)
    return found


def imported(path: Path) -> set[str]:
    """The layers of evenhand that a file imports, anywhere in it."""
    out = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = node.module.split(".")
            if parts[0] == "evenhand":
                out |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            out |= {a.name.split(".")[1] for a in node.names if a.name.startswith("evenhand.")}
    return out


def test_every_module_has_its_place() -> None:
    assert set(modules()) == set(ARROWS)


@pytest.mark.parametrize("layer", ARROWS)
def test_imports_point_one_way(layer: str) -> None:
    for path in modules()[layer]:
        beyond = imported(path) - ARROWS[layer] - {layer, "errors"}
        assert not beyond, f"{path.name} must not import {beyond}"


def test_narwhals_is_met_at_the_border_only() -> None:
    users = {p.name for p in SOURCE.rglob("*.py") if "import narwhals" in p.read_text(encoding="utf-8")}
    assert users == {"frames.py", "frame.py"}


def test_torch_is_met_by_learning_and_counting_only() -> None:
    users = {
        p.parent.name for p in SOURCE.rglob("*.py") if re.search(r"^\s*(import|from) torch", p.read_text("utf-8"), re.M)
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
    assert set(evenhand.__all__) == {*evenhand._HOME, "datasets", "metrics", "__version__"}
    for name in evenhand.__all__:
        assert getattr(evenhand, name) is not None
    assert dir(evenhand) == sorted(evenhand.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        evenhand.nonsense  # noqa: B018


def test_no_module_hides_a_public_function() -> None:
    assert not set(modules()) & set(evenhand._HOME)


def test_every_public_function_has_an_executed_example() -> None:
    names = (
        "aggregate", "audit", "check", "compare", "compas", "curves", "guide", "load", "monitor", "tabulate",
        "thresholds", "suppressed", "privatized", "table_info", "individual_fairness", "counterfactual_fairness",
    )  # fmt: skip
    for name in (*names, "Confusion", "Table"):
        assert ">>> " in (getattr(evenhand, name).__doc__ or ""), name
    assert ">>> " in (evenhand.metrics.Metric.__doc__ or "")
