"""Data sets × methods × strengths × seeds × splits → runs, each kept on disk as it finishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenhand.analyses.options import checked_axes, listener
from evenhand.datasets import Dataset
from evenhand.errors import DataError, EvenhandError, UsageError, shown
from evenhand.files.paths import write_text
from evenhand.learn.experiments.plan import Method, Run, as_method, may_use_gpu, plan_runs
from evenhand.learn.experiments.records import Folder
from evenhand.learn.experiments.result import HEADER, About, Experiment
from evenhand.learn.experiments.run import measure
from evenhand.learn.experiments.sources import Source
from evenhand.learn.experiments.splits import People
from evenhand.learn.experiments.workers import Place, perform_all, settle_device, settle_jobs


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
        Processes (by default one for each core), and where methods compute; a GPU takes one run at a time. A run that
        kills its process fails alone; with 1, everything happens in this process, and such a run ends it.
    progress
        Called with a `Step` after every run.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], 400).astype(object)
    >>> x = rng.normal(size=400) + (sex == "m")
    >>> people = Dataset("toy", {"x": x}, (x > 0.5).astype(int), "hired", "was hired", {"sex": sex})
    >>> folder = tempfile.mkdtemp()
    >>> found = experiment(people, ["mlp", "reg"], strengths=[1, 3], group="sex", folder=folder, jobs=1)
    >>> list(zip(found.runs["method"], found.runs["strength"]))
    [('mlp', 0.0), ('reg', 1.0), ('reg', 3.0)]
    >>> found.table(found.runs["run"][0]).rows
    80
    """
    axes = checked_axes(performance, fairness)
    wanted = _methods(methods)
    on = settle_device(device, any(may_use_gpu(m.maker) for m in wanted))
    people = _people(datasets, group, tuple([exclude] if isinstance(exclude, str) else exclude))
    prints = {name: (one.fingerprint, one.attribute) for name, one in people.items()}
    plan = plan_runs(prints, wanted, strengths, seeds, splits, fractions, own_split)
    about = {name: _about(name, one, plan[0]) for name, one in people.items()}
    processes = settle_jobs(jobs, on, importable=not any(m.maker.startswith("__main__:") for m in wanted))
    place = Place(Folder.at(folder), axes.performance.id, axes.fairness.id, on)
    place.folder.check_free(HEADER)
    with place.folder.locked():
        place.folder.tidy()
        try:
            for name, one in people.items():
                one.save(place.folder.people / prints[name][0])
            records = _records(plan, place, processes, retry, listener(progress))
        finally:
            place.folder.tidy()
        result = Experiment(
            plan, tuple(records[run.id] for run in plan), place.folder, axes, about, _notes(plan, records, place)
        )
        write_text(place.folder.path / "runs.csv", result.to_csv())
    return result.compared()


def _records(
    plan: tuple[Run, ...], place: Place, processes: int, retry: bool, tell: Callable[[Step], None]
) -> dict[str, Mapping[str, Any]]:
    """The record of every run: read, or made."""
    records: dict[str, Mapping[str, Any]] = {}
    axes = place.axes
    tell(Step(0, len(plan), plan))
    for run in plan:
        record = place.folder.record(run.id)
        if record is not None and not (retry and record["error"] is not None):
            records[run.id] = measure(record, place.folder, axes)
            tell(Step(len(records), len(plan), plan, run, records[run.id], repeated=True))
    with closing(perform_all([run for run in plan if run.id not in records], place, processes)) as finished:
        for run, record in finished:
            records[run.id] = record
            tell(Step(len(records), len(plan), plan, run, record))
    return records


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
    return [as_method(one) for one in _several(given)]


def _several(given: Any) -> Sequence[Any]:
    return given if isinstance(given, Sequence) and not isinstance(given, str) else [given]


def _people(given: Any, group: Any, exclude: tuple[str, ...]) -> dict[str, People]:
    """The people of every data set, by its name."""
    people: dict[str, People] = {}
    for one in _several(given):
        source = Source(one) if isinstance(one, str) else one
        if not isinstance(source, Source | Dataset):
            raise UsageError(f"a data set is a Dataset, a Source or a name of evenhand.datasets, not {shown(one)}")
        own = source.group if isinstance(source, Source) else None
        attribute = own or (group.get(source.name) if isinstance(group, Mapping) else group)
        if not isinstance(attribute, str):
            raise UsageError(f"say whose treatment is compared on {source.name}: group='sex', or another attribute")
        if source.name in people:
            raise UsageError(f"data set {shown(source.name)} is there twice: give each its own name")
        people[source.name] = _load(source, attribute, exclude)
    return people


def _load(source: Source | Dataset, attribute: str, exclude: tuple[str, ...]) -> People:
    if isinstance(source, Dataset):
        return People.of(source, attribute, exclude)
    try:
        return People.of(source.load(), attribute, source.exclude or exclude)
    except EvenhandError as error:
        raise type(error)(f"{source.said_at}: {error}" if source.said_at else str(error)) from error


def _about(name: str, people: People, run: Run) -> About:
    """How many people of each group are in each part of the first split; too few are refused at once."""
    try:
        parts = people.parts(0, run.fractions, run.own_split)
    except DataError as error:
        raise type(error)(f"{name}: {error}") from error
    counts = [np.bincount(people.group[rows], minlength=len(people.groups)).tolist() for rows in parts]
    by_group = dict(zip(people.groups, map(tuple, zip(*counts, strict=True)), strict=True))
    return About(people.attribute, by_group, people.notes)
