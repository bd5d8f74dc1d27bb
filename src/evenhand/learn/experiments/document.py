"""An experiment → its JSON document, and a dataframe of its runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evenhand.errors import shown_name
from evenhand.learn.experiments.splits import Parts
from evenhand.measures.registry import find
from evenhand.report.document import header
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.learn.experiments.result import Experiment

SETTING = ("dataset", "method", "strength", "seed", "split")
_TYPES = {
    "dataset": "str", "method": "str", "strength": "float", "seed": "int", "split": "int", "dev_performance": "float",
    "dev_fairness": "float", "performance": "float", "fairness": "float", "run": "str",
}  # fmt: skip


def document(result: Experiment) -> dict[str, Any]:
    """The whole experiment as plain values."""
    runs, failed = result.runs, result.failed
    said = Counter(text for record in result.records for text in record["warnings"])
    return {
        **header("experiment"),
        "planned": len(result.plan),
        "options": {"performance": result.axes.performance.id, "fairness": result.axes.fairness.id},
        "datasets": {name: _people(result, name) for name in result.datasets},
        "runs": [dict(zip(runs, row, strict=True)) for row in zip(*runs.values(), strict=True)],
        "failed": [
            {"run": run.id, **{k: getattr(run, k) for k in SETTING}, "reason": failed[run.id]}
            for run in result.plan
            if run.id in failed
        ],
        "warnings": [{"text": text, "runs": n} for text, n in said.items()],
        "comparisons": {name: comparison.to_dict() for name, comparison in result.comparisons.items()},
        "notes": list(result.notes),
    }


def _people(result: Experiment, name: str) -> dict[str, Any]:
    about = result.about[name]
    groups = [{"name": group, **dict(zip(Parts._fields, n, strict=True))} for group, n in about.groups.items()]
    return {
        "attribute": about.attribute,
        "people": {part: sum(group[part] for group in groups) for part in Parts._fields},
        "groups": groups,
        "notes": list(about.notes),
        "not_compared": result.not_compared.get(name),
    }


def frame(result: Experiment, library: str | None) -> Any:
    """One row for each run."""
    return plain_frame(result.runs, _TYPES, library)


def run_name(run: Any) -> str:
    """A run in one short line, whatever its data set and method are called."""
    names = f"{one_line(run.dataset, 40)} {one_line(run.method, 40)}"
    return f"{names} {run.strength:g} seed {run.seed} split {run.split}"


def one_line(text: str, limit: int = 300) -> str:
    """What a method says or is called, in one short line that does nothing to a terminal."""
    return shown_name(" ".join(text.split()), limit)


def fairness_name(id_: str) -> str:
    """How 1 − the distance from parity is called: of a ratio it is the ratio itself, the lower over the higher.

    >>> fairness_name("abcc"), fairness_name("disparate_impact")
    ('1 − abcc', 'disparate_impact')
    """
    measure = find(id_)
    return id_ if measure is not None and measure.scale == "ratio" else f"1 − {id_}"
