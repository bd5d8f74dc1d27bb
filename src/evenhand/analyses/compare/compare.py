"""The best trade-off among methods: runs → fronts, selected models, areas, a ranking (Han, Baldwin & Cohn 2023)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from evenhand.analyses.compare.options import CompareArgs, Question, asked, baseline_floors, normalised, remarks
from evenhand.analyses.compare.ranking import Standing, Terms, standings
from evenhand.analyses.compare.runs import Runs, method_named, read_runs
from evenhand.inference.resample import generator
from evenhand.ingest.engines import library_of
from evenhand.ingest.roles import check_known
from evenhand.measures.pareto import Curve, Stretch, winners
from evenhand.report.result import Result

if TYPE_CHECKING:
    from evenhand.report.charts.chart import Chart


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """What a comparison found. Print it, or take `to_dict`, `to_json`, `to_frame`, `curve`."""

    drawn_by = "evenhand.analyses.compare.charts"

    question: Question
    terms: Terms
    runs: Runs = field(repr=False)
    standings: tuple[Standing, ...]
    """Methods, the best first."""
    winners: tuple[Stretch, ...]
    """Over which performances whose curve is highest, by place in `standings`."""
    resamples: int
    seed: int | None
    notes: tuple[str, ...]
    library: str | None = None
    """The dataframe library of the data, for `to_frame`."""

    @property
    def methods(self) -> tuple[str, ...]:
        """Their names, the best first."""
        return tuple(self.runs.methods[s.method] for s in self.standings)

    def curve(self, method: str) -> Curve:
        """The trade-off curve of a method, to be plotted: performance and fairness of its points in order.

        >>> runs = {"m": ["a", "a"], "acc": [0.6, 0.8], "fair": [0.9, 0.7]}
        >>> found = compare(runs, method="m", performance="acc", fairness="fair", random_performance=0.5)
        >>> [side.tolist() for side in found.curve("a")]
        [[0.5, 0.6, 0.8], [1.0, 0.9, 0.7]]
        """
        number = method_named(self.runs, method)
        line = next(s.line for s in self.standings if s.method == number)
        points = np.unique(np.stack([line.performance, -line.fairness]), axis=1)
        return Curve(points[0], -points[1])

    def to_frame(self, library: str | None = None) -> Any:
        """All averaged runs as a dataframe, one row per setting, in the library of the data (or the one named)."""
        from evenhand.analyses.compare.document import points_frame

        return points_frame(self, self.library if library is None else library)

    def plot(self, name: str | None = None, *, method: str | None = None, setting: str | None = None) -> Chart:
        """A chart of all methods or of one: fronts ("tradeoff"), distances of selected models ("dto"), areas ("area").

        "settings" shows performance and fairness against a setting, by default the one with most values.

        >>> runs = {"m": ["a", "a", "b"], "acc": [0.6, 0.8, 0.7], "fair": [0.9, 0.7, 0.6]}
        >>> found = compare(runs, method="m", performance="acc", fairness="fair", random_performance=0.5)
        >>> found.plot("dto").title, found.plots()
        ('Distance to the optimum', ('tradeoff', 'dto', 'area'))
        """
        return self.charts(method=method, setting=setting).draw(name)


def compare(
    runs: Any,
    *,
    method: str,
    performance: str,
    fairness: str,
    **options: Unpack[CompareArgs],
) -> Comparison:
    """Compare methods by the trade-off between performance and fairness that their runs show.

    Runs are averaged over seeds; the settings that no other setting of the method dominates are its front; one model
    is selected from it by each criterion, on development results, and reported on test results; the area under the
    front (AUC-PFC) ranks methods without selecting a model.

    Parameters
    ----------
    runs
        One row per method, setting and seed: a dataframe, a dict of columns, or the path of a file (CSV, Parquet, …).
    method, performance, fairness
        Names of columns. Results lie in [0, 1], and higher is better.
    dev_performance, dev_fairness
        Columns of development results, to select by. Without them, selection and report use the same results.
    loss
        A column of losses, of any size: the setting with the least is also selected, on the front or not.
    settings
        The columns that tell settings apart; rows that agree in them are seeds. Without any, every row is a setting.
    where
        Only runs that have this value of a column, or one of these values: {"dataset": "adult"}.
    random_performance
        The performance of a random guess, where curves start at fairness 1; without it there is no area.
    front
        "dev": the front of development results. "published": of test results, which leaks, as Han, Baldwin & Cohn 2023.
    lower_is_better
        "performance", "fairness" or "both", for an error or a gap: 1 − value is compared.
    fairness_floor, performance_floor
        One or several: the best performance with at least this fairness, the best fairness with at least this
        performance.
    baseline, margins
        The same relative to a method of the runs: fairness at least its fairness plus a margin, performance at least
        its performance minus a margin (0.05 and 0.1 by default).
    utopia, normalize
        The ideal point of the distance to the optimum (DTO), in [0, 1], and whether its axes are divided by the range
        of all averaged runs ("range") or by two numbers from 1e-6 to 1e6.
    performance_from, fairness_from, dto_to
        The partial area, where the curve meets all these conditions.
    missing
        "refuse" runs without a result, or "drop" and count them.
    confidence, bootstrap, rng
        Level of intervals, number of resamples (by default 1000, fewer if there are very many runs; 0 for none), and a
        seed or generator.

    Examples
    --------
    >>> import evenhand
    >>> runs = {
    ...     "method": ["plain", "plain", "fairer", "fairer", "fairer", "fairer"],
    ...     "strength": [0, 0, 1, 1, 2, 2],
    ...     "accuracy": [0.80, 0.78, 0.79, 0.77, 0.62, 0.58],
    ...     "fairness": [0.60, 0.64, 0.76, 0.80, 0.92, 0.88],
    ... }
    >>> found = evenhand.compare(
    ...     runs, method="method", performance="accuracy", fairness="fairness", settings="strength",
    ...     random_performance=0.5,
    ... )
    >>> for m in found.to_dict()["methods"]:
    ...     print(m["rank"], m["name"], round(m["auc_pfc"], 4), round(m["selected"]["dto"]["dto"], 4))
    1 fairer 0.2462 0.3111
    2 plain 0.2349 0.4342
    """
    check_known(options, CompareArgs.__optional_keys__, compare)
    question = asked(method, performance, fairness, options)
    rng = options.get("rng")
    random = generator(rng)
    read = read_runs(runs, question.columns, question.missing, options.get("where"))
    question = baseline_floors(question, read)
    terms = normalised(question, read)
    found, resamples = standings(read, terms, question.bootstrap, random)
    known = [i for i, s in enumerate(found) if terms.start is None or np.isfinite(s.area)]
    stretches = [
        s._replace(highest=tuple(known[i] for i in s.highest)) for s in winners([found[i].line for i in known])
    ]
    return Comparison(
        question=question,
        terms=terms,
        runs=read,
        standings=tuple(found),
        winners=tuple(stretches),
        resamples=resamples,
        seed=None if isinstance(rng, np.random.Generator) else int(rng or 0),
        notes=tuple(remarks(question, terms, read, found, resamples)),
        library=library_of(runs),
    )
