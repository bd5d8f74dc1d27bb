"""Public functions called with odd options: each works, or says in a sentence what is wrong."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from inspect import signature
from pathlib import Path
from sys import modules
from typing import Any

import numpy as np
from fuzzing import NAMES, NUMBERS, amount, generators

import evenhand
from conftest import jobs, people


class Raising:
    """Whatever is asked of it goes wrong."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    def __hash__(self) -> int:
        raise RuntimeError("no hash")

    def __bool__(self) -> bool:
        raise RuntimeError("neither true nor false")


class Wordy:
    """Its text is anything but short and printable."""

    def __repr__(self) -> str:
        return "\x1b[31m::error::\n" * 30


def _odd() -> list[Any]:
    """Values that some option may take, and hardly any expects; each time made anew, since generators run dry."""
    import pandas as pd
    import polars as pl

    return [
        *NAMES[:30], *NUMBERS, 10**5000, -(10**400), Decimal("0.5"), Decimal("NaN"), Fraction(1, 3),
        Fraction(10**400, 3), 1j, b"s", bytearray(b"s"), Path("s"), np.str_("g"), np.bytes_(b"g"),
        np.bool_(True), np.int8(1), np.uint64(2**63), np.float16(0.5), np.float32("nan"),
        np.longdouble("1e400"), np.array(0.5), np.array("g"), np.array(["a", "b"]), np.array([0.1, 0.5]),
        np.array([]), np.zeros((2, 2)), np.array([None, "a"], object), np.datetime64("NaT"), [], ["g"],
        ["g0", "g1"], [0.5], [[0.5]], [None], [Raising()], (), ("g",), (0, 1), (1, 0), ("a", "b", "c"), {},
        {"g": "g0"}, {"g": 1}, {1: 2}, {"abcc": 0.1}, {"abcc": "x"}, {"g": ["g0"]}, {"s": [1, 2]}, {None: None},
        set(), {"g"}, frozenset("ab"), (x for x in "ab"), iter([1, 2]), range(3), object(), Raising(), Wordy(),
        lambda *a: a[0], NotImplemented, ..., pd.NA, pd.NaT, pd.Timestamp("2024-01-01"), pd.Series(["a", "b"]),
        pd.DataFrame({"a": [1]}), pl.Series([1, 2]), pl.Series([1, 2], dtype=pl.Int128),
        pl.DataFrame({"a": [1]}), slice(1), memoryview(b"ab"), warnings, "s", "y", "g", "g0", "abcc", "auto", "month",
        "abcc <= 0.1",
    ]  # fmt: skip


@cache
def _table() -> evenhand.Table:
    return evenhand.tabulate(people(80, levels=5), score="s", label="y", group="g")


@cache
def _runs() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    names = np.repeat(["a", "b"], 8)
    return {"m": names, "p": rng.random(16), "f": rng.random(16), "k": np.tile([1, 2], 8)}


@cache
def _audit() -> evenhand.Audit:
    found = evenhand.audit(_table(), bootstrap=0, permutations=0)
    assert isinstance(found, evenhand.Audit)
    return found


@cache
def _curves() -> evenhand.Curves:
    return evenhand.curves(_table())


@cache
def _thresholds() -> evenhand.Thresholds:
    return evenhand.thresholds(_table(), bootstrap=0)


def _model(rows: Any) -> Any:
    return np.full(len(rows), 0.5)


