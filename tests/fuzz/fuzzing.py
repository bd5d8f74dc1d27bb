"""What all fuzzers share: how many cases, from which seed, and the names and values that break programs.

`pytest tests/fuzz` runs a few of each, `pytest -m full tests/fuzz` all of them. `EVENHAND_FUZZ_SEED` gives other cases.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

SEED = int(os.environ.get("EVENHAND_FUZZ_SEED", "0"))

NAMES: list[str] = [
    "", " ", "a", "A", "ä", "ß", "März 2024", "group", "score", "label", "n", "weight", "None", "nan", "null", "0", "1",
    "-1", "true", "constructor", "toString", "hasOwnProperty", "__proto__", "valueOf", "datum", "it's", 'say "no"',
    "a,b", "a;b", "a=b", "a|b", "a/b", "..", "C:\\x", "\\", "[x]", "a.b", "a[0]", "{x}", "%s", "$x", "`x`", "=1+1",
    "@SUM(A1)", "+1", "-x", "::error::x", "::stop-commands::x", "##[group]x", "\x1b[31mred", "\x07", "a\nb", "a\r\nb",
    "a\tb", "\u202eabc", "\u200b", "\ufeffx", "</script>", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "&amp;", "--help", "SELECT 1; --", "'; DROP TABLE x; --", "x" * 300, "🎈", "\ufffd", "日本語", "العربية", "é",
    "e\u0301",
]  # fmt: skip
"""Names of columns, groups, classes, methods and files."""

NUMBERS: list[Any] = [
    0, 1, -1, 2, 0.5, -0.0, 1e-320, 5e-324, 1e308, -1e308, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**400,
    float("nan"), float("inf"), float("-inf"), True, False, None,
]  # fmt: skip


def amount(reduced: int, full: int) -> pytest.MarkDecorator:
    """How many `cases` a fuzzer tries: few by default, all with `-m full`."""
    few = pytest.param(reduced, id="reduced")
    return pytest.mark.parametrize("cases", [few, pytest.param(full, id="full", marks=pytest.mark.full)])


def generators(cases: int, *name: int) -> Iterator[np.random.Generator]:
    """Random numbers of each case apart, so that one that fails can be run alone."""
    for case in range(cases):
        yield np.random.default_rng([SEED, *name, case])
