"""What a round of the warm-up has seen of each rung: all that a kernel may learn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats, FloatTable

FEWEST_DRAWS = 8  # of a rung, before anything is learnt from them


class Seen(NamedTuple):
    """One entry for each rung, coldest first."""

    levels: tuple[float, ...]
    states: list[FloatTable]  # parameters that its chains moved to, one row each; at least one row
    moves: Floats  # how many were completed
    steps: Floats  # how many local steps those took
    accepted: Floats  # how many of them were accepted
    statistics: Mapping[str, Floats]  # the kernel's own, by name, added up
    reference_level: float | None = None  # where a step is a draw from the reference, if anywhere
    step_sizes: Floats | None = None  # that led farthest in a descent, in standard deviations
    support: tuple[Floats, Floats] | None = None  # lower and upper bounds of the parameters
    # Parameters from all rungs, chosen for each by weights, for kernels that `learns_from_all`.
    by_all: list[FloatTable] | None = None

    @property
    def acceptance(self) -> Floats:
        """The share of steps that were accepted; NaN where there were none."""
        rates = np.full(self.steps.size, np.nan)
        np.divide(self.accepted, self.steps, out=rates, where=self.steps > 0)
        return rates

    def is_moving(self, rung: int) -> bool:
        """Whether so many steps of the kernel were seen that one may learn from them."""
        enough = self.moves[rung] >= FEWEST_DRAWS and self.steps[rung] > 0
        return bool(enough and self.levels[rung] != self.reference_level)
