"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evenhand.errors import UsageError, shown


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place if all goes well, and disappears otherwise."""
    path = Path(path)
    if path.is_dir():
        raise UsageError(f"cannot write {shown(str(path))}: it is a folder; name a file")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.", suffix=".part")
    except OSError as error:
        raise UsageError(f"cannot write {shown(str(path))}: {error.strerror or error}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise UsageError(f"cannot write {shown(str(path))}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in one step."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
