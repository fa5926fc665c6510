"""What lanes know: columns of numbers with a place for each lane.

Lane l of rung r and group g is number r * groups + g. Its two chains, a and b, are chains 2 l and
2 l + 1 of the run. One of them is in flight at any time, the other waits. The columns lie one after
the other, so that neighbouring lanes of a machine read neighbouring numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, final

import numpy as np

from aptmc.compiled import FloatTable, IntegerTable

CHANCE_UNIT = 1 << 20  # chances are added up as whole numbers, so that order does not matter
WORDS = 4  # of a lane's generator


class Whole(IntEnum):
    """The columns of whole numbers. Those of two chains come in pairs, a's first."""

    FLYING = 0  # which chain is in flight: 0 or 1
    UNDER_WAY = 1  # whether its move has begun; otherwise it will at the next tick
    AGE = 2  # for how many ticks its move has been computed
    STARTED = 3  # and 4: the number of each chain's last move, which is part of its key
    DONE = 5  # moves completed
    ACCEPTED = 6
    SIMULATIONS = 7
    STEPS = 8  # of simulations, or evaluations of a density
    FAILURES = 9
    BROKEN = 10  # whether it stands still because its move failed
    CHANCE = 11  # that this rung would have swapped with the next warmer one, added up
    JOURNEY = 12  # and 13: the end of the ladder that each chain's state visited last
    TRIPS = 14  # round trips of states that came to this lane
    COUNT = 15  # what a kernel counts beside follows: in units of 1 / CHANCE_UNIT


@final
@dataclass(frozen=True)
class Places:
    """Where in the columns of real numbers what begins."""

    dimension: int
    size: int  # of a simulation's state, or of a move's memory
    statistics: int = 0  # of a kernel's own

    @property
    def here(self) -> int:
        """Parameters of chain a, then those of b."""
        return 0

    @property
    def value(self) -> int:
        """What exchanges look at, of a and b."""
        return 2 * self.dimension

    @property
    def log_prior(self) -> int:
        """Log prior density of a and b."""
        return self.value + 2

    @property
    def there(self) -> int:
        """The parameters that the move under way has proposed."""
        return self.log_prior + 2

    @property
    def value_there(self) -> int:
        """The value there."""
        return self.there + self.dimension

    @property
    def log_prior_there(self) -> int:
        """The log prior density there."""
        return self.value_there + 1

    @property
    def state(self) -> int:
        """What the simulation under way keeps, or the move."""
        return self.log_prior_there + 1

    @property
    def count(self) -> int:
        """How many columns of real numbers there are."""
        return self.state + self.size

    @property
    def wholes(self) -> int:
        """How many columns of whole numbers there are."""
        return int(Whole.COUNT) + self.statistics

    def bytes_of_lane(self, bits: int) -> int:
        """How much memory a lane takes."""
        return self.count * bits // 8 + self.wholes * 8 + WORDS * 4


class Lanes(NamedTuple):
    """The columns of all lanes."""

    reals: FloatTable
    wholes: IntegerTable
    words: np.ndarray  # four half words for each lane: its generator


def states_in(lanes: Lanes, places: Places) -> FloatTable:
    """The states of all chains as rows, one after the other: parameters, value, log prior."""
    dimension = places.dimension
    sides = [
        np.vstack([
            lanes.reals[side * dimension : (side + 1) * dimension],
            lanes.reals[[places.value + side, places.log_prior + side]],
        ]).T
        for side in range(2)
    ]  # fmt: skip
    return np.stack(sides, axis=1).reshape(2 * lanes.reals.shape[1], dimension + 2)


def put_states(lanes: Lanes, places: Places, rows: FloatTable) -> None:
    """Have all chains stand where these rows say."""
    dimension = places.dimension
    both = rows.reshape(lanes.reals.shape[1], 2, -1)
    for side in range(2):
        lanes.reals[side * dimension : (side + 1) * dimension] = both[:, side, :dimension].T
        lanes.reals[places.value + side] = both[:, side, dimension]
        lanes.reals[places.log_prior + side] = both[:, side, dimension + 1]


def empty_lanes(places: Places, lanes: int) -> Lanes:
    """Lanes whose chains have no states yet."""
    return Lanes(
        np.zeros((places.count, lanes)),
        np.zeros((places.wholes, lanes), np.int64),
        np.zeros((WORDS, lanes), np.uint32),
    )
