"""Structural causal models: how each variable follows from its causes, and the noise that each person keeps.

The mechanisms are those of DoWhy's `gcm`, which is imported here alone, when it is needed: it is heavy. Three steps
(Pearl 2009, §7.1): *abduct* each person's noise from what was observed, *act* on the attribute, and compute what
depends on it anew, with the same noise.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from evenhand.analyses.counterfactual.basis import Basis, basis_of
from evenhand.analyses.counterfactual.graph import Graph, Subgraph
from evenhand.analyses.counterfactual.gumbel_max import GumbelMax
from evenhand.errors import DataError, MissingLibrary, UsageError, listed, shown
from evenhand.ingest.people import People
from evenhand.tables.arrays import Floats, Ints

FORMS = ("linear", "flexible")
"""Of a mechanism, between which people it was not fitted to decide: flexible is linear in splines and products."""
KINDS = ("auto", *FORMS, "boosted")
MOST_EXACT = 16
"""Categories up to which a flexible mechanism is fitted with exact second derivatives, of which there are many."""
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
    """`GumbelMax`, or a mechanism of gcm: fit, estimate_noise, evaluate."""
    own: bool
    """Whether it is ours and takes causes as numbers; a user's takes them as they are."""
    form: str = "given"
    """How a variable follows from its causes; "auto" until that is decided."""
    basis: Basis | None = None
    """What the flexible form is linear in; None if it is no more than linear."""

    @property
    def forms(self) -> tuple[str, ...]:
        """Those to decide between."""
        return (self.form,) if self.form != "auto" else FORMS[: 1 + (self.basis is not None)]

    @property
    def kind(self) -> str:
        return "category" if isinstance(self.model, GumbelMax) else "number"


@dataclass(frozen=True)
class StructuralModel:
    """The mechanisms of all that the attribute acts on, fitted or to be fitted."""

    attribute: str
    part: Subgraph
    people: People
    mechanisms: tuple[Mechanism, ...]
    fixed: bool = False
    """Whether the user gave it fitted: then it is never fitted again."""

    @property
    def random(self) -> bool:
        """Whether several noises are compatible with what is observed of a person."""
        return any(isinstance(m.model, GumbelMax) for m in self.mechanisms)

    def decided(self, forms: Mapping[str, str]) -> StructuralModel:
        """The same mechanisms with the form of those that were left open."""
        return replace(self, mechanisms=tuple(
            replace(m, form=forms[m.node]) if m.form == "auto" else m for m in self.mechanisms
        ))  # fmt: skip

    def touched(self, m: Mechanism) -> tuple[str, ...]:
        """The causes of a variable that are others in a counterfactual."""
        return tuple(p for p in m.parents if p == self.attribute or p in self.part.order)

    def seen(self, rows: Ints, attribute: Ints | None = None) -> Values:
        """What is observed of these people; `attribute` may put others in its place."""
        values: Values = {f.name: f.values[rows] for f in self.people.features}
        return values if attribute is None else {**values, self.attribute: attribute}

    def fit(self, seen: Values) -> StructuralModel:
        """The same mechanisms, fitted to these people."""
        if self.fixed or not self.mechanisms:
            return self
        with quiet():
            fitted = tuple(fit(m, self.causes(m, seen), seen[m.node]) for m in self.mechanisms)
        return replace(self, mechanisms=fitted)

    def abduct(self, seen: Values, rng: np.random.Generator) -> dict[str, Any]:
        """The noise of each person: of a number what its causes do not explain, of a category a draw given the rest."""
        noise: dict[str, Any] = {}
        with quiet():
            for m in self.mechanisms:
                causes = self.causes(m, seen)
                if isinstance(m.model, GumbelMax):
                    noise[m.node] = m.model.estimate_noise(seen[m.node], causes, rng)
                else:
                    residual = ask(m, "estimate_noise", seen[m.node], causes)
                    noise[m.node] = residual, ask(m, "evaluate", causes, residual)
        return noise

    def act(self, seen: Values, noise: Mapping[str, Any], other: Ints, weights: Mapping[str, Floats]) -> Values:
        """What would be, had the attribute been `other` on the paths to what it acts on, as far as a weight says.

        Weight 1 is the counterfactual, 0 the fact: so an edge can be left out, or part of its effect be put down to a
        hidden cause. A number is moved by what its prediction moves, so that whoever is not touched stays exactly.
        """
        there = dict(seen)
        with quiet():
            for m in self.mechanisms:
                here = self.causes(m, there)
                away, weight = here, np.zeros(1)
                if m.node in weights:
                    away, weight = self.causes(m, {**there, self.attribute: other}), weights[m.node]
                if isinstance(m.model, GumbelMax):
                    there[m.node] = m.model.chosen(here, away, weight, noise[m.node])
                    continue
                own, before = noise[m.node]
                stays = ask(m, "evaluate", here, own)
                goes = stays if away is here else ask(m, "evaluate", away, own)
                there[m.node] = seen[m.node] + (stays - before) + weight * (goes - stays)
        return {m.node: there[m.node] for m in self.mechanisms}

    def causes(self, m: Mechanism, values: Values) -> Any:
        """The causes of a variable as its mechanism takes them: as they are for a user's own."""
        if not m.own:
            features = [self.people[name] for name in m.parents]
            plain = [
                values[f.name] if f.categories is None else np.array(f.categories, object)[values[f.name]]
                for f in features
            ]
            return np.column_stack(plain)
        blocks = blocks_of(self.people, m.parents, values)
        if m.form == "flexible" and m.basis is not None:
            return m.basis(blocks)
        return np.concatenate(blocks, axis=1)


