"""One number for a problem of many classes: rates of every class and group, aggregated in the open.

The two steps are those of Han, Baldwin and Cohn 2023.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack

import numpy as np

from evenhand.analyses.classes.intervals import Task
from evenhand.analyses.classes.matrix import matrix
from evenhand.analyses.classes.result import Against, Aggregate, Choices, assembled
from evenhand.analyses.classes.second_model import is_table, other_people, second, with_the_same_classes
from evenhand.analyses.classes.uncertainty import uncertainties
from evenhand.analyses.options import Options, options_of
from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.inference.resample import generator
from evenhand.inference.settings import IntervalArgs
from evenhand.ingest.confusion_counts import LONG, counts_roles, lacking
from evenhand.ingest.engines import library_of, names_of
from evenhand.ingest.roles import ColumnArgs, Roles, check_known, picked, renamed
from evenhand.ingest.tabulation import count_rows
from evenhand.measures.aggregation import Recipe
from evenhand.measures.aggregation_spec import checked_baseline, metric_named, recipe, weights_of
from evenhand.tables.confusion import ClassCounts, Confusion, classes_table
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table

REASONS = ("metric", "unit", "groups", "classes")


class ClassArgs(TypedDict, total=False):
    """How many classes become one number, for signatures."""

    metric: str | None
    unit: str | None
    across_groups: str | float | None
    across_classes: str | float | None
    average: str | None
    empty: float | None


class AggregateArgs(ColumnArgs, IntervalArgs, total=False):
    against: Any
    permutations: int


def aggregate(
    data: Any = None,
    *,
    metric: str | None = None,
    unit: str | None = None,
    across_groups: str | float | None = None,
    across_classes: str | float | None = None,
    average: str = "overall",
    empty: float | None = None,
    gamma: float | None = None,
    positive: Any = None,
    weights: str | Mapping[str, float] | None = None,
    class_weights: str | Mapping[str, float] | None = None,
    attribute: str | Sequence[str] | None = None,
    why: Mapping[str, str] | None = None,
    **options: Unpack[AggregateArgs],
) -> Aggregate:
    """Make one number of a rate by class and group: over groups, then over classes (docs/analyses/classes.md).

    `data` is a `Confusion`, a `Table` with a decision and a label, a path to a saved one, confusion counts with the
    columns group, true, pred and count, or rows with the columns label, prediction and group, as in `evenhand.data`.

    Parameters
    ----------
    metric
        A rate of one class against the rest: "tpr" (the default), "fnr", "fpr", "tnr", "ppv", "fdr", "npv", "for",
        "selection_rate", "accuracy" or "f1".
    unit
        What is aggregated: the "gap" |M − M̄| (the default), the "score" M, or the "ratio" M / M̄.
    across_groups
        An exponent (1 by default, inf for the largest, -inf for the smallest), or a name: "mean gap", "variance",
        "max gap", "min score", "min ratio", "max difference", "max ratio", "difference threshold", "ratio threshold",
        "sum of gaps", "fairlib". A name fixes the unit.
    across_classes
        An exponent (2 by default), "mean", "quadratic mean" or "binary": the `positive` class alone.
    average
        M̄: the rate over all rows ("overall") or the mean over groups ("mean").
    empty
        What a class and group without rows counts as, such as 0.5; by default it is left out and named.
    gamma
        The tolerance of the thresholds, by default 0.1 for differences and 0.2 for ratios.
    weights, class_weights
        Of groups and of classes: "size", or a dict with a number for every name.
    attribute
        Which group column, if there are several; by default their intersection.
    why
        Your reasons, by "metric", "unit", "groups" and "classes", for the checklist, which ticks only what you said.
    against
        A second model: its data in the same form, or of rows its column of predictions.
    confidence, bootstrap, permutations, rng
        Intervals and tests: see `evenhand.Inference`.

    Examples
    --------
    >>> import evenhand
    >>> jobs = {"job": list("nnnnppppdd"), "guess": list("nnnnppnndd"), "sex": list("ffmmffmmfm")}
    >>> a = evenhand.aggregate(jobs, label="job", prediction="guess", group="sex")
    >>> a.matrix.tolist(), a.overall.tolist()
    ([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0]], [1.0, 1.0, 0.5])
    >>> a.beta.tolist(), round(a.value, 4)
    ([0.0, 0.0, 0.5], 0.2887)
    >>> evenhand.aggregate(a.table, across_groups="max difference", across_classes=1).value.__round__(4)
    0.3333
    """
    said: dict[str, Any] = dict(options)
    against = said.pop("against", None)
    average = renamed(said, "baseline", "average", average, "overall")
    across_classes = renamed(said, "classes", "across_classes", across_classes)
    if not _names_columns(data, said):
        across_groups = renamed(said, "group", "across_groups", across_groups)
    check_known(said, AggregateArgs.__optional_keys__, aggregate)
    settings = options_of(said)
    choices = class_choices(metric, unit, across_groups, across_classes, average, empty, gamma, why)
    roles = picked(Roles, said)
    how = (choices, attribute, settings, said.get("rng"), positive, weights, class_weights)
    table = as_confusion(data, roles)
    if against is None:
        return replace(_made(table, *how), library=library_of(data))
    theirs, names = second(data, roles, against)
    table, other, notes = with_the_same_classes(table, as_confusion(*theirs), names)
    made = _made(table, *how)
    compared = Against(*names, _alike(made, _made(other, *how)))
    notes += other_people(made, compared.aggregate)
    return replace(made, against=compared, notes=(*made.notes, *notes), library=library_of(data))


def _made(
    table: Confusion, choices: Choices, attribute: Any, settings: Options, rng: Any, positive: Any, weights: Any,
    class_weights: Any,
) -> Aggregate:  # fmt: skip
    """The aggregate of one model."""
    grouping, notes = _grouping(table, attribute)
    counts = table.counts(grouping)
    recipe_ = _settled(choices.recipe, table, counts, positive, weights, class_weights)
    rates = matrix(choices.rate, counts, choices.baseline, choices.empty)
    task = Task(rates.comparing() if recipe_.compares else rates, recipe_)
    streams = dict(zip((g.name for g in table.groupings), streams_of(table, generator(rng)), strict=True))
    random = streams[grouping.name].spawn(2)[0]
    results = uncertainties([task], counts, settings.confidence, settings.bootstrap, settings.permutations, random)
    choices = replace(choices, recipe=recipe_)
    return assembled(table, grouping, choices, rates, results[0], settings, (*table.notes, *notes))


def class_choices(
    metric: Any = None, unit: Any = None, across_groups: Any = None, across_classes: Any = None,
    average: Any = "overall", empty: Any = None, gamma: Any = None, why: Any = None,
) -> Choices:  # fmt: skip
    """The choices, if they make sense; better known before the data are read."""
    rate = metric_named("tpr" if metric is None else metric)
    how = recipe(unit, across_groups, across_classes, gamma)
    said = {"metric": metric, "unit": unit or how.group.unit, "groups": across_groups, "classes": across_classes}
    which, vacant = checked_baseline(average, empty)
    if why is not None and (not isinstance(why, Mapping) or not all(isinstance(v, str) for v in why.values())):
        raise UsageError(f"why is a dict of texts by {listed(REASONS)}, not {shown(why)}")
    for word in why or {}:
        if word not in REASONS:
            raise UsageError(f"why has reasons for {listed(REASONS)}, not for {shown(word)}{nearest(word, REASONS)}")
    stated = frozenset(word for word, value in said.items() if value is not None)
    return Choices(rate, how, which, vacant, dict(why or {}), stated)


def _alike(first: Aggregate, other: Aggregate) -> Aggregate:
    """The second model, if its matrix has the same columns."""
    if first.groups != other.groups:
        odd = sorted({*first.groups} ^ {*other.groups})
        raise UsageError(f"two models are compared over the same groups, but only one of them has {listed(odd)}")
    return other


def _names_columns(data: Any, said: Mapping[str, Any]) -> bool:
    """Whether `group` names columns, as everywhere; it used to be short for `across_groups` of tables and counts."""
    group = said.get("group")
    if said.get("label") is not None or said.get("prediction") is not None:
        return True
    if isinstance(group, list | tuple) and group and all(isinstance(g, str) for g in group):
        return True
    return isinstance(group, str) and not is_table(data) and group in names_of(data)


def as_confusion(data: Any, roles: Roles) -> Confusion:
    """The confusion table given, saved, or counted."""
    from evenhand.tables.storage import load

    if is_table(data):
        if said := roles.said():
            raise UsageError(f"a table knows its columns already: leave out {listed(said)}")
        return classes_table(data if isinstance(data, Table | Confusion) else load(data))
    if roles.label is None and roles.prediction is None:
        roles = _of_counts(data, roles)
    for word in ("label", "prediction", "group"):
        if getattr(roles, word) is None:
            raise UsageError(f"an aggregate needs true classes, predictions and groups: name {word}= (--{word}) too")
    table = count_rows(data, roles, classes=True)
    assert isinstance(table, Confusion)
    return table


def _of_counts(data: Any, roles: Roles) -> Roles:
    """The roles of confusion counts, if their columns are called as usual."""
    from evenhand.tables.storage import check_whole

    if isinstance(data, str | os.PathLike):
        check_whole(data)
    missing = lacking(data, roles)
    if missing:
        raise UsageError(
            f"name the columns of true classes, predictions and groups (label=, prediction=, group=); only counts with "
            f"the columns {listed(LONG.values())} need not be named, and there is no {listed(missing)}"
        )
    return counts_roles(data, roles)


def _grouping(table: Confusion, attribute: Any) -> tuple[Grouping, list[str]]:
    names = [g.name for g in table.groupings]
    if attribute is None and table.finest.name not in names:
        raise UsageError(f"say which attribute (--attribute): {listed(names)}")
    grouping = table.finest if attribute is None else table.refuse_incomplete(table.grouping(attribute))
    if len(grouping.groups) < 2:
        raise UsageError(
            f"a comparison needs two or more groups, but {shown(grouping.name)} has only {listed(grouping.groups)}"
        )
    if attribute is None and len(table.attributes) > 1:
        return grouping, [f"groups are those of {shown(grouping.name)}; name attribute= to compare by one column"]
    return grouping, []


def _settled(
    how: Recipe, table: Confusion, counts: ClassCounts, positive: Any, weights: Any, class_weights: Any
) -> Recipe:
    """The recipe with its positive class and its weights."""
    place = 0
    if how.classes.kind == "binary":
        if positive is None:
            # of two classes the favourable one is 1 unless said; of more, "1" is a name like any other
            usual = [c for c in (table.meaning.favorable, "1") if c in table.classes and len(table.classes) == 2]
            if not usual:
                raise UsageError(
                    f"'binary' is about one class, but there are {len(table.classes)} ({listed(table.classes, 40)}): "
                    "say which is positive= (--positive)"
                )
            positive = usual[0]
        place = table.class_named(positive)
    elif positive is not None:
        raise UsageError("positive is for across_classes='binary': leave it out, or say so")
    sums = counts.sums()
    return replace(
        how,
        positive=place,
        group_weights=weights_of(weights, counts.groups, sums.total[0], "weights", how.group),
        class_weights=weights_of(class_weights, counts.classes, sums.true.sum(-1), "class_weights", how.classes),
    )


def streams_of(table: Confusion, rng: np.random.Generator) -> list[np.random.Generator]:
    """A stream for every grouping, so that an aggregate alone is what it is in an audit."""
    return rng.spawn(len(table.groupings))
