"""A density with known answers, in the forms in which samplers ask for it.

Imported in the environments of all libraries, so nothing here knows any of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
TRUTHS = Path(__file__).with_name("truths.json")


@final
@dataclass(frozen=True)
class Density:
    """Prior times likelihood. Functions of `theta` take one point, quantities many."""

    name: str
    says: str
    parameters: tuple[str, ...]
    log_prior: Callable[[Any], float]  # compiled by numba
    log_likelihood: Callable[[Any], float]  # compiled by numba
    from_cube: Callable[[Any], Any]  # from the unit cube to a draw from the prior
    quantities: Callable[[Floats], Floats]  # of draws, one row each: a column for each quantity
    words: tuple[str, ...]  # the names of the quantities
    modes: tuple[int, ...] = ()  # which of them are weights of modes
    is_smooth: bool = False  # one mode, so that moves along gradients are enough
    evaluations: int = 100_000
    seconds: float = 10.0

    @property
    def dimension(self) -> int:
        """How many parameters."""
        return len(self.parameters)

    @property
    def truth(self) -> Truth:
        """What is known of it."""
        return Truth(**json.loads(TRUTHS.read_text(encoding="utf-8"))[self.name])

    def draw_prior(self, rng: np.random.Generator, count: int) -> Floats:
        """Points at which walkers may start."""
        cube = rng.random((count, self.dimension))
        return np.array([self.from_cube(point) for point in cube])

    def log_posterior(self, theta: Any) -> float:
        """Up to the evidence; the likelihood is not asked for where the prior is nothing."""
        log_prior = self.log_prior(theta)
        return log_prior + self.log_likelihood(theta) if math.isfinite(log_prior) else -math.inf


@final
@dataclass(frozen=True)
class Truth:
    """Means and variances of the quantities, and the log evidence if it has a meaning."""

    means: tuple[float, ...]
    variances: tuple[float, ...]
    log_evidence: float
