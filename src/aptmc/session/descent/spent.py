"""What was spent on a stage of a descent, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

KNOWN_BEFORE = 16.0  # what a step took on the stage before counts as much as so many steps


@final
@dataclass
class Spent:
    """On all steps of a stage."""

    steps: float = 0.0
    accepted: float = 0.0  # hits
    simulations: float = 0.0
    seconds: float = 0.0
    seconds_per_step_before: float = 0.0

    def heard(self, steps: float, hits: float, simulations: float, seconds: float) -> None:
        """Some steps are over."""
        self.steps += steps
        self.accepted += hits
        self.simulations += simulations
        self.seconds += seconds

    @property
    def seconds_per_step(self) -> float:
        """What a step takes.

        Steps that the prior refuses take no time. If a stage's first ones were all such, a unit of
        very many steps would follow.
        """
        before = KNOWN_BEFORE * self.seconds_per_step_before
        return (before + self.seconds) / (KNOWN_BEFORE + self.steps)

    def next_stage(self) -> Spent:
        """Nothing yet."""
        return Spent(seconds_per_step_before=self.seconds_per_step)

    def numbers(self) -> list[float]:
        """For another sitting."""
        return [self.steps, self.accepted, self.simulations, self.seconds]

    @classmethod
    def recalled(cls, numbers: list[float], seconds_per_step: float) -> Spent:
        """What another has spent on the present stage."""
        steps, accepted, simulations, seconds = numbers
        return cls(steps, accepted, simulations, seconds, seconds_per_step)
