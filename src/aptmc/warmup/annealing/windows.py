"""Windows: the moves of a population that stays where it is, and what they tell of its kernel."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from aptmc.compiled import Floats, FloatTable, FloatTables
from aptmc.kernels.base import STEPS, Kernel
from aptmc.problem import Problem
from aptmc.problem.chain_state import value_column
from aptmc.problem.unbounded import places_on_line
from aptmc.session.orders import Outcome
from aptmc.warmup.annealing.batches import Batch, Batches
from aptmc.warmup.annealing.guide import Guide
from aptmc.warmup.getting_about import FEWEST_MOVES, slowest_of

# Chains get about by themselves if a draw is worth that of so many moves at most, measured in a
# window that is this many times as long.
MOST_MOVES, WINDOW_OF = 8.0, 4.0
FEWEST_MOVES_TO_TELL = 12
# They are stuck where the means of their windows differ nearly as single states would. Where there
# is no time for windows of so many moves, shorter ones must show it more clearly.
STUCK, MOVES_OF_STUCK, STUCK_SOON = 0.8, 6, 0.95
# Seconds: what takes less by the clock is timed in orders of several steps, else one would time how
# an order is begun.
LONG_ENOUGH, MOST_STEPS = 1e-3, 1000.0


class Annealed(NamedTuple):
    """What was seen at a power."""

    level: float
    rows: FloatTable  # states
    found: Any  # by the guide


class Windows(Batches):
    """A population that moves as its guide has it, and that is looked at in windows.

    :param size: how many there are
    :param by_clock: whether a clock says how long moves take, and not the work they count
    :param most: time for it all; what is not complete by then is given up
    """

    def __init__(
        self, problem: Problem, guide: Guide, seed: int, *,
        level: float, size: int, by_clock: bool, most: float,
    ) -> None:  # fmt: skip
        self.problem, self.guide, self.level, self.size = problem, guide, level, size
        self._by_clock, self._all_take = by_clock, 0.0  # for a move of all of them
        self._value = value_column(problem.dimension)
        self.stages: list[Annealed] = []  # hottest first
        self.mixes = False  # whether chains get about at the present power by themselves
        self.is_stuck = False  # whether they were seen to stay where they began
        self.alike = math.inf  # for how many moves a draw counts there
        # What a draw takes of the budget at the present power: the time of as many moves as chains
        # need to forget where they were.
        self.price = math.inf
        super().__init__(seed, most)

    def moved(
        self, rows: FloatTable, moves: int, window: int | None
    ) -> Generator[Batch, FloatTables, FloatTables]:
        """By state and move: where it has moved to.

        :param window: its number; None: on the way
        """
        guide, began = self.guide, self.elapsed
        guide.make_ready(window)
        seen = yield Batch(rows, moves, self.level, guide.numbers, guide.heard)
        guide.settle()
        self._all_take = (self.elapsed - began) / moves
        return seen

    def looked_at(
        self, rows: FloatTable, moves: int, number: int
    ) -> Generator[Batch, FloatTables, FloatTables]:
        """A window: the same, and what it tells."""
        guide = self.guide
        seen = yield from self.moved(rows, moves, number)
        takes = yield from self._time_of_move(seen[:, -1])
        alike = self.alike = self._alike(seen)
        told = moves >= FEWEST_MOVES_TO_TELL
        gets_about = told and alike <= min(MOST_MOVES, moves / WINDOW_OF)
        self.mixes = gets_about and guide.knows_one_mode(moves)
        self.is_stuck = alike > (STUCK if moves >= MOVES_OF_STUCK else STUCK_SOON) * moves
        self.price = takes * self._forgotten(seen)
        yield from guide.learn_from_window(seen, gets_about=gets_about)
        if self.stages and self.stages[-1].level == self.level:
            self.stages.pop()
        self.note(seen.reshape(-1, seen.shape[2]))
        return seen

    def kernel(self) -> Kernel:
        """One that has learnt what was seen at each power, coldest first, and learns on."""
        return self.guide.kernel([stage.found for stage in reversed(self.stages)])

    def note(self, rows: FloatTable) -> None:
        """Keep what was seen at the present power."""
        self.stages.append(Annealed(self.level, rows.copy(), self.guide.found))

    def has_time_for(self, moves: int, until: float) -> bool:
        """Whether a window of so many moves would be over by then."""
        return self.elapsed + self._all_take * moves <= until

    def _time_of_move(self, rows: FloatTable) -> Generator[Batch, FloatTables, float]:
        """How long a move takes, without what it takes to begin one."""
        if not self._by_clock:
            return self.seconds_per_move
        usual = self.took
        takes = typical(usual)
        if takes >= LONG_ENOUGH:
            return takes
        steps = min(math.ceil(LONG_ENOUGH / max(takes, LONG_ENOUGH / MOST_STEPS)), MOST_STEPS)

        def numbers() -> Floats:
            row = self.guide.numbers().copy()
            row[STEPS] = steps
            return row

        yield Batch(rows, 1, self.level, numbers, _heard_nothing)
        steps_take, self.took = typical(self.took) / steps, usual
        return min(steps_take, takes)

    def _alike(self, seen: FloatTables) -> float:
        """For how many moves a draw counts: how soon chains forget where they began, by the spread
        of their means. Not more than the window has.
        """
        values, moves = self._looked_at(seen), seen.shape[1]
        if not np.isfinite(values).all():
            return math.inf
        means = values.mean(axis=1)
        spread = np.maximum(values.var(axis=(0, 1)), 1e-300)
        return float((moves * means.var(axis=0, ddof=1) / spread).max())

    def _forgotten(self, seen: FloatTables) -> float:
        """The same, by what single moves change: it may be more than the window has."""
        values = self._looked_at(seen)
        few = seen.shape[0] * (seen.shape[1] - 1) < FEWEST_MOVES
        if few or not np.isfinite(values).all():
            return math.inf
        before, after = values[:, :-1], values[:, 1:]
        return slowest_of(*(part.reshape(-1, values.shape[2]) for part in (before, after)))

    def _looked_at(self, seen: FloatTables) -> FloatTables:
        """By state and move: parameters on the whole real line, and the value of the state."""
        theta = seen[..., : self.problem.dimension].reshape(-1, self.problem.dimension)
        places, _ = places_on_line(theta, *self.problem.support)
        values = np.column_stack([places, seen[..., self._value].ravel()])
        return values.reshape(*seen.shape[:2], -1)


def typical(took: FloatTable) -> float:
    """How long a move takes as a rule, where programs beside may hold up some of them.

    :param took: of each, how long it took and how much work that was
    """
    seconds, work = took.T
    if not (work > 0.0).all():
        return float(np.median(seconds))
    return float(np.median(seconds / work) * work.mean())


def _heard_nothing(outcome: Outcome, is_late: bool) -> None:
    """Nothing is learnt from moves that are only timed."""
