"""Structural models: what each variable is made of, the noise each person keeps, and what becomes in another world.

The mechanisms are those of DoWhy's `gcm`, which is imported here alone, when it is needed: it is heavy. Three steps
(Pearl 2009, §7.1): *abduct* each person's noise from what was observed, *act* on the attribute, and compute what
depends on it anew, with the same noise.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from evenhand.analyses.counterfactual.graph import Part, World
from evenhand.analyses.counterfactual.gumbel_max import Choice
from evenhand.errors import DataError, MissingLibrary, UsageError, listed, shown
from evenhand.ingest.people import People
from evenhand.tables.arrays import Floats, Ints

KINDS = ("linear", "boosted")
Values = dict[str, Any]
"""Numbers, or codes of categories, of some people by column."""


@contextmanager
def quiet() -> Iterator[None]:
    """DoWhy and what it calls warn about themselves; what a user should know is reported as a note.

    Their matrices are small: threads that wait for each other make fitting up to fifty times slower on a busy machine.
    """
    with warnings.catch_warnings(), _threads().limit(limits=1):
        warnings.simplefilter("ignore")
        yield


@cache
def _threads() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def causal_library() -> Any:
    """DoWhy's gcm."""
    shows = sys.displayhook
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from dowhy import gcm
    except ImportError as error:
        raise MissingLibrary(
            f"a causal graph needs DoWhy ({error}): pip install 'evenhand[causal]'; the attribute flip needs no graph"
        ) from None
    finally:
        sys.displayhook = shows  # importing DoWhy makes SymPy print whatever a user types from then on
    gcm.config.disable_progress_bars()
    return gcm


@dataclass(frozen=True)
class Mechanism:
    """How a variable comes about from its causes."""

    node: str
    parents: tuple[str, ...]
    model: Any
    """Of gcm, or like one of gcm: fit, estimate_noise, evaluate."""
    own: bool
    """Whether it is ours and takes causes as numbers; a user's takes them as they are."""


@dataclass(frozen=True)
class Structure:
    """The mechanisms of all that the attribute acts on, fitted or to be fitted."""

    attribute: str
    part: Part
    people: People
    mechanisms: tuple[Mechanism, ...]
    fixed: bool = False
    """Whether the user gave it fitted: then it is never fitted again."""

    @property
    def random(self) -> bool:
        """Whether several noises are compatible with what is observed of a person."""
        return any(isinstance(m.model, Choice) for m in self.mechanisms)

    def seen(self, rows: Ints, attribute: Ints | None = None) -> Values:
        """What is observed of these people; `attribute` may put others in its place."""
        found: Values = {f.name: f.values[rows] for f in self.people.features}
        if attribute is not None:
            found[self.attribute] = attribute
        return found

    def fitted(self, seen: Values) -> Structure:
        """The same mechanisms, fitted to these people."""
        if self.fixed or not self.mechanisms:
            return self
        with quiet():
            new = tuple(_fitted(m, self.causes(m, seen), seen[m.node]) for m in self.mechanisms)
        return Structure(self.attribute, self.part, self.people, new)

    def abduct(self, seen: Values, rng: np.random.Generator) -> dict[str, Any]:
        """The noise of each person: of a number what its causes do not explain, of a category a draw given the rest."""
        found: dict[str, Any] = {}
        with quiet():
            for m in self.mechanisms:
                causes = self.causes(m, seen)
                if isinstance(m.model, Choice):
                    found[m.node] = m.model.estimate_noise(seen[m.node], causes, rng)
                else:
                    noise = _asked(m, "estimate_noise", seen[m.node], causes)
                    found[m.node] = noise, _asked(m, "evaluate", causes, noise)
        return found

    def act(self, seen: Values, noise: Mapping[str, Any], other: Ints, weights: Mapping[str, Floats]) -> Values:
        """What would be, had the attribute been `other` on its way to what it acts on, as far as a weight says.

        Weight 1 is the other world, 0 this one: so an edge can be left out, or part of what it does be put down to a
        hidden cause. A number is moved by what its prediction moves, so that whoever is not touched stays exactly.
        """
        there = dict(seen)
        with quiet():
            for m in self.mechanisms:
                here = self.causes(m, there)
                away, weight = here, np.zeros(1)
                if m.node in weights:
                    away, weight = self.causes(m, {**there, self.attribute: other}), weights[m.node]
                if isinstance(m.model, Choice):
                    there[m.node] = m.model.chosen(here, away, weight, noise[m.node])
                    continue
                own, before = noise[m.node]
                stays = _asked(m, "evaluate", here, own)
                goes = stays if away is here else _asked(m, "evaluate", away, own)
                there[m.node] = seen[m.node] + (stays - before) + weight * (goes - stays)
        return {m.node: there[m.node] for m in self.mechanisms}

    def causes(self, m: Mechanism, values: Values) -> Any:
        """The causes of a variable as a matrix: numbers scaled, categories as 0 and 1; as they are for a user's own."""
        features = [self.people[name] for name in m.parents]
        if not m.own:
            plain = [
                values[f.name] if f.categories is None else np.array(f.categories, object)[values[f.name]]
                for f in features
            ]
            return np.column_stack(plain)
        columns = []
        for f in features:
            if f.categories is None:
                spread = float(f.values.std()) or 1.0
                columns.append(((values[f.name] - f.values.mean()) / spread)[:, None])
            else:
                columns.append(np.eye(len(f.categories))[:, 1:][values[f.name]])
        return np.concatenate(columns, axis=1)


