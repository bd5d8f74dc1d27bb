"""Which form a mechanism has, decided by people it was not fitted to; and whether even the better one misfits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.analyses.counterfactual.gumbel_max import GumbelMax
from evenhand.analyses.counterfactual.structural_model import (
    Mechanism,
    StructuralModel,
    Values,
    ask,
    blocks_of,
    fit,
    quiet,
)
from evenhand.tables.arrays import Floats, Ints

MOST_JUDGED = 10_000
"""People on whom mechanisms are judged."""
FEW = 2_000
"""Up to so many people are judged in fifths, more in halves: a flexible mechanism must not be starved."""
TOLD, BEYOND_NOISE = 0.01, 3.0
"""A mechanism misfits if its causes tell so much of what it leaves open, and so many standard errors more than none."""


@dataclass(frozen=True)
class Judged:
    """A mechanism and how it fares in people it was not fitted to."""

    node: str
    kind: str
    form: str
    chosen: bool
    """Whether the data decided the form."""
    held_out: dict[str, float]
    """How much of the variable is explained, by form: R², of a category the share of the log-loss; NaN if constant."""
    misfit: Told
    """How much of what the mechanism leaves open its causes tell."""
    spread: Told
    """How much of the size of that is told by causes that the attribute touches: then it is not a person's own."""

    @property
    def explained(self) -> float:
        return self.held_out[self.form]


@dataclass(frozen=True)
class Told:
    """A share that a regression tree tells held out, and whether that is more than chance; NaN if not judged."""

    share: float = float("nan")
    sure: bool = False


@dataclass(frozen=True)
class _HeldOut:
    """What mechanisms of one form leave open in people they were not fitted to."""

    loss: float
    plain: float
    """What is open without any causes."""
    residuals: Floats
    """Axes (person, 1) of a number, (person, category) of a category."""

    @property
    def explained(self) -> float:
        return 1 - self.loss / self.plain if self.plain > 0 else float("nan")


def judge(structure: StructuralModel, rng: np.random.Generator) -> tuple[Judged, ...]:
    """Every mechanism held out, in each of its forms; one that was left open takes the form with the least loss."""
    sample = rng.permutation(structure.people.n)[:MOST_JUDGED]
    times = 5 if len(sample) <= FEW else 2
    folds = [sample[i::times] for i in range(times)]
    with quiet():
        return tuple(_judged(structure, m, folds) for m in structure.mechanisms)


def _judged(structure: StructuralModel, m: Mechanism, folds: list[Ints]) -> Judged:
    if min(map(len, folds)) == 0:
        return Judged(m.node, m.kind, m.forms[0], False, {m.forms[0]: float("nan")}, Told(), Told())
    forms = {form: _held_out(structure, replace(m, form=form), folds) for form in m.forms}
    best = min(forms, key=lambda form: forms[form].loss)
    left = forms[best].residuals
    seen = structure.seen(np.concatenate(folds))
    size = np.abs(left) - np.abs(left).mean()
    return Judged(
        m.node, m.kind, best, len(forms) > 1, {form: held.explained for form, held in forms.items()},
        _told(_matrix(structure, m.parents, seen), left, folds),
        _told(_matrix(structure, structure.touched(m), seen), size, folds) if m.kind == "number" else Told(),
    )  # fmt: skip


def _held_out(structure: StructuralModel, m: Mechanism, folds: list[Ints]) -> _HeldOut:
    """Each fold is judged by the mechanism of the others; one that the user fitted, as it is."""
    loss = plain = 0.0
    residuals = []
    for place, fold in enumerate(folds):
        known = structure.seen(np.concatenate([f for i, f in enumerate(folds) if i != place]))
        seen = structure.seen(fold)
        fitted = m if structure.fixed else fit(m, structure.causes(m, known), known[m.node])
        left, residual = _left_open(fitted, structure.causes(m, seen), seen[m.node])
        loss, plain = loss + left, plain + _without_causes(fitted, seen[m.node], known[m.node])
        residuals.append(residual)
    return _HeldOut(loss, plain, np.concatenate(residuals))


def _left_open(m: Mechanism, causes: Any, values: Any) -> tuple[float, Floats]:
    """The loss of a mechanism, and its residuals."""
    if isinstance(m.model, GumbelMax):
        utilities = m.model.utilities(causes)
        loss = -float(utilities[np.arange(len(values)), values].sum())
        return loss, np.eye(m.model.size)[values] - np.exp(utilities)
    noise = ask(m, "estimate_noise", values, causes)
    return float(noise @ noise), noise[:, None]


def _without_causes(m: Mechanism, values: Any, learnt: Any) -> float:
    """What is open without causes."""
    if isinstance(m.model, GumbelMax):
        plain = (np.bincount(learnt, minlength=m.model.size) + 0.5) / (len(learnt) + 0.5 * m.model.size)
        return -float(np.log(plain[values]).sum())
    return float(((values - learnt.mean()) ** 2).sum()) if np.ptp(values) > 0 else 0.0


def _matrix(structure: StructuralModel, names: Sequence[str], seen: Values) -> Floats:
    return np.concatenate(blocks_of(structure.people, names, seen), axis=1)


def _told(causes: Floats, residuals: Floats, folds: list[Ints]) -> Told:
    """How much of residuals a small regression tree tells in the fold that it was not grown on.

    It sees steps and products of any causes, and tells nothing of noise: so a share above 0 is a misfit.
    """
    from sklearn.tree import DecisionTreeRegressor

    total = float((residuals**2).sum())
    if total <= 1e-12 * len(residuals):
        return Told()
    fold = np.repeat(np.arange(len(folds)), [len(f) for f in folds])
    gain = np.empty(len(fold))
    for place in range(len(folds)):
        here, rest = fold == place, fold != place
        tree = DecisionTreeRegressor(max_depth=5, min_samples_leaf=max(20, int(rest.sum()) // 40), random_state=0)
        guess = tree.fit(causes[rest], residuals[rest]).predict(causes[here]).reshape(-1, residuals.shape[1])
        gain[here] = (residuals[here] ** 2 - (residuals[here] - guess) ** 2).sum(1)
    share = float(gain.sum()) / total
    beyond = gain.mean() > BEYOND_NOISE * gain.std() / np.sqrt(len(gain))
    return Told(share, bool(share > TOLD and beyond))
