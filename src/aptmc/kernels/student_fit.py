"""Fit a mixture of Student distributions to what a rung has seen.

Where draws are few, what is believed of their shape counts as well (`shapes`).
"""

from __future__ import annotations

import math

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.kernels.seen import FEWEST_DRAWS
from aptmc.kernels.shapes import (
    BELIEF,
    Rows,
    believed_shapes,
    effective_share,
    resized,
    shrunk,
    some,
)
from aptmc.kernels.splitting import narrowed, pieces_of
from aptmc.kernels.students import Mixed, Students

ITERATIONS = 5
DEGREES = (3.0, 6.0, 12.0, 25.0, 50.0, 100.0)  # of freedom, of which one is chosen
# A reference that is a little too wide costs little, one that is too narrow costs more.
WIDER = 1.1
USUAL_DEGREES = 25.0  # where draws are too few to tell, fewer than so many for each dimension
FEWEST_FOR_DEGREES = 10.0
# In log density: half of the draws fit a little worse than all of them; standard errors.
AS_WELL, CLEARLY = 0.05, 2.0
# A reference of all rungs is fitted when draws are worth so many for each dimension.
FEWEST_FOR_REFERENCE, MOST_COMPONENTS = 3.0, 32


def fit_all(
    draws: list[FloatTable], before: Students, most_components: int, *, is_trusted: bool = False
) -> Students:
    """A mixture for each rung that suits its draws; the one before, where they are too few.

    :param is_trusted: the one before stays, too, while nothing that is fitted to one half of the
        draws suits the other half as well: in a hundred dimensions one that was learnt from slopes
        is better than the mean and the matrix of a thousand draws
    """
    found = [before.on(rung) for rung in range(before.rungs)]
    draws_of = {rung: theta for rung, theta in enumerate(draws) if len(theta) >= FEWEST_DRAWS}
    rows = {rung: some(theta) for rung, theta in draws_of.items()}
    shapes_before = [shape_of(mixed) for mixed in found]
    shapes = believed_shapes(rows, shapes_before)
    if is_trusted:
        sides = {rung: in_turns(theta) for rung, theta in draws_of.items()}
        halves = {rung: some(half) for rung, (half, _) in sides.items()}
        shapes_of_halves = believed_shapes(halves, shapes_before)
    for rung, mine in rows.items():
        if is_trusted:
            half = fit(halves[rung], shapes_of_halves[rung], most_components)
            count = mine.worth * len(mine.theta)
            if not suits_better(half, found[rung], some(sides[rung][1]).theta, count=count):
                continue
        found[rung] = fit(mine, shapes[rung], most_components)
    return Students.of(found)


def in_turns(theta: FloatTable) -> tuple[FloatTable, FloatTable]:
    """Draws in two parts, stretch by stretch: of all chains, and of all their times."""
    stretch = max(math.isqrt(len(theta)), 1)
    is_mine = np.arange(len(theta)) // stretch % 2 == 0
    return theta[is_mine], theta[~is_mine]


def suits_better(half: Mixed, before: Mixed, others: FloatTable, *, count: float) -> bool:
    """Whether draws are fitted by more than chance better, or well enough where they are many.

    :param half: fitted to one half of the draws
    :param others: the other half
    :param count: for how many independent ones all of them count
    """
    gains = shares_in(half, others)[1] - shares_in(before, others)[1]
    gain = float(np.mean(gains))
    if count >= BELIEF * others.shape[1]:
        return gain >= -AS_WELL
    return gain >= CLEARLY * float(np.std(gains)) / math.sqrt(len(gains))


def fit_coldest(draws: list[FloatTable], before: Students | None) -> Students | None:
    """A mixture that suits the draws of the coldest rung, which is a reference for all; None where
    they are too few to tell of it more than the other rungs do.

    :param draws: by rung, coldest first
    """
    if len(draws[0]) < FEWEST_DRAWS:
        return None
    rows = {rung: some(theta) for rung, theta in enumerate(draws) if len(theta) >= FEWEST_DRAWS}
    coldest, dimension = rows[0], draws[0].shape[1]
    if coldest.worth * len(coldest.theta) < FEWEST_FOR_REFERENCE * dimension:
        return None
    shape = np.diag(np.maximum(coldest.theta.var(axis=0), 1e-300))
    if before is not None:
        shape = shape_of(before.on(0))
    believed = believed_shapes(rows, [shape] * (max(rows) + 1))
    return Students.of([fit(coldest, believed[0], MOST_COMPONENTS)])


