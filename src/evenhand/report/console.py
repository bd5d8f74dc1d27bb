"""What rich draws, as text and for a notebook."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType

WIDTH = 80


def as_text(drawn: RenderableType, width: int = WIDTH) -> str:
    """Plain text, without spaces at the ends of lines."""
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(drawn)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


def as_html(drawn: RenderableType, width: int = WIDTH + 20) -> str:
    """HTML in which all names are escaped."""
    console = Console(file=io.StringIO(), width=width, record=True, force_terminal=True, color_system="truecolor")
    console.print(drawn)
    pre = '<pre style="font-family:monospace;line-height:1.25;white-space:pre">{code}</pre>'
    return console.export_html(inline_styles=True, code_format=pre)
