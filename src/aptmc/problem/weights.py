"""How a rung weighs a state's value."""

from __future__ import annotations

import math

from aptmc.compiled import compiled


@compiled
def power_log_weight(level: float, value: float) -> float:
    """Log of (likelihood, or density) ** level. At level 0 even a value of -inf weighs nothing."""
    if level == 0.0:
        return 0.0
    return level * value


@compiled
def tolerance_log_weight(level: float, value: float) -> float:
    """Log of the indicator that a distance is within the tolerance (Algorithm 5)."""
    return 0.0 if value <= level else -math.inf
