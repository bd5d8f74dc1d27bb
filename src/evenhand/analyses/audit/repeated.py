"""The command that gives an audit again, as far as its table and options know it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.analyses.audit.key_measures import is_whole
from evenhand.analyses.options import Options
from evenhand.measures.curve import ScoreOptions
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
    if not is_whole(ids):
        words += ["--measures", ",".join(dict.fromkeys(ids))]
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
    if options.threshold is not None:
        yield from ("--threshold", _number(options.threshold))
    stated = _references(attributes)
    for name, group in stated.items():
        plain = len(table.attributes) == 1 and "=" not in group
        yield from ("--reference", group if plain else f"{name}={group}")


def _references(attributes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The fewest references of columns that also decide those of intersections."""
    alone = {a["name"]: a["reference"] for a in attributes if len(a["columns"]) == 1}
    needed = {a["name"]: a["reference"] for a in attributes if a["name"] in alone and _decided(a, {}) != a["reference"]}
    fits = all(_decided(a, needed) == a["reference"] for a in attributes)
    return needed if fits else alone


def _decided(attribute: Mapping[str, Any], stated: Mapping[str, str]) -> str:
    """The largest group that agrees with what is stated, or of all."""
    wanted = {c: stated[c] for c in attribute["columns"] if c in stated}.items()
    agrees = [
        g for g in attribute["groups"] if wanted <= dict(zip(attribute["columns"], g["members"], strict=True)).items()
    ]
    return str(max(agrees or attribute["groups"], key=lambda g: g["n"])["name"])


def _options(options: Options) -> Iterator[str]:
    """Options that differ from what is usual; the seed always."""
    usual, scores = Options(), options.scores
    if options.within:
        yield from ("--within", _listed(options.within))
    for name in ("confidence", "bootstrap", "permutations", "null", "interval"):
        value = getattr(options, name)
        if value != getattr(usual, name):
            yield from (f"--{name}", _number(value) if isinstance(value, float) else f"{value}")
    if options.stratified:
        yield "--stratified"
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


def _number(value: float) -> str:
    short = f"{value:.12g}"
    return short if float(short) == value else repr(float(value))
