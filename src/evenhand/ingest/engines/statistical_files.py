"""Files of SAS, SPSS and Stata → rows, by pyreadstat, a part of them at a time."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.errors import DataError, MissingLibrary
from evenhand.files.data_file import FileFormat
from evenhand.files.paths import shown_path
from evenhand.ingest.engines.damage import check_columns, problem
from evenhand.ingest.engines.sheets import Row, Sheet
from evenhand.tables.decimals import FLOAT32

OPTIONS = ("encoding",)
_READERS = {"sas7bdat": "read_sas7bdat", "xpt": "read_xport", "sav": "read_sav", "zsav": "read_sav", "dta": "read_dta"}
SUFFIXES = tuple(_READERS)
_ROWS = 200_000


def read_statistical(file: str, needed: Sequence[str], format: FileFormat) -> Sheet:
    """The needed columns, and the labels of their values."""
    about = _about(file, format)
    check_columns(needed, about.column_names, shown_path(file))
    labels = {name: about.variable_value_labels[name] for name in needed if about.variable_value_labels.get(name)}
    narrow = [name for name in needed if about.readstat_variable_types.get(name) == "float"]
    return Sheet(_rows(file, needed, narrow, format), labels=labels)


def names_in(file: str, format: FileFormat) -> list[str]:
    return list(_about(file, format).column_names)


def _about(file: str, format: FileFormat) -> Any:
    return _read(file, format, metadataonly=True)[1]


def _read(file: str, format: FileFormat, **how: Any) -> tuple[Mapping[str, list[Any]], Any]:
    try:
        import pyreadstat
    except ImportError:
        raise MissingLibrary(
            f"{shown_path(file)} is a file of SAS, SPSS or Stata, which needs pyreadstat: pip install "
            "'evenhand[files]', or save it as CSV"
        ) from None
    kind = _READERS[file.lower().rsplit(".", 1)[-1]]
    stated = {}
    if format.encoding is not None and kind != "read_xport":
        stated["encoding"] = codecs.lookup(format.encoding).name  # as iconv knows it
    try:
        found: tuple[Mapping[str, list[Any]], Any] = getattr(pyreadstat, kind)(
            file, output_format="dict", **stated, **how
        )
    except Exception as error:  # each kind of file fails in its own way
        raise DataError(
            f"cannot read {shown_path(file)}: {problem(error)}; it may be damaged, or of another kind than its "
            "name says"
        ) from error
    return found


def _rows(file: str, needed: Sequence[str], narrow: Sequence[str], format: FileFormat) -> Iterator[Row]:
    start = 0
    while True:
        columns, _ = _read(file, format, usecols=list(needed), row_offset=start, row_limit=_ROWS)
        values = [_decimals(columns[name]) if name in narrow else columns[name] for name in needed]
        yield from zip(*values, strict=True)
        read = len(values[0])
        if read < _ROWS:
            return
        start += read


def _decimals(values: Sequence[Any]) -> list[Any]:
    """Numbers of 32 bits as the decimals they stand for."""
    numbers = np.array([np.nan if v is None else v for v in values], np.float32)
    return list(FLOAT32.shortest(numbers).tolist())
