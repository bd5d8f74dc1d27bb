"""The plane of performance and fairness, with the utopia point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.report.charts import theme
from evenhand.report.charts.layers import Spec, inline, quantitative, rows

SIDE = 400
Pair = tuple[float, float]


@dataclass(frozen=True)
class Plane:
    """The axes of performance and fairness: as long as each other, so that a distance looks like one."""

    performance: str
    fairness: str
    x: Pair
    y: Pair
    side: int = SIDE

    @property
    def axes(self) -> dict[str, Spec]:
        return {
            "x": quantitative("performance", self.performance, self.x, format="~g", tickCount=6),
            "y": quantitative("fairness", self.fairness, self.y, format="~g", tickCount=6),
        }

    def path(self, values: list[dict[str, Any]], mark: Spec, **encoding: Spec) -> Spec:
        """A line through points in their order."""
        numbered = [{**row, "step": i} for i, row in enumerate(values)]
        order = {"field": "step", "type": "quantitative"}
        encoding = {**self.axes, "order": order, **encoding}
        return {"data": inline(numbered), "mark": {"type": "line", **mark}, "encoding": encoding}

    def utopia(self, at: Pair) -> list[Spec]:
        """The best that could be."""
        point = inline(rows(performance=float(at[0]), fairness=float(at[1]), text="utopia"))
        guide = {"type": "rule", "color": theme.GROUPS[2], "strokeDash": [4, 4]}
        return [
            {"data": point, "mark": guide, "encoding": {"x": self.axes["x"]}},
            {"data": point, "mark": guide, "encoding": {"y": self.axes["y"]}},
            {"data": point, "mark": {"type": "point", "shape": "diamond", "filled": True, "size": 110, "opacity": 1,
                                     "color": theme.GROUPS[2]}, "encoding": self.axes},
            {"data": point, "mark": {"type": "text", "align": "right", "dx": -10, "dy": 14, "color": theme.MUTED},
             "encoding": {**self.axes, "text": {"field": "text"}}},
        ]  # fmt: skip


def plane(
    performance: str, fairness: str, p: Sequence[float], f: Sequence[float], utopia: Pair, side: int = SIDE
) -> Plane:
    """Axes that hold all points and the utopia point."""
    ends = [[v for v in (*values, best) if np.isfinite(v)] for values, best in zip((p, f), utopia, strict=True)]
    span = max(max(e) - min(e) for e in ends) or 0.1
    low = [max(e) - 1.12 * span for e in ends]
    high = [max(e) + 0.03 * span for e in ends]
    return Plane(performance, fairness, (low[0], high[0]), (low[1], high[1]), side)
