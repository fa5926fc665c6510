"""The course of an annealing: first states, power by power to the posterior, windows there."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import final

import numpy as np
from typing_extensions import override

from aptmc.compiled import FloatTable, FloatTables
from aptmc.keys import WARMUP, Key
from aptmc.problem import Problem
from aptmc.warmup.annealing.batches import Batch
from aptmc.warmup.annealing.guide import Guide
from aptmc.warmup.annealing.next_power import next_power
from aptmc.warmup.annealing.windows import MOVES_OF_STUCK, Windows

# Where a window is so long, and its draws are worth less than half of it, others are of no use.
HOPELESS, MOVES_OF_HOPELESS = 0.5, 24
ENOUGH_MOVES, ENOUGH_PER_DIMENSION = 300, 20.0  # of all chains, to have learnt a shape
# Of the time for windows, for those at the hottest power, of which there are no draws at first.
AT_FIRST = 0.4


@final
class Annealing(Windows):
    """A population that goes from the prior to the posterior.

    :param first_level: of a problem without a prior, where it begins; 0: the prior
    :param by_clock: whether a clock says how long moves take
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
        by_clock: bool = False,
        has_other: bool = False,
    ) -> None:
        size = max(guide.fewest, 2 * processors + 2)
        self._has_other, self._windows_until = has_other, windows_until
        self._rng = Key(seed, 2, 0, WARMUP).generator()
        self._log_weights = np.zeros(size)
        self.is_complete = False  # not given up in the midst
        self.last = np.empty((0, problem.width))  # states, of each particle the last
        super().__init__(
            problem, guide, seed,
            level=first_level, size=size, by_clock=by_clock, most=most,
        )  # fmt: skip

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
            self.note(rows)
        while self.level < 1.0:
            before = self.level
            self.level, weights = next_power(before, rows[:, self._value])
            guide.level = self.level
            yield from guide.learn(rows[weights > 0.0], weights[weights > 0.0])
            rows = self._without_the_lost(rows, self.level - before)
            self._tell_power()
            rows = (yield from self.moved(rows, guide.on_the_way, None))[:, -1]
            self.note(rows)
        self.last = yield from self._windows(rows, self._windows_until)
        self.mixes, self.is_complete = self.mixes and begins_well, True

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
        while number == 0 or self.has_time_for(moves, until):
            self._tell_power()
            seen = yield from self.looked_at(rows, moves, number)
            rows = seen[:, -1]
            enough = max(ENOUGH_MOVES, ENOUGH_PER_DIMENSION * self.problem.dimension)
            if self.mixes and seen.shape[0] * moves >= enough:
                break
            is_sure = moves >= MOVES_OF_STUCK or self.level == 1.0
            if self.is_stuck and self._has_other and is_sure:
                break
            if guide.gives_up and moves >= MOVES_OF_HOPELESS and self.alike > HOPELESS * moves:
                break
            number, moves = number + 1, 2 * moves
        return rows

    def _tell_power(self) -> None:
        share = math.log(max(self.level, 1e-6) / 1e-6) / math.log(1e6)
        self.tell(f"from the prior to the posterior: power {self.level:.2g}", share)
