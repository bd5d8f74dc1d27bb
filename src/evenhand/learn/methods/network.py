"""Networks that classify: one training loop for all of them, the same to the last bit for the same seed.

No global state is read or changed: initial values and the order of people come from generators of their own.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from evenhand.errors import DataError, MissingLibrary, UsageError, shown
from evenhand.learn.methods.classifier import Classifier, Floats, Ints, People, number, same_alone, seeded

try:
    import torch
except ImportError as error:
    raise MissingLibrary("networks are made of PyTorch's tensors: pip install 'evenhand[learn]'") from error

from torch import Tensor

AT_ONCE = 2**16
"""People scored together: their hidden values fit into memory."""


class Perceptron(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
    """Linear layers with ReLU between them: what comes out, and the last hidden representation.

    With a generator of noise, a share `dropout` of the hidden values is dropped, but none of the last representation.
    """

    def __init__(self, sizes: Sequence[int], generator: torch.Generator, dropout: float = 0.0) -> None:
        super().__init__()
        *body, self.head = (_linear(a, b, generator) for a, b in pairwise(sizes))
        self.body, self.dropout = torch.nn.ModuleList(body), dropout

    def forward(self, x: Tensor, noise: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Outputs (person, output) and representation (person, hidden)."""
        for i, layer in enumerate(self.body):
            if i and self.dropout and noise is not None:
                x = x * torch.empty_like(x).bernoulli_(1 - self.dropout, generator=noise) / (1 - self.dropout)
            x = torch.relu(layer(x))
        return self.head(x), x


def _linear(inputs: int, outputs: int, generator: torch.Generator) -> torch.nn.Linear:
    """A layer with PyTorch's usual initial values, drawn from a generator instead of the global one."""
    layer = torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs)
    bound = 1 / math.sqrt(inputs)
    with torch.no_grad():
        layer.weight.uniform_(-bound, bound, generator=generator)
        layer.bias.uniform_(-bound, bound, generator=generator)
    return layer


@dataclass(frozen=True)
class Rows:
    """People as tensors."""

    x: Tensor
    label: Tensor
    group: Tensor | None
    weight: Tensor | None
    """As given: whole ones count people, to a measure by ranks."""
    usual: float = 1.0
    """The mean weight of everybody."""

    def take(self, chosen: Tensor) -> Rows:
        """Some of them."""
        group, weight = (None if t is None else t[chosen] for t in (self.group, self.weight))
        return Rows(self.x[chosen], self.label[chosen], group, weight, self.usual)

    def mean(self, values: Tensor) -> Tensor:
        """The weighted mean, small for a batch of light people: over an epoch everybody counts what they weigh."""
        return values.mean() if self.weight is None else (self.weight * values).mean() / self.usual


class Penalty:
    """What a network pays for being unfair."""

    def study(self, logit: Tensor, hidden: Tensor, rows: Rows) -> None:
        """Learn from a batch before the network does (adversaries); gradients must not reach the network."""

    def __call__(self, logit: Tensor, hidden: Tensor, rows: Rows) -> Tensor:
        """The penalty of a batch."""
        raise NotImplementedError

    def held_out(self, logit: Tensor, rows: Rows) -> Tensor:
        """The penalty of people held out, by a yardstick that does not learn: epochs are compared by it."""
        return self(logit, logit, rows)


class Random(NamedTuple):
    """Generators of a training."""

    order: torch.Generator
    """In which people are met."""
    noise: torch.Generator
    """Which hidden values are dropped; on the device of the network."""


@dataclass(frozen=True)
class Stage:
    """Some epochs of the training, and who learns in them."""

    epochs: int
    penalized: bool = True
    """Whether the penalty takes part."""
    steps: Literal["every batch", "last batch", "none"] = "every batch"
    """On which batches of an epoch the network learns; the penalty studies all of them."""


