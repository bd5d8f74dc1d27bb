"""One run: fit a model on the training people, score the others, count them, and keep the counts."""

from __future__ import annotations

import platform
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from evenhand import __version__
from evenhand.analyses.audit.audit import Audit
from evenhand.analyses.entry import audit
from evenhand.analyses.models.paired import distance
from evenhand.analyses.options import Axes
from evenhand.datasets.features import Matrix
from evenhand.errors import DataError, EvenhandError, shown
from evenhand.ingest.tabulation import tabulate
from evenhand.ingest.values import writable
from evenhand.learn.experiments.plan import Run, model_of
from evenhand.learn.experiments.records import PARTS, Folder
from evenhand.learn.experiments.splits import People
from evenhand.measures.performance import why_not
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.scores import ScoreView
from evenhand.tables.storage import load
from evenhand.tables.table import Table

THRESHOLD = 0.5
LIBRARIES = ("numpy", "scikit-learn", "torch")


def perform(run: Run, people: People, folder: Folder, axes: Axes, device: str) -> dict[str, Any]:
    """Do one run and keep it: first its tables, then its record, without which it has not happened."""
    start = time.monotonic()
    record: dict[str, Any] = {"error": None, "traceback": None, "parts": {}}
    tables: dict[str, Table] = {}
    # What a method prints is no result of ours: it goes to standard error.
    with warnings.catch_warnings(record=True) as said, redirect_stdout(sys.stderr):
        warnings.simplefilter("always")
        try:
            tables = fit(run, people, device)
            for part, table in tables.items():
                record["parts"][part] = {"people": table.rows, "majority": majority(table), **results(table, axes)}
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a method may fail in any way, by sys.exit() too, and the others go on
            own = str(error) if isinstance(error, EvenhandError) else ""
            reason = own or f"{type(error).__name__}: {error}"
            record |= {"error": writable(reason), "traceback": writable(traceback.format_exc()), "parts": {}}
    record["warnings"] = list(dict.fromkeys(writable(f"{w.category.__name__}: {w.message}") for w in said))[:20]
    record |= {"seconds": round(time.monotonic() - start, 3), "device": device, "versions": versions()}
    for part, table in tables.items() if record["error"] is None else ():
        table.save(folder.table(run.id, part))  # what goes wrong here is no fault of the method, and stops everything
        record["parts"][part]["table"] = folder.seal(run.id, part)
    return folder.keep(run, record)


def died(run: Run, folder: Folder, device: str) -> dict[str, Any]:
    """The record of a run whose process is gone."""
    reason = "its process died: it was killed, perhaps because memory ran out, or crashed"
    nothing: dict[str, Any] = {"error": reason, "traceback": None, "parts": {}, "warnings": [], "seconds": None}
    return folder.keep(run, {**nothing, "device": device, "versions": versions()})


def fit(run: Run, people: People, device: str) -> dict[str, Table]:
    """The counts of the people who did not train, by part."""
    parts = people.parts(run.split, run.fractions, run.own_split)
    train, *others = people.scaled(parts)
    names = np.array(people.groups, object)
    with one_thread():
        model = model_of(run, device)
        model.fit(train, people.label[parts.train], sensitive_features=names[people.group[parts.train]])
        return {
            part: count(scores_of(model, features, names[people.group[rows]]), people, rows)
            for part, features, rows in zip(PARTS, others, parts[1:], strict=True)
        }


def scores_of(model: Any, features: Matrix, groups: Any) -> Floats:
    """The probability of label 1."""
    seen = groups if getattr(model, "needs_groups_to_predict", False) else None
    chances = np.asarray(model.predict_proba(features, sensitive_features=seen), np.float64)
    classes = [int(c) for c in getattr(model, "classes_", (0, 1))]
    if chances.shape != (len(features), len(classes)) or 1 not in classes:
        raise DataError(
            f"predict_proba must give a column for each of the classes 0 and 1, but gave {shown(chances.shape)} for "
            f"the classes {classes}"
        )
    score = chances[:, classes.index(1)]
    if not np.isfinite(score).all():
        raise DataError(
            f"{int((~np.isfinite(score)).sum()):,} of {len(score):,} predicted probabilities are no numbers"
        )
    return np.clip(score, 0.0, 1.0)


def count(score: Floats, people: People, rows: Ints) -> Table:
    groups = np.array(people.groups, object)[people.group[rows]]
    table = tabulate(
        score=score, label=people.label[rows], group={people.attribute: groups}, bands="none", favorable=1,
        score_range=(0.0, 1.0), cuts=(THRESHOLD,),
    )  # fmt: skip
    assert isinstance(table, Table)  # there are scores
    return table


# ---- what a table of counts comes to ----------------------------------------------------------------------------


def results(table: Table, axes: Axes) -> dict[str, Any]:
    """Performance and fairness, both in [0, 1] and higher is better; None where there is none."""
    good, fair = performance_of(table, axes), fairness_of(table, axes)
    return {"performance": {axes.performance.id: good}, "fairness": {axes.fairness.id: fair}}


def measure(record: dict[str, Any], folder: Folder, axes: Axes) -> dict[str, Any]:
    """The record by these measures: from the tables if the run was measured by others."""
    good, fair = axes.performance.id, axes.fairness.id
    parts = {}
    for part, figures in record["parts"].items():
        if good not in figures["performance"] or fair not in figures["fairness"]:
            table = load(folder.table(record["id"], part))
            assert isinstance(table, Table)
            figures = {**figures, **results(table, axes)}
        parts[part] = figures
    return {**record, "parts": parts}


def performance_of(table: Table, axes: Axes) -> float | None:
    p, grouping = axes.performance, table.groupings[0]
    scores = ScoreView(table, grouping)(range(len(grouping.groups)))
    of: Any = p.of
    value = float(of(table.decisions(grouping, THRESHOLD) if p.rests_on == "decision" else scores))
    if p.id == "log_loss" and not np.isfinite(value):
        return 0.0  # somebody was given probability 0 of what happened: the loss is infinite, and exp(−∞) is 0
    return float(p.goodness(np.asarray(value))) if why_not(p, scores, value) is None else None


def fairness_of(table: Table, axes: Axes) -> float | None:
    """1 − the distance from parity, no less than 0: of two groups, or of the two that differ most."""
    m = axes.fairness
    result = audit(table, measures=[m.id], threshold=THRESHOLD, bootstrap=0, permutations=0)
    assert isinstance(result, Audit)
    attribute = result.attributes[0]
    gaps: list[Any] = [*attribute.largest, *attribute.measures]
    value = next((g.value for g in gaps if g.id == m.id), np.nan)
    size = float(distance(m, value))
    return max(0.0, 1.0 - size) if np.isfinite(size) else None


def majority(table: Table) -> float:
    """The accuracy of deciding the same for everybody."""
    assert table.label is not None
    share = float(table.n[table.label].sum() / table.rows)
    return max(share, 1 - share)


# ---- the machine ------------------------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    known = {"evenhand": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            known[name] = version(name)
    return known


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums in one order, so that a run gives the same numbers alone and beside others."""
    with ExitStack() as stack:
        with suppress(ImportError):
            from threadpoolctl import threadpool_limits

            stack.enter_context(threadpool_limits(1))
        torch = sys.modules.get("torch")
        if torch is not None:
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        yield
