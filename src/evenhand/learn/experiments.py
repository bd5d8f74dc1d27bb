"""Data sets × methods × strengths × seeds × splits → runs, each kept on disk → which method trades best."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from evenhand.comparison import Comparison, compare
from evenhand.datasets import Dataset
from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.files import write_text
from evenhand.learn.people import People
from evenhand.learn.plans import Method, Run, as_method, may_use_gpu, planned
from evenhand.learn.records import Folder
from evenhand.learn.running import PERFORMANCE_OF_CHANCE, results
from evenhand.learn.sources import Source
from evenhand.learn.workers import Place, done_by, settled_device, settled_jobs
from evenhand.options import Axes, checked_axes
from evenhand.results import Result
from evenhand.storage import load
from evenhand.table import Table

if TYPE_CHECKING:
    from evenhand.charts.chart import Chart

SETTING = ("dataset", "method", "strength", "seed", "split")
RESULTS = ("dev_performance", "dev_fairness", "performance", "fairness")


@dataclass(frozen=True)
class Step:
    """How far an experiment is: told after every run, and once before the first."""

    done: int
    total: int
    runs: tuple[Run, ...]
    run: Run | None = None
    record: Mapping[str, Any] | None = None
    repeated: bool = False
    """Whether it was finished before, and is only read."""


@dataclass(frozen=True, repr=False, eq=False)
class Experiment(Result):
    """What an experiment found. Print it, or take `runs`, `compare`, `table`, `to_frame`, `to_dict`, `to_json`."""

    plan: tuple[Run, ...]
    records: tuple[Mapping[str, Any], ...] = field(repr=False)
    """What is known about each run of the plan: seconds, versions, warnings, or why it failed."""
    folder: Folder
    axes: Axes
    notes: tuple[str, ...]

    @cached_property
    def runs(self) -> dict[str, list[Any]]:
        """The finished runs as columns that `evenhand.compare` takes, in the order of the plan."""
        rows = [
            [*(getattr(run, key) for key in SETTING), *self._values(run, record), run.id]
            for run, record in zip(self.plan, self.records, strict=True)
            if record["error"] is None
        ]
        return {name: [row[i] for row in rows] for i, name in enumerate((*SETTING, *RESULTS, "run"))}

    def _values(self, run: Run, record: Mapping[str, Any]) -> list[float | None]:
        """By part performance and fairness; from the table if the run was measured by something else."""
        found: list[float | None] = []
        for part in ("dev", "test"):
            kept = record["parts"][part]
            good, fair = self.axes.performance.id, self.axes.fairness.id
            if good not in kept["performance"] or fair not in kept["fairness"]:
                kept = results(self.table(run.id, part), self.axes)
            found += [kept["performance"][good], kept["fairness"][fair]]
        return found

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.dataset for run in self.plan))

    @property
    def failed(self) -> dict[str, str]:
        """Why runs failed, by id."""
        return {r["id"]: r["error"] for r in self.records if r["error"] is not None}

    def table(self, run: str, part: Literal["dev", "test"] = "test") -> Table:
        """The counts of a run, by its id: every measure can be computed from them."""
        ids = [r.id for r in self.plan]
        if run not in ids or run in self.failed:
            why = (
                f": it failed, {self.failed[run]}" if run in self.failed else "; the column 'run' of runs has their ids"
            )
            raise UsageError(f"there is no finished run {shown(run)}{why}")
        if part not in ("dev", "test"):
            raise UsageError(f"part is 'dev' or 'test', not {shown(part)}")
        table = load(self.folder.table(run, part))
        assert isinstance(table, Table)
        return table

    def compare(self, dataset: str | None = None, **words: Any) -> Comparison:
        """Compare the methods on one data set, with further words of `evenhand.compare`.

        The curves start at what it takes no model to reach: the accuracy of one decision for everybody, 0.5 for
        balanced accuracy and AUROC. There are no areas for other performances unless you name `random_performance`.
        """
        if dataset is None and len(self.datasets) == 1:
            dataset = self.datasets[0]
        if dataset not in self.datasets:
            raise UsageError(
                f"methods are compared on one data set at a time, not {shown(dataset)}: name one of "
                f"{listed(self.datasets)}{nearest(str(dataset), self.datasets)}"
            )
        chosen = [i for i, name in enumerate(self.runs["dataset"]) if name == dataset]
        runs = {name: [column[i] for i in chosen] for name, column in self.runs.items()}
        if not chosen:
            raise DataError(f"no run on {shown(dataset)} has finished, so that there is nothing to compare")
        for name in RESULTS:
            runs[name] = [float("nan") if value is None else value for value in runs[name]]
        words = {"random_performance": self._chance(str(dataset)), "missing": "drop", "rng": 0, **words}
        columns: dict[str, Any] = {name: name for name in RESULTS}
        return compare(runs, method="method", settings="strength", **columns, **words)

    def _chance(self, dataset: str) -> float | None:
        if self.axes.performance.id != "accuracy":
            return PERFORMANCE_OF_CHANCE.get(self.axes.performance.id)
        pairs = zip(self.plan, self.records, strict=True)
        of = {
            run.split: r["parts"]["test"]["majority"] for run, r in pairs if run.dataset == dataset and not r["error"]
        }
        return float(sum(of.values()) / len(of))

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """One for each data set that has runs to compare."""
        found = {}
        for name in self.datasets:
            try:
                found[name] = self.compare(name)
            except DataError:
                continue
        return found

    def to_csv(self) -> str:
        """The runs as text, as they are kept in runs.csv: the same bytes for the same seeds."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(self.runs)
        rows.writerows(["" if v is None else v for v in row] for row in zip(*self.runs.values(), strict=True))
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """The experiment as plain values, in the form that docs/json.md describes."""
        from evenhand.report.experiment import document

        failed = [{"run": run.id, **{k: getattr(run, k) for k in SETTING}, "reason": self.failed[run.id]}
                  for run in self.plan if run.id in self.failed]  # fmt: skip
        measured = {"performance": self.axes.performance.id, "fairness": self.axes.fairness.id}
        compared = {name: found.to_dict() for name, found in self.comparisons.items()}
        return document(len(self.plan), measured, self.runs, failed, compared, self.notes)

    def to_frame(self, library: str | None = None) -> Any:
        """The runs as a dataframe of the library named, else of the first that is installed."""
        from evenhand.report.experiment import runs_frame

        return runs_frame(self.runs, library)

    def plot(self, name: str = "tradeoff", *, dataset: str | None = None) -> Chart:
        """A chart of the comparison on a data set: "tradeoff", "dto" or "area"; with several, "tradeoff on adult"."""
        kind, on, of = name.partition(" on ")
        return self.compare(of if on else dataset).plot(kind)

    def plots(self) -> tuple[str, ...]:
        """The names of the charts that `plot` can draw."""
        found = self.comparisons
        alone = len(self.datasets) == 1
        return tuple(kind if alone else f"{kind} on {name}" for name, c in found.items() for kind in c.plots())

    def __rich__(self) -> Any:
        from evenhand.report.experiment import render

        return render(self.to_dict())


