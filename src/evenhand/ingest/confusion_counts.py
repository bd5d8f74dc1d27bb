"""Confusion counts: data whose rows are not people but cells, with how many people these hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.errors import EvenhandError, UsageError, listed, shown
from evenhand.tables.confusion import Confusion

LONG = {"group": "group", "label": "true", "prediction": "pred", "weight": "count"}
"""The columns of confusion counts that need no words."""
COUNTS = ("count", "counts", "n")
"""What columns with numbers of people are called."""


def lacking(data: Any, words: Mapping[str, Any]) -> list[str]:
    """Which columns of confusion counts there are not; group columns may have been named."""
    from evenhand.ingest.tabulation import names_of

    names = names_of(data)
    return [column for word, column in LONG.items() if column not in names and words.get(word) is None]


def counts_words(data: Any, words: Mapping[str, Any]) -> dict[str, Any]:
    """The words of confusion counts, whose columns are called as usual.

    >>> counts_words({"group": ["f"], "true": ["a"], "pred": ["b"], "count": [3]}, {})
    {'group': 'group', 'label': 'true', 'prediction': 'pred', 'weight': 'count'}
    """
    from evenhand.ingest.tabulation import names_of, tabulate

    usual = {**LONG, **words}
    if "split" in names_of(data) and "split" not in [*(words.get("where") or {}), *_listed(usual["group"])]:
        splits = tabulate(data, **{**usual, "group": "split", "classes": True}).attributes[0].groups
        if len(splits) > 1:
            raise UsageError(
                f"the counts are of several splits ({listed(splits)}): choose one with where={{'split': "
                f"{shown(splits[0])}}} (--where split={splits[0]})"
            )
    return usual


def wordless(data: Any, words: Mapping[str, Any]) -> dict[str, Any] | None:
    """The words of data that are such counts and whose columns nobody named."""
    if data is None or any(words.get(word) is not None for word in (*LONG, "score")):
        return None
    try:
        missing = lacking(data, {})
    except EvenhandError:  # no data at all: others say so
        return None
    return None if missing else counts_words(data, words)


def refuse_counts_as_rows(
    table: Confusion, data: Any, given: Mapping[str, Any], group: Any, where: Mapping[str, Any] | None
) -> None:
    """Rows that differ in group or class, with a column of whole numbers called `count`, are cells, not people."""
    from evenhand.ingest.tabulation import names_of, tabulate

    said = [*given.values(), *_listed(group), *(where or {})]
    if not all(isinstance(column, str) for column in said):
        return
    names = [name for name in names_of(data) if name not in said]
    if table.n.max() > 1 and "split" not in names:
        return
    groups = [*_listed(group), *(name for name in names if name == "split")]
    for column in (name for name in names if name in COUNTS):
        words = {**given, "weight": column, "group": groups, "where": where}
        try:
            cells = tabulate(data, **words, missing="drop", weight_kind="sampling", classes=True)
        except EvenhandError:  # no numbers, so no counts
            continue
        weight = cells.weight
        assert weight is not None
        if cells.n.max() == 1 and weight.max() > 1 and (np.floor(weight) == weight).all():
            raise UsageError(
                f"every row has its own group, true and predicted class, and {shown(column)} holds whole numbers: if "
                f"these count people, say weight={column!r} (--weight {column}); if every row is one person, drop that "
                "column"
            )


def _listed(group: Any) -> list[Any]:
    return list(group) if isinstance(group, list | tuple) else [group]
