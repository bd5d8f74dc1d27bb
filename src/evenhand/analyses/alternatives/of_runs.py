"""Runs of methods: selected by development results, confirmed on test results over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.analyses.alternatives.options import Asked
from evenhand.analyses.alternatives.tried import Confirmation, Standing, Tried, bar, in_use_there, sifted, weighed
from evenhand.analyses.compare.runs import Runs, method_named
from evenhand.errors import UsageError, shown_name

TESTED = "on test results"
NO_DEV = (
    "not confirmed: the same results would select and confirm; name development results (--dev-performance, "
    "--dev-fairness)"
)
NO_OTHER_DEV = "not confirmed: development and test results are the same numbers"


@dataclass(frozen=True)
class FromRuns:
    """What was found, and in how many runs."""

    tried: tuple[Tried, ...]
    best: str
    recommended: str | None
    runs: int
    tests: int
    """By how many the level is divided: development and test results of a run share its luck."""


def from_runs(runs: Runs, baseline: Any, said: Asked) -> FromRuns:
    """Select by development results, then confirm on test results: the most promising first."""
    places = len(runs.seeds)
    if places < 2:
        raise UsageError("an alternative needs another candidate, but all runs are of one setting of one method")
    base = _baseline(runs, baseline)
    p, f = runs.means[2:4] if runs.has_dev else runs.means[:2]
    found = [
        Tried(_name(runs, k), Standing(float(p[k]), float(1 - f[k])), settings=_settings(runs, k))
        for k in range(places)
    ]
    held = bar(found, said.within, 1.0)
    tried, order = sifted(found, base, held)
    in_use = None
    if runs.has_dev:
        p, f = runs.means[:2, base]
        in_use = in_use_there(Standing(float(p), float(1 - f)), float(runs.means[0, held.best] - p))
    tried[base] = replace(found[base], status="in use", because="the model in use", confirmation=in_use)
    tests, confidence = places - 1, said.inference.confidence
    because = _unconfirmable(runs)
    for turn, k in enumerate(order, 1):
        if because is not None:
            tried[k] = tried[k].rejected("not_confirmed", because)
            continue
        result = confirm(runs, k, base, held.best, 1 - (1 - confidence) / tests)
        tried[k] = replace(weighed(tried[k], result, said.within, confidence, TESTED), tested=turn)
    chosen = next((tried[k].name for k in order if tried[k].status == "alternative"), None)
    return FromRuns(tuple(tried), tried[held.best].name, chosen, int(runs.seeds.sum()), tests)


def _baseline(runs: Runs, stated: Any) -> int:
    """The setting in use: of a method with several, the one that performs best on development results."""
    if stated is None:
        raise UsageError(
            f"say which method is in use (baseline=, --baseline), one of {', '.join(map(shown_name, runs.methods[:8]))}"
        )
    own = runs.of(method_named(runs, stated))
    return int(own.start + np.argmax(runs.means[2, own]))


def _unconfirmable(runs: Runs) -> str | None:
    if not runs.has_dev:
        return NO_DEV
    return NO_OTHER_DEV if np.array_equal(runs.values[:2], runs.values[2:4]) else None


def _settings(runs: Runs, k: int) -> dict[str, Any]:
    return {name: values[k] for name, values in runs.settings.items()}


def _name(runs: Runs, k: int) -> str:
    """A method, and what tells its settings apart."""
    method = str(runs.methods[runs.method[k]])
    own = runs.of(int(runs.method[k]))
    if own.stop - own.start == 1:
        return method
    said = ", ".join(f"{name}={value}" for name, value in _settings(runs, k).items())
    return f"{method} ({said or k - own.start + 1})"


def confirm(runs: Runs, k: int, base: int, best: int, confidence: float) -> Confirmation:
    """A setting against the one in use by the mean over seeds of test results.

    By Student's interval of a difference of two means, with the degrees of freedom of the one with fewer runs.
    """
    p, f = runs.means[:2]
    rivals = [rival for rival in (best, base) if rival != k]
    reduction, loss = float(f[k] - f[base]), max(float(p[rival] - p[k]) for rival in rivals)
    known = Confirmation(float(p[k]), float(1 - f[k]), None, float(1 - f[base]), reduction, None, loss, None)
    if (fewest := int(min(runs.seeds[k], runs.seeds[base]))) < 2:
        return replace(known, unknown="because one run cannot tell how much another would differ")
    squares = np.nan_to_num(runs.deviations[:2] ** 2 / runs.seeds)
    if squares[1, [k, base]].sum() == 0:
        return replace(
            known, unknown="because all its runs and those of the model in use are alike: copies are no seeds"
        )
    return replace(
        known,
        reduction_at_least=reduction - _reach(squares[1, k] + squares[1, base], fewest, confidence),
        loss_at_most=_most(runs, squares[0], k, rivals, confidence),
    )


def _most(runs: Runs, squares: Any, k: int, rivals: Sequence[int], confidence: float) -> float | None:
    """By how much at most the performance is lower than that of any rival."""
    p, fewest = runs.means[0], [int(min(runs.seeds[k], runs.seeds[rival])) for rival in rivals]
    if min(fewest) < 2:
        return None
    reach = (_reach(squares[k] + squares[rival], n, confidence) for rival, n in zip(rivals, fewest, strict=True))
    return max(float(p[rival] - p[k]) + own for rival, own in zip(rivals, reach, strict=True))


def _reach(variance: float, seeds: int, confidence: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(seeds - 1, confidence) * np.sqrt(variance))
