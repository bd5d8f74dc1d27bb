"""What is to be run: data sets × methods × strengths × seeds × splits, each with an id made of all that shapes it."""

from __future__ import annotations

import hashlib
import inspect
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import islice
from numbers import Real
from typing import Any

from evenhand.errors import MissingLibrary, UsageError, is_whole, listed, nearest, shown
from evenhand.learn.experiments.splits import Fractions, checked_fractions, checked_splits

GIVEN = ("strength", "random_state", "device")
"""What the runner says to a method; options are the rest."""
EVERYTHING = "**"
"""Stands for options of any name, which a class takes as **options."""
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
        known = parameters(self.maker)
        for option in self.options if EVERYTHING not in known else ():
            if option not in known or option in GIVEN:
                there = [p for p in known if p not in GIVEN]
                raise UsageError(
                    f"method {shown(self.name)} has no option {shown(option)} (it has: {listed(there, 30)})"
                    f"{nearest(option, there)}"
                )
        _check_values(self.maker, self.options)
        try:
            json.dumps(dict(self.options), allow_nan=False)
        except (TypeError, ValueError):
            raise UsageError(
                f"options of method {shown(self.name)} are plain values such as text, numbers and lists, so that a run "
                f"can be told from others, not {shown(dict(self.options))}"
            ) from None


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
    """As JSON, always in the same order."""
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


def plan_runs(
    data: Mapping[str, tuple[str, str]], methods: Sequence[Method], strengths: Any, seeds: Any, splits: Any,
    fractions: Any, own_split: bool,
) -> tuple[Run, ...]:  # fmt: skip
    """All runs in order; `data` are fingerprint and attribute by name of data set."""
    if not data or not methods:
        raise UsageError("an experiment needs at least one data set and one method")
    _check_distinct((m.name for m in methods), "method")
    strengths = _for_all_or_by_name(strengths, methods)
    by_method = {m.name: strengths_of(m, strengths) for m in methods}
    shares, numbers, repeats = checked_fractions(fractions), checked_seeds(seeds), checked_splits(splits)
    total = len(data) * sum(map(len, by_method.values())) * len(numbers) * repeats
    if total > MOST_RUNS:
        raise UsageError(f"an experiment has at most {MOST_RUNS:,} runs, not {total:,}: take it apart")
    runs = [
        Run(name, print_, attribute, m.name, m.maker, options, strength, seed, split, shares, bool(own_split))
        for name, (print_, attribute) in data.items()
        for m in methods
        for options in [json.dumps(dict(m.options), sort_keys=True)]
        for strength in by_method[m.name]
        for seed in numbers
        for split in range(repeats)
    ]
    seen: dict[str, Run] = {}
    for run in runs:
        if seen.setdefault(run.id, run) is not run:
            raise UsageError(f"two runs are the same: {seen[run.id]} and {run}; leave one out, or change its options")
    return tuple(runs)


def _for_all_or_by_name(strengths: Any, methods: Sequence[Method]) -> Any:
    """Strengths that can be read once for each method, if every name among them is one of a method."""
    if not isinstance(strengths, Mapping):
        return strengths if isinstance(strengths, str) or not isinstance(strengths, Iterable) else _several(strengths)
    own = {m.name: m.strengths for m in methods}
    for name in strengths:
        if name not in own:
            raise UsageError(
                f"strengths are there for {shown(name)}, which is no method (there are: {listed(own)})"
                f"{nearest(name, own)}"
            )
        if own[name] is not None:
            raise UsageError(f"strengths of method {shown(name)} are given twice: leave those of the Method out")
    return strengths


def strengths_of(m: Method, strengths: Any) -> tuple[float, ...]:
    """Those of the method itself, else those of all; a method that nobody gave any has one, of 0."""
    own: Any = m.strengths
    if own is None:
        everybody = (0.0,) if m.maker in PLAIN else strengths
        own = strengths.get(m.name, (0.0,)) if isinstance(strengths, Mapping) else everybody
    own = [own] if isinstance(own, Real) else own
    if not isinstance(own, Iterable) or isinstance(own, str):
        raise UsageError(f"strengths of {shown(m.name)} are a list of numbers, not {shown(own)}")
    values = [_strength(value, m) for value in _several(own)]
    if not values:
        raise UsageError(f"method {shown(m.name)} has no strength: name at least one, such as 0")
    _check_distinct(values, f"strength of {m.name}")
    return tuple(values)


