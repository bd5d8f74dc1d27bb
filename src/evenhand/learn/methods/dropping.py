"""REG and ADV as the code of Han, Jiang et al. 2023 has them: hidden values are dropped when people are scored, too.

That code never tells its networks that the training is over, so that test scores are noisy. Only what repeats its
figures uses these (`evenhand.published.table_one`).
"""

from __future__ import annotations

from typing import Any

import torch

from evenhand.learn.methods.adversarial import ADV
from evenhand.learn.methods.methods import REG


class Dropping:
    """Scores with dropped hidden values."""

    def _outputs(self, X: Any, noise: Any = None) -> Any:
        return super()._outputs(X, torch.Generator().manual_seed(0))  # type: ignore[misc]


class DroppingREG(Dropping, REG):
    """REG that scores with noise; at strength 0 the plain network."""


class DroppingADV(Dropping, ADV):
    """ADV that scores with noise."""