def _asked(m: Mechanism, word: str, *arguments: Any) -> Floats:
    """What a mechanism answers; one that fails is named."""
    try:
        return np.asarray(getattr(m.model, word)(*arguments), np.float64).ravel()
    except Exception as error:
        words = " ".join(str(error).split())[:300]
        raise DataError(
            f"the mechanism of {shown(m.node)} cannot be used; it says: {type(error).__name__}: {words} (a given "
            "structural model must be fitted)"
        ) from error


def _fitted(m: Mechanism, causes: Any, values: Any) -> Mechanism:
    if isinstance(m.model, Choice):
        model: Any = m.model.refitted(causes, values)
    else:
        model = m.model.clone() if hasattr(m.model, "clone") else deepcopy(m.model)
        try:
            model.fit(X=causes, Y=values)
        except Exception as error:
            words = " ".join(str(error).split())[:300]
            raise DataError(
                f"the mechanism of {shown(m.node)} cannot be fitted; it says: {type(error).__name__}: {words}"
            ) from error
    return Mechanism(m.node, m.parents, model, m.own)


def structure_of(world: World, part: Part, people: People, attribute: str, mechanisms: Any) -> Structure:
    """The mechanisms of a world, not fitted yet; or those of a structural model that the user fitted."""
    kind, given = _kind(mechanisms, world)
    if world.given is not None:
        found = tuple(_given(world, node) for node in part.order)
        return Structure(attribute, part, people, found, fixed=True)
    gcm = causal_library() if part.order else None
    found = tuple(
        Mechanism(n, world.parents[n], given[n], own=False)
        if n in given
        else Mechanism(n, world.parents[n], _ours(gcm, people, n, kind), own=True)
        for n in part.order
    )
    return Structure(attribute, part, people, found)


def _kind(mechanisms: Any, world: World) -> tuple[str, dict[str, Any]]:
    given = dict(mechanisms) if isinstance(mechanisms, Mapping) else {}
    odd = [n for n in given if n not in world.parents]
    if odd:
        raise UsageError(f"mechanisms name {shown(odd[0])}, which is not in the graph (it has: {listed(world.nodes)})")
    for node, model in given.items():
        if not all(hasattr(model, word) for word in ("fit", "estimate_noise", "evaluate")):
            raise UsageError(
                f"the mechanism of {shown(node)} must be one of gcm whose noise can be found, such as "
                f"AdditiveNoiseModel, not {shown(type(model).__name__)}"
            )
    if not given and mechanisms not in KINDS and not isinstance(mechanisms, Mapping):
        raise UsageError(
            f"mechanisms must be one of {listed(KINDS)}, or a dict from a variable to a mechanism of gcm, not "
            f"{shown(mechanisms)}"
        )
    return (KINDS[0] if isinstance(mechanisms, Mapping) else str(mechanisms)), given


