"""The course of an annealing: first states, power by power to the posterior, windows there."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, NamedTuple, final

import numpy as np
from typing_extensions import override

from aptmc.compiled import FloatTable, FloatTables
from aptmc.keys import WARMUP, Key
from aptmc.problem import Problem
from aptmc.problem.chain_state import value_column
from aptmc.problem.unbounded import places_on_line
from aptmc.warmup.annealing.batches import Batch, Batches
from aptmc.warmup.annealing.guide import Guide
from aptmc.warmup.annealing.next_power import next_power

# Chains get about by themselves if a draw is worth that of so many moves at most, measured in a
# window that is this many times as long.
MOST_MOVES, WINDOW_OF = 8.0, 4.0
FEWEST_MOVES_TO_TELL = 12
# Where a window is so long, and its draws are worth less than half of it, others are of no use.
HOPELESS, MOVES_OF_HOPELESS = 0.5, 24
# They are stuck where the means of their windows differ nearly as single states would. Where there
# is no time for windows of so many moves, shorter ones must show it more clearly.
STUCK, MOVES_OF_STUCK, STUCK_SOON = 0.8, 6, 0.95
ENOUGH_MOVES, ENOUGH_PER_DIMENSION = 300, 20.0  # of all chains, to have learnt a shape
# Of the time for windows, for those at the hottest power, of which there are no draws at first.
AT_FIRST = 0.4


class Annealed(NamedTuple):
    """What was seen at a power."""

    level: float
    rows: FloatTable  # states
    found: Any  # by the guide


@final
class Annealing(Batches):
    """A population that goes from the prior to the posterior.

    :param first_level: of a problem without a prior, where it begins; 0: the prior
    :param windows_until: when no more windows begin, from the beginning
    :param most: time for it all; what is not complete by then is given up
    :param has_other: whether another kernel is ready for chains that are stuck, so that no more
        windows are needed to see that they are
    """

    def __init__(
        self,
        problem: Problem,
        guide: Guide,
        seed: int,
        *,
        first_level: float,
        processors: int,
        windows_until: float,
        most: float,
        has_other: bool = False,
    ) -> None:
        self.problem, self.guide = problem, guide
        self._has_other = has_other
        self._windows_until, self._processors = windows_until, processors
        self.level = first_level
        self.size = max(guide.fewest, 2 * processors + 2)
        self._value = value_column(problem.dimension)
        self._rng = Key(seed, 2, 0, WARMUP).generator()
        self._log_weights = np.zeros(self.size)
        self.stages: list[Annealed] = []  # hottest first
        self.mixes = False  # whether chains get about in the posterior by themselves
        self.is_stuck = False  # whether they were seen to stay where they began
        super().__init__(seed, most)

    @property
    def has_arrived(self) -> bool:
        """Whether it came to the posterior."""
        return bool(self.stages) and self.stages[-1].level == 1.0

    @override
    def has_found(self, count: int, wanted: int) -> None:
        self.tell(f"first states: {count} of {wanted}", count / wanted)

    # --- the course ---------------------------------------------------------------------------

    @override
    def course(self) -> Generator[Batch, FloatTables, None]:
        guide = self.guide
        nowhere = np.full((self.size, self.problem.width), np.nan)
        rows = (yield Batch(nowhere, 1, self.level, guide.numbers))[:, 0]
        guide.begin(rows)
        begins_well = True
        if self.level > 0.0:  # of which these states are no draws
            guide.level = self.level
            until = AT_FIRST * self._windows_until
            rows = yield from self._windows(rows, until)
            begins_well = self.mixes
        else:
            self._note(rows)
        while self.level < 1.0:
            before = self.level
            self.level, weights = next_power(before, rows[:, self._value])
            guide.level = self.level
            yield from guide.learn(rows[weights > 0.0], weights[weights > 0.0])
            rows = self._without_the_lost(rows, self.level - before)
            rows = (yield from self._moved(rows, guide.on_the_way, None))[:, -1]
            self._note(rows)
        yield from self._windows(rows, self._windows_until)
        self.mixes = self.mixes and begins_well

    def _without_the_lost(self, rows: FloatTable, step: float) -> FloatTable:
        """Particles whose likelihood is zero become others, or whose place has next to no weight.

        To draw all of them anew by their weights would be to lose modes by chance: of those that
        are left behind a population forgets one after the other.
        """
        with np.errstate(invalid="ignore"):
            self._log_weights = self._log_weights + step * rows[:, self._value]
        possible = np.isfinite(self._log_weights)
        if not possible.any():
            return rows
        least = np.median(self._log_weights[possible]) - self.guide.hopeless
        lost = ~(self._log_weights >= least) | ~possible
        others = self._rng.choice(np.flatnonzero(~lost), int(lost.sum()))
        rows = rows.copy()
        rows[lost], self._log_weights[lost] = rows[others], self._log_weights[others]
        return rows

    def _windows(self, rows: FloatTable, until: float) -> Generator[Batch, FloatTables, FloatTable]:
        """Stay at the present power until its shape is known, or there is no time for more."""
        guide, number, moves = self.guide, 0, self.guide.first_window
        self.is_stuck = False
        if len(np.unique(rows, axis=0)) > len(rows) // 2:  # not all from one given start
            yield from guide.learn(rows, np.ones(len(rows)))
        while number == 0 or self._has_time_for(moves, until):
            seen = yield from self._moved(rows, moves, number)
            rows, everything = seen[:, -1], seen.reshape(-1, seen.shape[2])
            alike = self._alike(seen)
            told = moves >= FEWEST_MOVES_TO_TELL
            gets_about = told and alike <= min(MOST_MOVES, moves / WINDOW_OF)
            self.mixes = gets_about and guide.knows_one_mode(moves)
            self.is_stuck = alike > (STUCK if moves >= MOVES_OF_STUCK else STUCK_SOON) * moves
            yield from guide.learn_from_window(seen, gets_about=gets_about)
            if self.stages and self.stages[-1].level == self.level:
                self.stages.pop()
            self._note(everything)
            enough = max(ENOUGH_MOVES, ENOUGH_PER_DIMENSION * self.problem.dimension)
            if self.mixes and len(everything) >= enough:
                break
            if self.is_stuck and self._has_other and moves >= MOVES_OF_STUCK:
                break
            if guide.gives_up and moves >= MOVES_OF_HOPELESS and alike > HOPELESS * moves:
                break
            number, moves = number + 1, 2 * moves
        return rows

    def _moved(
        self, rows: FloatTable, moves: int, window: int | None
    ) -> Generator[Batch, FloatTables, FloatTables]:
        """By state and move: where it has moved to."""
        share = math.log(max(self.level, 1e-6) / 1e-6) / math.log(1e6)
        self.tell(f"from the prior to the posterior: power {self.level:.2g}", share)
        guide = self.guide
        guide.make_ready(window)
        seen = yield Batch(rows, moves, self.level, guide.numbers, guide.heard)
        guide.settle()
        return seen

    def _note(self, rows: FloatTable) -> None:
        self.stages.append(Annealed(self.level, rows.copy(), self.guide.found))

    def _has_time_for(self, moves: int, until: float) -> bool:
        takes = self.seconds_per_move * self.size * moves / self._processors
        return self.elapsed + takes <= until

    def _alike(self, seen: FloatTables) -> float:
        """For how many moves a draw counts: how soon chains forget where they began, by the spread
        of their means.
        """
        chains, moves = seen.shape[:2]
        flat = seen.reshape(chains * moves, -1)
        theta = flat[:, : self.problem.dimension]
        places, inside = places_on_line(theta, *self.problem.support)
        values = np.column_stack([places, flat[:, self._value]])
        if not inside.all() or not np.isfinite(values).all():
            return math.inf
        means = values.reshape(chains, moves, -1).mean(axis=1)
        alike = moves * means.var(axis=0, ddof=1) / np.maximum(values.var(axis=0), 1e-300)
        return float(alike.max())
