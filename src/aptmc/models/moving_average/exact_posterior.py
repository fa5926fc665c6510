"""The exact posteriors: given the series, three of its values, or its autocovariances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats, FloatTable
from aptmc.models.moving_average.autocovariance_density import inverse_transform
from aptmc.models.moving_average.series import OBSERVED, SHORT

# Per side of the triangle. The posterior is 0.1 wide, so these points resolve it to rounding error.
_NODES = 64
# The other posteriors are wider. Their means and standard deviations are exact to 4 decimals.
_NODES_GIVEN_VALUES = 32
_NODES_GIVEN_AUTOCOVARIANCES = 40


def log_likelihood(theta: npt.ArrayLike, series: npt.ArrayLike | None = None) -> float:
    """The exact log likelihood of a series, the observed one by default.

    >>> round(log_likelihood([0.0, 0.0], [1.0, 2.0]), 6)
    -4.337877
    """
    from scipy import linalg

    first, second = np.asarray(theta, dtype=np.float64)
    values = np.asarray(OBSERVED if series is None else series, dtype=np.float64)
    # Row j has the covariances at lag j. The unused corner on the right is ignored.
    band = np.empty((3, values.size))
    band[0] = 1.0 + first**2 + second**2
    band[1] = first * (1.0 + second)
    band[2] = second
    factor = linalg.cholesky_banded(band, lower=True)
    fit = values @ linalg.cho_solve_banded((factor, True), values)
    log_determinant = 2.0 * np.log(factor[0]).sum()
    return float(-0.5 * (fit + log_determinant + values.size * math.log(2.0 * math.pi)))


class Moments(NamedTuple):
    """The mean and the covariance matrix of a posterior."""

    mean: Floats
    covariance: FloatTable


def posterior_moments() -> Moments:
    """The exact posterior given the observed series, under the uniform prior on the triangle.

    >>> posterior_moments().mean.round(2)
    array([0.67, 0.25])
    """
    thetas, area = _triangle(_NODES)
    log_heights = np.array([log_likelihood(theta) for theta in thetas])
    return _moments(thetas, area * np.exp(log_heights - log_heights.max()))


def moments_given_values(tolerance: float = 0.0, values: npt.ArrayLike = SHORT) -> Moments:
    """The posterior given that three simulated values lie within a tolerance of the observed ones.

    At tolerance 0 this is the posterior of the exact likelihood. Good for tolerances up to 5.

    >>> moments_given_values().mean.round(2), moments_given_values(2.0).mean.round(2)
    (array([0.74, 0.46]), array([0.43, 0.35]))
    """
    thetas, area = _triangle(_NODES_GIVEN_VALUES)
    steps, shares = _ball() if tolerance > 0.0 else (np.zeros((1, 3)), np.ones(1))
    points = np.asarray(values, dtype=np.float64) + tolerance * steps
    heights = np.empty(len(thetas))
    for i, (first, second) in enumerate(thetas):
        row = [1.0 + first**2 + second**2, first * (1.0 + second), second]
        covariance = np.array([[row[abs(j - k)] for k in range(3)] for j in range(3)])
        fits = (points @ np.linalg.inv(covariance) * points).sum(axis=1)
        heights[i] = shares @ np.exp(-0.5 * fits) / math.sqrt(np.linalg.det(covariance))
    return _moments(thetas, area * heights)


def moments_given_autocovariances(tolerances: Sequence[float]) -> list[Moments]:
    """The posteriors given that the two autocovariances lie within each of some tolerances.

    At tolerance 0 this is the posterior given the observed autocovariances. They are quadratic
    forms in the noise, so their characteristic function is known. Its inverse Fourier transform is
    their density, which a factor 2 J1(er) / (er) averages over a disc of radius e.
    """
    from scipy import special

    thetas, area = _triangle(_NODES_GIVEN_AUTOCOVARIANCES)
    # In polar coordinates. Beyond this radius the characteristic function is below 1e-5 wherever
    # the posterior has mass; opposite directions are each other's conjugates.
    nodes, weights = np.polynomial.legendre.leggauss(40)
    radii = 25.0 * (nodes + 1.0)
    reach = np.multiply.outer(np.asarray(tolerances, dtype=np.float64), radii)
    average = np.ones_like(reach)
    np.divide(2.0 * special.j1(reach), reach, out=average, where=reach > 0.0)
    angles = math.pi * np.arange(32) / 32
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    heights = inverse_transform(thetas, directions, radii, average * radii * weights)
    return [_moments(thetas, area * column) for column in heights.T]


def _triangle(nodes: int) -> tuple[FloatTable, Floats]:
    """Points of the triangle, and weights that integrate over it."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    # The triangle's width at theta2 is 2 (1 + theta2).
    second = np.repeat(points, nodes)
    thetas = np.column_stack([np.tile(points, nodes) * (1.0 + second), second])
    return thetas, np.repeat(weights, nodes) * np.tile(weights, nodes) * (1.0 + second)


def _moments(thetas: FloatTable, mass: Floats) -> Moments:
    mass = mass / mass.sum()
    mean = mass @ thetas
    centred = thetas - mean
    return Moments(mean, (centred.T * mass) @ centred)


def _ball() -> tuple[FloatTable, Floats]:
    """Points of the unit ball in three dimensions, and weights that average over it."""
    points, weights = np.polynomial.legendre.leggauss(12)
    angle = 2.0 * math.pi * np.arange(24) / 24
    radius, height, turn = (
        grid.ravel() for grid in np.meshgrid(0.5 * (points + 1.0), points, angle, indexing="ij")
    )
    flat = radius * np.sqrt(1.0 - height**2)
    steps = np.column_stack([flat * np.cos(turn), flat * np.sin(turn), radius * height])
    shares = np.multiply.outer(np.multiply.outer(weights, weights), np.ones(24)).ravel() * radius**2
    return steps, shares / shares.sum()
