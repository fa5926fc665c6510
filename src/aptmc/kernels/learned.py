"""What proposals learn from what the rungs have seen: a covariance, and a scale for the right
acceptance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats, FloatTable, FloatTables, Integers
from aptmc.kernels.jumps import Fitted, first_fit
from aptmc.kernels.seen import FEWEST_DRAWS, Seen

# The best share of accepted steps of a random walk: in one dimension, and in many.
BEST_IN_ONE, BEST_IN_MANY = 0.44, 0.234
LARGEST_CHANGE = 10.0  # of a scale from one round to the next
RIDGE = 1e-6


@final
@dataclass(frozen=True, eq=False)
class Learned:
    """By rung: the covariance of what was seen, and how much larger steps are to be than that."""

    covariances: FloatTables
    scales: Floats
    fitted: Fitted | None = None  # mixtures like what was seen, for kernels that jump

    @classmethod
    def begun(cls, spread: Floats, rungs: int, scale: float) -> Learned:
        """What is assumed before anything was seen: parameters that are independent."""
        return cls(np.tile(np.diag(spread**2), (rungs, 1, 1)), np.full(rungs, scale))

    def after(self, seen: Seen, *, tunes_acceptance: bool, jumps: bool) -> Learned:
        """The same, corrected by what a round has seen of each rung."""
        covariances, scales = self.covariances.copy(), self.scales.copy()
        acceptance, dimension = seen.acceptance, covariances.shape[-1]
        if seen.step_sizes is not None:
            scales = scales * seen.step_sizes
        for rung, draws in enumerate(seen.states):
            if len(draws) < FEWEST_DRAWS:
                continue
            covariances[rung] = covariance(draws, covariances[rung])
            if tunes_acceptance and seen.is_moving(rung):
                target = best_acceptance(dimension)
                scales[rung] = better_scale(scales[rung], acceptance[rung], target)
        if not jumps:
            return Learned(covariances, scales)
        if self.fitted is None:
            return Learned(covariances, scales, first_fit(seen.states, covariances))
        return Learned(covariances, scales, self.fitted.after(seen.states))

    def respaced(self, nearest: Integers) -> Learned:
        """For other rungs, what the nearest of these have learnt."""
        covariances, scales = self.covariances[nearest].copy(), self.scales[nearest].copy()
        fitted = None if self.fitted is None else self.fitted.respaced(nearest)
        return Learned(covariances, scales, fitted)

    @property
    def steps(self) -> FloatTables:
        """By rung: the covariance of the steps to propose."""
        return np.asarray(self.covariances * (self.scales**2)[:, None, None])

    @property
    def as_given(self) -> dict[str, Any]:
        """By name: what one would give to a kernel that does not learn."""
        given: dict[str, Any] = {"scale": None, "covariance": self.steps}
        return given if self.fitted is None else given | {"reference": self.fitted.proposals}


def best_acceptance(dimension: int) -> float:
    """The share of accepted steps to aim for."""
    return BEST_IN_MANY + (BEST_IN_ONE - BEST_IN_MANY) / dimension


def usual_scale(dimension: int) -> float:
    """What to multiply a target's standard deviations with."""
    return float(2.38 / np.sqrt(dimension))


def covariance(draws: FloatTable, before: FloatTable) -> FloatTable:
    """The covariance of a rung's draws, drawn towards what was believed before if they are few.

    A state in which chains stayed is one, however often it was drawn.
    """
    count, dimension = np.unique(draws[:, 0]).size, draws.shape[1]
    if count < 2:
        return before
    own = np.atleast_2d(np.cov(draws, rowvar=False))
    spread = np.diag(np.diag(own))
    weight = count / (count + 10.0 * dimension)
    # Correlations need more draws than variances do.
    mixed = weight * own + (1.0 - weight) * np.where(weight > 0.5, spread, before)
    floor = RIDGE * np.maximum(np.diag(mixed), np.diag(before) * RIDGE)
    return np.asarray(mixed + np.diag(np.maximum(floor, 1e-300)))


def better_scale(scale: float, accepted: float, target: float) -> float:
    """The scale at which a random walk would be accepted as often as wanted.

    For a normal target of many dimensions the acceptance is 2 Phi(-c * scale) with some c, which
    one measurement tells.
    """
    from scipy.special import ndtri  # which a worker, who does not learn, has no need to load

    accepted = min(max(accepted, 0.005), 0.995)
    change = float(ndtri(target / 2.0) / ndtri(accepted / 2.0))
    return scale * min(max(change, 1.0 / LARGEST_CHANGE), LARGEST_CHANGE)
