"""The result of an experiment: its runs, their counts, and which method trades best."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evenhand.analyses.compare.compare import Comparison, compare
from evenhand.analyses.options import Axes
from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.learn.experiments.document import SETTING, fairness_name
from evenhand.learn.experiments.plan import Run
from evenhand.learn.experiments.records import PARTS, Folder
from evenhand.report.result import Result
from evenhand.tables.storage import load
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from evenhand.report.charts.chart import Chart
    from evenhand.report.charts.registry import Charts

RESULTS = ("dev_performance", "dev_fairness", "performance", "fairness")
HEADER = ",".join((*SETTING, *RESULTS, "run"))
"""The first line of runs.csv."""
PERFORMANCE_OF_CHANCE = {"balanced_accuracy": 0.5, "auroc": 0.5}


class About(NamedTuple):
    """Whom the runs on a data set are about."""

    attribute: str
    groups: Mapping[str, tuple[int, int, int]]
    """How many people of each group train, select and test in the first split; in others, a person more or less."""
    notes: tuple[str, ...]
    """What the data set itself has to say, such as who was left out."""


@dataclass(frozen=True, repr=False, eq=False)
class Experiment(Result):
    """The result of an experiment. Print it, or take `runs`, `compare`, `table`, `to_frame`, `to_dict`, `to_json`."""

    plan: tuple[Run, ...]
    records: tuple[Mapping[str, Any], ...] = field(repr=False)
    """What is known about each run of the plan: seconds, versions, warnings, or why it failed."""
    folder: Folder
    axes: Axes
    about: Mapping[str, About]
    """By data set."""
    notes: tuple[str, ...]
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)
    """Of the methods, by data set."""
    not_compared: Mapping[str, str] = field(default_factory=dict)
    """Why other data sets have no comparison."""

    @property
    def runs(self) -> dict[str, list[Any]]:
        """The finished runs as columns that `evenhand.compare` takes, in the order of the plan."""
        rows = [
            [*(getattr(run, key) for key in SETTING), *self._values(record), run.id]
            for run, record in zip(self.plan, self.records, strict=True)
            if record["error"] is None
        ]
        return {name: [row[i] for row in rows] for i, name in enumerate((*SETTING, *RESULTS, "run"))}

    def _values(self, record: Mapping[str, Any]) -> list[float | None]:
        """By part performance and fairness."""
        good, fair = self.axes.performance.id, self.axes.fairness.id
        parts = [record["parts"][part] for part in PARTS]
        return [value for part in parts for value in (part["performance"][good], part["fairness"][fair])]

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.dataset for run in self.plan))

    @property
    def failed(self) -> dict[str, str]:
        """Why runs failed, by id."""
        return {r["id"]: r["error"] for r in self.records if r["error"] is not None}

    def table(self, run: str, part: Literal["dev", "test"] = "test") -> Table:
        """The counts of a run, by its id: every measure can be computed from them."""
        if run in self.failed:
            raise UsageError(f"there is no finished run {shown(run)}: it failed, {self.failed[run]}")
        if run not in self.runs["run"]:
            raise UsageError(f"there is no finished run {shown(run)}; the column 'run' of runs has their ids")
        if part not in PARTS:
            raise UsageError(f"part is 'dev' or 'test', not {shown(part)}")
        table = load(self.folder.table(run, part))
        assert isinstance(table, Table)
        return table

    def compare(self, dataset: str | None = None, **options: Any) -> Comparison:
        """Compare the methods on one data set, with further options of `evenhand.compare`.

        The curves start at what it takes no model to reach: the accuracy of one decision for everybody, 0.5 for
        balanced accuracy and AUROC. There are no areas for other performances unless you name `random_performance`.
        """
        if dataset is None and len(self.datasets) == 1:
            dataset = self.datasets[0]
        if dataset not in self.datasets:
            raise UsageError(
                f"methods are compared on one data set at a time, not {shown(dataset)}: name one of "
                f"{listed(self.datasets)}{nearest(dataset, self.datasets)}"
            )
        every = self.runs
        chosen = [i for i, name in enumerate(every["dataset"]) if name == dataset]
        runs = {name: [column[i] for i in chosen] for name, column in every.items()}
        if not chosen:
            raise DataError(f"no run on {shown(dataset)} has finished, so that there is nothing to compare")
        for name in RESULTS:
            runs[name] = [float("nan") if value is None else value for value in runs[name]]
        options = {"random_performance": self._chance(str(dataset)), "missing": "drop", "rng": 0, **options}
        columns: dict[str, Any] = self._measures()
        runs |= {called: runs.pop(name) for name, called in columns.items()}
        return compare(runs, method="method", settings="strength", **columns, **options)

    def _measures(self) -> dict[str, str]:
        """What the results are called to a reader: by their measures."""
        good, fair = self.axes.performance.id, fairness_name(self.axes.fairness.id)
        return {"performance": good, "fairness": fair, "dev_performance": f"dev {good}", "dev_fairness": f"dev {fair}"}

    def _chance(self, dataset: str) -> float | None:
        if self.axes.performance.id != "accuracy":
            return PERFORMANCE_OF_CHANCE.get(self.axes.performance.id)
        pairs = zip(self.plan, self.records, strict=True)
        of = {
            run.split: r["parts"]["test"]["majority"] for run, r in pairs if run.dataset == dataset and not r["error"]
        }
        return float(sum(of.values()) / len(of))

    def compared(self) -> Experiment:
        """The same, with its methods compared on every data set that has runs to compare."""
        comparisons, without = {}, {}
        for name in self.datasets:
            try:
                comparisons[name] = self.compare(name)
            except DataError as error:
                without[name] = str(error)
        return replace(self, comparisons=comparisons, not_compared=without)

    def to_csv(self) -> str:
        """The runs as text, as they are kept in runs.csv: the same bytes for the same seeds."""
        text = io.StringIO()
        rows, runs = csv.writer(text, lineterminator="\n"), self.runs
        rows.writerow(runs)
        rows.writerows(["" if v is None else v for v in row] for row in zip(*runs.values(), strict=True))
        return text.getvalue()

    def to_frame(self, library: str | None = None) -> Any:
        """The runs as a dataframe of the library named, else of the first that is installed."""
        from evenhand.learn.experiments.document import frame

        return frame(self, library)

    def plot(self, name: str | None = None, *, dataset: str | None = None) -> Chart:
        """A chart of the comparison on a data set: "tradeoff", "dto" or "area"; with several, "tradeoff on adult"."""
        return self.charts(dataset=dataset).draw(name)

    def charts(self, **about: Any) -> Charts:
        """Those of the comparison on a data set; of several data sets all of them, by name."""
        from evenhand.report.charts.registry import Charts, Kind

        if about.get("dataset") is not None:
            return self.compare(**about).charts()
        alone = len(self.datasets) == 1
        kinds = {
            kind if alone else f"{kind} on {name}": Kind(partial(_drawn, comparison, kind))
            for name, comparison in self.comparisons.items()
            for kind in comparison.plots()
        }
        return Charts(kinds, self)


def _drawn(comparison: Comparison, kind: str, _: Experiment) -> Chart:
    return comparison.plot(kind)
