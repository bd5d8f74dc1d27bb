"""What is to be run: data sets × methods × strengths × seeds × splits, each with an id made of all that shapes it."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from evenhand.errors import MissingLibrary, UsageError, listed, nearest, shown
from evenhand.learn.people import Fractions
from evenhand.options import whole

GIVEN = ("strength", "random_state", "device")
"""What the runner says to a method; options are the rest."""
PLAIN = ("mlp",)
"""Methods with nothing to trade: strengths that are meant for all are not for them."""
MOST_RUNS = 100_000


@dataclass(frozen=True)
class Method:
    """A method of an experiment: how it is called in results, what makes it, with which options and strengths."""

    name: str
    maker: str = ""
    """A name of `evenhand.learn.METHODS`, or "module:Class" of your own."""
    options: Mapping[str, Any] = field(default_factory=dict)
    strengths: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "maker", self.maker or self.name)
        cls = made_by(self.maker)
        known = inspect.signature(cls).parameters
        if not any(p.kind is p.VAR_KEYWORD for p in known.values()):
            for option in self.options:
                if option not in known or option in GIVEN:
                    there = [p for p in known if p not in GIVEN]
                    raise UsageError(
                        f"method {shown(self.name)} has no option {shown(option)} (it has: {listed(there, 30)})"
                        f"{nearest(option, there)}"
                    )
        try:
            json.dumps(dict(self.options), allow_nan=False)
        except (TypeError, ValueError):
            raise UsageError(
                f"options of method {shown(self.name)} are plain values such as text, numbers and lists, so that a run "
                f"can be told from others, not {shown(dict(self.options))}"
            ) from None

    @property
    def as_json(self) -> str:
        """The options as a text, always in the same order."""
        return json.dumps(dict(self.options), sort_keys=True)


@dataclass(frozen=True)
class Run:
    """One model to be fitted and measured."""

    dataset: str
    data: str
    """The fingerprint of the people."""
    attribute: str
    method: str
    maker: str
    options: str
    """As JSON."""
    strength: float
    seed: int
    split: int
    fractions: Fractions
    own_split: bool

    @cached_property
    def id(self) -> str:
        """The same for the same content, whatever data set and method are called."""
        content = {key: value for key, value in asdict(self).items() if key not in ("dataset", "method")}
        text = json.dumps(content, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return f"{self.dataset} {self.method} {self.strength:g} seed {self.seed} split {self.split}"


def planned(
    data: Mapping[str, tuple[str, str]],
    methods: Sequence[Method],
    strengths: Any,
    seeds: Any,
    splits: Any,
    fractions: Any,
    own_split: bool,
) -> tuple[Run, ...]:
    """All runs in order; `data` are fingerprint and attribute by name of data set."""
    if not data or not methods:
        raise UsageError("an experiment needs at least one data set and one method")
    _distinct((m.name for m in methods), "method")
    by_method = {m.name: strengths_of(m, strengths) for m in methods}
    shares = checked_fractions(fractions)
    kept = [
        Run(name, print_, attribute, m.name, m.maker, m.as_json, strength, seed, split, shares, bool(own_split))
        for name, (print_, attribute) in data.items()
        for m in methods
        for strength in by_method[m.name]
        for seed in checked_seeds(seeds)
        for split in range(checked_splits(splits))
    ]
    if len(kept) > MOST_RUNS:
        raise UsageError(f"an experiment has at most {MOST_RUNS:,} runs, not {len(kept):,}: take it apart")
    seen: dict[str, Run] = {}
    for run in kept:
        if seen.setdefault(run.id, run) is not run:
            raise UsageError(f"two runs are the same: {seen[run.id]} and {run}; leave one out, or change its options")
    return tuple(kept)


def strengths_of(m: Method, strengths: Any) -> tuple[float, ...]:
    """Those of the method itself, else those of all; a method that nobody gave any has one, of 0."""
    found: Any = m.strengths
    if found is None:
        everybody = (0.0,) if m.maker in PLAIN else strengths
        found = strengths.get(m.name, (0.0,)) if isinstance(strengths, Mapping) else everybody
    found = [found] if isinstance(found, int | float) else found
    if not isinstance(found, Iterable) or isinstance(found, str):
        raise UsageError(f"strengths of {shown(m.name)} are a list of numbers, not {shown(found)}")
    values = list(found)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise UsageError(f"a strength is a finite number, not {shown(value)} (method {shown(m.name)})")
    if not values:
        raise UsageError(f"method {shown(m.name)} has no strength: name at least one, such as 0")
    _distinct(values, f"strength of {m.name}")
    return tuple(float(v) + 0.0 for v in values)


def checked_seeds(seeds: Any) -> tuple[int, ...]:
    found = [seeds] if whole(seeds) else list(seeds) if isinstance(seeds, Iterable) and seeds != "" else []
    if not found or not all(whole(seed) and 0 <= seed < 2**32 for seed in found):
        raise UsageError(f"seeds are whole numbers from 0, such as [0, 1, 2], not {shown(seeds)}")
    _distinct(found, "seed")
    return tuple(int(seed) for seed in found)


def checked_splits(splits: Any) -> int:
    if not whole(splits) or not 1 <= splits <= 1000:
        raise UsageError(f"splits is how often people are split at random, from 1 to 1000, not {shown(splits)}")
    return int(splits)


def checked_fractions(fractions: Any) -> Fractions:
    try:
        train, dev, test = (float(share) for share in fractions)
    except (TypeError, ValueError):
        train = dev = test = math.nan
    if not (min(train, dev, test) > 0 and abs(train + dev + test - 1) < 1e-9):
        raise UsageError(
            "fractions are the shares that train, that select and that test, all above 0 and together 1, such as "
            f"(0.6, 0.2, 0.2), not {shown(fractions)}"
        )
    return train, dev, test


def _distinct(values: Iterable[Any], what: str) -> None:
    seen = set()
    for value in values:
        if value in seen:
            raise UsageError(f"{what} {shown(value)} is there twice: leave one out, or give it another name")
        seen.add(value)


# ---- what makes a method --------------------------------------------------------------------------------------


def methods_known() -> Mapping[str, Any]:
    """The methods that come with Evenhand, if what they need is installed."""
    try:
        found: Mapping[str, Any] = getattr(import_module("evenhand.learn"), "METHODS", {})
    except ImportError:  # without PyTorch there are none
        return {}
    return found


def made_by(maker: str) -> Any:
    """The class of a method."""
    module, colon, name = maker.partition(":")
    if not colon:
        known = methods_known()
        if not known:
            raise MissingLibrary(
                f"there is no method {shown(maker)}: those of Evenhand need PyTorch and scikit-learn (pip install "
                "'evenhand[learn]'); your own is module:Class"
            )
        if maker not in known:
            raise UsageError(
                f"there is no method {shown(maker)} (there are: {listed(known, 20)}; your own is module:Class)"
                f"{nearest(maker, known)}"
            )
        return known[maker]
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"cannot find method {shown(maker)}: {error}; it is module:Class of an importable module"
        ) from error
    if not callable(found):
        raise UsageError(f"method {shown(maker)} is no class")
    return found


def takes_device(maker: str) -> bool:
    """Whether a method is to be told where it computes."""
    return "device" in inspect.signature(made_by(maker)).parameters


def may_use_gpu(maker: str) -> bool:
    """Whether a method may compute on a GPU: ours hold a network, if only inside."""
    return ":" not in maker or takes_device(maker)


def as_method(given: Any, name: str | None = None) -> Method:
    """A method from its name, its class, or a `Method`."""
    if isinstance(given, Method):
        return given
    if isinstance(given, str):
        return Method(name or given.rpartition(":")[2], given)
    if not isinstance(given, type):
        raise UsageError(f"a method is a name, a class or a Method, not {shown(given)}")
    for known, cls in methods_known().items():
        if cls is given:
            return Method(name or known, known)
    if "<" in given.__qualname__:
        raise UsageError(
            f"{shown(given.__qualname__)} is made inside a function, where workers cannot find it: move it out"
        )
    return Method(name or given.__name__, f"{given.__module__}:{given.__qualname__}")
