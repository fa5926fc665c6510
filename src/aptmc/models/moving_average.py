"""A moving average of order 2 (Marin, Pudlo, Robert and Ryder 2012), with its exact posterior.

y_t = e_t + theta1 e_{t-1} + theta2 e_{t-2} with standard normal e. The prior is uniform on the
triangle where the parameters can be told apart: |theta1| < 1 + theta2 and theta2 < 1.

Likelihood-free inference compares the autocovariances at lags 1 and 2, so its target at tolerance 0
is the posterior given these two numbers, which is wider than the posterior given the series. Three
values of the series are few enough to be compared one by one: there the target at tolerance 0 is
the posterior given the values. All targets are known, at every tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from aptmc.compiled import Floats, FloatTable
from aptmc.keys import Key
from aptmc.problem import Prior

LENGTH = 100
TRUTH: Floats = np.array([0.6, 0.2])
TRUTH.setflags(write=False)
# Per side of the triangle. The posterior is 0.1 wide, so these points resolve it to rounding error.
_NODES = 64
# The other posteriors are wider. Their means and standard deviations are exact to 4 decimals.
_NODES_GIVEN_VALUES = 32
_NODES_GIVEN_AUTOCOVARIANCES = 40


@njit(nogil=True)
def is_identifiable(theta: Any) -> bool:
    """Whether a point lies inside the triangle.

    >>> is_identifiable(np.array([0.6, 0.2])), is_identifiable(np.array([1.3, 0.2]))
    (True, False)
    """
    return bool(abs(theta[0]) < 1.0 + theta[1] and theta[1] < 1.0)


@njit(nogil=True)
def simulate(theta: Any, rng: Any) -> Any:
    """A series of 100 values."""
    first, second = theta[0], theta[1]
    series = np.empty(LENGTH)
    before_last = rng.standard_normal()
    last = rng.standard_normal()
    for t in range(LENGTH):
        now = rng.standard_normal()
        series[t] = now + first * last + second * before_last
        before_last = last
        last = now
    return series


# Computed rather than written down: the same on every machine, from its key.
OBSERVED: Floats = simulate.py_func(TRUTH, Key(seed=2012, chain=0, number=0).generator())
OBSERVED.setflags(write=False)
# Three values in a row that say something about the parameters.
SHORT: Floats = OBSERVED[3:6]


@njit(nogil=True)
def autocovariance(series: Any, lag: int) -> float:
    """The mean product of values `lag` apart; the model's mean is 0, and known."""
    total = 0.0
    for t in range(lag, series.size):
        total += series[t] * series[t - lag]
    return float(total / series.size)


_OBSERVED_SUMMARIES = (autocovariance.py_func(OBSERVED, 1), autocovariance.py_func(OBSERVED, 2))


@njit(nogil=True)
def distance(simulated: Any, observed: Any) -> float:
    """The Euclidean distance of two series' autocovariances at lags 1 and 2."""
    first = autocovariance(simulated, 1) - autocovariance(observed, 1)
    second = autocovariance(simulated, 2) - autocovariance(observed, 2)
    return math.sqrt(first * first + second * second)


@njit(nogil=True)
def simulated_distance(theta: Any, rng: Any, tolerance: float) -> float:
    """The distance of one simulation from the observed series, infinite outside the triangle.

    The prior is a product of marginals, which no triangle is. An infinite distance is outside every
    tolerance, so the rest of the rectangle has no posterior mass. Nothing is simulated there.
    """
    if not is_identifiable(theta):
        return math.inf
    simulated = simulate(theta, rng)
    first = autocovariance(simulated, 1) - _OBSERVED_SUMMARIES[0]
    second = autocovariance(simulated, 2) - _OBSERVED_SUMMARIES[1]
    return math.sqrt(first * first + second * second)


@njit(nogil=True)
def short_simulated_distance(theta: Any, rng: Any, tolerance: float) -> float:
    """The Euclidean distance of three simulated values from `SHORT`; like `simulated_distance`."""
    if not is_identifiable(theta):
        return math.inf
    squares = 0.0
    before_last = rng.standard_normal()
    last = rng.standard_normal()
    for t in range(SHORT.size):
        now = rng.standard_normal()
        squares += (now + theta[0] * last + theta[1] * before_last - SHORT[t]) ** 2
        before_last = last
        last = now
    return math.sqrt(squares)


def prior() -> Prior:
    """Uniform on the rectangle around the triangle: `simulated_distance` leaves only the latter."""
    from scipy import stats

    return Prior(theta1=stats.uniform(-2.0, 4.0), theta2=stats.uniform(-1.0, 2.0))


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
    """A mean and a covariance matrix."""

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
    heights = _inverse_transform(thetas, directions, radii, average * radii * weights)
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


@njit(nogil=True, error_model="numpy")
def _inverse_transform(
    thetas: FloatTable, directions: FloatTable, radii: Floats, weights: FloatTable
) -> FloatTable:
    """The density of the autocovariances at the observed ones, up to a constant.

    For each theta, one number for each row of weights of the radii.
    """
    heights = np.zeros((len(thetas), len(weights)))
    for i in range(len(thetas)):
        for direction in directions:
            form = _quadratic_form(thetas[i], direction)
            observed = direction[0] * _OBSERVED_SUMMARIES[0] + direction[1] * _OBSERVED_SUMMARIES[1]
            for j in range(radii.size):
                radius = radii[j]
                turned = np.exp(-1j * radius * observed) * _characteristic(form, radius)
                for k in range(len(weights)):
                    heights[i, k] += weights[k, j] * turned.real
    return heights


@njit(nogil=True)
def _quadratic_form(theta: Floats, direction: Floats) -> FloatTable:
    """A sum of the two autocovariances as a symmetric form in the noise, by its lower bands."""
    weights = (theta[1], theta[0], 1.0)
    form = np.zeros((LENGTH + 2, 5))
    for lag in range(1, 3):
        for t in range(lag, LENGTH):
            for a in range(3):
                for b in range(3):
                    row, column = t + a, t - lag + b
                    product = direction[lag - 1] * weights[a] * weights[b] / LENGTH
                    if row == column:
                        form[row, 0] += product
                    else:
                        form[max(row, column), abs(row - column)] += 0.5 * product
    return form


@njit(nogil=True, error_model="numpy")
def _characteristic(form: FloatTable, radius: float) -> complex:
    """E exp(i r e'Fe) = det(1 - 2irF) ** (-1/2) for standard normal e, by a banded LDL'.

    The real part of the matrix is positive definite, so no pivots are exchanged, and the root is
    the product of the pivots' principal roots.
    """
    rows, width = form.shape
    lower = np.zeros((rows, width), np.complex128)
    inverse = np.zeros(rows, np.complex128)
    result = 1.0 + 0.0j
    scaled = np.zeros(width, np.complex128)  # this row of L, times the pivots
    for i in range(rows):
        pivot = 1.0 - 2.0j * radius * form[i, 0]
        for back in range(min(width - 1, i), 0, -1):
            j = i - back
            entry = -2.0j * radius * form[i, back]
            for further in range(min(width - 1, i), back, -1):
                entry -= scaled[further] * lower[j, further - back]
            scaled[back] = entry
            lower[i, back] = entry * inverse[j]
            pivot -= entry * lower[i, back]
        inverse[i] = 1.0 / pivot
        result *= np.sqrt(inverse[i])
    return result
