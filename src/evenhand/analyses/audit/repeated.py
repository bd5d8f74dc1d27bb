"""The command that gives an audit again, as far as its table, its options and its rows know it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.analyses.audit.key_measures import is_whole
from evenhand.analyses.cutoff import percentage
from evenhand.analyses.options import ALL, Options
from evenhand.analyses.reference import HIGHEST
from evenhand.errors import values_in
from evenhand.ingest.roles import Roles
from evenhand.ingest.values import name_of
from evenhand.measures.curve import ScoreOptions
from evenhand.measures.registry import MEASURES
from evenhand.report.command import listed, numbers
from evenhand.tables.cells import Attribute
from evenhand.tables.table import Table

DATA = "DATA"
"""Stands for the file: a table does not know where its rows came from."""


def command(
    table: Table,
    options: Options,
    attributes: Sequence[Mapping[str, Any]],
    reading: Sequence[str] = (),
    profile: Sequence[str] = (),
) -> str:
    """What to type; `attributes` are those of the document, `reading` is what was said of rows alone.

    What a `profile` says is left out if it is said already.

    >>> import evenhand
    >>> people = {"d": [1, 0, 1, 1], "sex": ["f", "f", "m", "m"]}
    >>> audit = evenhand.audit(people, prediction="d", group="sex", reference="m", bootstrap=0, rng=1)
    >>> audit.to_dict()["command"]
    'evenhand audit DATA --prediction d --group sex --favorable 1 --reference m --bootstrap 0 --seed 1'
    """
    words = ["evenhand", "audit", DATA, *_columns(table), *reading, *_decision(table, options, attributes)]
    if table.missing is not None and "--missing" not in reading:
        words += ["--missing", table.missing]
    ids = [m["id"] for m in attributes[0]["measures"]]
    more = [id_ for id_ in dict.fromkeys(ids) if id_ not in MEASURES]
    if not is_whole(ids):
        words += ["--measures", ",".join(dict.fromkeys(ids))]
    elif more:
        words += ["--measures", ",".join([ALL, *more])]
    words += _options(options)
    return shlex.join([*words, *beside(profile, words)])


def beside(more: Sequence[str], words: Sequence[str]) -> list[str]:
    """Flags with their values that stand not among the words yet.

    >>> beside(["--profile", "lending", "--seed", "1"], ["--seed", "1"])
    ['--profile', 'lending']
    """
    pairs = zip(more[::2], more[1::2], strict=True)
    return [word for flag, value in pairs if flag not in words for word in (flag, value)]


def reading_of(roles: Roles) -> tuple[str, ...]:
    """What was said of rows that a table of them does not know.

    >>> reading_of(Roles(group="age", bands={"age": [25, 40]}, missing="group", where={"split": ["test", 3]}))
    ('--bands', 'age=25,40', '--missing', 'group', '--where', 'split=test,3')
    """
    bands = {"": roles.bands} if isinstance(roles.bands, str) else roles.bands or {}
    words = [word for column, rule in bands.items() for word in ("--bands", _rule(column, rule))]
    if roles.missing != "refuse":
        words += ["--missing", roles.missing]
    for column, wanted in (roles.where or {}).items():
        values = [wanted] if (several := values_in(wanted)) is None else several
        words += ["--where", f"{column}={listed([name_of(v) or '' for v in values])}"]
    return tuple(words)


def _rule(column: str, rule: Any) -> str:
    text = rule if isinstance(rule, str) else ",".join(name_of(edge) or "" for edge in rule)
    return f"{column}={text}" if column else text


def _columns(table: Table) -> Iterator[str]:
    """Which column plays which role, and how its values are read."""
    m = table.meaning
    for flag, column in (("score", m.score), ("label", m.label), ("prediction", m.prediction)):
        if column is not None:
            yield from (f"--{flag}", listed([column]) if flag == "score" else column)
    yield from ("--group", listed([a.name for a in table.attributes]))
    if table.depth is not None:
        yield from ("--depth", f"{table.depth}")
    if m.weight is not None:
        yield from ("--weight", m.weight, "--weight-kind", "frequency" if table.weight is None else "sampling")
    if m.cluster is not None:
        yield from ("--cluster", m.cluster)
    if m.favorable is not None:
        yield from ("--favorable", m.favorable)
    if m.favorable_prediction is not None:
        yield from ("--favorable-prediction", m.favorable_prediction)
    if m.risk:
        yield "--risk"
    if m.score_range is not None:
        yield from ("--score-range", numbers(*m.score_range))


def _decision(table: Table, options: Options, attributes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if options.cutoff is not None:
        yield from ("--top" if options.cutoff.kind == "top" else "--threshold", options.cutoff.said)
    elif options.threshold is not None:
        yield from ("--threshold", numbers(options.threshold))
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
    if options.within:
        yield from ("--within", listed(options.within))
    for name in ("confidence", "bootstrap", "permutations", "null", "interval"):
        value = getattr(options, name)
        if value != getattr(usual, name):
            yield from (f"--{name}", numbers(value) if isinstance(value, float) else f"{value}")
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
        yield from ("--tolerance", f"{id_}={numbers(tolerance)}")
    if options.seed is not None:
        yield from ("--seed", f"{options.seed}")


def _percent(share: float) -> str:
    """A share as people write it, if that is read as the same number."""
    text = f"{100 * share:.12g}%"
    return text if percentage(text) == share else repr(share)
