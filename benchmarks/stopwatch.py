"""How long a call takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def seconds(call: Callable[[], Any], repeat: int = 5) -> float:
    """The best of several runs: the others measure the machine's other work."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best