def _strength(value: Any, m: Method) -> float:
    try:
        strength = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        strength = math.inf
    if not math.isfinite(strength):
        raise UsageError(f"a strength is a finite number, not {shown(value)} (method {shown(m.name)})")
    _check_values(m.maker, {**m.options, "strength": strength})
    return strength + 0.0  # -0 is 0


def _several(values: Iterable[Any]) -> list[Any]:
    """What an array, a generator or a list holds, no more of it than could be run."""
    try:
        return list(islice(values, MOST_RUNS + 1))
    except TypeError:  # an array of no dimension says that it can be iterated over
        return [values]


def checked_seeds(seeds: Any) -> tuple[int, ...]:
    numbers = [seeds] if is_whole(seeds) else _several(seeds) if isinstance(seeds, Iterable) else []
    if not numbers or not all(is_whole(seed) and 0 <= seed < 2**32 for seed in numbers):
        raise UsageError(f"seeds are whole numbers from 0, such as [0, 1, 2], not {shown(seeds)}")
    _check_distinct(numbers, "seed")
    return tuple(int(seed) for seed in numbers)


def _check_distinct(values: Iterable[Any], what: str) -> None:
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise UsageError(f"{what} {shown(twice[0])} is there twice: leave one out, or give it another name")


# ---- what makes a method --------------------------------------------------------------------------------------


def methods_known() -> Mapping[str, Any]:
    """The methods that come with Evenhand, if what they need is installed."""
    try:
        return dict(import_module("evenhand.learn").METHODS)
    except ImportError:  # without PyTorch there are none
        return {}


def class_of(maker: str) -> Any:
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
        cls: Any = import_module(module)
        for part in name.split("."):
            cls = getattr(cls, part)
    except (Exception, SystemExit) as error:  # a module of yours may fail in any way
        said = f"{error}" if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"
        raise UsageError(
            f"cannot find method {shown(maker)}: {said}; it is module:Class of a module that can be imported"
        ) from error
    if not (isinstance(cls, type) and hasattr(cls, "fit") and hasattr(cls, "predict_proba")):
        raise UsageError(f"method {shown(maker)} must be a class with fit and predict_proba, not {shown(cls)}")
    return cls


def parameters(maker: str) -> tuple[str, ...]:
    """What a method takes; of ours around a network also what that takes, and no other estimator, which is no text."""
    own = _parameters_of(class_of(maker), maker)
    if ":" in maker or "estimator" not in own:
        return own
    names = dict.fromkeys((*own, *_parameters_of(methods_known()["mlp"], "mlp")))
    return tuple(name for name in names if name != "estimator")


def _parameters_of(cls: Any, maker: str) -> tuple[str, ...]:
    try:
        known = inspect.signature(cls).parameters.values()
    except ValueError:  # a class written in C
        known = {}.values()
    names = tuple(EVERYTHING if p.kind is p.VAR_KEYWORD else p.name for p in known)
    for name in ("strength", "random_state"):
        if name not in names and EVERYTHING not in names:
            raise UsageError(f"method {shown(maker)} must take strength and random_state, but it takes no {name}")
    return names


def _check_values(maker: str, options: Mapping[str, Any]) -> None:
    """Refuse values with which one of our methods cannot learn; of others nobody knows before they try."""
    if ":" not in maker:
        _make(maker, options).check_parameters()


def _make(maker: str, options: Mapping[str, Any]) -> Any:
    if ":" in maker:
        return class_of(maker)(**options)
    return import_module("evenhand.learn").method(maker, **options)


def model_of(run: Run, device: str) -> Any:
    """The model of a run, not yet fitted."""
    where = {"device": device} if may_use_gpu(run.maker) else {}
    return _make(run.maker, {"strength": run.strength, "random_state": run.seed, **json.loads(run.options), **where})


def may_use_gpu(maker: str) -> bool:
    """Whether a method asks where it computes, for itself or for the network inside."""
    return "device" in parameters(maker)


def as_method(given: Any, name: str | None = None) -> Method:
    """A method from its name, its class, or a `Method`."""
    if isinstance(given, Method):
        return given if name is None else replace(given, name=name)
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
