"""Columns → confusion table: labels and predictions of more than two values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand.errors import DataError, UsageError, listed, shown
from evenhand.ingest.columns import Columns, people_of
from evenhand.ingest.roles import UNSAID, Roles
from evenhand.ingest.survey_weights import Seen
from evenhand.ingest.values import encode, label_key, writable
from evenhand.tables.arrays import Bools, Ints
from evenhand.tables.cells import Attribute
from evenhand.tables.confusion import NO_CLUSTERS, Confusion
from evenhand.tables.invariants import MOST_CLASSES
from evenhand.tables.table import Meaning

MOST_NUMBERS = 1_000
"""More whole numbers than this are hardly the names of classes."""
FEW = 0.005
"""A class of fewer rows than this share may be a mistake, where the others are two."""
ENOUGH_ROWS = 20
TOTALS = frozenset({"overall", "all", "total", "everyone", "everybody"})
_AS_SCORE = "if it is a score, pass it as score= (--score) with a threshold"


class Classes(NamedTuple):
    """A column of classes, read."""

    codes: Ints
    """Places in `names`; −1 where the class is missing."""
    names: tuple[str, ...]


def are_classes(columns: Columns, roles: Roles) -> bool:
    """Whether label and prediction together have more than two values and nothing says that one is the good one."""
    if columns.label is None or columns.prediction is None or columns.score is not None:
        return False
    if roles.favorable is not UNSAID or roles.favorable_prediction is not None:
        return False
    if roles.risk or roles.score_range is not None:
        return False
    label, guess = ({*map(label_key, encode(c)[1])} - {None} for c in (columns.label, columns.prediction))
    # A column of fractions against a label of two values is a score: the binary path says so.
    return len(label | guess) > 2 and not (len(label) <= 2 and any(_fraction(str(k)) for k in guess))


def count_classes(columns: Columns, roles: Roles) -> Confusion:
    """Check every column, leave out what must be left out, and count the rest."""
    if not len(columns.n):
        raise DataError("there are no rows to count")
    if columns.cluster is not None:
        raise UsageError(NO_CLUSTERS)
    if roles.missing == "bounds":
        raise UsageError(
            "bounds are for scores and for decisions of two values, not for classes: leave incomplete rows out "
            "(missing='drop', --missing drop), or state the favourable value (favorable=, --favorable)"
        )
    names = columns.names
    label, guess = _classes(columns.label), _classes(columns.prediction)
    _check(label, guess, names["label"], names["prediction"])
    place = {name: k for k, name in enumerate(dict.fromkeys(label.names + guess.names))}
    shift = np.array([*(place[name] for name in guess.names), -1], np.int64)
    true, predicted = label.codes, shift[guess.codes]
    faults: list[tuple[str, Bools]] = [
        (f"without a label {shown(names['label'])}", true < 0),
        (f"without a prediction {shown(names['prediction'])}", predicted < 0),
    ]
    classes = [Attribute(names[role], tuple(place)) for role in ("label", "prediction")]
    cells, kept = people_of(columns, roles, faults, Seen([*zip(classes, (true, predicted), strict=True)]))
    weight = None if cells["weight"] is None else writable(names["weight"])
    table = Confusion.of_cells(
        **cells,
        true=kept(true),
        predicted=kept(predicted),
        classes=tuple(place),
        meaning=Meaning(label=writable(names["label"]), prediction=writable(names["prediction"]), weight=weight),
    )
    if table.provenance.tallied:
        _refuse_totals(table)
    return table


def stray_classes(table: Confusion) -> list[str]:
    """A remark if all but a few rows are of two classes: if those few are mistakes, they decide the kind of audit."""
    classes, wrong = len(table.classes), table.true != table.predicted
    rows = np.bincount(table.true, table.n, classes) + np.bincount(table.predicted[wrong], table.n[wrong], classes)
    rare = np.flatnonzero(rows <= max(1, FEW * table.rows)).tolist()
    main = {name for c, name in enumerate(table.classes) if c not in set(rare)}
    if not rare or len(main) != 2 or (table.rows < ENOUGH_ROWS and main != {"0", "1"}):
        return []
    what = ", ".join(f"{shown(table.classes[c])} occurs in {int(rows[c]):,} of {table.rows:,} rows" for c in rare[:4])
    more = f" and {len(rare) - 4:,} more values in hardly any" if len(rare) > 4 else ""
    error = "it is an error, recode it" if len(rare) == 1 else "these are errors, recode them"
    return [f"{what}{more}: if {error}, or state the favourable value (--favorable) for an audit of two"]


def _classes(values: Any) -> Classes:
    codes, distinct = encode(values)
    place: dict[str, int] = {}
    keys = [label_key(v) for v in distinct]
    new = np.array([-1 if k is None else place.setdefault(k, len(place)) for k in keys] or [-1], np.int64)
    return Classes(new[codes], tuple(place))


def _check(label: Classes, guess: Classes, label_name: str, guess_name: str) -> None:
    """Predictions must be classes, and those of the label."""
    known, guessed = set(label.names), set(guess.names)
    strange = guessed - known
    if strange == guessed and len(guessed) == 2 == len(known):
        raise DataError(
            f"prediction column {shown(guess_name)} ({listed(sorted(guessed))}) has none of the values of label "
            f"{shown(label_name)} ({listed(sorted(known))}): name the good value of each (favorable=, --favorable and "
            "favorable_prediction=, --favorable-prediction)"
        )
    fractions = sorted(k for k in strange if _fraction(k))
    if fractions:
        raise DataError(f"prediction column {shown(guess_name)} holds {shown(fractions[0])}: {_AS_SCORE}")
    if known and 2 * len(strange) > len(guessed) > 1:
        raise DataError(
            f"predictions are classes of the label, but of the {len(guessed)} values of {shown(guess_name)} only "
            f"{len(guessed) - len(strange)} occur in {shown(label_name)} ({listed(sorted(strange), 4)} do not): code "
            f"predictions with the values of the label; {_AS_SCORE}"
        )
    for names, column in ((label.names, label_name), (guess.names, guess_name)):
        numbers = sum(name.lstrip("-").isdecimal() for name in names)
        if numbers > MOST_NUMBERS or len(names) > MOST_CLASSES:
            what = f"{numbers:,} different numbers" if numbers > MOST_NUMBERS else f"{len(names):,} different values"
            raise DataError(
                f"a class is one of few, but column {shown(column)} has {what}: put them together to classes, or, "
                "if they are amounts, to steps such as 'low', 'middle', 'high'"
            )


def _fraction(key: str) -> bool:
    try:
        return np.isfinite(float(key)) and not float(key).is_integer()
    except ValueError:
        return False


def _refuse_totals(table: Confusion) -> None:
    """Saved counts often repeat everybody as one more group, who would then be compared with themselves."""
    for i, attribute in enumerate(table.attributes):
        groups = len(attribute.groups)
        if groups < 2:
            continue
        rest = [k for k in range(len(table.codes)) if k != i]
        own = np.stack([*table.codes[rest], table.true, table.predicted])
        key = np.unique(own, axis=1, return_inverse=True)[1].reshape(-1)
        counts = np.zeros((groups, int(key.max()) + 1), np.int64)
        np.add.at(counts, (table.codes[i], key), table.n)
        twice = (2 * counts == counts.sum(0)).all(1)
        for g in np.flatnonzero(twice).tolist():
            name = attribute.groups[g]
            if name.casefold() in TOTALS or (groups > 2 and (counts[g] > 0).sum() > 2):
                others = [other for other in attribute.groups if other != name]
                raise DataError(
                    f"every person counts in one group, but the counts of {shown(name)} in {shown(attribute.name)} are "
                    f"exactly the sum of the other groups: leave its rows out with where={{{shown(attribute.name)}: "
                    f"[{listed(others, 4)}]}} (--where {attribute.name}={','.join(others[:4])})"
                )
