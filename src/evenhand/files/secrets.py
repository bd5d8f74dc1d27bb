"""Secrets that stand in an address (or look as if they did) are never shown."""

from __future__ import annotations

import re
from urllib.parse import quote, quote_plus, unquote, unquote_plus

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/+", re.IGNORECASE)  # a Path makes :/ of ://
_ELSEWHERE = re.compile(rf"{_SCHEME.pattern}[^\s'\"]+", re.IGNORECASE)
_NAMED = re.compile(r"(\b[\w.-]*(?:passw|passwd|pwd|secret|token|signature)[\w.-]*\s*=\s*)('[^']*'|[^&\s#]+)", re.I)


def is_address(path: str) -> bool:
    return "://" in path


def masked(text: str, address: str = "") -> str:
    """An address without its secrets, or what an engine says about an address.

    Who may read it, and every value of its query but the name of a table, count as secret.

    >>> masked("postgresql://ann:hush@db/people?table=loans")
    'postgresql://***@db/people?table=loans'
    >>> masked("no such file: https://x.org/a.csv?sig=AbC1", "https://x.org/a.csv?sig=AbC1")
    'no such file: https://x.org/a.csv?sig=***'
    """
    if not address:
        start = _SCHEME.search(text)
        return text[: start.start()] + _hidden(text[start.start() :]) if start else _NAMED.sub(r"\1***", text)
    text = text.replace(address, _hidden(address))
    for secret in _secrets(address):  # an engine may repeat one by itself, or decoded
        text = text.replace(secret, "***")
    return _NAMED.sub(r"\1***", _ELSEWHERE.sub(lambda found: _hidden(found[0]), text))


def _hidden(address: str) -> str:
    scheme, who, place, query, fragment = _parts(address)
    shown = "&".join(_hidden_part(part) for part in query.split("&"))
    return f"{scheme}{'***@' if who else ''}{place}{'?' if query else ''}{shown}{'#***' if fragment else ''}"


def _hidden_part(part: str) -> str:
    name, equals, value = part.partition("=")
    if not equals:
        return "***" if name else ""
    return part if name == "table" or not value else f"{name}=***"


def _parts(address: str) -> tuple[str, str, str, str, str]:
    """Scheme, user and password, place, query and fragment; a password that is not encoded may hold any character."""
    start = _SCHEME.match(address)
    scheme = start[0] if start else ""
    rest = address[len(scheme) :]
    host = re.split(r"[/?#]", rest)[0]
    who = rest.rpartition("@")[0] if ":" in host or "@" in host else ""
    rest = rest[len(who) + 1 :] if who else rest
    rest, _, fragment = rest.partition("#")
    place, _, query = rest.partition("?")
    return scheme, who, place, query, fragment


def _secrets(address: str) -> list[str]:
    _, who, _, query, fragment = _parts(address)
    values = [part.partition("=") for part in query.split("&")]
    raw = [who, *who.split(":", 1), fragment, *(v if e else n for n, e, v in values if n != "table")]
    found = {form(s) for s in raw for form in (str, unquote, unquote_plus, quote, quote_plus)}
    return sorted((s for s in found if len(s) > 3), key=len, reverse=True)
