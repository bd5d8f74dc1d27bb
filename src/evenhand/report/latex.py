"""Tables in LaTeX, with names that LaTeX takes as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenhand.errors import printable

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "|": r"$|$", "×": r"$\times$",
    "÷": r"$\div$", "±": r"$\pm$", "≤": r"$\le$", "≥": r"$\ge$", "−": r"$-$", "–": "--", "…": r"\dots{}",
    "[": "{[}", "]": "{]}", "*": "{*}", '"': r"\textquotedbl{}",
}  # fmt: skip
"""Signs that mean something, also brackets and stars: after the end of a row they are options of it."""
_MINUS = re.compile(r"(?<![\w.)\]}-])-(?=[\d.])")


def escaped(text: object) -> str:
    """Text as LaTeX takes it: names are not ours. A hyphen before a number is a minus.

    >>> print(escaped(r"50% of a_b & \\input{x}: -0.2"))
    50\\% of a\\_b \\& \\textbackslash{}input\\{x\\}: $-$0.2
    """
    return "".join(_SIGNS.get(c, c) for c in _MINUS.sub("−", printable(str(text))))


def tabular(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, booktabs: bool = False, texts: Sequence[int] = (0,)
) -> str:
    """A table of cells that are LaTeX already; the columns of `texts` stand to the left, numbers to the right.

    Without `booktabs` it needs no package; with it, that one.
    """
    top, middle, bottom = (r"\toprule", r"\midrule", r"\bottomrule") if booktabs else (r"\hline",) * 3
    columns = "".join("l" if i in texts else "r" for i in range(len(heads)))
    lines = [rf"\begin{{tabular}}{{{columns}}}", top, _row(heads), middle, *map(_row, rows), bottom, r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
