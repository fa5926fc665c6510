"""How soon chains of the coldest rung forget where they began, by their own moves alone.

Between two moves of a chain there are exchanges, as a rule, so that it is not seen on its own for
long. But they bring it states from everywhere, and of each move one knows where it began and where
it ended. That is enough to tell what is slow: of all functions of a state the one that is forgotten
last has the largest correlation between before and after (the variational principle of Markov state
models, Noé and Nüske 2013). Looked at are parameters, likelihoods, what the kernel knows of places
where chains stay, and those sums of all these that correlate most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from aptmc.compiled import Floats, FloatTable
from aptmc.kernels import Kernel
from aptmc.problem import Problem
from aptmc.problem.chain_state import log_prior_column, value_column
from aptmc.store import Draws

FEWEST_MOVES, MOST_MOVES = 32, 5000  # to tell, and to look at
# Soon is within so many moves for each rung, if each chain has so many times of that left. The more
# rungs there are, the less work is done where draws count, and the longer it takes states to come
# down to there from the hottest one. Measured: docs/tuning.md.
MOVES_BY_RUNG, FEWEST_TIMES = 4.0, 10.0
SLOWEST = 4  # sums that correlate most in one half of the moves, and are looked at in the other
SMALLEST = 1e-6  # variances of sums, by the largest
FAR_OUT = 8.0  # median distances from the median


def moves_until_forgotten(
    problem: Problem, kernel: Kernel, level: float, chains: Sequence[Draws]
) -> float:
    """For how many moves a draw of the coldest rung counts, at worst; infinite, if none can tell.

    :param kernel: that has moved them
    """
    before, after = own_moves(chains)
    if len(before) < FEWEST_MOVES:
        return math.inf
    rows = np.concatenate([before, after])
    value, log_prior = value_column(problem.dimension), log_prior_column(problem.dimension)
    theta = rows[:, : problem.dimension]
    told = kernel.looks_at(0, theta, level * rows[:, value] + rows[:, log_prior])
    if told is None or not np.isfinite(told).all():
        return math.inf
    looked_at = np.column_stack([theta, rows[:, value], told])
    return slowest_of(looked_at[: len(before)], looked_at[len(before) :])


def is_soon(forgotten: float, *, rungs: int, moves_left: float) -> bool:
    """Whether the work is better spent where chains forget in so many moves than on other rungs.

    :param moves_left: for each chain
    """
    return bool(forgotten <= MOVES_BY_RUNG * rungs and moves_left >= FEWEST_TIMES * forgotten)


def own_moves(chains: Sequence[Draws]) -> tuple[FloatTable, FloatTable]:
    """Where chains were before each of their own moves, and where that has led to."""
    before, after = [], []
    for draws in chains:
        moved = np.flatnonzero(~draws.exchanged[1:])
        before.append(draws.state[moved])
        after.append(draws.state[moved + 1])
    step = math.ceil(sum(map(len, before)) / MOST_MOVES) or 1
    return np.concatenate(before)[::step], np.concatenate(after)[::step]


def slowest_of(before: FloatTable, after: FloatTable) -> float:
    """The moves for which a draw counts, by the column or sum of columns that is slowest.

    :param before: one row for each move
    :param after: the same, where the move has led to
    """
    both = np.concatenate([before, after])
    both = _standard(both[:, np.ptp(both, axis=0) > 0.0])
    if both.shape[1] == 0:
        return math.inf
    before, after = both[: len(before)], both[len(before) :]
    middle = len(before) // 2
    halves = slice(0, middle), slice(middle, None)
    found = [_correlations(before, after)]
    for one, other in (halves, halves[::-1]):
        sums = _slowest_sums(before[one], after[one])
        found.append(_correlations(before[other] @ sums, after[other] @ sums))
    largest = float(np.nanmax(np.concatenate(found)))
    return (1.0 + largest) / (1.0 - largest) if largest < 1.0 else math.inf


def _standard(values: FloatTable) -> FloatTable:
    """Each column twice: as it is, which tells modes apart, and by rank, as normal draws would lie.

    Of the former, what lies far out outweighs nothing.
    """
    middle = np.median(values, axis=0)
    away = FAR_OUT * np.median(np.abs(values - middle), axis=0)
    away[away == 0.0] = math.inf  # half of them are alike
    near = np.clip(values, middle - away, middle + away)
    ranks = ndtri((rankdata(values, axis=0) - 0.5) / len(values))
    both = np.column_stack([near, ranks])
    return np.asarray((both - both.mean(axis=0)) / both.std(axis=0))


def _correlations(before: FloatTable, after: FloatTable) -> Floats:
    same = 0.5 * ((before**2).mean(axis=0) + (after**2).mean(axis=0))
    return np.asarray((before * after).mean(axis=0) / np.maximum(same, 1e-300))


def _slowest_sums(before: FloatTable, after: FloatTable) -> FloatTable:
    """The sums that moves change least, one column each."""
    same = before.T @ before + after.T @ after
    then = before.T @ after + after.T @ before
    values, directions = np.linalg.eigh(same)
    keep = values > SMALLEST * values[-1]
    standard = directions[:, keep] / np.sqrt(values[keep])
    _, sums = np.linalg.eigh(standard.T @ then @ standard)
    return np.asarray(standard @ sums[:, -SLOWEST:])