def fit(rows: Rows, believed: FloatTable, most_components: int) -> Mixed:
    """A mixture that suits the draws of a rung."""
    pieces = pieces_of(rows.theta, most_components)
    means = (pieces.T @ rows.theta) / pieces.sum(axis=0)[:, None]
    rows = rows._replace(worth=effective_share(rows.theta - pieces @ means))
    mixed = _maximised(rows, pieces, np.ones_like(pieces), believed, USUAL_DEGREES)
    for _ in range(ITERATIONS):
        heights, distances = log_heights(mixed, rows.theta)
        if rows.worth * len(rows.theta) >= FEWEST_FOR_DEGREES * rows.theta.shape[1]:
            mixed = mixed._replace(degrees=_best_degrees(heights, distances, rows.theta.shape[1]))
        shares = _shares(log_densities(heights, distances, mixed.degrees, rows.theta.shape[1]))
        nearness = (mixed.degrees + rows.theta.shape[1]) / (mixed.degrees + distances)
        mixed = _maximised(rows, shares, nearness, believed, mixed.degrees)
    return mixed._replace(matrices=WIDER * mixed.matrices)


def shape_of(mixed: Mixed) -> FloatTable:
    """The matrix of a whole mixture."""
    away = mixed.means - mixed.weights @ mixed.means
    matrix = np.einsum("k,kij->ij", mixed.weights, mixed.matrices)
    return np.asarray(matrix + np.einsum("k,ki,kj->ij", mixed.weights, away, away))


def shares_in(mixed: Mixed, theta: FloatTable) -> tuple[FloatTable, Floats]:
    """Of the components in each row; and the log density of the mixture there."""
    heights, distances = log_heights(mixed, theta)
    logs = log_densities(heights, distances, mixed.degrees, theta.shape[1])
    return _shares(logs), np.asarray(np.logaddexp.reduce(logs, axis=1))


def log_heights(mixed: Mixed, theta: FloatTable) -> tuple[Floats, FloatTable]:
    """By component: its weight over its volume, in logs; and the squared distances of the rows."""
    count = len(mixed.means)
    distances, heights = np.empty((len(theta), count)), np.empty(count)
    for place in range(count):
        factor = np.linalg.cholesky(mixed.matrices[place])
        standard = np.linalg.solve(factor, (theta - mixed.means[place]).T)
        distances[:, place] = (standard**2).sum(axis=0)
        heights[place] = math.log(mixed.weights[place]) - np.log(np.diag(factor)).sum()
    return heights, distances


def log_densities(
    heights: Floats, distances: FloatTable, degrees: float, dimension: int
) -> FloatTable:
    """By row and component, with its weight."""
    half = 0.5 * (degrees + dimension)
    constant = math.lgamma(half) - math.lgamma(0.5 * degrees)
    constant -= 0.5 * dimension * math.log(degrees * math.pi)
    return np.asarray(heights + constant - half * np.log1p(distances / degrees))


def _shares(logs: FloatTable) -> FloatTable:
    """Of the components in each row."""
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _best_degrees(heights: Floats, distances: FloatTable, dimension: int) -> float:
    """The degrees of freedom under which the draws are most likely, all else as it is."""

    def log_likelihood(degrees: float) -> float:
        logs = log_densities(heights, distances, degrees, dimension)
        top = logs.max(axis=1)
        return float((top + np.log(np.exp(logs - top[:, None]).sum(axis=1))).sum())

    return max(DEGREES, key=log_likelihood)


def _maximised(
    rows: Rows,
    shares: FloatTable,
    nearness: FloatTable,
    believed: FloatTable,
    degrees: float,
) -> Mixed:
    """Weights, means and matrices that suit the shares of the components in the rows."""
    theta, count = rows.theta, shares.shape[1]
    counted = np.maximum(shares.sum(axis=0), 1e-3)
    weighted = shares * nearness
    means = (weighted.T @ theta) / np.maximum(weighted.sum(axis=0), 1e-300)[:, None]
    scatters = np.empty((count, theta.shape[1], theta.shape[1]))
    for place in range(count):
        away = theta - means[place]
        scatters[place] = (away * weighted[:, place, None]).T @ away / counted[place]
    within = np.einsum("k,kij->ij", counted / counted.sum(), scatters)
    if count > 1:
        believed = narrowed(believed, means, within)
    common = shrunk(within, rows.worth * len(theta), believed)
    matrices = np.empty_like(scatters)
    for place in range(count):
        worth = rows.worth * counted[place]
        believed = resized(common, scatters[place], worth) if count > 1 else common
        matrices[place] = shrunk(scatters[place], worth, believed)
    return Mixed(counted / counted.sum(), means, matrices, degrees)
