"""Distances that are complete only when it is known how much simulations vary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, get_args

from aptmc.checks import whole_number
from aptmc.compiled import Floats
from aptmc.errors import InputError

Scale = Literal["mad", "sd"]
At = Literal["prior", "tolerance"]
FEWEST_SIMULATIONS = 20


class Unscaled(ABC):
    """A distance whose scales `Abc` measures before anything is sampled.

    :param scale: "mad", the median absolute deviation from the median, or "sd", the standard
        deviation
    :param at: of simulations from the prior, or of those at a tolerance that a pilot reaches
    :param simulations: how many
    """

    def __init__(self, scale: Scale, at: At, simulations: int) -> None:
        for name, value, words in (("scale", scale, get_args(Scale)), ("at", at, get_args(At))):
            if value not in words:
                wanted = " or ".join(f'"{word}"' for word in words)
                raise InputError(f"{name} must be {wanted}, got {value!r}")
        self.scale, self.at = scale, at
        self.simulations = whole_number("simulations", simulations, FEWEST_SIMULATIONS)

    @abstractmethod
    def scaled(self, scales: Floats) -> Callable[[Any, Any], float]:
        """The distance itself, once the scales are known; 0 stands for what does not count."""

    def __call__(self, simulated: Any, observed: Any) -> float:
        """Nobody can know yet."""
        raise InputError(
            f'this distance has no scales yet: aptmc.Abc measures them (scale="{self.scale}"); '
            "give scales of your own by weights=1 / scales"
        )