def blocks_of(people: People, names: Sequence[str], values: Values) -> list[Floats]:
    """Columns as numbers, a block for each: numbers scaled, categories as 0 and 1."""
    blocks = []
    for f in (people[name] for name in names):
        if f.categories is None:
            spread = float(f.values.std()) or 1.0
            blocks.append(((values[f.name] - f.values.mean()) / spread)[:, None])
        else:
            blocks.append(np.eye(len(f.categories))[:, 1:][values[f.name]])
    return blocks


def ask(m: Mechanism, method: str, *arguments: Any) -> Floats:
    """What a mechanism answers; one that fails is named."""
    with _named(m, "used", " (a given structural model must be fitted)"):
        return np.asarray(getattr(m.model, method)(*arguments), np.float64).ravel()


def fit(m: Mechanism, causes: Any, values: Any) -> Mechanism:
    """A mechanism, fitted anew."""
    if isinstance(m.model, GumbelMax):
        return replace(m, model=m.model.refit(causes, values))
    model = m.model.clone() if hasattr(m.model, "clone") else deepcopy(m.model)
    with _named(m, "fitted"):
        model.fit(X=causes, Y=values)
    return replace(m, model=model)


@contextmanager
def _named(m: Mechanism, what: str, way_out: str = "") -> Iterator[None]:
    try:
        yield
    except Exception as error:
        told = " ".join(str(error).split())[:300]
        raise DataError(
            f"the mechanism of {shown(m.node)} cannot be {what}; it says: {type(error).__name__}: {told}{way_out}"
        ) from error


def structural_model_of(
    graph: Graph, part: Subgraph, people: People, attribute: str, mechanisms: Any
) -> StructuralModel:  # fmt: skip
    """The mechanisms of a graph, not fitted yet; or those of a structural model that the user fitted."""
    kind, given = _kind(mechanisms, graph)
    gcm = causal_library() if part.order and graph.given is None else None

    def mechanism(node: str) -> Mechanism:
        parents = graph.parents[node]
        if graph.given is not None:
            return Mechanism(node, parents, _given(graph, node), own=False)
        form = given.get(node, kind)
        if not isinstance(form, str):
            return Mechanism(node, parents, form, own=False)
        return Mechanism(node, parents, _ours(gcm, people, node, form), True, form, _basis(people, parents, touched))

    touched = {attribute, *part.order}
    return StructuralModel(attribute, part, people, tuple(map(mechanism, part.order)), graph.given is not None)


def _basis(people: People, parents: Sequence[str], touched: set[str]) -> Basis | None:
    blocks = blocks_of(people, parents, {name: people[name].values for name in parents})
    return basis_of(blocks, [people[p].numeric for p in parents], [p in touched for p in parents])


def _kind(mechanisms: Any, graph: Graph) -> tuple[str, dict[str, Any]]:
    """The form of all mechanisms, and what was given for single ones: a form, or a mechanism of gcm."""
    given = dict(mechanisms) if isinstance(mechanisms, Mapping) else {}
    odd = [n for n in given if n not in graph.parents]
    if odd:
        raise UsageError(f"mechanisms name {shown(odd[0])}, which is not in the graph (it has: {listed(graph.nodes)})")
    for node, model in given.items():
        whole = all(hasattr(model, method) for method in ("fit", "estimate_noise", "evaluate"))
        if not whole and not (isinstance(model, str) and model in KINDS):
            raise UsageError(
                f"the mechanism of {shown(node)} must be one of {listed(KINDS)}, or one of gcm whose noise can be "
                f"found, such as AdditiveNoiseModel, not {shown(model)}"
            )
    if isinstance(mechanisms, Mapping):
        return KINDS[0], given
    if not isinstance(mechanisms, str) or mechanisms not in KINDS:
        raise UsageError(
            f"mechanisms must be one of {listed(KINDS)}, or a dict from a variable to one of these or to a mechanism "
            f"of gcm, not {shown(mechanisms)}"
        )
    return mechanisms, given


def _given(graph: Graph, node: str) -> Any:
    try:
        model = graph.given.causal_mechanism(node)
    except Exception:
        model = None
    if not all(hasattr(model, method) for method in ("estimate_noise", "evaluate")):
        raise UsageError(
            f"the given structural model must tell each person's noise of {shown(node)}, but it has "
            f"{'no mechanism' if model is None else shown(type(model).__name__)} there: use a "
            "gcm.InvertibleStructuralCausalModel, or give the graph alone"
        )
    return model


def _ours(gcm: Any, people: People, node: str, kind: str) -> Any:
    categories = people[node].categories
    if categories is not None:
        if kind == "boosted":
            return GumbelMax(len(categories), lambda: gcm.ml.create_hist_gradient_boost_classifier(random_state=0))
        # So weak a penalty moves nothing but what the data leave open, such as a category that only one group has.
        how = {"C": 10.0, "max_iter": 300, "solver": "newton-cg", "warm_start": True}
        if kind != "linear" and len(categories) <= MOST_EXACT:
            how |= {"solver": "newton-cholesky", "tol": 1e-3}  # two or three exact steps from where the last fit ended
        return GumbelMax(len(categories), lambda: gcm.ml.create_logistic_regression_classifier(**how), counts=True)
    if kind == "boosted":
        return gcm.AdditiveNoiseModel(gcm.ml.create_hist_gradient_boost_regressor(random_state=0))
    return gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor())
