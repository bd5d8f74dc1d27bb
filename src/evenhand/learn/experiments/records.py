"""The folder of an experiment: a record and two tables of counts for every finished run, and a lock."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import DataError, UsageError
from evenhand.files.json_text import parsed
from evenhand.files.paths import as_path, read_small, shown_path, write_text
from evenhand.learn.experiments.plan import Run

FORMAT = "evenhand/run/1"
PARTS = ("dev", "test")
AXES = ("performance", "fairness")
MOST_BYTES = 10_000_000
"""Of a record: a traceback is its longest part."""
_ID = "[0-9a-f]{16}"
_KEPT = re.compile(rf"\.?{_ID}\..*|runs\.csv|lock")
_HALF_WRITTEN = re.compile(rf"\.({_ID}|runs\.csv)\..*part")


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

    def files(self) -> list[Path]:
        """What experiments have kept here."""
        return [file for file in self.path.glob("*") if _KEPT.fullmatch(file.name)]

    def table(self, id_: str, part: str) -> Path:
        return self.path / f"{id_}.{part}.table"

    def seal(self, id_: str, part: str) -> dict[str, Any]:
        """By which a table is known again: its length and its hash."""
        content = self.table(id_, part).read_bytes()
        return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    def record(self, id_: str) -> dict[str, Any] | None:
        """The record of a finished run; None if there is none that is whole, with its tables."""
        record = self._read(id_)
        with suppress(OSError):
            if record and all(self.seal(id_, part) == figures["table"] for part, figures in record["parts"].items()):
                return record
        return None

    def _read(self, id_: str) -> dict[str, Any] | None:
        try:
            text = read_small(self.path / f"{id_}.json", MOST_BYTES)
            content = None if text is None else parsed(text)
        except (OSError, DataError):
            return None
        return content if _is_record(content, id_) else None

    def keep(self, run: Run, record: dict[str, Any]) -> dict[str, Any]:
        whole = {"format": FORMAT, "id": run.id, "run": asdict(run), **record}
        write_text(self.path / f"{run.id}.json", json.dumps(whole, indent=1) + "\n")
        self._mark(run.id).unlink(missing_ok=True)
        return whole

    def others(self, ids: set[str]) -> int:
        """Finished runs of other experiments in this folder."""
        return sum(file.stem not in ids and self._read(file.stem) is not None for file in self.path.glob("*.json"))

    # ---- while it runs ------------------------------------------------------------------------------------------

    @property
    def people(self) -> Path:
        """What workers read; gone when all is done."""
        return self.path / ".people"

    def tidy(self) -> None:
        """Remove what a killed experiment left half-written, and what workers read; nothing else that lies here."""
        for file in self.path.glob(".*.part"):
            if _HALF_WRITTEN.fullmatch(file.name):
                file.unlink(missing_ok=True)
        for folder in self.people.glob("*"):
            if re.fullmatch(_ID, folder.name):
                shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            self.people.rmdir()

    def _mark(self, id_: str) -> Path:
        return self.path / f".{id_}.begun"

    def begun(self, id_: str) -> int:
        """How often a run was begun and neither finished nor interrupted: its process was gone before."""
        try:
            return int(self._mark(id_).read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    @contextmanager
    def under_way(self, id_: str) -> Iterator[None]:
        """Leaves a mark if the process does not outlive the run."""
        write_text(self._mark(id_), f"{self.begun(id_) + 1}\n")
        try:
            yield
        finally:
            self._mark(id_).unlink(missing_ok=True)

    def check_free(self, header: str) -> None:
        """Refuse to overwrite what no experiment wrote; `header` is the first line of a table of runs."""
        runs = self.path / "runs.csv"
        try:
            if self.people.exists() and not self.people.is_dir():
                raise self._in_the_way(".people")
            if runs.exists():
                with runs.open("rb") as file:
                    ours = file.readline(4096).decode(errors="replace").strip() in ("", header)
                if not ours:
                    raise self._in_the_way("runs.csv")
        except OSError as error:
            raise self._in_the_way("runs.csv") from error

    def _in_the_way(self, name: str) -> UsageError:
        return UsageError(
            f"the folder {shown_path(self.path)} is for runs, and its {name} is none that an experiment has written: "
            "name another folder, or move it away"
        )

    def _open_lock(self) -> int:
        try:
            handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        except IsADirectoryError as error:
            raise self._in_the_way("lock") from error
        except OSError as error:
            raise UsageError(f"cannot keep runs in {shown_path(self.path)}: {error.strerror or error}") from error
        if not re.fullmatch(rb"\s*[0-9]*\s*", os.read(handle, 100)):
            os.close(handle)
            raise self._in_the_way("lock")
        return handle

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one experiment at a time; the system opens the lock of a process that has died."""
        handle = self._open_lock()
        try:
            os.lseek(handle, 0, os.SEEK_SET)
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


# ---- what a record looks like -----------------------------------------------------------------------------------


def _is_record(content: Any, id_: str) -> bool:
    """Whether it is what `keep` writes: anything else was damaged, and the run is done again."""
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("id") != id_:
        return False
    error, parts, seconds = content.get("error"), content.get("parts"), content.get("seconds")
    return (
        {"error", "traceback", "seconds"} <= set(content)
        and (error is None or (isinstance(error, str) and error != ""))
        and isinstance(content["traceback"], str | None)
        and (seconds is None or _is_number(seconds, math.inf))
        and isinstance(content.get("run"), dict)
        and isinstance(content.get("device"), str)
        and isinstance(content.get("warnings"), list)
        and all(isinstance(text, str) for text in content["warnings"])
        and isinstance(content.get("versions"), dict)
        and all(isinstance(text, str) for text in content["versions"].values())
        and isinstance(parts, dict)
        and set(parts) == (set(PARTS) if error is None else set())
        and all(_is_part(part) for part in parts.values())
    )


def _is_part(part: Any) -> bool:
    if not isinstance(part, dict) or not all(isinstance(part.get(key), dict) for key in ("table", *AXES)):
        return False
    shares = [share for axis in AXES for share in part[axis].values()]
    return (
        _is_number(part.get("people"), math.inf)
        and _is_number(part.get("majority"), 1.0)
        and all(share is None or _is_number(share, 1.0) for share in shares)
    )


def _is_number(value: Any, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


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
