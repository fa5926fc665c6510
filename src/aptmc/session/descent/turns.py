"""Turns: who moves next, and how many steps a turn has. Both are fixed before a turn begins.

A stage that ended when so many had hit, or a particle that went on until it had, would ask where
hits are frequent: there particles would be too many, or too few. So each copy has one turn on a
stage, and all turns have the same number of steps, which is known from the stages before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.session.descent.population import Population

NOBODY = -1  # has the turns that only tell what hits cost
# So many of all turns are to lead somewhere. Fewer make it cheaper to go down, but then chance
# changes the weight of a mode by more: `docs/tuning.md`.
ENOUGH = 0.68
FIRST = 2.0  # steps of a turn, before anything is known
STEEPEST = 4.0  # times as many as before
# If fewer turns than these led anywhere, all copies have another one.
TOO_FEW = 0.5
MOST_STEPS = 1e5


@final
@dataclass
class Turn:
    """The steps of one particle, in the course of which it is away."""

    place: int
    size: int  # of steps
    level: float  # when it began
    log_mass: float  # of that level
    stage: int  # how many there had been then
    to_go: float  # steps
    state: Floats  # so far
    is_copy: bool  # of this stage
    far: float = 0.0  # that it has led so far, in standard deviations of the population


@final
class Turns:
    """The turns of a stage, and those of earlier ones that are not over."""

    def __init__(self) -> None:
        self.steps = FIRST  # of a turn
        self._rate = 0.0  # at which a step led somewhere on the last stage, 0 if nobody knows
        self._fall = 0.0  # of its logarithm, from stage to stage
        self._going_on: list[Turn] = []  # who is between two orders
        self.under_way: list[Turn] = []  # all that have begun and are not over
        self._last = np.zeros(0)
        self._is_copy = np.zeros(0, np.bool_)  # of this stage, moved since or not
        self._count = 0
        self._copies = self._copies_over = 0  # of this stage
        self._over = self._hit = self._far = 0.0

    def begin_stage(self, population: Population) -> None:
        """Nobody has moved."""
        if self._last.size != population.size:
            self._last = np.zeros(population.size)
        self._is_copy = population.has_turn.copy()
        self._copies = self._copies_over = 0
        self._over = self._hit = self._far = 0.0

    def going_on(self) -> Turn | None:
        """A turn that has begun and needs another order: of the oldest, since others have gone on
        without it."""
        return self._going_on.pop(0) if self._going_on else None

    def begin(
        self, population: Population, size: int, level: float, log_mass: float, stage: int
    ) -> Turn:
        """The next turn; who has no turn of its own tells what hits cost."""
        place = population.choose(self._last)
        if place is None:
            return self.idle(population.rows[-1], size, level, log_mass, stage)
        self._count += 1
        self._last[place] = self._count
        is_copy = bool(population.has_turn[place])
        self._is_copy[place] |= is_copy
        self._copies += is_copy
        population.begin(place)
        state = population.rows[place].copy()
        turn = Turn(place, size, level, log_mass, stage, self.steps, state, is_copy)
        self.under_way.append(turn)
        return turn

    def idle(self, state: Floats, size: int, level: float, log_mass: float, stage: int) -> Turn:
        """A turn of nobody, who begins like somebody: of what comes of it, the costs are kept."""
        return Turn(NOBODY, size, level, log_mass, stage, self.steps, state.copy(), False)

    def heard(self, turn: Turn, steps: float, row: Floats | None, far: float) -> bool:
        """What some steps of a turn came to; gives whether it is over.

        :param row: None, if they led nowhere
        """
        turn.to_go -= steps
        turn.far += far
        if row is not None:
            turn.state = row
        if turn.place == NOBODY:
            return False
        if turn.to_go > 0.0:
            self._going_on.append(turn)
            self._going_on.sort(key=lambda each: each.stage)
            return False
        self.under_way.remove(turn)
        return True

    def count(self, turn: Turn) -> None:
        """A turn of this stage is over."""
        self._over += 1.0
        self._copies_over += turn.is_copy
        self._hit += turn.far > 0.0
        self._far += min(turn.far, 1.0)

    def are_over(self, population: Population, stage: int) -> bool:
        """Whether nobody has to be sent out any more, and half of the copies have come home.

        Who has not is away, and comes home later.
        """
        if population.has_turn.any() or any(turn.stage == stage for turn in self._going_on):
            return False
        return 2 * self._copies_over >= self._copies

    @property
    def are_too_short(self) -> bool:
        """Whether hardly any has led anywhere."""
        return self._over > 0.0 and self._far < TOO_FEW * self._over and self.steps < MOST_STEPS

    def again(self, population: Population) -> None:
        """Longer turns for all copies that are at home, on the same level."""
        self.adapt()
        whose = self._is_copy & ~population.is_away
        self.begin_stage(population)
        population.has_turn[whose] = True

    def adapt(self) -> None:
        """So many steps from now on that enough turns lead somewhere.

        Hits become fewer from stage to stage, as many times fewer as before. Where some particles
        hit far less often than others, turns would be too short for these again and again.
        """
        if self._over == 0.0:
            return
        share = min(self._far / self._over, 1.0 - 0.5 / self._over)
        before, self._rate = self._rate, -math.log1p(-share) / self.steps
        if before > 0.0 and self._rate > 0.0:
            self._fall = 0.5 * (self._fall + max(math.log(before / self._rate), 0.0))
        expected = self._rate * math.exp(-self._fall)
        longest = self.steps * STEEPEST
        steps = min(-math.log1p(-ENOUGH) / expected, longest) if expected > 0.0 else longest
        self.steps = min(max(round(steps), 1.0), MOST_STEPS)

    def even_hits(self, hits: float, steps: float) -> float:
        """As many hits would have led so many of the turns somewhere, if all hit equally often.

        Where some hit far more often than others, most hits are theirs and tell nothing new.

        :param hits: in all
        :param steps: in all
        """
        if self._over == 0.0 or self._hit == self._over:
            return hits
        each = -math.log1p(-self._hit / self._over) / self.steps
        return min(hits, each * steps)

    def memory(self, width: int) -> FloatTable:
        """All that have begun and are not over, for another sitting, and how long turns are."""
        rows = [
            [turn.place, turn.size, turn.level, turn.log_mass, turn.stage, turn.to_go,
             turn.is_copy, turn.far, *turn.state]
            for turn in self.under_way
        ]  # fmt: skip
        now = [self.steps, self._copies, self._copies_over, self._over, self._hit, self._far]
        return np.array([[*now, self._rate, self._fall, *np.zeros(width)], *rows])

    def recall(self, memory: FloatTable, population: Population) -> None:
        """Go on with the turns of another. What was under way is ordered again."""
        self.begin_stage(population)
        (
            self.steps, copies, over, self._over, self._hit, self._far, self._rate, self._fall,
        ) = memory[0, :8].tolist()  # fmt: skip
        self._copies, self._copies_over = int(copies), int(over)
        for row in memory[1:]:
            place, size, level, log_mass, stage, to_go, is_copy, far = row[:8].tolist()
            turn = Turn(
                int(place), int(size), level, log_mass, int(stage), to_go, row[8:].copy(),
                is_copy > 0.0, far,
            )  # fmt: skip
            population.is_away[turn.place] = True
            self.under_way.append(turn)
        self._going_on = sorted(self.under_way, key=lambda each: each.stage)
