"""Types of arrays, and of two numbers that belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.signedinteger[Any]]
Bools = NDArray[np.bool_]
Pair = tuple[float, float]
"""Two numbers, such as the ends of an interval."""
