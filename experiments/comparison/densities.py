"""The densities: modes of many kinds, a ridge, and two smooth ones.

Egg box, shells and coin are what nested samplers and Pigeons show; their evidence is published.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from scipy import special

from experiments.comparison.problem import Density, Floats

LOG_2_PI = math.log(2.0 * math.pi)


def uniform(low: float, high: float, dimension: int) -> tuple[Any, Any]:
    """Log density and draws of independent uniform numbers."""
    height = -dimension * math.log(high - low)

    @njit
    def log_prior(theta: Any) -> float:
        for i in range(dimension):
            if not low <= theta[i] <= high:
                return -math.inf
        return height

    def from_cube(cube: Any) -> Any:
        return low + (high - low) * np.asarray(cube)

    return log_prior, from_cube


# --- egg box --------------------------------------------------------------------------------------

SIDE = 10.0 * math.pi
EGG = 2.0 * math.pi  # the first peak inside, on both axes


@njit
def egg_box_log_likelihood(theta: Any) -> float:
    """Eighteen peaks, some of which the prior cuts."""
    return float((2.0 + math.cos(0.5 * theta[0]) * math.cos(0.5 * theta[1])) ** 5)


def egg_box_quantities(theta: Floats) -> Floats:
    """A coordinate, one half of all peaks, and one peak."""
    x, y = theta.T
    near = (abs(x - EGG) < math.pi) & (abs(y - EGG) < math.pi)
    return np.column_stack([x, x + y < SIDE, near])


# --- shells ---------------------------------------------------------------------------------------

RADIUS, WIDTH, PLACE, BOX = 2.0, 0.1, 3.5, 6.0
HEIGHT = -0.5 * (LOG_2_PI + 2.0 * math.log(WIDTH))


@njit
def shells_log_likelihood(theta: Any) -> float:
    """Two thin shells beside each other."""
    rest = 0.0
    for i in range(1, theta.size):
        rest += theta[i] ** 2
    left = math.sqrt(rest + (theta[0] + PLACE) ** 2) - RADIUS
    right = math.sqrt(rest + (theta[0] - PLACE) ** 2) - RADIUS
    a, b = -0.5 * (left / WIDTH) ** 2, -0.5 * (right / WIDTH) ** 2
    return HEIGHT + max(a, b) + math.log1p(math.exp(-abs(a - b)))


def shells_quantities(theta: Floats) -> Floats:
    """Which shell, how far along it, and the distance from its centre."""
    side = np.where(theta[:, 0] > 0.0, PLACE, -PLACE)
    along = theta[:, 0] - side
    return np.column_stack([theta[:, 0] > 0.0, along, theta[:, 1], np.hypot(along, _rest(theta))])


def _rest(theta: Floats) -> Any:
    return np.sqrt((theta[:, 1:] ** 2).sum(axis=1))


# --- a coin that two probabilities share ----------------------------------------------------------

TOSSES, HEADS = 100_000, 50_000
WAYS = float(
    special.gammaln(TOSSES + 1) - special.gammaln(HEADS + 1) - special.gammaln(TOSSES - HEADS + 1)
)


@njit
def coin_log_likelihood(theta: Any) -> float:
    """Heads with probability theta1 theta2, as Pigeons has it."""
    share = theta[0] * theta[1]
    if not 0.0 < share < 1.0:
        return -math.inf
    return WAYS + HEADS * math.log(share) + (TOSSES - HEADS) * math.log1p(-share)


def coin_quantities(theta: Floats) -> Floats:
    """One probability, which is larger, and the product."""
    return np.column_stack([theta[:, 0], theta[:, 0] > theta[:, 1], theta[:, 0] * theta[:, 1]])


# --- labels that switch ---------------------------------------------------------------------------

SEEN = np.concatenate(
    [
        np.random.default_rng(1).normal(-1.5, 1.0, 21),
        np.random.default_rng(2).normal(1.5, 1.0, 39),
    ]
)
MEAN_SD = 5.0


@njit
def labels_log_likelihood(theta: Any) -> float:
    """A mixture of two normal distributions: both means and the weight of the first."""
    total = 0.0
    for i in range(SEEN.size):
        first = theta[2] * math.exp(-0.5 * (SEEN[i] - theta[0]) ** 2)
        second = (1.0 - theta[2]) * math.exp(-0.5 * (SEEN[i] - theta[1]) ** 2)
        total += math.log(first + second + 1e-300) - 0.5 * LOG_2_PI
    return total


@njit
def labels_log_prior(theta: Any) -> float:
    """Means are N(0, 5), the weight is uniform."""
    if not 0.0 <= theta[2] <= 1.0:
        return -math.inf
    square = (theta[0] ** 2 + theta[1] ** 2) / MEAN_SD**2
    return float(-0.5 * square - LOG_2_PI - 2.0 * math.log(MEAN_SD))


def labels_from_cube(cube: Any) -> Any:
    """A draw from it."""
    return np.array([*(MEAN_SD * special.ndtri(cube[:2])), cube[2]])


def labels_quantities(theta: Floats) -> Floats:
    """Which label is on the left, the two means by size, and the weight of the larger."""
    left = theta[:, 0] < theta[:, 1]
    larger = np.where(left, 1.0 - theta[:, 2], theta[:, 2])
    return np.column_stack([left, theta[:, :2].min(axis=1), theta[:, :2].max(axis=1), larger])


# --- a spike beside a slab ------------------------------------------------------------------------

SPIKE_SD, SPIKE_PLACE, SLAB_BOX, SLAB_DIMENSION = 0.02, 2.5, 5.0, 2


@njit
def spike_log_likelihood(theta: Any) -> float:
    """One half each: a normal distribution of width 1, and one of a fiftieth of that."""
    slab, spike = 0.0, 0.0
    for i in range(theta.size):
        slab -= 0.5 * theta[i] ** 2
        spike -= 0.5 * ((theta[i] - SPIKE_PLACE) / SPIKE_SD) ** 2
    spike -= theta.size * math.log(SPIKE_SD)
    both = max(slab, spike) + math.log1p(math.exp(-abs(slab - spike)))
    return float(math.log(0.5) - 0.5 * theta.size * LOG_2_PI + both)


def spike_quantities(theta: Floats) -> Floats:
    """The weight of the spike, and a coordinate."""
    in_spike = (abs(theta - SPIKE_PLACE) < 6.0 * SPIKE_SD).all(axis=1)
    return np.column_stack([in_spike, theta[:, 0]])


# --- logistic regression --------------------------------------------------------------------------

COEFFICIENTS, ROWS, PRIOR_SD = 25, 500, 2.0
_RNG = np.random.default_rng(1)
FACTORS = _RNG.standard_normal((ROWS, COEFFICIENTS))
_CHANCES = 1.0 / (1.0 + np.exp(-FACTORS @ _RNG.standard_normal(COEFFICIENTS)))
OUTCOMES = (_RNG.random(ROWS) < _CHANCES).astype(float)


@njit
def logistic_log_likelihood(theta: Any) -> float:
    """Of tosses whose log odds are linear in 25 factors."""
    odds = np.dot(FACTORS, theta)
    total = 0.0
    for i in range(odds.size):
        total += OUTCOMES[i] * odds[i]
        total -= odds[i] if odds[i] > 30.0 else math.log1p(math.exp(odds[i]))
    return total


@njit
def logistic_log_prior(theta: Any) -> float:
    """Each is N(0, 2)."""
    total = 0.0
    for i in range(theta.size):
        total -= 0.5 * (theta[i] / PRIOR_SD) ** 2
    return float(total - theta.size * (0.5 * LOG_2_PI + math.log(PRIOR_SD)))


def logistic_from_cube(cube: Any) -> Any:
    """A draw from it."""
    return PRIOR_SD * special.ndtri(np.asarray(cube))


# --- eight schools, centred -----------------------------------------------------------------------

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
SCALE = 5.0


@njit
def schools_log_likelihood(theta: Any) -> float:
    """Of the effects at eight schools."""
    total = 0.0
    for i in range(EFFECTS.size):
        total -= 0.5 * ((EFFECTS[i] - theta[2 + i]) / ERRORS[i]) ** 2
        total -= 0.5 * LOG_2_PI + math.log(ERRORS[i])
    return total


@njit
def schools_log_prior(theta: Any) -> float:
    """Mean N(0, 5), spread half-Cauchy(5), schools N(mean, spread): a funnel."""
    mean, spread = theta[0], theta[1]
    if spread <= 0.0:
        return -math.inf
    total = -0.5 * (mean / SCALE) ** 2 - 0.5 * LOG_2_PI - math.log(SCALE)
    total += math.log(2.0 / (math.pi * SCALE)) - math.log1p((spread / SCALE) ** 2)
    for i in range(EFFECTS.size):
        total -= 0.5 * ((theta[2 + i] - mean) / spread) ** 2 + 0.5 * LOG_2_PI + math.log(spread)
    return float(total)


def schools_from_cube(cube: Any) -> Any:
    """A draw from it."""
    mean = SCALE * special.ndtri(cube[0])
    spread = SCALE * math.tan(0.5 * math.pi * cube[1])
    return np.concatenate([[mean, spread], mean + spread * special.ndtri(cube[2:])])


def schools_quantities(theta: Floats) -> Floats:
    """Mean, spread where it is not in its long tail, a small spread, the first school."""
    mean, spread = theta[:, 0], theta[:, 1]
    return np.column_stack([mean, np.minimum(spread, 20.0), spread < 1.0, theta[:, 2]])


def _names(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{i}" for i in range(count))


DENSITIES = {
    density.name: density
    for density in (
        Density(
            "egg box", "18 peaks in the plane", ("x", "y"), uniform(0.0, SIDE, 2)[0],
            egg_box_log_likelihood, uniform(0.0, SIDE, 2)[1], egg_box_quantities,
            ("mean x", "half of the peaks", "one peak"), modes=(1, 2),
        ),
        Density(
            "shells 2", "two thin rings", ("x0", "x1"), uniform(-BOX, BOX, 2)[0],
            shells_log_likelihood, uniform(-BOX, BOX, 2)[1], shells_quantities,
            ("one shell", "along", "across", "radius"), modes=(0,),
        ),
        Density(
            "shells 10", "two thin shells in ten dimensions", _names("x", 10),
            uniform(-BOX, BOX, 10)[0], shells_log_likelihood, uniform(-BOX, BOX, 10)[1],
            shells_quantities, ("one shell", "along", "across", "radius"), modes=(0,),
            evaluations=300_000,
        ),
        Density(
            "coin", "a ridge: only a product is known", ("theta1", "theta2"),
            uniform(0.0, 1.0, 2)[0], coin_log_likelihood, uniform(0.0, 1.0, 2)[1],
            coin_quantities, ("mean theta1", "theta1 > theta2", "mean product"), modes=(1,),
        ),
        Density(
            "labels", "a mixture whose labels switch", ("mean1", "mean2", "weight"),
            labels_log_prior, labels_log_likelihood, labels_from_cube, labels_quantities,
            ("first on the left", "left mean", "right mean", "weight of the right"), modes=(0,),
        ),
        Density(
            "spike and slab", "a spike of a fiftieth of the slab's width",
            _names("x", SLAB_DIMENSION), uniform(-SLAB_BOX, SLAB_BOX, SLAB_DIMENSION)[0],
            spike_log_likelihood, uniform(-SLAB_BOX, SLAB_BOX, SLAB_DIMENSION)[1],
            spike_quantities, ("the spike", "mean x0"), modes=(0,),
        ),
        Density(
            "logistic", "logistic regression, 25 coefficients", _names("beta", COEFFICIENTS),
            logistic_log_prior, logistic_log_likelihood, logistic_from_cube,
            lambda theta: theta[:, :3], ("mean beta0", "mean beta1", "mean beta2"),
            is_smooth=True,
        ),
        Density(
            "schools", "eight schools, centred", ("mean", "spread", *_names("school", 8)),
            schools_log_prior, schools_log_likelihood, schools_from_cube, schools_quantities,
            ("mean", "spread to 20", "spread < 1", "first school"), is_smooth=True,
        ),
    )
}  # fmt: skip
