"""The frame of a page: one file, no network, and a policy that allows nothing but its own style and script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from evenhand.report.charts.theme import css
from evenhand.report.document import header
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, data_block, join, tag

MOST_PAGE = 1_900_000
"""Bytes of a page; the JSON is left out if it does not fit in."""
SHARES = (1.0, 0.5, 0.2, 0.05)


@cache
def _asset(name: str) -> str:
    return files("evenhand.report.page").joinpath(name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    """Paper is light, so only a screen is ever dark."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {css(dark=True)} }} }}"
    return f":root {{ {css()} }}\n{dark}\n{_asset('page.css')}\n{_asset('cover.css')}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def fitted(build: Callable[[Room], str]) -> str:
    """A page that is small enough: with less on it, if need be."""
    html = ""
    for share in SHARES:
        html = build(Room(share))
        if len(html.encode()) <= MOST_PAGE + 10_000:
            break
    return html


def page(
    title: str, lead: Any, sections: list[tuple[str, Any, Any]], document: dict[str, Any] | None, **blocks: Any
) -> str:
    """A whole page. Sections are (id, heading, content), the answer first; `blocks` are data for the script."""
    style, script = _style(), _asset("page.js")
    maker = f"Evenhand {header('page')['version']}"
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    (answer, *others), links = sections, [tag("li", tag("a", text, href=f"#{id_}")) for id_, text, _ in sections[1:]]
    if ((document or {}).get("cover") or {}).get("logo"):
        policy += "; img-src data:"
    head = join(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=maker),
        tag("title", title),
        Markup(f"<style>{style}</style>"),
    )
    before = join(
        tag("a", "Skip to the findings", href="#main", class_="skip"),
        tag("header", tag("h1", title), lead),
        tag(
            "main",
            _section(*answer),
            tag("nav", tag("ul", *links), aria_label="Contents") if links else None,
            *(_section(*s) for s in others),
            id="main",
            tabindex="-1",
        ),
    )
    before = Markup(before.replace("##", "&#35;#"))  # of drawings too: a log that shows the page obeys `##[…]`
    after = join(
        *(data_block(id_, values) for id_, values in blocks.items() if values is not None),
        Markup(f"<script>{script}</script>"),
    )
    kept, text = _document(document, MOST_PAGE - len((head + before + after).encode()))
    body = join(before, tag("footer", tag("p", f"Made by {maker}. {text}"), kept), after)
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n<body>{body}</body>\n</html>\n'


def _section(id_: str, heading: str, content: Any) -> Markup:
    return tag("section", tag("h2", heading, id=id_), content, aria_labelledby=id_)


def _document(document: dict[str, Any] | None, room: int) -> tuple[Markup, str]:
    """The JSON that the page shows, to take away; very many groups do not fit."""
    if document is None:
        return Markup(""), "Written to a file (to_html) the page has every measure, charts, and the JSON."
    block = data_block("document", document)
    if len(block) > room:
        return Markup(""), f"The JSON of {len(block) / 1e6:.1f} MB does not fit into this page: --json writes it."
    button = tag("button", "Download the JSON", type="button", class_="plain keep", hidden=True)
    return join(tag("p", button), block), "Everything shown here is in the JSON."


def framed(html: str) -> str:
    """A page inside a notebook: in a frame of its own, where neither can touch the other."""
    frame = 'sandbox="allow-scripts allow-downloads" width="100%" height="800" style="border:0" title="Evenhand report"'
    return f'<iframe srcdoc="{escape(html)}" {frame}></iframe>'
