"""Fairness between individuals, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from evenhand.errors import shown_name
from evenhand.report import format

percent = partial(format.percent, digits=1)


def interpretation(document: dict[str, Any]) -> Iterator[str]:
    """The findings, the most important first."""
    level = f"{100 * document['options']['confidence']:g}% interval"
    yield from _alike(document, level)
    yield from _violations(document, level)
    yield from _twins(document)
    for g in document["groups"]:
        yield from _group(document, g, level)
    yield from _constant(document)


def _ends(ci: list[float], level: str = "") -> str:
    return f"{level + ' ' if level else ''}{percent(ci[0])} to {percent(ci[1])}"


def _alike(document: dict[str, Any], level: str) -> Iterator[str]:
    alike, options, chance = document["overall"]["alike"], document["options"], document["chance"]
    if alike["undefined"]:
        yield f"whether similar people are treated alike is undefined: {alike['undefined']}"
        return
    near = f"the {options['k']} people nearest to them" if options["k"] else f"those within {options['radius']:g}"
    said = f"{percent(alike['value'])} of the pairs of people and {near} are scored alike"
    said += f", within {options['epsilon']:.3g} ({_ends(alike['ci'], level)})"
    if chance["alike"] is not None:
        said += f"; of any two people {percent(chance['alike'])} are"
    yield said
    consistency = document["overall"]["consistency"]
    if not consistency["undefined"]:
        yield (
            f"a score differs from the mean of those near by {1 - consistency['value']:.3f} of the score range on "
            f"average (consistency {consistency['value']:.3f}; beside people at random {chance['consistency']:.3f})"
        )


def _violations(document: dict[str, Any], level: str) -> Iterator[str]:
    share, limit = document["overall"]["violations"], document["options"]["lipschitz"]
    if share is None or share["undefined"]:
        return
    if share["value"]:
        yield (
            f"{percent(share['value'])} of near pairs ({_ends(share['ci'], level)}) differ by more than "
            f"{limit:g} × their distance; the worst by {document['worst'][0]['beyond']:.3g}"
            if document["worst"]
            else f"{percent(share['value'])} of near pairs differ by more than {limit:g} × their distance"
        )
    else:
        yield f"no near pair differs by more than {limit:g} × its distance ({_ends(share['ci'], level)})"


def _twins(document: dict[str, Any]) -> Iterator[str]:
    t = document["twins"]
    if not t["pairs"]:
        return
    said = f"{t['people']:,} people have a twin, somebody alike in everything compared"
    if not t["differ"]:
        yield f"{said}; all twins are scored the same"
        return
    yield (
        f"{said}; {t['differ']:,} of {t['pairs']:,} pairs of twins are scored differently, "
        f"{t['apart']:,} of them by more than {document['options']['epsilon']:.3g} (at most {t['largest']:.3g}): "
        "only what was not compared can divide them"
    )


def _group(document: dict[str, Any], g: dict[str, Any], level: str) -> Iterator[str]:
    if g["alike_gap"] is None:
        return
    name, reference = shown_name(g["name"]), shown_name(document["data"]["reference"])
    for gap, word in ((g["violations_gap"], "beyond the Lipschitz limit"), (g["alike_gap"], "alike")):
        if gap is None or gap["undefined"] or gap["value"] is None:
            continue
        if gap["p_adjusted"] is not None and gap["p_adjusted"] < 1 - document["options"]["confidence"]:
            more = "more" if gap["value"] > 0 else "less"
            ends = f"{100 * gap['ci'][0]:+.1f} to {100 * gap['ci'][1]:+.1f}"
            yield (
                f"near pairs of {name} are {word} {more} often than those of {reference}: {100 * gap['value']:+.1f} "
                f"points ({level} {ends})"
            )
    across = g["across"]
    if across["undefined"]:
        yield f"between {name} and {reference} nothing can be told: {across['undefined']}"
    elif across["ci"] is not None:
        better = "better" if across["value"] > 0 else "worse"
        sure = across["p_adjusted"] is not None and across["p_adjusted"] < 1 - document["options"]["confidence"]
        fares = f"fares {better} by {abs(across['value']):.3f} of score on average"
        yield (
            f"where somebody of {name} and somebody of {reference} are near to each other ({g['across_pairs']:,} "
            f"pairs), the one of {name} {fares} ({level} {across['ci'][0]:+.3f} to {across['ci'][1]:+.3f})"
            + ("" if sure else ", which chance could explain")
        )


def _constant(document: dict[str, Any]) -> Iterator[str]:
    c = document["overall"]["constant"]
    if c["undefined"]:
        yield f"the Lipschitz constant is undefined: {c['undefined']}"
        return
    end = c["ci"][1]
    limit = "no upper limit can be told" if end is None else f"it is at most {end:.4g}"
    level = f"with {100 * document['options']['confidence']:g}% confidence"
    yield f"the score changes by up to {c['value']:.4g} per unit of distance (Lipschitz constant); {limit} {level}"
