"""What a projection test holds a score to: a criterion, a margin, a level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenhand.errors import UsageError, number, one_of, shown

CRITERIA: dict[str, tuple[int | None, ...]] = {
    "equal_opportunity": (1,),
    "predictive_equality": (0,),
    "equalized_odds": (1, 0),
    "demographic_parity": (None,),
}
"""Among people with which label means are compared; None: among all."""


@dataclass(frozen=True)
class How:
    """What is tested."""

    criterion: str
    margin: float
    level: float

    @classmethod
    def checked(cls, criterion: Any, margin: Any, level: Any) -> How:
        one_of("criterion", criterion, CRITERIA)
        if not 0 < number(level) < 1:
            raise UsageError(f"level must be a number between 0 and 1, such as 0.05, not {shown(level)}")
        if not 0 <= number(margin) < 1:
            raise UsageError(
                f"margin must be a gap of mean scores from 0 to less than 1, such as 0.05, not {shown(margin)}"
            )
        return cls(criterion, float(margin), float(level))

    @property
    def labels(self) -> tuple[int | None, ...]:
        return CRITERIA[self.criterion]
