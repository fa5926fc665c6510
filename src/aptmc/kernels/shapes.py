"""Covariances of what rungs have seen, learnt from draws that are few and like their neighbours.

A rung's own draws count for what they are worth. Beside them counts what is believed of the shape:
what neighbouring rungs have seen, and what was believed before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from aptmc.compiled import FloatTable, FloatTables

MOST_ROWS = 1500
RIDGE = 1e-9
# For so many draws of each dimension counts what is believed of a shape. Measured: docs/tuning.md.
BELIEF = 6.0
# How much draws of a rung say of the shape of the next, beside its own.
LIKE_A_NEIGHBOUR = 0.9
SMALLEST_SIZE = 1e-200  # of draws that are all the same


class Rows(NamedTuple):
    """Some draws, and for how many independent ones each counts."""

    theta: FloatTable
    worth: float


def some(draws: FloatTable) -> Rows:
    """As many rows as there is time for, evenly."""
    most = max(MOST_ROWS, 20 * draws.shape[1])
    theta = draws[:: max(math.ceil(len(draws) / most), 1)]
    return Rows(theta, effective_share(theta))


def effective_share(theta: FloatTable) -> float:
    """For how many independent draws each row counts: by the spread of the means of batches, and by
    how often the same row is there, which tells the same each time.
    """
    _, times = np.unique(theta[:, 0], return_counts=True)
    different = len(theta) / float((times.astype(np.float64) ** 2).sum())
    batches = max(int(math.sqrt(len(theta))), 2)
    length = len(theta) // batches
    means = theta[: batches * length].reshape(batches, length, -1).mean(axis=1)
    spread, of_means = theta.var(axis=0), means.var(axis=0, ddof=1)
    alike = length * np.divide(of_means, spread, out=np.ones_like(spread), where=spread > 0.0)
    return min(float(1.0 / max(np.mean(alike), 1.0)), different)


def shapes_of(draws: Mapping[int, FloatTable], before: FloatTables) -> dict[int, FloatTable]:
    """By rung, for those that have draws: their covariance, and what is believed of it."""
    rows = {rung: some(theta) for rung, theta in draws.items()}
    believed = believed_shapes(rows, before)
    return {
        rung: shrunk(scatter(mine.theta), mine.worth * len(mine.theta), believed[rung])
        for rung, mine in rows.items()
    }


def believed_shapes(
    rows: Mapping[int, Rows], before: Sequence[FloatTable] | FloatTables
) -> dict[int, FloatTable]:
    """What is believed of the shape of each rung: as its neighbours have it, and as before.

    The shapes of neighbours are brought to the size of the rung: colder ones are narrower.
    """
    scatters = {rung: scatter(mine.theta) for rung, mine in rows.items()}
    counts = {rung: mine.worth * len(mine.theta) for rung, mine in rows.items()}
    shapes = {}
    for rung in rows:
        precision = np.linalg.inv(before[rung])
        sizes = {
            other: max(float(np.mean(np.sum(precision * scatters[other], axis=1))), SMALLEST_SIZE)
            for other in rows
        }
        weights = {other: counts[other] * LIKE_A_NEIGHBOUR ** abs(other - rung) for other in rows}
        total = sum(weights.values())
        pooled = np.zeros_like(precision)
        for other, mine in scatters.items():
            pooled += weights[other] / total * sizes[rung] / sizes[other] * mine
        shapes[rung] = shrunk(pooled, total, sizes[rung] * before[rung])
    return shapes


def shrunk(matrix: FloatTable, count: float, believed: FloatTable) -> FloatTable:
    """What so many draws say of a matrix, and what is believed of it, put together."""
    share = learnt_share(count, len(matrix))
    mixed = share * matrix + (1.0 - share) * believed
    floor = RIDGE * np.maximum(np.diag(mixed), RIDGE * np.diag(believed))
    return np.asarray(mixed + np.diag(np.maximum(floor, 1e-300)))


def resized(shape: FloatTable, seen: FloatTable, count: float) -> FloatTable:
    """A shape with the widths that so many draws show: one number for each coordinate is learnt
    from far fewer draws than all correlations are.
    """
    ratios = np.maximum(np.diag(seen), SMALLEST_SIZE) / np.maximum(np.diag(shape), SMALLEST_SIZE)
    widths = ratios ** (0.5 * learnt_share(count, 1))
    return np.asarray(shape * np.outer(widths, widths))


def learnt_share(count: float, dimension: int) -> float:
    """How much of a shape is learnt from so many draws, and not believed."""
    return count / (count + BELIEF * dimension)


def scatter(theta: FloatTable) -> FloatTable:
    """The covariance of some rows."""
    away = theta - theta.mean(axis=0)
    return np.asarray(away.T @ away / len(theta))
