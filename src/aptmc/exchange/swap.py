"""The statistic by which two chains swap (Algorithm 2); `accepts` makes the decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from aptmc.compiled import inlined, pointer_to


def log_weight_model(level: float, value: float) -> float:
    """The part of a rung's log density that differs between rungs.

    `level` is the rung's inverse temperature or tolerance, `value` the one number of a state that
    exchanges look at: its log likelihood, log density, or distance.
    """
    raise NotImplementedError("a model of the signature, not to be called")


LogWeight = Annotated[Callable[[float, float], float], pointer_to(log_weight_model)]


@inlined
def swap_log_ratio(
    level: float, other_level: float, value: float, other_value: float, log_weight: LogWeight
) -> float:
    """Log of the ratio in a_swap, eq. (2): both chains' targets after the swap, over before.

    Only the parts that differ between rungs are needed: the rest is the same before and after.
    """
    after = log_weight(level, other_value) + log_weight(other_level, value)
    before = log_weight(level, value) + log_weight(other_level, other_value)
    return after - before
