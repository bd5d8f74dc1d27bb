"""What a reader of the alternatives must know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evenhand.analyses.alternatives.of_runs import FromRuns
from evenhand.analyses.alternatives.of_scores import FromScores, Setting
from evenhand.analyses.alternatives.options import Asked
from evenhand.analyses.alternatives.tried import Tried, level
from evenhand.analyses.compare.runs import Columns, Runs
from evenhand.errors import listed, shown_name
from evenhand.report.format import number


def of_scores(found: FromScores, setting: Setting, said: Asked) -> Iterator[str]:
    first, second = found.people
    how = "at random, from their counts" if said.split is None else f"by {shown_name(said.split[0])}"
    yield (
        f"people were divided {how}: {first:,} to select on, {second:,} to confirm with; another division may end "
        "otherwise, so choose it before looking"
    )
    yield (
        "candidates are tested in the order of their gaps until one is not confirmed, each at the full level: in "
        f"{level(said.inference.confidence)} of searches none is confirmed whose gap is not smaller"
    )
    if sum(c.status == "alternative" for c in found.tried) > 1:
        yield "the least gain of each alternative holds by itself, not of all of them together"
    yield "candidates that were trained or tuned on these people look better than they are, which no interval knows"
    if found.left_out:
        title = setting.axes.fairness.title
        yield f"{title} of the model in use is undefined for {listed(found.left_out)}, who are left out"
    yield from _losses(found.tried, said.within)


def of_runs(found: FromRuns, runs: Runs, columns: Columns) -> Iterator[str]:
    if columns.lower_is_better:
        yield f"lower is better for {' and '.join(columns.lower_is_better)}: 1 - value is taken"
    yield "a gap is 1 − fairness; a method with several settings is in use with the one that performs best"
    if runs.has_dev:
        yield (
            "confirmed is what other seeds would show on the same test data, not on other people: audit the scores "
            "themselves for that"
        )
        yield (
            f"development and test results of a run share its luck, so each of {found.tests:,} candidates is tested "
            "at a level divided by their number"
        )


def _losses(tried: Iterable[Tried], within: float) -> Iterator[str]:
    for c in tried:
        if c.status != "alternative" or c.confirmation is None or (most := c.confirmation.loss_at_most) is None:
            continue
        if most > within:
            yield (
                f"{shown_name(c.name)} may perform up to {number(most, tiny=True)} worse than the best or the model in "
                f"use, more than the {within:g} that was asked for: that takes more people to rule out"
            )
