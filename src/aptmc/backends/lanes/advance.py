"""Lanes go on for some ticks, as machine code for the processor.

`cuda/source.py` has the same in C. Both are checked against each other, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from aptmc.backends.lanes.generator import lane_generator, seed_words
from aptmc.backends.lanes.model import NO_SPREAD, LaneModel
from aptmc.backends.lanes.tables import Places, Whole
from aptmc.keys import MOVE
from aptmc.problem import Abc
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


def compiled_advance(model: LaneModel) -> Callable[..., None]:
    """The function that takes some lanes on by so many ticks.

    advance(first, last, ticks, groups, seed, levels, tuning, reals, wholes, words): `ticks` has one
    number for each lane. A lane makes exactly so many, whatever its chains do meanwhile.
    """
    kept, code = model.problem.compiled_moves, ("lanes", model.factor, model.spread)
    if code not in kept:
        kept[code] = _compiled(model)
    return kept[code]


def _compiled(model: LaneModel) -> Callable[..., None]:
    places = Places(model.dimension, model.size)
    dimension, size = model.dimension, model.size
    there_at, log_prior_there_at, state_at = places.there, places.log_prior_there, places.state
    value_at, log_prior_at = places.value, places.log_prior
    factor, spread = model.factor, model.spread
    has_spread, is_density = spread != NO_SPREAD, model.log_value is not None
    log_prior_of, begin, step = _functions(model)
    rejects_failures = model.problem.rejects_failures

    def advance(
        first: int, last: int, ticks: Any, groups: int, seed: int, levels: Any, tuning: Any,
        reals: Any, wholes: Any, words: Any,
    ) -> None:  # fmt: skip
        own_words = np.empty(4, np.uint32)
        rng = lane_generator(own_words)
        there, state, normals = np.empty(dimension), np.empty(size), np.empty(dimension)
        for lane in range(first, last):
            if wholes[BROKEN, lane] != 0:
                continue
            rung = lane // groups
            level = levels[rung]
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
                    seed_words(own_words, seed, 2 * lane + flying, number, MOVE)
                    for i in range(dimension):
                        normals[i] = rng.standard_normal()
                    length = 1.0
                    if has_spread and tuning[rung, spread] > 0.0:
                        length = 10.0 ** (-tuning[rung, spread] * rng.random())
                    for i in range(dimension):
                        away = 0.0
                        for j in range(i + 1):
                            away += tuning[rung, factor + i * dimension + j] * normals[j]
                        there[i] = reals[flying * dimension + i, lane] + length * away
                    log_prior_there = log_prior_of(there)
                    under_way, age = 1, 0
                    if is_density:
                        is_over = log_prior_there == -math.inf
                    else:
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
                    if is_density:
                        is_over = True
                        here = reals[value_at + flying, lane]
                        ratio = log_prior_there - reals[log_prior_at + flying, lane]
                        if level != 0.0:
                            ratio += level * value - level * here
                        uniform = rng.random()
                        is_accepted = ratio >= 0.0 or uniform < math.exp(ratio)
                        if not value < math.inf:
                            wholes[FAILURES, lane] += 1
                            wholes[BROKEN, lane] = 1
                            break
                    elif not value < 0.0:
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

    return njit(nogil=True, error_model="numpy")(advance)


def _functions(model: LaneModel) -> tuple[Callable[..., Any], ...]:
    """Of coordinates: the log prior density, the beginning of a simulation and its step."""
    problem = model.problem
    reference = problem.reference
    log_prior = _nothing if reference is None else reference.functions(NUMBA).log_density
    if model.steps is not None:
        assert isinstance(problem, Abc)
        begin = problem.of_coordinates(model.steps.begin, NUMBA)
        return log_prior, begin, problem.of_coordinates(model.steps.step, NUMBA)
    assert model.log_value is not None
    log_value = problem.of_coordinates(model.log_value, NUMBA)

    @njit(nogil=True, error_model="numpy")
    def evaluate(theta: Any, rng: Any, state: Any, level: float) -> float:
        return log_value(theta)  # type: ignore[no-any-return]

    return log_prior, _nothing, evaluate


@njit
def _nothing(theta: Any, rng: Any = 0, state: Any = 0) -> float:
    """Stands in where there is no prior, or nothing to begin."""
    return 0.0
