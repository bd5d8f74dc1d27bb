"""Names and numbers as a command has them, which gives a result again."""

from __future__ import annotations

from collections.abc import Iterable


def listed(names: Iterable[str]) -> str:
    """Names between commas; one that holds a comma or quotes is quoted, as the command line reads it.

    >>> listed(["sex", 'a, "b"'])
    'sex,"a, ""b\"""'
    """
    return ",".join('"' + n.replace('"', '""') + '"' if set(n) & set(',"\n') or n != n.strip() else n for n in names)


def numbers(*values: float) -> str:
    """Numbers between commas, as short as they stay the same.

    >>> numbers(0.95, 1 / 3)
    '0.95,0.3333333333333333'
    """
    return ",".join(f"{v:.12g}" if float(f"{v:.12g}") == v else repr(float(v)) for v in values)
