"""The columns and the JSON of a file, each of which is as its format says, put together to a table if they fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.errors import DataError
from evenhand.tables.cells import Attribute
from evenhand.tables.confusion import Confusion
from evenhand.tables.file_format import CONFUSION, PRIVATE
from evenhand.tables.grid import Grid, Piece
from evenhand.tables.noise import Noise
from evenhand.tables.provenance import Provenance
from evenhand.tables.ranges import Spans
from evenhand.tables.table import Meaning, Table


def assembled(about: dict[str, Any], columns: dict[str, Any]) -> Table | Confusion:
    """The table of which a file says these things; texts are places in the lists of their names."""
    return _confusion(about, columns) if about["schema"] == CONFUSION else _table(about, columns)


def _table(about: dict[str, Any], columns: dict[str, Any]) -> Table:
    meaning = dict(about["meaning"])
    if meaning.get("score_range") is not None:
        lo, hi = map(float, meaning["score_range"])
        meaning["score_range"] = (lo, hi)
    cells = {name: columns.get(name) for name in ("n", "score", "decision", "label", "weight", "weight2", "cluster")}
    _check_named(meaning, {"prediction": cells["decision"], **cells})
    return Table.of_cells(
        **_groups(about, columns),
        **cells,
        spans=_spans(about, columns),
        noise=Noise(**about["noise"]) if about["schema"] == PRIVATE else None,
        meaning=Meaning(**meaning),
        **_tallies(about),
    )


def _check_named(meaning: dict[str, Any], columns: dict[str, Any]) -> None:
    for name in ("score", "label", "prediction", "weight"):
        if columns.get(name) is not None and meaning.get(name) is None:
            raise DataError(f"its meaning.{name} must be the name of a column, not null")


def _spans(about: dict[str, Any], columns: dict[str, Any]) -> Spans | None:
    score, low, high = (columns.get(name) for name in ("score", "score_low", "score_high"))
    extremes = about.get("extremes")
    if low is None and high is None and extremes is None:
        return None
    if score is None or low is None or high is None or extremes is None:
        raise DataError("ranges of scores need score, score_low, score_high and extremes")
    if not ((low <= score) & (score <= high)).all():
        raise DataError("its scores lie outside of their ranges, score_low to score_high")
    ranges = np.unique(np.stack([low, high])[:, low < high], axis=1)
    if (ranges[0][1:] < ranges[1][:-1]).any():
        raise DataError("its ranges of scores overlap")
    exact = score[low == high]
    lowest, highest = map(float, extremes)
    spans = Spans(ranges[0], ranges[1], lowest, highest, _grid(about))
    if (spans.moved(exact) != exact).any():
        raise DataError("its exact scores lie inside of ranges of scores")
    return spans


def _grid(about: dict[str, Any]) -> Grid | None:
    pieces = tuple(Piece(float(start), decimals) for start, decimals in about.get("grid", ()))
    if not (np.diff([p.start for p in pieces]) > 0).all():
        raise DataError("the pieces of its grid must start one after the other")
    return Grid(pieces) if pieces else None


def _confusion(about: dict[str, Any], columns: dict[str, Any]) -> Confusion:
    _check_named(about["meaning"], columns)
    return Confusion.of_cells(
        **_groups(about, columns),
        true=columns["label"],
        predicted=columns["prediction"],
        classes=tuple(about["classes"]),
        n=columns["n"],
        weight=columns.get("weight"),
        weight2=columns.get("weight2"),
        meaning=Meaning(**about["meaning"]),
        **_tallies(about),
    )


def _groups(about: dict[str, Any], columns: dict[str, Any]) -> dict[str, Any]:
    attributes = tuple(Attribute(a["name"], tuple(a["groups"])) for a in about["attributes"])
    codes = np.array([columns[f"group_{i}"] for i in range(len(attributes))]).reshape(len(attributes), -1)
    return {"attributes": attributes, "codes": codes}


def _tallies(about: dict[str, Any]) -> dict[str, Any]:
    return {
        "left_out": about["left_out"],
        "left_out_groups": about["left_out_groups"],
        "notes": tuple(about.get("notes", ())),
        "depth": about.get("depth"),
        "provenance": Provenance.of_dict(about.get("provenance", {})),
    }
