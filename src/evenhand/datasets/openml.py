"""Data sets of OpenML, where there is a network; scikit-learn fetches them."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.datasets.reading import Layout, as_numbers, whole
from evenhand.errors import DataError, MissingLibrary


def fetch(number: int, layout: Layout) -> dict[str, NDArray[Any]]:
    """The columns of a data set by its number, called as in `layout`; it must have them in the same order."""
    if not (find_spec("sklearn") and find_spec("pandas")):
        raise MissingLibrary(
            "fetching data from OpenML needs scikit-learn and pandas: pip install scikit-learn pandas; "
            f"or name a file (it comes from {layout.source})"
        )
    from sklearn.datasets import fetch_openml

    try:
        frame = fetch_openml(data_id=number, as_frame=True, parser="auto").frame
    except (OSError, ValueError) as error:  # what scikit-learn raises without a network, or of a damaged answer
        raise DataError(
            f"cannot fetch data set {number} from OpenML ({error}): without a network, name a file instead "
            f"(it comes from {layout.source})"
        ) from error
    if frame.shape[1] != len(layout.columns):
        raise DataError(
            f"data set {number} of OpenML should have {len(layout.columns)} columns, but has {frame.shape[1]}: "
            f"name a file instead (it comes from {layout.source})"
        )
    label = f"data set {number} of OpenML"
    columns: dict[str, NDArray[Any]] = {}
    for place, name in enumerate(layout.columns):
        values = frame.iloc[:, place].tolist()
        columns[name] = whole(as_numbers(values, name, label)) if name in layout.numbers else _text(values)
    return columns


def _text(values: list[Any]) -> NDArray[Any]:
    """Text as the files have it: missing is a question mark."""
    return np.array(["?" if v is None or v != v else str(v).strip() for v in values], object)