def _given(world: World, node: str) -> Mechanism:
    try:
        model = world.given.causal_mechanism(node)
    except Exception:
        model = None
    if not all(hasattr(model, word) for word in ("estimate_noise", "evaluate")):
        raise UsageError(
            f"the given structural model must tell each person's noise of {shown(node)}, but it has "
            f"{'no mechanism' if model is None else shown(type(model).__name__)} there: use a "
            "gcm.InvertibleStructuralCausalModel, or give the graph alone"
        )
    return Mechanism(node, world.parents[node], model, own=False)


def _ours(gcm: Any, people: People, node: str, kind: str) -> Any:
    categories = people[node].categories
    if categories is not None:
        if kind == "boosted":
            return Choice(len(categories), lambda: gcm.ml.create_hist_gradient_boost_classifier(random_state=0))
        # So weak a penalty moves nothing but what the data leave open, such as a category that only one group has.
        how = {"C": 10.0, "max_iter": 300, "solver": "newton-cg", "warm_start": True}
        return Choice(len(categories), lambda: gcm.ml.create_logistic_regression_classifier(**how))
    if kind == "linear":
        return gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor())
    return gcm.AdditiveNoiseModel(gcm.ml.create_hist_gradient_boost_regressor(random_state=0))


def explained(structure: Structure, rng: np.random.Generator) -> dict[str, float]:
    """How much of each variable its causes explain in people that its mechanism was not fitted to.

    Of a number R², of a category the share of the log-loss; NaN of what does not vary. Each half of the people is
    judged by the mechanism of the other half; a mechanism that the user fitted is judged on everybody.
    """
    n = structure.people.n
    half = rng.permutation(n)[: min(n, MOST_JUDGED)]
    folds = [half[::2], half[1::2]]
    losses: dict[str, list[float]] = {m.node: [0.0, 0.0] for m in structure.mechanisms}
    for learnt, judged in (folds, folds[::-1]):
        if not len(learnt) or not len(judged):
            return {node: float("nan") for node in losses}
        seen, known = structure.seen(judged), structure.seen(learnt)
        fitted = structure.fitted(known)
        for m in fitted.mechanisms:
            with quiet():
                left, all_ = _losses(m, fitted.causes(m, seen), seen[m.node], known[m.node])
            losses[m.node][0] += left
            losses[m.node][1] += all_
    return {node: 1 - left / all_ if all_ > 0 else float("nan") for node, (left, all_) in losses.items()}


MOST_JUDGED = 10_000


def _losses(m: Mechanism, causes: Any, values: Any, learnt: Any) -> tuple[float, float]:
    """What the mechanism leaves open, and what is open without its causes."""
    if isinstance(m.model, Choice):
        plain = (np.bincount(learnt, minlength=m.model.size) + 0.5) / (len(learnt) + 0.5 * m.model.size)
        own = m.model.utilities(causes)[np.arange(len(values)), values]
        return -float(own.sum()), -float(np.log(plain[values]).sum())
    noise = _asked(m, "estimate_noise", values, causes)
    return float(noise @ noise), float(((values - learnt.mean()) ** 2).sum()) if np.ptp(values) > 0 else 0.0


def residual_spread(structure: Structure, seen: Values) -> dict[str, float]:
    """The standard deviation of what the causes of each number leave open."""
    found = {}
    with quiet():
        for m in structure.mechanisms:
            if not isinstance(m.model, Choice):
                causes = structure.causes(m, seen)
                found[m.node] = float(_asked(m, "estimate_noise", seen[m.node], causes).std())
    return found
