"""The folder of an experiment: a record and two tables of counts for every finished run, and a lock."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import UsageError
from evenhand.files import as_path, shown_path, write_text
from evenhand.learn.plans import Run

FORMAT = "evenhand/run/1"


@dataclass(frozen=True)
class Folder:
    """Where runs are kept. What is in it is whole: files take their place in one step, the record of a run last."""

    path: Path

    @classmethod
    def at(cls, path: Any) -> Folder:
        place = as_path(path)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot keep runs in {shown_path(path)}: {error.strerror or error}") from error
        return cls(place)

    def table(self, id_: str, part: str) -> Path:
        return self.path / f"{id_}.{part}.table"

    def record(self, id_: str) -> dict[str, Any] | None:
        """The record of a finished run; None if there is none that is whole."""
        try:
            found = json.loads((self.path / f"{id_}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("id") != id_:
            return None
        if found.get("error") is None and not all(self.table(id_, part).is_file() for part in ("dev", "test")):
            return None
        return found

    def keep(self, run: Run, record: dict[str, Any]) -> dict[str, Any]:
        whole = {"format": FORMAT, "id": run.id, "run": asdict(run), **record}
        write_text(self.path / f"{run.id}.json", json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
        return whole

    def others(self, ids: set[str]) -> int:
        """Finished runs of other experiments in this folder."""
        return sum(file.stem not in ids and self.record(file.stem) is not None for file in self.path.glob("*.json"))

    # ---- while it runs ------------------------------------------------------------------------------------------

    @property
    def people(self) -> Path:
        """What workers read; gone when all is done."""
        return self.path / ".people"

    def tidy(self) -> None:
        """Remove what a killed experiment left half-written, and what workers read."""
        for file in self.path.glob(".*.part"):
            file.unlink(missing_ok=True)
        shutil.rmtree(self.people, ignore_errors=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one experiment at a time; the system opens the lock of a process that has died."""
        file = self.path / "lock"
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if not _lock(handle):
                pid = os.read(handle, 20).decode(errors="replace").strip()
                raise UsageError(
                    f"process {pid or '?'} is running an experiment in {shown_path(self.path)}: wait for it, or name "
                    "another folder"
                )
            os.ftruncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
            yield
            with suppress(OSError):
                os.ftruncate(handle, 0)
        finally:
            os.close(handle)


def _lock(handle: int) -> bool:
    """Whether this process now has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, 1 << 20, os.SEEK_SET)  # beyond what others read
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            os.lseek(handle, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
