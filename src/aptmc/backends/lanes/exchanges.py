"""Exchanges at a deadline: in each group, among the chains that wait.

In every lane of a group one chain waits. On a ladder of tolerances all waiting states are dealt out
anew (`aptmc.exchange.Reassignment`), on one of powers rungs are paired, the odd ones or the even
ones by the toss of a coin (`aptmc.exchange.RandomParity`); of two with several lanes each lane of
that with fewer is paired with one of the other, never two of the same rung. `cuda/lanes.c` has the
same in C.
"""

from __future__ import annotations

import math

import numpy as np

from aptmc.backends.lanes.generator import lane_generator, seed_words
from aptmc.backends.lanes.tables import CHANCE_UNIT, Whole
from aptmc.compiled import Floats, FloatTable, Integers, IntegerTable, compiled, inlined
from aptmc.keys import EXCHANGE
from aptmc.record.record import COLDEST, HOTTEST

FLYING, CHANCE, JOURNEY, TRIPS = (
    int(column) for column in (Whole.FLYING, Whole.CHANCE, Whole.JOURNEY, Whole.TRIPS)
)


@inlined
def swap_chance(
    level: float, warmer_level: float, value: float, warmer_value: float, tolerances: bool
) -> float:
    """With which probability two neighbours would swap."""
    if tolerances:
        return 1.0 if warmer_value <= level and value <= warmer_level else 0.0
    log_ratio = (level - warmer_level) * (warmer_value - value)
    if log_ratio >= 0.0:
        return 1.0
    # Two states without any likelihood, at power 0, have no ratio.
    return math.exp(log_ratio) if log_ratio < 0.0 else 0.0


@compiled
def exchange(
    number: int, groups: int, first_group: int, seed: int, dimension: int, tolerances: bool,
    takes_all: bool, starts: Integers, levels: Floats, reals: FloatTable, wholes: IntegerTable,
) -> None:  # fmt: skip
    """Hold the exchanges of one deadline in all groups.

    :param first_group: the place of the first of these groups among all
    :param tolerances: whether levels are tolerances, or powers
    :param takes_all: whether chains in flight take part: the error that `Uncorrected` makes
    :param starts: by rung, the place of the first lane there in a group, and how many there are
    :param levels: by place in a group, coldest first
    """
    value_at, log_prior_at, width = 2 * dimension, 2 * dimension + 2, dimension + 2
    rungs, sides = starts.shape[0] - 1, 2 if takes_all else 1
    positions = sides * levels.shape[0]
    words = np.empty(4, np.uint32)
    rng = lane_generator(words)
    rows, journeys = np.empty((positions, width)), np.empty(positions, np.int64)
    source = np.empty(positions, np.int64)  # of each position: whose state it takes
    is_taken = np.empty(positions, np.bool_)
    for group in range(groups):
        seed_words(words, seed, first_group + group, number, EXCHANGE)
        for position in range(positions):
            lane = position // sides * groups + group
            side = 1 - wholes[FLYING, lane]
            if takes_all and position % 2 == 1:
                side = 1 - side
            for i in range(dimension):
                rows[position, i] = reals[side * dimension + i, lane]
            rows[position, dimension] = reals[value_at + side, lane]
            rows[position, dimension + 1] = reals[log_prior_at + side, lane]
            journeys[position] = wholes[JOURNEY + side, lane]
            source[position] = position
            is_taken[position] = False
        for rung in range(rungs - 1):
            first, next_one, end = starts[rung], starts[rung + 1], starts[rung + 2]
            for place in range(first, next_one):
                # Lanes of a rung are alike: whom each meets in these sums makes no difference.
                warmer = next_one + (place - first) % (end - next_one)
                chance = swap_chance(
                    levels[place], levels[warmer], rows[place * sides, dimension],
                    rows[warmer * sides, dimension], tolerances,
                )  # fmt: skip
                wholes[CHANCE, place * groups + group] += int(chance * CHANCE_UNIT)
        if tolerances:
            for position in range(positions):
                level = levels[position // sides]
                count = 0
                for other in range(positions):
                    if not is_taken[other] and rows[other, dimension] <= level:
                        count += 1
                pick = min(int(count * rng.random()), count - 1)
                for other in range(positions):
                    if not is_taken[other] and rows[other, dimension] <= level:
                        if pick == 0:
                            source[position] = other
                        pick -= 1
                is_taken[source[position]] = True
        else:
            # In turn would not do: where all moves take one tick, the same chains would wait at
            # every second deadline, and be paired with the same neighbours for ever.
            start = 1 if rng.random() < 0.5 else 0
            for rung in range(start, rungs - 1, 2):
                first, next_one = sides * starts[rung], sides * starts[rung + 1]
                colder, warmer = next_one - first, sides * starts[rung + 2] - next_one
                most, fewest = max(colder, warmer), min(colder, warmer)
                turn = 0
                if most > 1:  # which of the lanes of the rung with more begins
                    turn = min(int(most * rng.random()), most - 1)
                for i in range(fewest):
                    one, other = first + i, next_one + i
                    if colder >= warmer:
                        one = first + (i + turn) % colder
                    else:
                        other = next_one + (i + turn) % warmer
                    chance = swap_chance(
                        levels[one // sides], levels[other // sides],
                        rows[one, dimension], rows[other, dimension], tolerances,
                    )  # fmt: skip
                    if rng.random() < chance:
                        source[one], source[other] = other, one
        rung = 0
        for position in range(positions):
            taken = source[position]
            lane = position // sides * groups + group
            while position // sides >= starts[rung + 1]:
                rung += 1
            side = 1 - wholes[FLYING, lane]
            if takes_all and position % 2 == 1:
                side = 1 - side
            for i in range(dimension):
                reals[side * dimension + i, lane] = rows[taken, i]
            reals[value_at + side, lane] = rows[taken, dimension]
            reals[log_prior_at + side, lane] = rows[taken, dimension + 1]
            journey = journeys[taken]
            if rungs > 1 and rung == 0:
                if journey == HOTTEST:
                    wholes[TRIPS, lane] += 1
                journey = COLDEST
            elif rungs > 1 and rung == rungs - 1 and journey == COLDEST:
                journey = HOTTEST
            wholes[JOURNEY + side, lane] = journey