def experiment(
    datasets: Any,
    methods: Any,
    *,
    strengths: Sequence[float] | Mapping[str, Sequence[float]] = (0.0,),
    seeds: Sequence[int] = (0,),
    splits: int = 1,
    group: str | Mapping[str, str] | None = None,
    folder: Any,
    performance: str = "accuracy",
    fairness: str = "abcc",
    fractions: tuple[float, float, float] = (0.6, 0.2, 0.2),
    own_split: bool = True,
    exclude: Sequence[str] = (),
    retry: bool = False,
    jobs: int | Literal["auto"] = "auto",
    device: Literal["auto", "cpu", "cuda"] = "auto",
    progress: Callable[[Step], None] | None = None,
) -> Experiment:
    """Fit every method at every strength, with every seed, on every split of every data set, and keep each run.

    A run is finished when its record is in the folder. Started again, an experiment does what is missing; it ends with
    the same table whether it was interrupted or not.

    Parameters
    ----------
    datasets
        One or several: a `Dataset`, a `Source`, or a name of `evenhand.datasets`.
    methods
        Names of `evenhand.learn.METHODS`, "module:Class" of your own, classes, or `Method`s with options and strengths;
        a dict gives them other names.
    strengths
        For all methods, or by method. A method that is given none is run once, at 0; "mlp" always is.
    seeds, splits
        Seeds of methods (`random_state`), and how many random splits of the people. Every split is the same for all
        methods and seeds.
    group
        The attribute whose groups are compared, for all data sets or by data set; a `Source` may have its own.
    folder
        Where runs are kept. One experiment at a time writes there.
    performance, fairness
        What is traded: accuracy, balanced_accuracy, auroc, …, and any measure of an audit, as 1 − its distance from
        parity (no less than 0), so that higher is better. Decisions are those at 0.5. Neither shapes a run: another
        one is computed from the tables of the runs that are there.
    fractions, own_split
        Shares that train, select and test; the test people of a data set that has them stay, if `own_split`.
    exclude
        Columns that models do not see, in all data sets; a `Source` may have its own.
    retry
        Try runs again that failed; otherwise their reason is repeated.
    jobs, device
        Processes (by default one for each core), and where methods compute; a GPU takes one run at a time.
    progress
        Called with a `Step` after every run.
    """
    axes = checked_axes(performance, fairness)
    wanted = _methods(methods)
    on = settled_device(device, any(may_use_gpu(m.maker) for m in wanted))
    people = _people(datasets, group, tuple([exclude] if isinstance(exclude, str) else exclude))
    prints = {name: (some.fingerprint, some.attribute) for name, some in people.items()}
    plan = planned(prints, wanted, strengths, seeds, splits, fractions, own_split)
    processes = settled_jobs(jobs, on, importable=not any(m.maker.startswith("__main__:") for m in wanted))
    place = Place(Folder.at(folder), axes.performance.id, axes.fairness.id, on)
    with place.folder.locked():
        place.folder.tidy()
        for name, some in people.items():
            some.save(place.folder.people / prints[name][0])
        try:
            records = _records(plan, place, processes, retry, progress or (lambda step: None))
        finally:
            place.folder.tidy()
        found = Experiment(
            plan, tuple(records[run.id] for run in plan), place.folder, axes, _notes(plan, records, place)
        )
        write_text(place.folder.path / "runs.csv", found.to_csv())
    return found


