"""One leap along the gradient, of a size that is searched for in each move, forth and back.

After autoMALA (Biron-Lattes and others 2024), made symmetric as by Liu and others (2024). From the
size that was learnt one doubles, or halves, until the energy is off by as much as two uniform
numbers ask for. From where the leap leads the same search, of the momentum turned, must find the
same size, for otherwise one would not come back in the same way: then the chain stays. Of that
search one trial is known, the leap itself.

As in Pigeons the metric is taken as a whole in one move of three, without the widths of its
parameters in another, and in between in the rest: in a funnel the widths that suit all of it are
wrong in the neck by a factor that no size makes good.
"""

from __future__ import annotations

import math
from typing import Any

from aptmc.compiled import Floats
from aptmc.kernels.leaping import (
    BOUNDS,
    EXTENT,
    STEP_SIZE,
    draw_momentum,
    energy_of,
    leaping,
    tell_force,
)
from aptmc.kernels.parts import Parts
from aptmc.kernels.stages import GOES, GOES_ON, STAYS, Stages
from aptmc.problem.chain_state import accepts

# Places in the memory of a move: what is being done, the size of the next leap, how often that of
# the leap chosen was doubled and how often the present one; the log density and energy where
# trials begin; what the leap chosen changes of it; by how much a leap must and may be off, and how
# well the first was accepted. Then place, momentum and force where trials begin, where the one
# under way leads, and where the chosen one does; the row of the former; and the tuning.
(
    PHASE, SIZE, CHOSEN, TRIED, LOG_HERE, RATIO, LITTLE, MUCH, FIRST, BEGUN,
) = range(10)  # fmt: skip
AT_FIRST, DOUBLING, HALVING, BACK = range(4)
MOST_DOUBLINGS = 40.0  # and halvings, beyond which the chain stays
WHOLE, NO_WIDTHS = 1.0 / 3.0, 2.0 / 3.0  # shares of moves, added up


def searched_leap(parts: Parts) -> Stages:
    """Each stage is a trial."""
    dimension, width = parts.dimension, parts.problem.width
    begin_at, leap = leaping(parts)
    library, copy_into = parts.target.library, parts.copy_into
    push, energy, tell = library(draw_momentum), library(energy_of), library(tell_force)
    accepted = library(accepts)
    leaps, acceptance = parts.place("leaps"), parts.place("acceptance")
    divergences = parts.place("divergences")
    factor = BOUNDS + 2 * dimension
    of_point = 3 * dimension
    trial_at = BEGUN + of_point
    chosen_at = trial_at + of_point
    row_at = chosen_at + of_point
    numbers_at = row_at + width
    length = factor + dimension * (dimension + 1) // 2
    size = numbers_at + length

    def begin(
        level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
        info: Floats,
    ) -> None:  # fmt: skip
        numbers = memory[numbers_at:size]
        for i in range(length):
            numbers[i] = tuning[i]
        kind = rng.random()
        if tuning[EXTENT] > 0.0 and kind > WHOLE:
            power = 1.0 if kind < NO_WIDTHS else rng.random()
            for j in range(dimension):
                scale = numbers[factor + j * (j + 1) // 2 + j] ** -power
                for i in range(j, dimension):
                    numbers[factor + i * (i + 1) // 2 + j] *= scale
        place = memory[BEGUN : BEGUN + dimension]
        momentum = memory[BEGUN + dimension : BEGUN + 2 * dimension]
        force = memory[BEGUN + 2 * dimension : trial_at]
        log_here = begin_at(level, numbers, here, memory[row_at:numbers_at], place, force, info)
        if tuning[EXTENT] == 0.0:
            tell(dimension, here, force, there)
            return
        memory[LOG_HERE] = log_here - push(rng, dimension, momentum)
        one, other = rng.random(), rng.random()
        memory[LITTLE], memory[MUCH] = -math.log(max(one, other)), -math.log(min(one, other))
        memory[PHASE], memory[SIZE] = AT_FIRST, tuning[STEP_SIZE]
        memory[CHOSEN] = memory[TRIED] = 0.0

    def advance(
        level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, memory: Floats,
        info: Floats,
    ) -> int:  # fmt: skip
        if tuning[EXTENT] == 0.0:  # all was told at the beginning
            return GOES
        row, numbers = memory[row_at:numbers_at], memory[numbers_at:size]
        for i in range(of_point):
            memory[trial_at + i] = memory[BEGUN + i]
        place = memory[trial_at : trial_at + dimension]
        momentum = memory[trial_at + dimension : trial_at + 2 * dimension]
        force = memory[trial_at + 2 * dimension : chosen_at]
        log_there = leap(level, numbers, memory[SIZE], row, place, momentum, force, info)
        ratio = log_there - energy(dimension, momentum) - memory[LOG_HERE]
        if not ratio > -math.inf:
            ratio = -math.inf
        off, phase = abs(ratio), int(memory[PHASE])
        is_too_little, is_too_much = off < memory[LITTLE], off > memory[MUCH]
        if phase == AT_FIRST:
            memory[FIRST] = math.exp(min(ratio, 0.0))
        # What is learnt is the size to begin with: how well that is accepted, for all leaps made.
        info[leaps] += 1.0
        info[acceptance] += memory[FIRST]

        if phase == BACK:
            if memory[CHOSEN] < 0.0:
                is_same = is_too_much
            elif memory[TRIED] < memory[CHOSEN]:
                is_same = is_too_little
            else:
                is_same = not is_too_little
            if not is_same:
                return STAYS
        elif phase != DOUBLING or is_too_little:
            memory[CHOSEN], memory[RATIO] = memory[TRIED], ratio
            for i in range(of_point):
                memory[chosen_at + i] = memory[trial_at + i]
            copy_into(there, row)
            is_last = abs(memory[CHOSEN]) >= MOST_DOUBLINGS
            if is_too_little and phase != HALVING and not is_last:
                memory[PHASE] = DOUBLING
                memory[TRIED] += 1.0
                memory[SIZE] *= 2.0
                return GOES_ON
            if is_too_much and not is_last:
                memory[PHASE] = HALVING
                memory[TRIED] -= 1.0
                memory[SIZE] *= 0.5
                return GOES_ON

        if phase != BACK:
            # The leap is chosen: does one go there, and would one come back?
            if memory[RATIO] == -math.inf or abs(memory[CHOSEN]) >= MOST_DOUBLINGS:
                info[divergences] += 1.0
                return STAYS
            if not accepted(memory[RATIO], rng.random()):
                return STAYS
            if phase == AT_FIRST:  # forth and back it is off by the same
                return GOES
            memory[LOG_HERE] += memory[RATIO]
            for i in range(of_point):
                memory[BEGUN + i] = memory[chosen_at + i]
            for i in range(dimension):
                memory[BEGUN + dimension + i] *= -1.0
            memory[PHASE], memory[SIZE], memory[TRIED] = BACK, tuning[STEP_SIZE], 0.0
        elif memory[CHOSEN] < 0.0:
            memory[TRIED] -= 1.0
            memory[SIZE] *= 0.5
        else:
            memory[TRIED] += 1.0
            memory[SIZE] *= 2.0
        if memory[CHOSEN] < 0.0:
            return GOES_ON if memory[TRIED] > memory[CHOSEN] else GOES
        if memory[TRIED] == memory[CHOSEN]:  # known
            memory[TRIED] += 1.0
            memory[SIZE] *= 2.0
        return GOES_ON if memory[TRIED] <= memory[CHOSEN] + 1.0 else GOES

    return Stages(size, begin, advance)
