"""Networks trained against adversaries, which guess the group of a person; the network pays for every good guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from evenhand.errors import MissingLibrary

try:
    import torch
except ImportError as error:
    raise MissingLibrary("adversaries are made of PyTorch's tensors: pip install 'evenhand[learn]'") from error

from torch import Tensor

from evenhand.learn.classifiers import People, number
from evenhand.learn.networks import Network, Penalty, Perceptron, Rows, Stage


class Adversaries:
    """One or several that guess groups. The penalty is minus their cross-entropy: high when they guess well."""

    def __init__(
        self, sees: Any, sizes: Sequence[int], count: int, diversity: float, steps: int, rate: float,
        generator: torch.Generator, device: torch.device,
    ) -> None:  # fmt: skip
        self.sees, self.diversity, self.steps = sees, diversity, steps
        self.members = torch.nn.ModuleList(Perceptron(sizes, generator) for _ in range(count)).to(device)
        self.optimizer = torch.optim.Adam(self.members.parameters(), rate, fused=True)

    def study(self, logit: Tensor, hidden: Tensor, rows: Rows) -> None:
        """Some steps towards better guesses, and towards hidden representations that differ."""
        seen = self.sees(logit, hidden, rows)
        for _ in range(self.steps):
            self._step(seen, rows)

    def _step(self, seen: Tensor, rows: Rows) -> None:
        wrong, thoughts = self._wrong(seen, rows)
        # ‖HᵢᵀHⱼ‖² / n² for each pair: adversaries that look at the same thing are one (after Han et al. 2021)
        for one, other in combinations(thoughts, 2):
            weighed = other if rows.weight is None else other * rows.weight[:, None]
            wrong = wrong + self.diversity * (one.T @ weighed / len(one)).square().sum()
        self.optimizer.zero_grad()
        wrong.backward()
        self.optimizer.step()

    def __call__(self, logit: Tensor, hidden: Tensor, rows: Rows) -> Tensor:
        """Minus the mean cross-entropy of all adversaries."""
        wrong, _ = self._wrong(self.sees(logit, hidden, rows), rows)
        return -wrong

    def _wrong(self, seen: Tensor, rows: Rows) -> tuple[Tensor, list[Tensor]]:
        guesses, thoughts = zip(*(member(seen) for member in self.members), strict=True)
        each = [torch.nn.functional.cross_entropy(guess, rows.group, reduction="none") for guess in guesses]
        return rows.mean(torch.stack(each).mean(0)), list(thoughts)


@dataclass(kw_only=True, eq=False, repr=False)
class ADV(Network):
    """Adversarial debiasing: an adversary guesses the group from the score (Louppe et al. 2017; 000 §6).

    The network minimises cross-entropy − strength × that of the adversary, which learns first from each batch.

    Parameters
    ----------
    strength
        From 0, the plain network. 000 uses 10 to 180, with the training that the next two describe.
    adversary_hidden
        Widths of the hidden layers of the adversary.
    adversary_steps
        How many steps the adversary takes for each of the network. One that lags behind makes both go round in circles.
        "epoch": in every epoch it meets everybody, and then the network takes a single step (000's published code).
    warm_up
        Epochs in which first the network and then the adversary learns alone. 000's published code has 10.
    others
        As of `MLP`, with 40 epochs.
    """

    needs_groups = True

    adversary_hidden: Sequence[int] = (32, 32)
    adversary_steps: int | Literal["epoch"] = 3
    warm_up: int = 0
    epochs: int = 40

    def _learn(self, people: People) -> None:
        for width in self.adversary_hidden:
            number("a width in adversary_hidden", width, 1, whole=True)
        if self.adversary_steps != "epoch":
            number("adversary_steps, unless it is 'epoch',", self.adversary_steps, 1, whole=True)
        number("warm_up", self.warm_up, 0, whole=True)
        super()._learn(people)

    def _penalty(self, width: int, generator: torch.Generator, device: torch.device) -> Penalty:
        sizes = [self._seen(width), *self.adversary_hidden, len(self.groups_)]
        steps = 1 if self.adversary_steps == "epoch" else self.adversary_steps
        return Adversaries(self._sees, sizes, *self._panel(), steps, self.learning_rate, generator, device)

    def _stages(self) -> list[Stage]:
        alone = [Stage(self.warm_up, penalized=False), Stage(self.warm_up, steps="none")]
        return [*alone, Stage(self.epochs, steps="last batch" if self.adversary_steps == "epoch" else "every batch")]

    def _panel(self) -> tuple[int, float]:
        """How many adversaries there are, and how much they pay for being alike."""
        return 1, 0.0

    def _seen(self, width: int) -> int:
        """How many numbers about a person an adversary sees."""
        return 1

    def _sees(self, logit: Tensor, hidden: Tensor, rows: Rows) -> Tensor:
        """What an adversary sees: here the score."""
        return torch.sigmoid(logit)[:, None]


@dataclass(kw_only=True, eq=False, repr=False)
class DADV(ADV):
    """Diverse adversaries: several guess the group from the hidden representation (Han et al. 2021; 003 §4).

    They pay for hidden representations that are not orthogonal to each other, so that each looks at something else.

    Parameters
    ----------
    adversaries
        How many.
    diversity
        How much they pay for being alike.
    others
        As of `ADV`.
    """

    adversaries: int = 3
    diversity: float = 1.0

    def _learn(self, people: People) -> None:
        number("adversaries", self.adversaries, 1, whole=True)
        number("diversity", self.diversity, 0)
        super()._learn(people)

    def _panel(self) -> tuple[int, float]:
        return self.adversaries, self.diversity

    def _seen(self, width: int) -> int:
        return width

    def _sees(self, logit: Tensor, hidden: Tensor, rows: Rows) -> Tensor:
        return hidden


class AADV(ADV):
    """Augmented adversary: it sees the hidden representation and the label (Han et al. 2022; 003 §4).

    What the label alone tells about the group is no reason to pay any more, so that groups become alike among people
    with the same label: it aims at equalized odds, where ADV and DADV aim at demographic parity.

    Parameters as of `ADV`.
    """

    def _seen(self, width: int) -> int:
        return 2 * width + 1

    def _sees(self, logit: Tensor, hidden: Tensor, rows: Rows) -> Tensor:
        # a shared view of the representation and one for the second class stand for the paper's augmentation layer
        label = rows.label[:, None]
        return torch.cat([hidden, hidden * label, label], 1)
