"""A metric from a few states and the slopes of the log density there.

Of a normal distribution slopes are the precision times the distance from the mean, so that the
covariance S solves S C(slopes) S = C(states) for any states, however few, in the space that they
span: nothing is left to chance. For others it is the metric under which the distribution looks most
like a normal one, by the mean squared difference of slopes (the Fisher divergence, by which nutpie
adapts, too).
"""

from __future__ import annotations

import numpy as np

from aptmc.compiled import Floats, FloatTable

BELIEVED = 0.1  # draws: for so many counts what was believed before
LARGEST, SMALLEST = 1e6, 1e-6  # variances, by what was believed
FAR_OUT = 50.0  # times the median length: slopes beyond are cut to that


def metric_of_slopes(
    places: FloatTable, forces: FloatTable, weights: Floats, before: FloatTable
) -> FloatTable:
    """The covariance that suits states and slopes, and what was believed where they say nothing.

    :param forces: slopes along coordinates that the former metric standardises, one row for each
        place
    :param weights: for how much each counts
    """
    factor = np.linalg.cholesky(before)
    finite = np.isfinite(forces).all(axis=1)
    if finite.sum() < 2:
        return before
    standard = np.linalg.solve(factor, places[finite].T).T
    forces, weights = forces[finite], weights[finite] / weights[finite].sum()
    lengths = np.sqrt((forces**2).sum(axis=1))
    longest = FAR_OUT * max(float(np.median(lengths)), 1e-300)
    forces = forces * np.minimum(longest / np.maximum(lengths, 1e-300), 1.0)[:, None]
    count = 1.0 / float((weights**2).sum())
    of_places, of_forces = (_scatter(rows, weights, count) for rows in (standard, forces))
    # The geometric mean of the one and the inverse of the other.
    root, inverse_root = _power(of_forces, 0.5), _power(of_forces, -0.5)
    found = inverse_root @ _power(root @ of_places @ root, 0.5) @ inverse_root
    values, directions = np.linalg.eigh(0.5 * (found + found.T))
    values = np.clip(values, SMALLEST, LARGEST)
    metric = factor @ (directions * values) @ directions.T @ factor.T
    if not np.isfinite(metric).all():
        return before
    return np.asarray(0.5 * (metric + metric.T))


def mean_of_slopes(
    places: FloatTable, forces: FloatTable, weights: Floats, before: FloatTable, metric: FloatTable
) -> Floats:
    """The mean of the normal distribution with these slopes, wherever its states are.

    :param forces: along coordinates that the metric of before standardises
    """
    finite = np.isfinite(forces).all(axis=1)
    if not finite.any():
        return np.asarray(weights @ places / weights.sum())
    weights = weights[finite] / weights[finite].sum()
    slope = np.linalg.solve(np.linalg.cholesky(before).T, weights @ forces[finite])
    return np.asarray(weights @ places[finite] + metric @ slope)


def _scatter(rows: FloatTable, weights: Floats, count: float) -> FloatTable:
    """With some of what was believed: that it is one in all directions."""
    away = rows - weights @ rows
    seen = (away * weights[:, None]).T @ away
    share = count / (count + BELIEVED)
    return np.asarray(share * seen + (1.0 - share) * np.eye(rows.shape[1]))


def _power(matrix: FloatTable, power: float) -> FloatTable:
    values, directions = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return np.asarray((directions * np.maximum(values, 1e-300) ** power) @ directions.T)
