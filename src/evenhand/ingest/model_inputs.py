"""What a model is given: the user's own data, in their own library and types, with some values replaced."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from evenhand.ingest.column_types import numbers_of, refuse_mixed
from evenhand.ingest.people import People, Types, as_array
from evenhand.ingest.rows import read_rows
from evenhand.ingest.values import Encoded, encode
from evenhand.tables.arrays import Floats, Ints

UNSAID = Types()


class Inputs:
    """Rows for a model.

    Another category is copied from a person who has it, so that it is of the same type; another number is a float.
    """

    def __init__(
        self, data: Any, people: People, features: Sequence[str], *, matrix: bool = False, types: Types = UNSAID
    ) -> None:
        self.people, self.features, self.matrix = people, tuple(features), matrix
        self.held = held(data, list(features), types)
        if matrix and not isinstance(self.held, np.ndarray):
            self.held = _as_matrix(self.held, self.features)
        self._example = {
            f.name: people.kept[np.unique(f.values, return_index=True)[1]] for f in people.features if not f.numeric
        }
        """Where in the data each category of a column is first seen."""

    def rows(self, people: Ints, replaced: Mapping[str, Floats | Ints] | None = None) -> Any:
        """These people, with other values of some columns: numbers, or codes of categories."""
        own = self.people.kept[people]
        given = {name: values for name, values in (replaced or {}).items() if name in self.features}
        picked = {name: self._example[name][codes] for name, codes in given.items() if name in self._example}
        numbers = {name: np.asarray(v, np.float64) for name, v in given.items() if name not in self._example}
        if isinstance(self.held, np.ndarray):
            return self._matrix(own, picked, numbers)
        if isinstance(self.held, dict):
            return {n: numbers[n] if n in numbers else c[picked.get(n, own)] for n, c in self.held.items()}
        from evenhand.ingest.engines.dataframes import regathered

        return regathered(self.held, own, picked, numbers)

    def _matrix(self, own: Ints, picked: dict[str, Ints], numbers: dict[str, Floats]) -> Any:
        matrix = self.held[own]
        if numbers and matrix.dtype.kind in "iub":
            matrix = matrix.astype(np.float64)
        for place, name in enumerate(self.features):
            if name in numbers:
                matrix[:, place] = numbers[name]
            elif name in picked:
                matrix[:, place] = self.held[picked[name], place]
        return matrix


def held(data: Any, features: list[str], types: Types = UNSAID) -> Any:
    """Some columns as a model can be given them: a matrix, a frame, or a dict of arrays."""
    data = as_array(data)
    if isinstance(data, np.ndarray) and not data.dtype.names:
        return data[:, [int(name[1:]) for name in features]]
    if not (isinstance(data, np.ndarray | Mapping | str | os.PathLike) or type(data).__name__ == "DuckDBPyRelation"):
        from evenhand.ingest.engines.dataframes import in_memory

        return in_memory(data, features)
    text = [name for name in features if name in types.text]
    values = read_rows(data, {}, text, [name for name in features if name not in text]).values
    columns = {name: _column(name, values[name], types) for name in features}
    if not find_spec("pandas"):
        return columns
    import pandas

    return pandas.DataFrame(columns)


def _column(name: str, values: Any, types: Types) -> Any:
    """One column of a file as the user says it is; else numbers if all of them are."""
    if name in types.numbers and isinstance(values, Encoded):
        return numbers_of(name, values)
    if name in types.text:
        codes, distinct = encode(values)
        return np.array([v or None for v in distinct], object)[codes]
    if name not in types.categories:
        refuse_mixed(name, values)
    return _array(values)


def _array(values: Any) -> Any:
    distinct = getattr(values, "distinct", None)
    if distinct is None:
        masked = isinstance(values, np.ma.MaskedArray)
        return np.ma.filled(values.astype(object), None) if masked else np.asarray(values)
    kinds = {type(v) for v in distinct}
    if kinds <= {int, float}:
        return np.asarray(distinct)[values.codes]
    if kinds <= {int, float, type(None)}:
        return np.asarray(distinct, np.float64)[values.codes]
    return np.asarray(distinct, object)[values.codes]


def _as_matrix(held: Any, features: Sequence[str]) -> Any:
    if isinstance(held, dict):
        return np.column_stack([held[name] for name in features])
    return np.asarray(held) if hasattr(held, "to_numpy") else held.to_pandas().to_numpy()  # Arrow has no matrix
