"""Networks trained against adversaries, which guess the group of a person; the network pays for every good guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

from evenhand.errors import MissingLibrary

try:
    import torch
except ImportError as error:
    raise MissingLibrary("adversaries are made of PyTorch's tensors: pip install 'evenhand[learn]'") from error

from torch import Tensor

from evenhand.learn.methods.classifier import number
from evenhand.learn.methods.network import Network, Penalty, Perceptron, Rows, Stage, widths


class Adversaries(Penalty):
    """One or several that guess groups. The penalty is minus their cross-entropy: high when they guess well."""

    def __init__(
        self, sees: Any, sizes: Sequence[int], count: int, diversity: float, steps: int, rate: float,
        given_label: bool, generator: torch.Generator, device: torch.device,
    ) -> None:  # fmt: skip
        self.sees, self.diversity, self.steps, self.given_label = sees, diversity, steps, given_label
        self.members = torch.nn.ModuleList(Perceptron(sizes, generator) for _ in range(count)).to(device)
        self.optimizer = torch.optim.Adam(self.members.parameters(), rate, fused=True)

    def study(self, logit: Tensor, hidden: Tensor, rows: Rows) -> None:
        """Some steps towards better guesses, and towards hidden representations that differ."""
        seen = self.sees(logit, hidden, rows)
        for _ in range(self.steps):
            wrong, thoughts = self._wrong(seen, rows)
            # ‖HᵢᵀHⱼ‖² / n² for each pair: adversaries that look at the same thing are one (after Han et al. 2021)
            for one, other in combinations(thoughts, 2):
                weighed = other if rows.weight is None else other * (rows.weight / rows.usual)[:, None]
                wrong = wrong + self.diversity * (one.T @ weighed / len(one)).square().sum()
            self.optimizer.zero_grad()
            wrong.backward()
            self.optimizer.step()

    def __call__(self, logit: Tensor, hidden: Tensor, rows: Rows) -> Tensor:
        """Minus the mean cross-entropy of all adversaries."""
        wrong, _ = self._wrong(self.sees(logit, hidden, rows), rows)
        return -wrong

    def held_out(self, logit: Tensor, rows: Rows) -> Tensor:
        """What scores tell about groups: minus the cross-entropy of the best guess, up to a constant.

        The adversaries themselves are no yardstick: they learn, so that a network looks worse from epoch to epoch.
        """
        return mutual_information(logit, rows, self.given_label)

    def _wrong(self, seen: Tensor, rows: Rows) -> tuple[Tensor, list[Tensor]]:
        guesses, thoughts = zip(*(member(seen) for member in self.members), strict=True)
        each = [torch.nn.functional.cross_entropy(guess, rows.group, reduction="none") for guess in guesses]
        return rows.mean(torch.stack(each).mean(0)), list(thoughts)


def mutual_information(score: Tensor, rows: Rows, given_label: bool, tenths: int = 10) -> Tensor:
    """Of the tenth to which a score belongs and the group, in nats; among people with the same label if that is given.

    What noise alone adds is taken off (Miller and Madow 1955): a score that is the same for everybody has less of it.

    >>> score, group = torch.linspace(0, 1, 1000), torch.arange(1000) // 500
    >>> rows = Rows(score, group.float(), group, None)
    >>> round(mutual_information(score, rows, False).item(), 2)  # a score tells the group: log 2
    0.69
    >>> round(mutual_information(score, rows, True).item(), 2)  # no more than the label does
    0.0
    """
    assert rows.group is not None
    n, groups = len(score), int(rows.group.max()) + 1
    edges = score.sort().values[torch.arange(1, tenths, device=score.device) * n // tenths]
    cell = torch.bucketize(score, edges, right=True) + tenths * (rows.label.long() if given_label else 0)
    weight = torch.ones_like(score) if rows.weight is None else rows.weight
    counts = score.new_zeros(2 * tenths * groups).index_add(0, cell * groups + rows.group, weight)
    counts = counts.view(2, tenths, groups)
    by_group, by_cell = counts.sum(1, keepdim=True), counts.sum(2, keepdim=True)
    ratio = counts * counts.sum((1, 2), keepdim=True) / (by_group * by_cell).clamp_min(1e-30)
    freedom = (((by_group > 0).sum(2) - 1) * ((by_cell > 0).sum(1) - 1)).clamp_min(0).sum()
    people = weight.sum() ** 2 / weight.square().sum()
    return torch.xlogy(counts, ratio).sum() / counts.sum() - freedom / (2 * people)


@dataclass(kw_only=True, eq=False, repr=False)
class ADV(Network):
    """Adversarial debiasing: an adversary guesses the group from the score (Louppe et al. 2017).

    The network minimises cross-entropy − strength × that of the adversary, which learns first from each batch.

    Parameters
    ----------
    strength
        From 0, the plain network. Han, Jiang et al. (2023) use 10 to 180, with the training that the next two describe.
    adversary_hidden
        Widths of the hidden layers of the adversary.
    adversary_steps
        How many steps the adversary takes for each of the network. One that lags behind makes both go round in circles.
        "epoch": in every epoch it meets everybody, and then the network takes a single step (as their published code).
    warm_up
        Epochs in which first the network and then the adversary learns alone. Their published code has 10.
    others
        As of `MLP`.
    """

    needs_groups = True
    given_label: ClassVar[bool] = False
    """Whether the label tells nothing that has to be paid for."""

    adversary_hidden: Sequence[int] = (32, 32)
    adversary_steps: int | Literal["epoch"] = 3
    warm_up: int = 0

    def check_parameters(self) -> None:
        super().check_parameters()
        widths("adversary_hidden", self.adversary_hidden)
        if self.adversary_steps != "epoch":
            number("adversary_steps, unless it is 'epoch',", self.adversary_steps, 1, whole=True)
        number("warm_up", self.warm_up, 0, whole=True)

    def _penalty(self, width: int, generator: torch.Generator, device: torch.device) -> Penalty:
        sizes = [self._seen(width), *self.adversary_hidden, len(self.groups_)]
        steps = 1 if self.adversary_steps == "epoch" else self.adversary_steps
        return Adversaries(
            self._sees, sizes, *self._panel(), steps, self.learning_rate, self.given_label, generator, device
        )

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
    """Diverse adversaries: several guess the group from the hidden representation (Han et al. 2021).

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

    def check_parameters(self) -> None:
        super().check_parameters()
        number("adversaries", self.adversaries, 1, whole=True)
        number("diversity", self.diversity, 0)

    def _panel(self) -> tuple[int, float]:
        return self.adversaries, self.diversity

    def _seen(self, width: int) -> int:
        return width

    def _sees(self, logit: Tensor, hidden: Tensor, rows: Rows) -> Tensor:
        return hidden


class AADV(ADV):
    """Augmented adversary: it sees the hidden representation and the label (Han et al. 2022).

    What the label alone tells about the group is no reason to pay any more, so that groups become alike among people
    with the same label: it aims at equalized odds, where ADV and DADV aim at demographic parity.

    Parameters as of `ADV`.
    """

    given_label = True

    def _seen(self, width: int) -> int:
        return 2 * width + 1

    def _sees(self, logit: Tensor, hidden: Tensor, rows: Rows) -> Tensor:
        # a shared view of the representation and one for the second class stand for their augmentation layer
        label = rows.label[:, None]
        return torch.cat([hidden, hidden * label, label], 1)
