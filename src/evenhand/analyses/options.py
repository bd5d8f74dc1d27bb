"""How an audit was asked for, and whether that makes sense."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import numpy as np

from evenhand.analyses.cutoff import CutoffRule, cutoff, percentage, quantile_rule, top_rule
from evenhand.errors import UsageError, is_whole, listed, number, one_of, shown, unknown
from evenhand.inference.resample import generator
from evenhand.inference.settings import Inference, InferenceArgs
from evenhand.ingest.reading import Cuts
from evenhand.measures.curve import BANDWIDTHS, RANKS
from evenhand.measures.performance import PERFORMANCES, Performance
from evenhand.measures.registry import MEASURES, Measure, PracticeMeasure, ScoreOptions, find, hypothesis
from evenhand.report.progress import line
from evenhand.tables.table import Table

Progress = Callable[[float, str], None]
"""Told how far the work is, and what is being done."""
Watched = Progress | bool | None
"""A function to be told, a line in a notebook or terminal (True), nothing (False), or a line in notebooks only."""

LEAST_BANDWIDTH = 1e-5
ALL = "all"
"""Stands for all measures of the registry, where others are named beside them."""
PERFORMANCE, FAIRNESS = "accuracy", ("equalized_odds", "demographic_parity")
"""What the trade-off between models is about unless the user says so: with labels, and without."""


@dataclass(frozen=True)
class Axes:
    """What the trade-off between models is about."""

    performance: Performance
    fairness: Measure


@dataclass(frozen=True)
class Options(Inference):
    """How an audit was asked for."""

    threshold: float | None = None
    cutoff: CutoffRule | None = None
    """What decides about the threshold, once there are people."""
    scores: ScoreOptions = field(default_factory=ScoreOptions)
    tolerance: Mapping[str, float] = field(default_factory=dict)
    """By id, where it is not that of the registry."""
    exclude_below: float = 0.0
    """Groups with a smaller share of the people are shown, not compared."""
    within: tuple[str, ...] = ()
    """The columns of the strata within which groups are compared too."""
    brief: bool = False
    """Only comparisons with the reference, and their intervals: for one of many audits."""


class ComparedArgs(TypedDict, total=False):
    """What is compared with whom, for signatures."""

    reference: str | Mapping[str, str] | None
    measures: Sequence[str] | None
    progress: Watched


class ScoreArgs(TypedDict, total=False):
    """Conventions of threshold-free measures, for signatures.

    How tied scores are ranked ("published" or "mid"), the number of bins of every calibration measure (otherwise 50 of
    calibration bias, 10 of the calibration gap, ECE and MCE), and the bandwidth of densities ("scott", "silverman",
    "common" to both groups, or a share of the score range).
    """

    ranks: str
    calibration_bins: int | None
    bandwidth: str | float


class MeasureArgs(ScoreArgs, total=False):
    """These, tolerances by the ids of measures, and who is selected and compared.

    `top` selects the best so many instead of those beyond a threshold, and groups of a smaller share of the people than
    `exclude_below` are not compared.
    """

    top: int | str | None
    tolerance: Mapping[str, float] | None
    exclude_below: float | str | None


def checked(
    threshold: Any = None, confidence: Any = 0.95, bootstrap: Any = 1000, rng: Any = None, **further: Any
) -> Options:
    """The options, if they make sense; better known before ten minutes of counting. `further` ones are of any kind."""
    rule = _cutoff(threshold, further.pop("top", None))
    if threshold is not None and rule is None and not np.isfinite(number(threshold)):
        raise UsageError(f"threshold must be a finite number, not {shown(threshold)}")
    generator(rng)  # refuse a bad seed before the work
    tolerance = checked_tolerance(further.pop("tolerance", None))
    exclude_below = checked_share(further.pop("exclude_below", None))
    scores = checked_scores(**{word: further.pop(word) for word in ScoreArgs.__optional_keys__ if word in further})
    return Options(
        confidence,
        bootstrap,
        seed=None if isinstance(rng, np.random.Generator) else int(rng or 0),
        threshold=None if threshold is None or rule is not None else float(threshold),
        cutoff=rule,
        scores=scores,
        tolerance=tolerance,
        exclude_below=exclude_below,
        **further,
    )


def _cutoff(threshold: Any, top: Any) -> CutoffRule | None:
    """What decides about the threshold, if it is no number."""
    if top is not None and threshold is not None:
        raise UsageError(f"threshold={shown(threshold)} and top={shown(top)} both say who is selected: say one of them")
    if top is not None:
        return top_rule(top)
    return quantile_rule(threshold) if isinstance(threshold, str) else None


def listener(progress: Any) -> Any:
    """Whom to tell how far the work is: nobody, if nobody asked."""
    if progress is not None and not callable(progress):
        raise UsageError(f"progress is a function that is told how far the work is, not {shown(progress)}")
    return (lambda *_: None) if progress is None else progress


@contextmanager
def watching(progress: Any) -> Iterator[Progress]:
    """Whom to tell how far the work is: a function, or a line that is wiped out at the end."""
    seen = line(asked=progress is True) if progress is None or progress is True else None
    try:
        yield listener(None if isinstance(progress, bool) and seen is None else seen or progress)
    finally:
        if seen is not None:
            seen(1.0, "")


def options_of(said: Mapping[str, Any], threshold: Any = None, **fixed: Any) -> Options:
    """Among all that was said, the options of intervals, tests and scores, if they make sense."""
    known = InferenceArgs.__optional_keys__ | MeasureArgs.__optional_keys__
    return checked(threshold, **{word: value for word, value in said.items() if word in known}, **fixed)


def checked_scores(ranks: Any = "published", calibration_bins: Any = None, bandwidth: Any = "scott") -> ScoreOptions:
    """The conventions of threshold-free measures, if they make sense."""
    usual = ScoreOptions()
    bins, gap_bins = usual.calibration_bins, usual.gap_bins
    if calibration_bins is not None:
        bins = gap_bins = calibration_bins
    one_of("ranks", ranks, RANKS)
    if not is_whole(bins) or not 2 <= bins <= 10_000:
        raise UsageError(f"calibration_bins must be a whole number from 2 to 10,000, not {shown(calibration_bins)}")
    if isinstance(bandwidth, str):
        if bandwidth not in BANDWIDTHS:
            raise UsageError(f"bandwidth must be {listed(BANDWIDTHS)} or a number, not {shown(bandwidth)}")
    elif not LEAST_BANDWIDTH <= number(bandwidth) <= 10:
        raise UsageError(
            f"bandwidth is a share of the score range, from {LEAST_BANDWIDTH:g} to 10, not {shown(bandwidth)}"
        )
    else:
        bandwidth = float(bandwidth)
    return ScoreOptions(ranks, int(bins), bandwidth, int(gap_bins))


def checked_share(stated: Any) -> float:
    """A share of people below which groups are not compared, as a number or in percent.

    >>> checked_share("2%"), checked_share(0.02), checked_share(None)
    (0.02, 0.02, 0.0)
    """
    if stated is None:
        return 0.0
    share = percentage(stated.strip()) if isinstance(stated, str) else number(stated)
    if not 0 <= share < 0.5:
        raise UsageError(f"exclude_below is a share of the people below 50%, such as '2%' or 0.02, not {shown(stated)}")
    return float(share)


def checked_tolerance(stated: Any) -> dict[str, float]:
    """Tolerances by measure, if these exist and can be kept to.

    >>> checked_tolerance({"abcc": 0.05, "disparate_impact": 0.9})
    {'abcc': 0.05, 'disparate_impact': 0.9}
    """
    if stated is not None and not isinstance(stated, Mapping):
        example = "tolerance={'abcc': 0.05} (--tolerance abcc=0.05)"
        raise UsageError(f"a tolerance is that of a measure, so say of which, as in {example}, not {shown(stated)}")
    found = {}
    for id_, value in (stated or {}).items():
        m = find(id_) if isinstance(id_, str) else None
        if m is None:
            raise unknown("there is no measure", id_, MEASURES, 40)
        ratio, most = m.scale == "ratio", m.most
        fits = 0 < number(value) <= 1 if ratio else 0 <= number(value) <= most and np.isfinite(number(value))
        if not fits:
            what = "the lower rate over the higher, above 0 and up to 1" if ratio else f"a number from 0 to {most:.3g}"
            what = what if np.isfinite(most) or ratio else "a finite number from 0"
            raise UsageError(f"the tolerance of {id_} is {what} (by default {m.tolerance:g}), not {shown(value)}")
        found[id_] = float(value)
    return found


def tolerating(measures: Sequence[Measure], tolerance: Mapping[str, float]) -> list[Measure]:
    """The measures, with other tolerances where these are stated: of one number under two names, for both.

    >>> [m.tolerance for m in tolerating([MEASURES["abcc"], MEASURES["independence_uniform"]], {"abcc": 0.05})]
    [0.05, 0.05]
    """
    if not tolerance:
        return list(measures)
    by_number = {one_number(find(id_)): value for id_, value in tolerance.items()}
    return [replace(m, tolerance=tolerance.get(m.id, by_number.get(one_number(m), m.tolerance))) for m in measures]


def one_number(m: Measure | None) -> tuple[str, str] | None:
    """What measures that are one number share."""
    return None if m is None else (hypothesis(m), m.scale)


def least_resamples(confidence: float) -> int:
    """So many resamples are needed to know both ends of an interval.

    >>> least_resamples(0.95), least_resamples(0.99)
    (39, 199)
    """
    return int(np.ceil(2 / (1 - confidence) - 1 - 1e-9))


def chosen_measures(ids: Sequence[str] | None) -> list[Measure]:
    if ids is not None and (isinstance(ids, str) or not isinstance(ids, Sequence)):
        raise UsageError(f"measures is a list of ids, not {shown(ids)}")
    if ids is None:
        return list(MEASURES.values())
    chosen = dict(MEASURES) if ALL in ids else {}
    for id_ in ids:
        if id_ == ALL:
            continue
        m = find(id_) if isinstance(id_, str) else None
        if m is None:
            raise unknown("there is no measure", id_, MEASURES, 40)
        chosen[m.id] = m
    if not chosen:
        raise UsageError("name at least one measure, or leave measures out for all")
    known: list[Measure] = [m for m in MEASURES.values() if m.id in chosen]
    return known + [m for m in chosen.values() if m.id not in MEASURES]


def checked_axes(performance: Any = None, fairness: Any = None, has_label: bool = True) -> Axes:
    """What the trade-off is about, if it exists."""
    performance = PERFORMANCE if performance is None else performance
    one_of("performance", performance, PERFORMANCES)
    fairness = FAIRNESS[0 if has_label else 1] if fairness is None else fairness
    measure = find(fairness) if isinstance(fairness, str) else None
    if measure is None or isinstance(measure, PracticeMeasure):
        raise unknown("fairness must be a measure that models are compared by, not", fairness, MEASURES, 40)
    return Axes(PERFORMANCES[performance], measure)


def with_threshold(options: Options, table: Table) -> tuple[Options, list[str]]:
    """Settle the threshold, and say so when it was chosen here."""
    if table.decision is not None:
        if options.threshold is not None or options.cutoff is not None:
            raise UsageError("the prediction column decides already: leave the threshold out, or the prediction "
                             "(how large a gap may be is its tolerance)")  # fmt: skip
        return options, []
    if options.threshold is not None:
        return options, []
    if options.cutoff is not None:
        found = cutoff(options.cutoff, table)
        return replace(options, threshold=found.threshold), [found.note]
    lo, hi = table.score_range
    middle = lo + (hi - lo) / 2
    if table.spans is not None and table.spans.holding(np.array([middle]))[0]:
        close = float(table.cutoffs[np.abs(table.cutoffs - middle).argmin()])
        note = f"no threshold was given, and the scores around {middle:.12g} are not distinguished: {close!r} is used"
        return replace(options, threshold=close), [note]
    if (lo, hi) == (0.0, 1.0):
        return replace(options, threshold=0.5), []
    note = f"no threshold was given, so the middle of the score range [{lo:.12g}, {hi:.12g}] is used: {middle:.12g}"
    return replace(options, threshold=middle), [note]


def cuts_of(options: Options) -> Cuts:
    """Where scores must be distinguished exactly for these options."""
    thresholds = () if options.threshold is None else (options.threshold,)
    return Cuts(thresholds, (options.scores.gap_bins, options.scores.calibration_bins))
