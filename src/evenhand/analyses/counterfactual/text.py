"""Counterfactual fairness as a report of 80 columns, made from the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from evenhand.analyses.counterfactual.document import FLIP
from evenhand.analyses.counterfactual.sentences import (
    alternative_words,
    causal_model,
    explained,
    interval_words,
    misfit_words,
    other_forms,
    share,
    via,
)
from evenhand.errors import shown_name
from evenhand.report.console import WIDTH, wrapped
from evenhand.report.format import interval, number, p_value

MOST_PAIRS = 12


def render(document: dict[str, Any]) -> Text:
    """The document as text for a terminal."""
    return Text("\n".join(_lines(document)))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield "Evenhand counterfactual fairness"
    yield from wrapped(facts(document))
    flip = document["flip"]
    yield from _heading("Attribute flip")
    yield from wrapped(f"({FLIP})")
    if flip["answer"] is None:
        yield from wrapped(f"Undefined: {flip['undefined']}.")
    else:
        yield from _table(flip["answer"])
    for world in document["worlds"]:
        yield from _model_lines(world)
    if document["ranges"]:
        yield from _heading("Over all causal models")
        for r in document["ranges"]:
            yield from wrapped(f"• {r['interpretation']}", "  ")
    if document["notes"]:
        yield from _heading("Notes")
        for note in document["notes"]:
            yield from wrapped(f"• {shown_name(note, 600)}", "  ")


def facts(document: dict[str, Any]) -> str:
    """Who was asked about what."""
    data, options = document["data"], document["options"]
    groups = ", ".join(f"{shown_name(g['name'])} {g['n']:,}" for g in data["groups"])
    below = "<" if data["risk"] else "≥"
    return (
        f"{data['rows']:,} people by {shown_name(data['attribute'])} ({groups}). Model {shown_name(data['model'])}, "
        f"favourable at score {below} {data['threshold']:g}; a change beyond {options['tolerance']:g} counts."
    )


def _model_lines(world: dict[str, Any]) -> Iterator[str]:
    yield from _heading(f"By {causal_model(world['name'])}")
    if world["because"]:
        yield from wrapped(f"Nothing changes: {world['because']}.")
    else:
        yield from _table(world["answer"])
        yield ""
        yield "Paths of a change, on average"
        for p in world["paths"][: 6 * MOST_PAIRS]:
            yield from wrapped(_path(p), "    ")
        if world["confounding"]:
            yield ""
            yield "If a hidden cause accounts for part of it"
            for c in world["confounding"][:MOST_PAIRS]:
                yield from wrapped(f"• {c['interpretation']}", "  ")
    yield ""
    yield "This rests on"
    for sentence in world["assumptions"]:
        yield from wrapped(f"• {shown_name(sentence, 2000)}", "  ")
    for m in world["mechanisms"]:
        yield from wrapped(f"• {_mechanism(m)}", "  ")
    for form in dict.fromkeys(a["form"] for a in world["alternatives"]):
        yield from wrapped(f"• {alternative_words(world, form)}", "  ")


def _mechanism(m: dict[str, Any]) -> str:
    told = "does not vary" if m["explained"] is None else f"{explained(m)} explained by its causes"
    others, misfit = other_forms(m), misfit_words(m)
    return (
        f"mechanism of {shown_name(m['node'])} ({m['kind']}, {m['form']}): {told}{f' ({others})' if others else ''}"
        f"{f'; {misfit}' if misfit else ''}"
    )


def _path(p: dict[str, Any]) -> str:
    who = f"{shown_name(p['group'], 20)} as {shown_name(p['other'], 20)}"
    because = f" ({p['because']})" if p["because"] else ""
    mean = f"{number(p['mean']['value'], sign=True)}{interval_words(p['mean']['ci'])}"
    return f"  {who:<24} {via(p['via']):<24} {mean}{because}"


def _table(answer: dict[str, Any]) -> Iterator[str]:
    yield f"{'had been':<22}{'people':>8}{'change':>8}{'interval':>16}{'|size|':>7}{'null95':>7}{'other':>6}{'p':>6}"
    changes = sorted(answer["changes"], key=lambda c: -c["size"]["value"])
    for c in [*changes[:MOST_PAIRS], answer["overall"]]:
        who = "everybody, another"
        if c["group"] is not None:
            who = f"{shown_name(c['group'], 11)} as {shown_name(c['other'], 10)}"
        ci = c["mean"]["ci"]
        span = "undefined" if ci is None else interval(ci, sign=True, join=" ")
        floor = "" if c["size"]["floor_95"] is None else number(c["size"]["floor_95"])
        p = "" if c["p_adjusted"] is None else p_value(c["p_adjusted"])
        yield (
            f"{who:<22}{c['people']:>8,}{number(c['mean']['value'], sign=True):>8}{span:>16}"
            f"{number(c['size']['value']):>7}{floor:>7}{share(c['changed']['value']):>6}{p:>6}"
        )
    if len(changes) > MOST_PAIRS:
        yield f"and {len(changes) - MOST_PAIRS:,} more pairs (in the JSON)"
    yield "|size|: mean size of changes; null95: 95th percentile from fitting alone;"
    yield "other: decided otherwise; p: of no mean change, adjusted for all pairs"
    yield ""
    for c in [*changes[:MOST_PAIRS], answer["overall"]]:
        yield from wrapped(f"• {c['interpretation']}", "  ")


def _heading(text: str) -> list[str]:
    return ["", f"{text} {'─' * max(WIDTH - len(text) - 1, 3)}"]