@dataclass(kw_only=True, eq=False, repr=False)
class Network(Classifier):
    """A network trained with Adam on cross-entropy + strength × penalty."""

    needs_groups = False

    strength: float = 1.0
    hidden: Sequence[int] = (64, 64, 64)
    dropout: float = 0.0
    epochs: int = 10
    batch_size: int = 256
    learning_rate: float = 0.001
    early_stopping: int | None = None
    held_out: float = 0.1
    random_state: Any = None
    device: str = "auto"
    verbose: bool = False

    def check_parameters(self) -> None:
        super().check_parameters()
        widths("hidden", self.hidden)
        number("epochs", self.epochs, 1, whole=True)
        number("batch_size", self.batch_size, 1, whole=True)
        number("learning_rate", self.learning_rate, 1e-12, 1e6)
        number("dropout", self.dropout, 0, 0.99)
        if self.early_stopping not in (None, False):
            number("early_stopping (epochs without an improvement)", self.early_stopping, 1, whole=True)
            number("held_out", self.held_out, 0, 0.9)

    def _penalty(self, width: int, generator: torch.Generator, device: torch.device) -> Penalty | None:
        """What is added, times strength; `width` is that of the hidden representation."""
        return None

    def _stages(self) -> list[Stage]:
        """The training; only the last stage is recorded, and may end early."""
        return [Stage(self.epochs)]

    def _learn(self, people: People) -> None:
        sizes = [people.X.shape[1], *widths("hidden", self.hidden), 1]
        device = chosen_device(self.device)
        seed = int(seeded(self.random_state).randint(2**31))
        # a generator each: with or without adversaries a network begins and meets people in the same way
        start, order, other = (torch.Generator().manual_seed(seed + i) for i in range(3))
        rng = Random(order, torch.Generator(device).manual_seed(seed + 3))
        self.network_ = Perceptron(sizes, start, self.dropout).to(device)
        penalty = self._penalty(sizes[-2], other, device) if self.strength > 0 else None
        self.history_ = self._train(_tensors(people, device), penalty, rng)
        self.network_ = self.network_.cpu().double()
        self.n_iter_ = len(self.history_)

    def _scores(self, X: Any, group: Ints | None, sensitive_features: Any) -> Floats:
        logit, _ = self._outputs(X)
        return same_alone(np.asarray(torch.sigmoid(logit)))

    def _outputs(self, X: Any, noise: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Logits and representations of people; with noise only if somebody wants hidden values dropped here too."""
        with torch.inference_mode():
            parts = [self.network_(part.double(), noise) for part in torch.as_tensor(X).split(AT_ONCE)]
        return torch.cat([logit for logit, _ in parts])[:, 0], torch.cat([hidden for _, hidden in parts])

    def _train(self, rows: Rows, penalty: Penalty | None, rng: Random) -> list[dict[str, float]]:
        aside: Rows | None = None
        if self.early_stopping:
            n = len(rows.label)
            places = torch.randperm(n, generator=rng.order).to(rows.x.device)
            cut = min(max(1, round(self.held_out * n)), n - 1)
            aside, rows = rows.take(places[:cut]), rows.take(places[cut:])
        optimizer = torch.optim.Adam(self.network_.parameters(), self.learning_rate, fused=True)
        *before, last = self._stages()
        for stage in before:
            for epoch in range(1, stage.epochs + 1):
                self._say(self._epoch(rows, penalty, rng, optimizer, stage, epoch), epoch, stage)
        history: list[dict[str, float]] = []
        best, best_state, waited = math.inf, None, 0
        for epoch in range(1, last.epochs + 1):
            losses = {"epoch": epoch, **self._epoch(rows, penalty, rng, optimizer, last, epoch)}
            history.append(losses)
            if aside is not None:
                now = losses["held_out"] = self._held_out(aside, penalty)
                waited = 0 if now < best else waited + 1
                if now < best:
                    best, best_state = now, copy.deepcopy(self.network_.state_dict())
            self._say(losses, epoch, last)
            if aside is not None and waited >= int(self.early_stopping or 0):
                break
        if self.verbose:
            print(file=sys.stderr)
        if best_state is not None:
            self.network_.load_state_dict(best_state)
        return history

    def _held_out(self, rows: Rows, penalty: Penalty | None) -> float:
        """The objective of people held out."""
        with torch.no_grad():
            logit, _ = self._forward(rows)
            pay = 0.0 if penalty is None else penalty.held_out(logit, rows).item()
            return float(_task(logit, rows)) + self.strength * pay

    def _epoch(
        self, rows: Rows, penalty: Penalty | None, rng: Random, optimizer: torch.optim.Adam, stage: Stage, epoch: int
    ) -> dict[str, float]:
        """Everybody once, in batches; the mean loss and penalty of those from whom the network learned."""
        n, device = len(rows.label), rows.x.device
        if not stage.penalized:
            penalty = None
        total, extra, seen = torch.zeros((), device=device), torch.zeros((), device=device), 0
        # parts of nearly one size: the last one is no tiny batch with a noisy penalty
        parts = torch.randperm(n, generator=rng.order).to(device).tensor_split(math.ceil(n / self.batch_size))
        for i, part in enumerate(parts, 1):
            batch = rows.take(part)
            learns = stage.steps == "every batch" or (stage.steps == "last batch" and i == len(parts))
            with torch.set_grad_enabled(learns):
                logit, hidden = self._forward(batch, rng.noise)
            if penalty is not None:
                penalty.study(logit.detach(), hidden.detach(), batch)
            if learns:
                task = _task(logit, batch)
                pay = torch.zeros_like(task) if penalty is None else penalty(logit, hidden, batch)
                optimizer.zero_grad()
                (task + self.strength * pay).backward()
                optimizer.step()
                total += task.detach() * len(part)
                extra += pay.detach() * len(part)
                seen += len(part)
        losses = {"loss": total.item() / max(seen, 1), "penalty": extra.item() / max(seen, 1)}
        if not (math.isfinite(sum(losses.values())) and all(p.isfinite().all() for p in self.network_.parameters())):
            raise DataError(
                f"the network diverged in epoch {epoch} (loss {losses['loss']:g}, penalty {losses['penalty']:g}): "
                "standardise the features, or lower learning_rate or strength"
            )
        return losses

    def _forward(self, rows: Rows, noise: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        logit, hidden = self.network_(rows.x, noise)
        return logit[:, 0], hidden

    def _say(self, losses: dict[str, float], epoch: int, stage: Stage) -> None:
        if self.verbose:
            parts = [f"{name} {losses[name]:.4f}" for name in ("loss", "penalty", "held_out") if name in losses]
            line = f"{type(self).__name__} epoch {epoch} of {stage.epochs}: {', '.join(parts)}"
            print(f"\r{line:<79}", end="", file=sys.stderr, flush=True)


def widths(name: str, values: Any) -> list[int]:
    """Of hidden layers."""
    try:
        return [int(number(f"a width in {name}", width, 1, whole=True)) for width in values]
    except TypeError:
        raise UsageError(f"{name} is the widths of layers, as (64, 64), but it is {shown(values)}") from None


def chosen_device(name: str) -> torch.device:
    """Where to compute: "auto" is a GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.zeros(1, device=torch.device(name)).item()  # some have no values
        return torch.device(name)
    except (RuntimeError, TypeError, AssertionError) as error:  # an assertion: PyTorch built without CUDA
        raise UsageError(f"device is 'auto', 'cpu' or one that PyTorch has here, but it is {shown(name)}") from error


def _tensors(people: People, device: torch.device) -> Rows:
    def tensor(values: Any, kind: torch.dtype) -> Tensor | None:
        return None if values is None else torch.as_tensor(values, dtype=kind, device=device)

    x, label = tensor(people.X, torch.float32), tensor(people.label, torch.float32)
    group, weight = tensor(people.group, torch.int64), tensor(people.weight, torch.float32)
    return Rows(x, label, group, weight, float(people.weights.mean()))


def _task(logit: Tensor, rows: Rows) -> Tensor:
    """Cross-entropy of a batch."""
    return rows.mean(torch.nn.functional.binary_cross_entropy_with_logits(logit, rows.label, reduction="none"))
