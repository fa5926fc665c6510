"""Lanes go on for some ticks, as machine code for the processor.

`cuda/lanes.c` has the same in C. Both are checked against each other, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from aptmc.backends.lanes.generator import lane_generator, seed_words
from aptmc.backends.lanes.model import LaneModel
from aptmc.backends.lanes.tables import CHANCE_UNIT, Places, Whole
from aptmc.kernels.stages import GOES, GOES_ON
from aptmc.keys import MOVE
from aptmc.problem import Abc
from aptmc.problem.chain_state import OWN, STATUS, WORK
from aptmc.targets import NUMBA

FLYING, UNDER_WAY, AGE, STARTED, DONE, ACCEPTED = (
    int(column)
    for column in (
        Whole.FLYING, Whole.UNDER_WAY, Whole.AGE, Whole.STARTED, Whole.DONE, Whole.ACCEPTED,
    )
)  # fmt: skip
SIMULATIONS, STEPS, FAILURES, BROKEN = (
    int(column) for column in (Whole.SIMULATIONS, Whole.STEPS, Whole.FAILURES, Whole.BROKEN)
)
COUNTED = int(Whole.COUNT)


def compiled_advance(model: LaneModel) -> Callable[..., None]:
    """The function that takes some lanes on by so many ticks.

    advance(first, last, ticks, groups, first_group, all_groups, seed, levels, tuning, reals,
    wholes, words): `ticks` has one number for each lane. A lane makes exactly so many, whatever its
    chains do meanwhile. These lanes are of some of all groups; keys go by the place among all.
    """
    kept, code = model.problem.compiled_moves, ("lanes", model.steps, model.stages)
    if code not in kept:
        make = _of_simulator if model.stages is None else _of_kernel
        kept[code] = njit(nogil=True, error_model="numpy")(make(model))
    return kept[code]


def _of_simulator(model: LaneModel) -> Callable[..., None]:
    places = Places(model.dimension, model.size)
    dimension, size = model.dimension, model.size
    there_at, log_prior_there_at, state_at = places.there, places.log_prior_there, places.state
    value_at, log_prior_at = places.value, places.log_prior
    factor = model.factor
    log_prior_of, begin, step = _functions(model)
    rejects_failures = model.problem.rejects_failures

    def advance(
        first: int, last: int, ticks: Any, groups: int, first_group: int, all_groups: int,
        seed: int, levels: Any, tuning: Any, reals: Any, wholes: Any, words: Any,
    ) -> None:  # fmt: skip
        own_words = np.empty(4, np.uint32)
        rng = lane_generator(own_words)
        there, state, normals = np.empty(dimension), np.empty(size), np.empty(dimension)
        for lane in range(first, last):
            if wholes[BROKEN, lane] != 0:
                continue
            place = lane // groups  # in the group
            named = place * all_groups + first_group + lane % groups
            level = levels[place]
            for i in range(4):
                own_words[i] = words[i, lane]
            for i in range(dimension):
                there[i] = reals[there_at + i, lane]
            for i in range(size):
                state[i] = reals[state_at + i, lane]
            log_prior_there = reals[log_prior_there_at, lane]
            flying, under_way = wholes[FLYING, lane], wholes[UNDER_WAY, lane]
            age = wholes[AGE, lane]
            for _ in range(ticks[lane]):
                is_over, value = False, -1.0
                if under_way == 0:
                    number = wholes[STARTED + flying, lane]
                    seed_words(own_words, seed, 2 * named + flying, number, MOVE)
                    for i in range(dimension):
                        normals[i] = rng.standard_normal()
                    for i in range(dimension):
                        away = 0.0
                        for j in range(i + 1):
                            away += tuning[place, factor + i * dimension + j] * normals[j]
                        there[i] = reals[flying * dimension + i, lane] + away
                    log_prior_there = log_prior_of(there)
                    under_way, age = 1, 0
                    ratio = log_prior_there - reals[log_prior_at + flying, lane]
                    uniform = rng.random()
                    is_over = not (ratio >= 0.0 or uniform < math.exp(ratio))
                    if not is_over:
                        wholes[SIMULATIONS, lane] += 1
                        for i in range(size):
                            state[i] = 0.0
                        begin(there, rng, state)
                age += 1
                is_accepted = False
                if not is_over:
                    value = step(there, rng, state, level)
                    wholes[STEPS, lane] += 1
                    if not value < 0.0:
                        is_over = True
                        is_accepted = value <= level
                        if value != value:
                            wholes[FAILURES, lane] += 1
                            if not rejects_failures:
                                wholes[BROKEN, lane] = 1
                                break
                if is_over:
                    if is_accepted:
                        wholes[ACCEPTED, lane] += 1
                        for i in range(dimension):
                            reals[flying * dimension + i, lane] = there[i]
                        reals[value_at + flying, lane] = value
                        reals[log_prior_at + flying, lane] = log_prior_there
                    wholes[DONE, lane] += 1
                    # The other chain is taken at once.
                    flying, under_way, age = 1 - flying, 0, 0
                    wholes[STARTED + flying, lane] += 1
            for i in range(4):
                words[i, lane] = own_words[i]
            for i in range(dimension):
                reals[there_at + i, lane] = there[i]
            for i in range(size):
                reals[state_at + i, lane] = state[i]
            reals[log_prior_there_at, lane] = log_prior_there
            wholes[FLYING, lane], wholes[UNDER_WAY, lane] = flying, under_way
            wholes[AGE, lane] = age

    return advance


def _functions(model: LaneModel) -> tuple[Callable[..., Any], ...]:
    """Of coordinates: the log prior density, the beginning of a simulation and its step."""
    problem = model.problem
    assert isinstance(problem, Abc)
    assert model.steps is not None
    begin = problem.of_coordinates(model.steps.begin, NUMBA)
    step = problem.of_coordinates(model.steps.step, NUMBA)
    return problem.reference.functions(NUMBA).log_density, begin, step


def _of_kernel(model: LaneModel) -> Callable[..., None]:
    assert model.stages is not None
    places = Places(model.dimension, model.size)
    dimension, size, width = model.dimension, model.size, model.dimension + 2
    there_at, memory_at = places.there, places.state
    value_at, log_prior_at = places.value, places.log_prior
    begin, step = NUMBA.helper(model.stages.begin), NUMBA.helper(model.stages.advance)
    statistics = len(model.statistics)

    def advance(
        first: int, last: int, ticks: Any, groups: int, first_group: int, all_groups: int,
        seed: int, levels: Any, tuning: Any, reals: Any, wholes: Any, words: Any,
    ) -> None:  # fmt: skip
        own_words = np.empty(4, np.uint32)
        rng = lane_generator(own_words)
        here, there, memory = np.empty(width), np.empty(width), np.empty(size)
        info = np.zeros(OWN + statistics)
        for lane in range(first, last):
            if wholes[BROKEN, lane] != 0:
                continue
            place = lane // groups  # in the group
            named = place * all_groups + first_group + lane % groups
            level, numbers = levels[place], tuning[place]
            for i in range(4):
                own_words[i] = words[i, lane]
            for i in range(width):
                there[i] = reals[there_at + i, lane]
            for i in range(size):
                memory[i] = reals[memory_at + i, lane]
            flying, under_way = wholes[FLYING, lane], wholes[UNDER_WAY, lane]
            age, is_new = wholes[AGE, lane], True
            for _ in range(ticks[lane]):
                if is_new:
                    for i in range(dimension):
                        here[i] = reals[flying * dimension + i, lane]
                    here[dimension] = reals[value_at + flying, lane]
                    here[dimension + 1] = reals[log_prior_at + flying, lane]
                    is_new = False
                if under_way == 0:
                    number = wholes[STARTED + flying, lane]
                    seed_words(own_words, seed, 2 * named + flying, number, MOVE)
                    begin(level, numbers, here, rng, there, memory, info)
                    under_way, age = 1, 0
                age += 1
                outcome = step(level, numbers, here, rng, there, memory, info)
                wholes[STEPS, lane] += int(info[WORK])
                info[WORK] = 0.0
                for i in range(statistics):
                    wholes[COUNTED + i, lane] += int(info[OWN + i] * CHANCE_UNIT)
                    info[OWN + i] = 0.0
                if info[STATUS] != 0.0:
                    info[STATUS] = 0.0
                    wholes[FAILURES, lane] += 1
                    wholes[BROKEN, lane] = 1
                    break
                if outcome != GOES_ON:
                    if outcome == GOES:
                        wholes[ACCEPTED, lane] += 1
                        for i in range(dimension):
                            reals[flying * dimension + i, lane] = there[i]
                        reals[value_at + flying, lane] = there[dimension]
                        reals[log_prior_at + flying, lane] = there[dimension + 1]
                    wholes[DONE, lane] += 1
                    # The other chain is taken at once.
                    flying, under_way, age, is_new = 1 - flying, 0, 0, True
                    wholes[STARTED + flying, lane] += 1
            for i in range(4):
                words[i, lane] = own_words[i]
            for i in range(width):
                reals[there_at + i, lane] = there[i]
            for i in range(size):
                reals[memory_at + i, lane] = memory[i]
            wholes[FLYING, lane], wholes[UNDER_WAY, lane] = flying, under_way
            wholes[AGE, lane] = age

    return advance
