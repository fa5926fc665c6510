"""A reference: a distribution that one can draw from, at the far end of the ladder.

A problem with a reference can start chains there, make independent draws on its last rung, and
knows how far apart likely values are before anything is sampled. A prior is one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats, FloatTable
from aptmc.targets import Target

SPREAD_DRAWS = 1000


class ReferenceFunctions(NamedTuple):
    """What kernels use of a reference."""

    log_density: Callable[..., float]  # of coordinates
    draw: Callable[..., None]  # with a generator, into the beginning of a row


class Reference(ABC):
    """A distribution of the coordinates, with a density and independent draws."""

    @property
    @abstractmethod
    def is_compiled(self) -> bool:
        """Whether compiled code can evaluate it and draw from it."""

    @property
    @abstractmethod
    def support(self) -> tuple[Floats, Floats]:
        """The ends of the support, lower and upper, of every coordinate."""

    @abstractmethod
    def log_density(self, theta: npt.ArrayLike) -> Any:
        """The log density at some coordinates, along the last axis."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, size: int | None = None) -> Floats | FloatTable:
        """One draw of the coordinates, or `size` of them."""

    @abstractmethod
    def functions(self, target: Target) -> ReferenceFunctions:
        """Log density and draw for kernels, as the target computes them.

        Where the reference can be compiled, both draw the same numbers.
        """

    @final
    def spread(self, rng: np.random.Generator) -> Floats:
        """About the standard deviations, as far as they can be told by drawing."""
        draws = self.draw(rng, SPREAD_DRAWS)
        # Heavy tails have no variance; quartiles they have.
        low, high = np.quantile(draws, [0.25, 0.75], axis=0)
        return np.asarray(np.maximum((high - low) / 1.349, 1e-300))
