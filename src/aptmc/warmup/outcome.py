"""What comes out of a warm-up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.errors import StopReason
from aptmc.ladder import Ladder
from aptmc.session.descent import Reached
from aptmc.settings import Settings
from aptmc.store import Draws


class Round(NamedTuple):
    """What one round of the warm-up was like."""

    ladder: Ladder
    elapsed: float
    completions: int
    swap_rates: Floats  # of neighbours, as estimated from the draws
    acceptance_rates: Floats  # by rung, of local steps
    every: float

    @property
    def barrier(self) -> float:
        """The communication barrier: the rejection rates of all neighbours added up."""
        return float(np.nansum(1.0 - self.swap_rates))


class WarmUp(NamedTuple):
    """What came out of it, or has so far."""

    settings: Settings  # as they were found
    states: FloatTable  # for the chains of the run
    rounds: list[Round]
    draws: list[Draws]  # of the coldest rung, in order
    stopped: StopReason | None  # if it was stopped before its end
    epoch: int  # of the phase that follows
    starts: list[FloatTable] | None = None  # by rung: states from which the run settles
    reached: Reached | None = None  # how far a descent came, if there was one
