"""What a process and all it started cost: seconds, processor seconds, the most memory at one time.

Linux tells this in /proc. Elsewhere only the process itself is known, not its children.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_EVERY = 0.05
_PROC = Path("/proc")


@dataclass(frozen=True)
class Cost:
    seconds: float
    cpu: float
    megabytes: float
    output: str
    """What it wrote to standard output."""


def family(pid: int) -> list[int]:
    """A process and all it started, as far as they live."""
    if not _PROC.is_dir():
        return [pid]
    parents: dict[int, list[int]] = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            parents.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def cpu_seconds(pid: int) -> float | None:
    """Processor seconds of a process, with children that have ended; None if it is gone."""
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else None


def family_cpu() -> float:
    """Processor seconds of this process and of all it started."""
    if not _PROC.is_dir():
        return time.process_time()
    return sum(cpu_seconds(pid) or 0.0 for pid in family(os.getpid()))


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on: state, parent, …"""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _resident(pid: int) -> float:
    try:
        return int((_PROC / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except (OSError, IndexError):
        return 0.0


def measured(command: Sequence[str]) -> Cost:
    """Run a command to its end. The caller must be small: a new process starts with the peak of whoever starts it."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as complaints:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=complaints)
        seen: dict[int, float] = {}
        together, done = 0.0, 0
        while not done:
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
            if not done:
                members = family(process.pid)
                if len(members) > 1:  # of one process alone the system itself keeps the peak
                    together = max(together, sum(map(_resident, members)))
                    seen |= {pid: spent for pid in members[1:] if (spent := cpu_seconds(pid)) is not None}
                time.sleep(_EVERY)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        complaints.seek(0)
        if process.returncode:
            raise RuntimeError(
                f"{' '.join(command[:4])} …: exit code {process.returncode}\n{complaints.read()[-2000:]}"
            )
        own = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
        # children whose end was waited for are in both sums
        spent = max(usage.ru_utime + usage.ru_stime, sum(seen.values()))
        return Cost(seconds, spent, max(own, together), output.read())
