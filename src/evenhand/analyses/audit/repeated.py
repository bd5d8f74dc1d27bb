"""The command that gives an audit again, as far as its table and options know it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.analyses.audit.key_measures import is_whole
from evenhand.analyses.options import ALL, Options, percentage
from evenhand.analyses.reference import HIGHEST
from evenhand.measures.curve import ScoreOptions
from evenhand.measures.registry import MEASURES
from evenhand.tables.cells import Attribute
from evenhand.tables.table import Table

DATA = "DATA"
"""Stands for the file: a table does not know where its rows came from."""


def command(table: Table, options: Options, attributes: Sequence[Mapping[str, Any]]) -> str:
    """What to type; `attributes` are those of the document.

    >>> import evenhand
    >>> people = {"d": [1, 0, 1, 1], "sex": ["f", "f", "m", "m"]}
    >>> audit = evenhand.audit(people, prediction="d", group="sex", reference="m", bootstrap=0, rng=1)
    >>> audit.to_dict()["command"]
    'evenhand audit DATA --prediction d --group sex --favorable 1 --reference m --bootstrap 0 --seed 1'
    """
    words = ["evenhand", "audit", DATA, *_columns(table), *_decision(table, options, attributes)]
    ids = [m["id"] for m in attributes[0]["measures"]]
    more = [id_ for id_ in dict.fromkeys(ids) if id_ not in MEASURES]
    if not is_whole(ids):
        words += ["--measures", ",".join(dict.fromkeys(ids))]
    elif more:
        words += ["--measures", ",".join([ALL, *more])]
    return shlex.join([*words, *_options(options)])


def _columns(table: Table) -> Iterator[str]:
    """Which column plays which role, and how its values are read."""
    m = table.meaning
    for flag, column in (("score", m.score), ("label", m.label), ("prediction", m.prediction)):
        if column is not None:
            yield from (f"--{flag}", _listed([column]) if flag == "score" else column)
    yield from ("--group", _listed([a.name for a in table.attributes]))
    if table.depth is not None:
        yield from ("--depth", f"{table.depth}")
    if m.weight is not None:
        yield from ("--weight", m.weight, "--weight-kind", "frequency" if table.weight is None else "sampling")
    if m.cluster is not None:
        yield from ("--cluster", m.cluster)
    if m.favorable is not None:
        yield from ("--favorable", m.favorable)
    if m.risk:
        yield "--risk"
    if m.score_range is not None:
        yield from ("--score-range", ",".join(map(_number, m.score_range)))
    if table.left_out:
        yield from ("--missing", "drop")


def _decision(table: Table, options: Options, attributes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if options.cutoff is not None:
        yield from ("--top" if options.cutoff.kind == "top" else "--threshold", options.cutoff.said)
    elif options.threshold is not None:
        yield from ("--threshold", _number(options.threshold))
    stated = _references(attributes)
    if set(stated.values()) == {HIGHEST} and not any(map(_called_highest, table.attributes)):
        yield from ("--reference", HIGHEST)
        return
    for name, group in stated.items():
        plain = len(table.attributes) == 1 and "=" not in group
        yield from ("--reference", group if plain else f"{name}={group}")


def _called_highest(attribute: Attribute) -> bool:
    return HIGHEST in attribute.groups


def _references(attributes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What was said of single columns, if it also decides the references of intersections; else those of all."""
    alone = {a["name"]: a for a in attributes if len(a["columns"]) == 1}
    stated = {name: _stated(a) for name, a in alone.items() if a["reference_rule"] != "largest"}
    named = [a for a in attributes if a["reference_rule"] != HIGHEST]
    fits = all(_decided(a, stated) == a["reference"] for a in named)
    return stated if fits else {name: _stated(a) for name, a in alone.items()}


def _stated(attribute: Mapping[str, Any]) -> str:
    return HIGHEST if attribute["reference_rule"] == HIGHEST else str(attribute["reference"])


def _decided(attribute: Mapping[str, Any], stated: Mapping[str, str]) -> str:
    """The largest group that agrees with what is stated, or of all."""
    wanted = {c: stated[c] for c in attribute["columns"] if c in stated}.items()
    compared = [g for g in attribute["groups"] if g["name"] not in attribute["excluded"]]
    agrees = [g for g in compared if wanted <= dict(zip(attribute["columns"], g["members"], strict=True)).items()]
    return str(max(agrees or compared or attribute["groups"], key=lambda g: g["n"])["name"])


def _options(options: Options) -> Iterator[str]:
    """Options that differ from what is usual; the seed always."""
    usual, scores = Options(), options.scores
    for name in ("confidence", "bootstrap", "permutations", "null", "interval"):
        value = getattr(options, name)
        if value != getattr(usual, name):
            yield from (f"--{name}", _number(value) if isinstance(value, float) else f"{value}")
    if options.stratified:
        yield "--stratified"
    if options.exclude_below:
        yield from ("--exclude-below", _percent(options.exclude_below))
    for name in ("ranks", "bandwidth"):
        if (value := getattr(scores, name)) != getattr(ScoreOptions(), name):
            yield from (f"--{name}", f"{value}")
    if scores.gap_bins != ScoreOptions().gap_bins:  # one number for all measures of calibration
        yield from ("--calibration-bins", f"{scores.calibration_bins}")
    for id_, tolerance in options.tolerance.items():
        yield from ("--tolerance", f"{id_}={_number(tolerance)}")
    if options.seed is not None:
        yield from ("--seed", f"{options.seed}")


def _listed(names: Sequence[str]) -> str:
    """Names between commas; one that holds a comma or quotes is quoted."""
    return ",".join('"' + n.replace('"', '""') + '"' if set(n) & set(',"\n') or n != n.strip() else n for n in names)


def _percent(share: float) -> str:
    """A share as people write it, if that is read as the same number."""
    text = f"{100 * share:.12g}%"
    return text if percentage(text) == share else repr(share)


def _number(value: float) -> str:
    short = f"{value:.12g}"
    return short if float(short) == value else repr(float(value))
