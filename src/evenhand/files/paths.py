"""Paths a user names, and writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evenhand.errors import EvenhandError, UsageError, shown
from evenhand.files.secrets import is_address, masked


def as_path(path: Any) -> Path:
    """A path from what the user gave, `~` expanded."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a path must be a text or a Path, not {shown(path)}")
    text = os.fspath(path)
    if not isinstance(text, str) or "\0" in text:
        raise UsageError(f"{shown_path(text)} is not a path")
    return Path(os.path.expanduser(text))


def shown_path(path: Any) -> str:
    """A path as it may appear inside a message: without the secrets of an address.

    >>> shown_path("people.csv"), shown_path("https://ann:hush@x.org/a.csv?sig=AbC1")
    ("'people.csv'", "'https://***@x.org/a.csv?sig=***'")
    """
    return shown(masked(str(path)), 120)


@contextmanager
def naming(given: Any) -> Iterator[None]:
    """What is found to be wrong in a file is said with its name; of data that are no file nothing is added.

    >>> with naming("runs.csv"):
    ...     raise UsageError("there are no runs")
    Traceback (most recent call last):
    evenhand.errors.UsageError: 'runs.csv': there are no runs
    """
    try:
        yield
    except EvenhandError as error:
        if not isinstance(given, str | os.PathLike):
            raise
        known = (shown_path(given)[:-1], shown(os.path.basename(os.fspath(given)), 120))
        if any(name in str(error) for name in known):
            raise
        raise type(error)(f"{shown_path(given)}: {error}") from error


def is_file(path: Path) -> bool:
    """Whether there is such a file; a name the system refuses is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def read_small(path: Any, most: int) -> bytes | None:
    """What a small file holds; None if it holds more bytes than that, which are not read. Raises OSError."""
    with as_path(path).open("rb") as file:
        content = file.read(most + 1)
    return content if len(content) <= most else None


def literal(path: str) -> str:
    """A path that DuckDB takes as it is, though it may hold a character that patterns use."""
    return path if is_address(path) else re.sub(r"([*?\[])", r"[\1]", path)


def check_target(path: Any) -> None:
    """Refuse a file that could not be written, before the work that fills it."""
    target = Path(os.path.realpath(as_path(path)))
    if is_address(str(path)):
        raise UsageError(f"cannot write {shown_path(path)}: files are written to disk only; name one, then copy it")
    try:
        if target.is_dir():
            raise UsageError(f"cannot write {shown_path(path)}: it is a folder; name a file")
        if not target.parent.is_dir():
            raise UsageError(f"cannot write {shown_path(path)}: there is no folder {shown_path(target.parent)}")
    except OSError as error:
        raise UsageError(f"cannot write {shown_path(path)}: {error.strerror or error}") from error


@contextmanager
def replacing(path: Any) -> Iterator[Path]:
    """A temporary file that takes the place of `path` if all goes well, and disappears otherwise.

    Only a process that is killed leaves it behind, as .NAME.….part beside the file. A link is followed. A device or
    pipe cannot be replaced: it gets the finished content.
    """
    check_target(path)
    given = as_path(path)
    target = Path(os.path.realpath(given))
    try:
        replace = not target.exists() or target.is_file()
        before = stat.S_IMODE(target.stat().st_mode) if target.is_file() else None
        temporary = _beside(target, private=before is not None) if replace else _elsewhere()
    except OSError as error:
        raise UsageError(f"cannot write {shown_path(given)}: {error.strerror or error}") from error
    try:
        yield temporary
        if replace:
            with temporary.open("rb") as written:
                os.fsync(written.fileno())  # or a machine that loses power could have the name without the content
            if before is not None:
                os.chmod(temporary, before)
            os.replace(temporary, target)
        else:
            with temporary.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
    except OSError as error:
        raise UsageError(f"cannot write {shown_path(given)}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _beside(target: Path, private: bool) -> Path:
    """A new file in the same folder, as open to others as the system makes new files, or to nobody."""
    while True:
        found = target.with_name(f".{target.name[:50]}.{os.urandom(6).hex()}.part")
        with suppress(FileExistsError):
            os.close(os.open(found, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600 if private else 0o666))
            return found


def _elsewhere() -> Path:
    handle, name = tempfile.mkstemp(prefix="evenhand-", suffix=".part")
    os.close(handle)
    return Path(name)


def write_text(path: Any, text: str) -> None:
    """Write a text file in one step: the same bytes on every system."""
    write_bytes(path, text.encode())


def write_bytes(path: Any, content: bytes) -> None:
    """Write a file in one step."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
