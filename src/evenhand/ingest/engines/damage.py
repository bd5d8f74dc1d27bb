"""What cannot be read, and what engines say about it.

Files that were cut off or spoilt are found before they are counted, and named. Only what DuckDB does not notice itself
is looked for here: it takes the readable beginning of a compressed file for the whole, compares no checksums of gzip,
and crashes on an Arrow file whose text was spoilt.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.ingest.progress import tell

UNREADABLE = (OSError, EOFError, UnicodeDecodeError, zlib.error)
_MACHINERY = re.compile(
    r"^\s*(?:The search space used was|Possible (?:fixes|solution)|file = )", re.MULTILINE | re.IGNORECASE
)
"""Where DuckDB goes on to speak of its own settings, which nobody can change here."""
_FRAME, _SKIPPABLE = 0xFD2FB528, 0x184D2A50


def check_columns(wanted: Sequence[str], present: Sequence[Any], where: str, file: str = "") -> None:
    """Every column must exist; the message lists what does and suggests the nearest.

    `file` is one whose folders tell nothing, as those of Parquet files do.
    """
    for column in wanted:
        if column in present:
            continue
        if column in map(str, present):
            raise UsageError(f"column {shown(column)} of {where} has a name that is no text: rename it to text")
        folders = re.split(r"[/\\]", file)[:-1]
        told = any(folder.startswith(f"{column}=") for folder in folders)
        raise UsageError(
            f"there is no column {shown(column)} in {where} (it has: {listed(present, 12)})"
            + ("; names of folders are read as columns above Parquet files only: add it to the file" if told else "")
            + nearest(column, [str(p) for p in present])
        )


def check_text(file: str) -> None:
    """Refuse a text file that is empty or was compressed and is not whole any more."""
    name = file.lower()
    if os.path.getsize(file) == 0:
        raise DataError(f"{shown(file, 120)} is empty: repair it, or remove it if it should hold no rows")
    if name.endswith(".gz"):
        _exhaust(file)
    elif name.endswith(".zst"):
        _walk(file)


def _exhaust(file: str) -> None:
    """Unpack a gzip file to its end, where its checksum is."""
    size = os.path.getsize(file)
    with open(file, "rb") as packed, gzip.open(packed) as stream:
        while stream.read(1 << 20):
            tell(packed.tell() / size, f"checking {os.path.basename(file)}")


def _walk(file: str) -> None:
    """Step over the blocks of a Zstandard file (RFC 8878), without unpacking them: do they reach its end?"""
    size = os.path.getsize(file)
    with open(file, "rb") as stream:

        def whole(bytes_: int) -> int:
            found = stream.read(bytes_)
            if len(found) < bytes_:
                raise EOFError("it ends too early: copy it again")
            return int.from_bytes(found, "little")

        def skip(bytes_: int) -> None:
            if stream.seek(bytes_, os.SEEK_CUR) > size:
                raise EOFError("it ends too early: copy it again")

        while stream.tell() < size:
            magic = whole(4)
            if magic & 0xFFFFFFF0 == _SKIPPABLE:
                skip(whole(4))
                continue
            if magic != _FRAME:
                raise OSError("it is no Zstandard file")
            descriptor = whole(1)
            single = descriptor >> 5 & 1
            content = (single, 2, 4, 8)[descriptor >> 6]
            skip((0, 1, 2, 4)[descriptor & 3] + content + (not single))
            last = False
            while not last:
                header = whole(3)
                last = bool(header & 1)
                skip(1 if header >> 1 & 3 == 1 else header >> 3)
            skip(4 * (descriptor >> 2 & 1))


def check_arrow(file: str, needed: Sequence[str]) -> None:
    """Refuse an Arrow file whose columns point outside of it: reading them would end the process."""
    import pyarrow
    import pyarrow.ipc

    with pyarrow.memory_map(file) as memory:
        reader = pyarrow.ipc.open_file(memory)
        names = reader.schema.names
        places = [names.index(name) for name in needed if name in names]
        options = pyarrow.ipc.IpcReadOptions(included_fields=places)
        reader = pyarrow.ipc.open_file(memory, options=options)
        for i in range(reader.num_record_batches):
            reader.get_batch(i).validate(full=True)


def culprit(
    files: Sequence[str], error: Exception, scan: Callable[[Sequence[str]], Any]
) -> tuple[str | None, Exception]:
    """The first of several files that cannot be read, and why; None if each can be read by itself.

    Half of them are scanned at a time: one by one, thousands would take a minute.
    """
    while len(files) > 1:
        first = files[: len(files) // 2]
        files = first if _failure(first, scan) else files[len(first) :]
    own = _failure(files, scan)
    return (files[0], own) if own else (None, error)


def _failure(files: Sequence[str], scan: Callable[[Sequence[str]], Any]) -> Exception | None:
    try:
        scan(files)
    except Exception as error:
        return error
    return None


def problem(error: BaseException) -> str:
    """What an engine complained about, in one line.

    >>> problem(ValueError("worker 3 failed:\\nTraceback (most recent call last):\\n  File x\\nOSError: no space"))
    'worker 3 failed:; OSError: no space'
    """
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text: convert it first"
    said = _essence(str(error) or type(error).__name__)
    if "detect the CSV parsing dialect" in said:
        return "not every row fits its first line (too few or too many values, or a quote without end): is it whole?"
    said = _MACHINERY.split(said)[0].rstrip() or said
    text = "; ".join([line.strip() for line in said.splitlines() if line.strip()][:3])
    return text if len(text) <= 300 else text[:299] + "…"


def _essence(said: str) -> str:
    """What went wrong in a worker, without where in its program."""
    before, python, after = said.rpartition("Traceback (most recent call last)")
    if python:
        ends = [line for line in after.splitlines()[1:] if line[:1].strip()]
        return "\n".join([*before.splitlines()[:1], *ends[:1]])
    causes = [line.partition(":")[2] for line in said.splitlines() if line.startswith("Caused by:")]
    return re.sub(r"\b(?:[a-z]+\.)+(?=[A-Z])", "", causes[0]) if causes else said
