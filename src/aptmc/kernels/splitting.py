"""Divide draws into pieces that are each more like one normal distribution than all are."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Flags, Floats, FloatTable
from aptmc.kernels.shapes import RIDGE, effective_share, learnt_share, resized, scatter, shrunk

ROUNDS = 6  # of dividing draws in two
LOOK_AHEAD = 8  # pieces, without any gain
LEAST_GAIN = 0.05  # in log density, of a component on the average over all draws
# Of each half: draws for each dimension, and so many that are worth a whole one.
FEWEST_PER_DIMENSION, FEWEST_EFFECTIVE = 2.5, 5.0


class Halves(NamedTuple):
    """A piece divided in two, and how much more likely its draws are then."""

    gain: float
    in_first: Flags


def pieces_of(theta: FloatTable, most: int) -> FloatTable:
    """By row and piece: whether it belongs there. Of all numbers of pieces, the best is taken.

    Pieces are halved, the one first that gains most by it. Where there are many modes the first
    halves may be no better than the whole, and only those of halves are: so one looks ahead.
    """
    pieces = [np.arange(len(theta))]
    halves: list[Halves | None] = [None]
    best, gained, most_gained = pieces, 0.0, 0.0
    while len(pieces) < min(most, len(best) + LOOK_AHEAD):
        known = [
            halved(theta[rows]) if half is None else half
            for rows, half in zip(pieces, halves, strict=True)
        ]
        gains = [half.gain for half in known]
        place = gains.index(max(gains))
        rows, (gain, in_first) = pieces[place], known[place]
        if gain == -math.inf:
            break
        pieces = [*pieces[:place], rows[in_first], rows[~in_first], *pieces[place + 1 :]]
        halves = [*known[:place], None, None, *known[place + 1 :]]
        gained += gain - LEAST_GAIN * len(theta)
        if gained > most_gained:
            best, most_gained = pieces, gained
    belongs = np.zeros((len(theta), len(best)))
    for place, rows in enumerate(best):
        belongs[rows, place] = 1.0
    return belongs


def halved(theta: FloatTable) -> Halves:
    """The best of several ways to divide draws in two, and what is gained, by Schwarz's rule.

    A normal distribution loses by being cut in half, and so does a uniform one.
    """
    count, dimension = theta.shape
    best = Halves(-math.inf, np.zeros(count, bool))
    least = FEWEST_PER_DIMENSION * (dimension + 1)
    effective = effective_share(theta) * count
    # The path of a chain that has hardly moved looks like modes, in many dimensions.
    if count < 2.0 * least or effective < dimension:
        return best
    matrix = by_itself(scatter(theta), effective)
    standard = np.linalg.solve(np.linalg.cholesky(matrix), (theta - theta.mean(axis=0)).T).T
    whole = _log_likelihood(standard, np.eye(dimension))
    for direction in directions(theta, standard):
        in_first = _two_means(standard, standard @ direction > 0.0)
        halves = standard[in_first], standard[~in_first]
        if min(map(len, halves)) < least:
            continue
        means = np.array([half.mean(axis=0) for half in halves])
        away = standard - means[np.where(in_first, 0, 1)]
        # A chain that seldom goes from one half to the other may move well within each.
        worth = effective_share(away)
        if worth * min(map(len, halves)) < FEWEST_EFFECTIVE:
            continue
        # One that stayed for long at a few places, or has left copies of them, looks like modes.
        if min(map(different, halves)) < max(dimension + 1, FEWEST_EFFECTIVE):
            continue
        common = by_itself(away.T @ away / count, worth * count)
        alike = _log_likelihood(away, common)  # if both have the same shape
        other = 0.0  # if each has its own
        for half in halves:
            seen, effective = scatter(half), worth * len(half)
            own = shrunk(seen, effective, resized(common, seen, effective))
            other += _log_likelihood(half, own)
            alike += len(half) * math.log(len(half) / count)
            other += len(half) * math.log(len(half) / count)
        price = 0.5 * math.log(worth * count) / worth  # of a number that is fitted
        shapes = learnt_share(worth * count, dimension) * dimension * (dimension - 1) / 2
        widths = learnt_share(worth * count, 1) * dimension
        gain = max(alike, other - (shapes + widths) * price) - (1 + dimension) * price - whole
        if gain > best.gain:
            best = Halves(gain, in_first)
    return best


def different(theta: FloatTable) -> int:
    """How many rows there are without repeated ones."""
    return np.unique(theta[:, 0]).size


def by_itself(matrix: FloatTable, count: float) -> FloatTable:
    """What so many draws say of a matrix, if nothing else is known: correlations are doubted."""
    return shrunk(matrix, count, np.diag(np.diag(matrix)))


def directions(theta: FloatTable, standard: FloatTable) -> list[Floats]:
    """Along which draws may fall apart: where they spread most, and where tails are lightest.

    Directions of the standardised draws. Two modes have next to no tails between them and beyond.
    """
    spread = theta.std(axis=0)
    scaled = (theta - theta.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    _, axes = np.linalg.eigh(scaled.T @ scaled)
    # As a regression of the standardised draws on a principal component of the scaled ones.
    longest = standard.T @ (scaled @ axes[:, -1])
    if len(longest) == 1:
        return [longest]
    found = [longest]
    squares = (standard**2).sum(axis=1)
    # Of draws that are normal this matrix is (d + 2) times the identity; less where tails are light
    _, axes = np.linalg.eigh((standard * squares[:, None]).T @ standard)
    for start in (longest, axes[:, 0]):
        direction = start / max(float(np.linalg.norm(start)), 1e-300)
        for _ in range(ROUNDS):
            direction = 3.0 * direction - standard.T @ (standard @ direction) ** 3 / len(standard)
            direction /= max(float(np.linalg.norm(direction)), 1e-300)
        found.append(direction)
    return found


def narrowed(believed: FloatTable, means: FloatTable, within: FloatTable) -> FloatTable:
    """What is believed of the shape of pieces, if the whole is believed to have this one.

    The same but in the directions in which the pieces lie apart, where they are as they are seen.
    """
    factor = np.linalg.cholesky(believed)
    apart = np.linalg.solve(factor, (means - means.mean(axis=0)).T)
    directions, sizes, _ = np.linalg.svd(apart, full_matrices=False)
    directions = directions[:, sizes > 1e-6 * max(float(sizes.max()), 1e-300)]
    seen = np.linalg.solve(factor, np.linalg.solve(factor, within).T)
    left = np.minimum(np.einsum("ik,ij,jk->k", directions, seen, directions), 1.0)
    shape = np.eye(len(believed)) - (directions * (1.0 - left)) @ directions.T
    floor = RIDGE * np.eye(len(believed))
    return np.asarray(factor @ (shape + floor) @ factor.T)


def _two_means(standard: FloatTable, in_first: Flags) -> Flags:
    """Two groups, each nearer to its own mean, from two to begin with."""
    for _ in range(ROUNDS):
        if in_first.all() or not in_first.any():
            break
        centres = np.array([standard[in_first].mean(axis=0), standard[~in_first].mean(axis=0)])
        squares = _squares(standard, centres)
        before, in_first = in_first, squares[:, 0] < squares[:, 1]
        if np.array_equal(in_first, before):
            break
    return in_first


def _squares(standard: FloatTable, centres: FloatTable) -> FloatTable:
    products = standard @ centres.T
    return np.asarray(
        (centres**2).sum(axis=1) - 2.0 * products + (standard**2).sum(axis=1)[:, None]
    )


def _log_likelihood(theta: FloatTable, matrix: FloatTable) -> float:
    """Of draws from a normal distribution with their own mean, up to a constant of each row."""
    factor = np.linalg.cholesky(matrix)
    standard = np.linalg.solve(factor, (theta - theta.mean(axis=0)).T)
    log_volume = float(np.log(np.diag(factor)).sum())
    return -0.5 * float((standard**2).sum()) - len(theta) * log_volume
