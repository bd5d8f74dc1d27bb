"""Debiasing methods by name, each with scikit-learn's protocol and one strength; and the two simplest networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.learn.losses.losses import Loss, loss
from evenhand.learn.methods.adversarial import AADV, ADV, DADV
from evenhand.learn.methods.classifier import Classifier, People
from evenhand.learn.methods.inlp import INLP
from evenhand.learn.methods.network import Network, Penalty, Rows
from evenhand.learn.methods.postprocessing import Barycentre, GroupThresholds
from evenhand.learn.methods.reweighting import Reweighting
from evenhand.learn.methods.wrapper import Wrapper

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class MLP(Network):
    """The plain network: four linear layers with ReLU between them (Han, Jiang et al. 2023 §6). It looks at no groups.

    Parameters
    ----------
    strength
        Has no effect: there is nothing to trade. It is there so that all methods can be called alike.
    hidden
        Widths of the hidden layers.
    dropout
        The share of hidden values that is dropped at random in training, in all hidden layers but the last.
    epochs, batch_size, learning_rate
        Of the training with Adam.
    early_stopping
        Stop after so many epochs without an improvement on people held out (a share `held_out` of all), and keep the
        best network; None trains for all epochs.
    random_state
        A whole number makes the result the same to the last bit on a processor.
    device
        "auto" (a GPU if there is one), "cpu" or another device of PyTorch.
    verbose
        Whether progress is shown on stderr.

    Attributes
    ----------
    classes_
        The two classes; the second is the favourable one, whose probability is the score.
    history_
        Of each epoch the mean loss, penalty, and objective of those held out.
    """


@dataclass(kw_only=True, eq=False, repr=False)
class REG(Network):
    """A network that pays for a measure of its own scores: cross-entropy + strength × loss (Han, Jiang et al. 2023 §6).

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> group = rng.choice(["a", "b"], 1000)
    >>> X = rng.normal(size=(1000, 3)) + (group == "b")[:, None]
    >>> y = X.sum(axis=1) + rng.normal(size=1000) > 1.5
    >>> for strength in (0, 3):
    ...     model = REG(loss="mean_gap", strength=strength, random_state=0).fit(X, y, sensitive_features=group)
    ...     score = model.predict_proba(X)[:, 1]
    ...     print(strength, score[group == "b"].mean() - score[group == "a"].mean() > 0.2)
    0 True
    3 False

    Parameters
    ----------
    loss
        One of `evenhand.learn.LOSSES` by name, or a `Loss` with its options. Han, Jiang et al. (2023) use "mean_gap".
    strength
        From 0, the plain network.
    others
        As of `MLP`.
    """

    needs_groups = True

    loss: str | Loss = "abcc"

    def check_parameters(self) -> None:
        super().check_parameters()
        self._loss()

    def _loss(self) -> Loss:
        if not isinstance(self.loss, str | Loss):
            raise UsageError(f"loss is the name of a loss or a Loss, but it is {shown(self.loss)}")
        return loss(self.loss) if isinstance(self.loss, str) else self.loss

    def _learn(self, people: People) -> None:
        self.loss_ = self._loss().for_groups(len(self.groups_))
        self.loss_.check = False  # people have been
        super()._learn(people)
        self.loss_.cpu()

    def _penalty(self, width: int, generator: torch.Generator, device: torch.device) -> Penalty:
        return _Measured(self.loss_)


class _Measured(Penalty):
    """A loss of the scores, as a penalty."""

    def __init__(self, unfair: Loss) -> None:
        self.unfair = unfair

    def __call__(self, logit: Tensor, hidden: Tensor, rows: Rows) -> Tensor:
        value: Tensor = self.unfair(logit.sigmoid(), rows.group, rows.label, rows.weight)
        return value


METHODS: dict[str, type[Classifier]] = {
    "mlp": MLP,
    "reg": REG,
    "adv": ADV,
    "dadv": DADV,
    "aadv": AADV,
    "inlp": INLP,
    "reweighting": Reweighting,
    "thresholds": GroupThresholds,
    "barycentre": Barycentre,
}
"""Every method by its name."""


def method(name: str, **params: Any) -> Any:
    """The method of that name with these parameters.

    Of a method around another estimator, parameters it does not have itself go to the network inside.

    >>> method("reg", loss="abpc", strength=2.0)
    REG(loss='abpc', strength=2.0)
    >>> method("thresholds", criterion="equal_opportunity", epochs=5).estimator
    MLP(epochs=5)
    """
    if not isinstance(name, str) or name not in METHODS:
        raise UsageError(f"there is no method {shown(name)} (there are: {listed(METHODS, 20)}){nearest(name, METHODS)}")
    kind = METHODS[name]
    own = kind._get_param_names()
    inner = MLP._get_param_names() if issubclass(kind, Wrapper) else []
    known = list(dict.fromkeys([*own, *inner]))
    for parameter in params:
        if parameter not in known:
            raise UsageError(
                f"{name} has no parameter {shown(parameter)} (it has: {listed(known, 20)}){nearest(parameter, known)}"
            )
    beyond = {p: params.pop(p) for p in list(params) if p not in own}
    if beyond:
        if params.get("estimator") is not None:
            raise UsageError(f"{listed(beyond)} belong to the estimator inside, and one is given: set them there")
        params["estimator"] = MLP(random_state=params.get("random_state"), **beyond)
    return kind(**params)