FEW = {"bootstrap": 0}
NONE = {**FEW, "permutations": 0}
ROLES = {"score": "s", "label": "y", "group": "g"}
GRAPH = {"graph": "g -> a", "attribute": "g", "features": ["a"]}
CALLS: dict[str, tuple[Callable[[], Callable[..., Any]], Callable[[], tuple[Any, ...]], dict[str, Any]]] = {
    "audit": (lambda: evenhand.audit, lambda: (people(80, levels=5),), {**ROLES, **NONE}),
    "audit a table": (lambda: evenhand.audit, lambda: (_table(),), NONE),
    "audit classes": (
        lambda: evenhand.audit,
        lambda: (jobs(80, 3),),
        {"label": "y", "prediction": "p", "group": "g", **NONE},
    ),
    "audit models": (lambda: evenhand.audit, lambda: (people(80, levels=5),), {**ROLES, "score": ["s", "w"], **NONE}),
    "aggregate": (
        lambda: evenhand.aggregate,
        lambda: (jobs(80, 3),),
        {"label": "y", "prediction": "p", "group": "g", **NONE},
    ),
    "check": (lambda: evenhand.check, lambda: (_table(), "abcc <= 0.5"), NONE),
    "compare": (
        lambda: evenhand.compare,
        lambda: (_runs(),),
        {"method": "m", "performance": "p", "fairness": "f", **FEW},
    ),
    "counterfactual": (
        lambda: evenhand.counterfactual_fairness,
        lambda: (_model, {"g": ["x", "y"] * 10, "a": list(range(20))}),
        {"attribute": "g", "bootstrap": 0},
    ),
    "curves": (lambda: evenhand.curves, lambda: (_table(),), {}),
    "data": (lambda: evenhand.data, lambda: (people(80, levels=5),), ROLES),
    "guide": (lambda: evenhand.guide, lambda: (), {}),
    "individual": (
        lambda: evenhand.individual_fairness,
        lambda: ({"a": list(range(20)), "s": [i / 20 for i in range(20)]}, "s"),
        {"k": 3, "bootstrap": 0},
    ),
    "load": (lambda: evenhand.load, lambda: (), {"path": "no.table"}),
    "merge": (lambda: evenhand.merge, lambda: (), {"tables": []}),
    "monitor": (
        lambda: evenhand.monitor,
        lambda: ({**people(240, levels=5), "t": np.repeat([1, 2, 3, 4], 60)},),
        {**ROLES, "time": "t", **FEW},
    ),
    "power": (lambda: evenhand.power, lambda: (), {"base_rate": 0.5, "gap": 0.1}),
    "privatized": (lambda: evenhand.privatized, lambda: (_table(),), {"epsilon": 1.0, "cells": 5}),
    "projection": (
        lambda: evenhand.projection_test,
        lambda: (people(80, levels=None, groups=2),),
        {**ROLES, "beta_norm": 1.0},
    ),
    "schema": (lambda: evenhand.schema, lambda: (), {}),
    "suppressed": (lambda: evenhand.suppressed, lambda: (_table(),), {"below": 5}),
    "table_info": (lambda: evenhand.table_info, lambda: (), {"data": None}),
    "tabulate": (lambda: evenhand.tabulate, lambda: (people(80, levels=5),), ROLES),
    "thresholds": (lambda: evenhand.thresholds, lambda: (_table(),), {**FEW, "require": ["demographic_parity <= 0.5"]}),
    "Inference": (lambda: evenhand.Inference, lambda: (), {}),
    "Roles": (lambda: evenhand.Roles, lambda: (), {}),
    "metric": (
        lambda: evenhand.metrics.abcc,
        lambda: (np.tile([0, 1], 10), np.linspace(0, 1, 20)),
        {"sensitive_features": list("ab") * 10, **NONE},
    ),
    "Audit.measure": (lambda: _audit().measure, lambda: ("abcc",), {}),
    "Audit.plot": (lambda: _audit().plot, lambda: (), {}),
    "Audit.to_frame": (lambda: _audit().to_frame, lambda: (), {}),
    "Audit.to_html": (lambda: _audit().to_html, lambda: (), {}),
    "Curves.to_frame": (lambda: _curves().to_frame, lambda: ("roc",), {}),
    "Thresholds.at": (lambda: _thresholds().at, lambda: (), {}),
    "Table.save": (lambda: _table().save, lambda: (), {}),
}
"""By name: how to get the function, what is given in order, and the options that are sensible."""
NEVER = {"path", "unsafe_pickle"}
"""Names of files would be written; they are tried elsewhere."""


def options_of(call: str) -> list[str]:
    """All options, those that many functions share too."""
    function = CALLS[call][0]()
    found = []
    for name, parameter in signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            shared = re.search(r"Unpack\[(\w+)\]", str(parameter.annotation))
            home = vars(modules[getattr(function, "__module__", type(function).__module__)])
            kind = home.get(shared[1]) if shared else None
            found += sorted(getattr(kind, "__optional_keys__", ()) | getattr(kind, "__required_keys__", set()))
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            found.append(name)
    return [name for name in found if name not in NEVER or call == "load"]


def tried(call: str, odd: dict[str, Any]) -> str | None:
    """What went wrong, if it was not said in a sentence."""
    function, given, usual = CALLS[call]
    names = [n for n, p in signature(function()).parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    in_order = dict(zip(names, given(), strict=False))
    words = {**in_order, **usual, **odd}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function()(**words)
    except evenhand.EvenhandError as error:
        said = str(error)
        if "\n" in said or not said.isprintable() or len(said) > 2000:
            return f"{call} {sorted(odd)}: a message that is no sentence: {said!r}"
    except BaseException as error:
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else ""
        said = ", ".join(f"{k}={_text(v)}" for k, v in odd.items())
        return f"{call}({said}): {type(error).__name__}: {error} at {where}"
    return None


def _text(value: Any) -> str:
    try:
        return f"{type(value).__name__} {value!r}"[:80]
    except Exception:
        return type(value).__name__


@amount(600, 12_000)
def test_odd_options(cases: int) -> None:
    wrong = []
    calls = {name: options_of(name) for name in CALLS}
    names = [name for name, options in calls.items() if options]
    for rng in generators(cases, 1):
        call = names[rng.integers(len(names))]
        chosen = rng.choice(calls[call], min(int(rng.integers(1, 3)), len(calls[call])), replace=False)
        values = _odd()
        wrong.append(tried(call, {str(option): values[rng.integers(len(values))] for option in chosen}))
    found = [text for text in wrong if text]
    assert not found, f"{len(found)} of {cases}:\n" + "\n".join(found[:20])