def _records(
    plan: tuple[Run, ...], place: Place, jobs: int, retry: bool, tell: Callable[[Step], None]
) -> dict[str, Mapping[str, Any]]:
    """The record of every run: read, or made."""
    found: dict[str, Mapping[str, Any]] = {}
    tell(Step(0, len(plan), plan))
    for run in plan:
        record = place.folder.record(run.id)
        if record is not None and not (retry and record["error"] is not None):
            found[run.id] = record
            tell(Step(len(found), len(plan), plan, run, record, repeated=True))
    with closing(done_by([run for run in plan if run.id not in found], place, jobs)) as finished:
        for run, record in finished:
            found[run.id] = record
            tell(Step(len(found), len(plan), plan, run, record))
    return found


def _notes(plan: tuple[Run, ...], records: Mapping[str, Mapping[str, Any]], place: Place) -> tuple[str, ...]:
    notes = []
    failed = sum(r["error"] is not None for r in records.values())
    if failed:
        notes.append(f"{failed:,} of {len(plan):,} runs failed; they are tried again with retry=True (--retry)")
    others = place.folder.others(set(records))
    if others:
        notes.append(f"the folder holds {others:,} finished runs of another plan, which are not shown")
    for name in dict.fromkeys(name for r in records.values() for name in r["versions"]):
        seen = sorted({str(r["versions"].get(name)) for r in records.values()})
        if len(seen) > 1:
            notes.append(f"runs were made with several versions of {name}: {', '.join(seen)}")
    devices = sorted({r["device"] for r in records.values()})
    if len(devices) > 1:
        notes.append(f"runs were made on several devices: {', '.join(devices)}")
    return tuple(notes)


def _methods(given: Any) -> list[Method]:
    if isinstance(given, Mapping):
        return [as_method(one, str(name)) for name, one in given.items()]
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    return [as_method(one) for one in several]


def _people(given: Any, group: Any, exclude: tuple[str, ...]) -> dict[str, People]:
    """The people of every data set, by its name."""
    found: dict[str, People] = {}
    for one in given if isinstance(given, Sequence) and not isinstance(given, str) else [given]:
        source = Source(one) if isinstance(one, str) else one
        if not isinstance(source, Source | Dataset):
            raise UsageError(f"a data set is a Dataset, a Source or a name of evenhand.datasets, not {shown(one)}")
        own = source.group if isinstance(source, Source) else None
        attribute = own or (group.get(source.name) if isinstance(group, Mapping) else group)
        if not isinstance(attribute, str):
            raise UsageError(f"say whose treatment is compared on {source.name}: group='sex', or another attribute")
        if source.name in found:
            raise UsageError(f"data set {shown(source.name)} is there twice: give each its own name")
        hidden = (source.exclude or exclude) if isinstance(source, Source) else exclude
        found[source.name] = People.of(source if isinstance(source, Dataset) else source.load(), attribute, hidden)
    return found
