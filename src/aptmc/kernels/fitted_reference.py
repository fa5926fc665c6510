"""A reference that was fitted in the warm-up, at the hot end of a ladder in place of the prior.

Rung densities are q ** (1 - beta) * target ** beta, where q is a mixture of Student distributions
with a share of the prior in it, and the target is prior * likelihood (or any density). With
log q where a state keeps its log prior density, and log(target / q) where it keeps its log
likelihood, that is what every rung is made of anyway: kernels, exchanges and the evidence need not
know. Only who evaluates a state has to, and who draws from the reference.

As numbers q is the end of a rung's tuning. A move hands it on at the end of `info`, so that whoever
is given that can evaluate. From the beginning: how many components there are, the share of the
prior, the components' weights, then the mixture as `Students.numbers` has it; the last number says
how many these are. None of a component: the reference is the prior alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from aptmc.compiled import Floats, FloatTable, Generator, compiled
from aptmc.kernels.jumps import draw_anywhere, jump_numbers
from aptmc.kernels.student_fit import log_densities, log_heights
from aptmc.kernels.students import Students, add_slopes, log_mixture
from aptmc.problem.chain_state import kept_column, log_prior_column, value_column

# Of the prior in the reference. Where the warm-up has missed something, the prior is how to find it
PRIOR_SHARE = 0.1
COUNT, SHARE, WEIGHTS = range(3)  # places of what comes before the mixture


def numbers_of(reference: Students | None, prior_share: float) -> Floats:
    """What every rung's tuning ends with; None: nothing has been fitted so far."""
    if reference is None:
        return np.array([0.0, 1.0, 2.0])
    mixed = reference.on(0)
    mixture, count = jump_numbers(Students.of([mixed]), 1)[0], mixed.weights.size
    return np.concatenate([[count, prior_share], mixture, [WEIGHTS + mixture.size]])


def share_of_prior(problem: Any) -> float:
    """How much of the prior is in a fitted reference of a problem: nothing, if there is none."""
    return 0.0 if problem.reference is None else PRIOR_SHARE


def with_reference(move: Callable[..., None], target: Any, info_length: int) -> Callable[..., None]:
    """A move whose steps find the reference, the end of their tuning, at the end of `info`."""
    move = target.helper(move)

    def move_with_reference(
        level: float, tuning: Floats, state: Floats, rng: Any, outcome: Floats, info: Floats
    ) -> None:
        length = int(tuning[tuning.size - 1]) + 1
        both = np.empty(info_length + length)
        for i in range(length):
            both[info_length + i] = tuning[tuning.size - length + i]
        move(level, tuning, state, rng, outcome, both)
        for i in range(info_length):
            info[i] = both[i]

    return move_with_reference


# --- of one state ---------------------------------------------------------------------------------


@compiled
def log_fitted(dimension: int, info: Floats, row: Floats, log_prior: float) -> float:
    """The log density of the reference at the parameters in a row."""
    begin = info.size - 1 - int(info[info.size - 1])
    count, share = int(info[begin + COUNT]), info[begin + SHARE]
    logs, squares = np.empty(count), np.empty(count)
    log_mixed = log_mixture(dimension, info, begin + WEIGHTS + count, row, logs, squares)
    if share == 0.0:
        return log_mixed
    of_mixture, of_prior = math.log1p(-share) + log_mixed, math.log(share) + log_prior
    top = max(of_mixture, of_prior)
    if top == -math.inf:
        return top
    return top + math.log(math.exp(of_mixture - top) + math.exp(of_prior - top))


@compiled
def refer(dimension: int, row: Floats, info: Floats) -> None:
    """Bring a state that was evaluated to its reference: log prior and log likelihood are there."""
    value, log_prior = row[dimension], row[dimension + 1]
    row[dimension + 2] = log_prior
    begin = info.size - 1 - int(info[info.size - 1])
    if info[begin + COUNT] == 0.0:
        return
    log_reference = log_fitted(dimension, info, row, log_prior)
    row[dimension] = value + log_prior - log_reference
    row[dimension + 1] = log_reference


@compiled
def draw_fitted(rng: Generator, dimension: int, info: Floats, row: Floats) -> bool:
    """Write a draw from the mixture to the beginning of a row; or not: the prior is to be drawn."""
    begin = info.size - 1 - int(info[info.size - 1])
    count, share = int(info[begin + COUNT]), info[begin + SHARE]
    if count == 0 or (share > 0.0 and rng.random() < share):
        return False
    draw_anywhere(rng, dimension, info, begin + WEIGHTS, begin + WEIGHTS + count, row)
    return True


@compiled
def refer_slopes(
    level: float,
    dimension: int,
    row: Floats,
    info: Floats,
    of_value: Floats,
    of_prior: Floats,
    slopes: Floats,
) -> None:
    """The gradient of a rung's log density, from those of the value and the prior.

    :param row: a state that was brought to its reference
    """
    begin = info.size - 1 - int(info[info.size - 1])
    count, share = int(info[begin + COUNT]), info[begin + SHARE]
    if count == 0:
        for i in range(dimension):
            slopes[i] = level * of_value[i] + of_prior[i]
        return
    logs, squares = np.empty(count), np.empty(count)
    first = begin + WEIGHTS + count
    log_mixed = log_mixture(dimension, info, first, row, logs, squares)
    log_reference, from_prior = row[dimension + 1], 0.0
    if share > 0.0:
        from_prior = math.exp(math.log(share) + row[dimension + 2] - log_reference)
    for i in range(dimension):
        slopes[i] = level * (of_value[i] + of_prior[i]) + (1.0 - level) * from_prior * of_prior[i]
    weight = (1.0 - level) * (1.0 - from_prior)
    add_slopes(dimension, info, first, row, logs, squares, log_mixed, weight, slopes)


# --- of many --------------------------------------------------------------------------------------


def log_fitted_rows(
    theta: FloatTable, log_prior: Floats, reference: Students, prior_share: float
) -> Floats:
    """The log density of the reference at the parameters in each row."""
    mixed = reference.on(0)
    heights, distances = log_heights(mixed, theta)
    logs = log_densities(heights, distances, mixed.degrees, theta.shape[1])
    top = logs.max(axis=1)
    log_mixed = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    if prior_share == 0.0:
        return np.asarray(log_mixed)
    with np.errstate(divide="ignore"):
        of_mixture, of_prior = np.log1p(-prior_share) + log_mixed, np.log(prior_share) + log_prior
        return np.asarray(np.logaddexp(of_mixture, of_prior))


def referred_rows(
    rows: FloatTable, dimension: int, reference: Students, prior_share: float
) -> FloatTable:
    """States that have a reference, this one or another, brought to this one."""
    brought = rows.copy()
    value, log_reference = value_column(dimension), log_prior_column(dimension)
    log_target = rows[:, value] + rows[:, log_reference]
    brought[:, log_reference] = log_fitted_rows(
        rows[:, :dimension], rows[:, kept_column(dimension)], reference, prior_share
    )
    brought[:, value] = log_target - brought[:, log_reference]
    return brought
