"""Targets with a density: two mixtures whose modes a random walk cannot join, a funnel, a ridge."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy import integrate, special, stats

import aptmc
from aptmc.models import gamma_mixture
from experiments.known_targets.quantities import Floats, Quantity, mean_of, probability_of, sd_of
from experiments.known_targets.target import Target

# --- twenty modes in the plane (Kou, Zhou and Wong 2006) ------------------------------------------

MODES = np.array(
    [
        *[(2.18, 5.76), (8.67, 9.59), (4.24, 8.48), (8.41, 1.68), (3.93, 8.82)],
        *[(3.25, 3.47), (1.70, 0.50), (4.59, 5.60), (6.91, 5.81), (6.87, 5.40)],
        *[(5.41, 2.65), (2.70, 7.88), (4.98, 3.70), (1.14, 2.39), (8.33, 9.50)],
        *[(4.93, 1.50), (1.83, 0.09), (2.26, 0.31), (5.54, 6.86), (1.69, 8.11)],
    ]
)
WIDTH = 0.1
SIDE = 10.0


@njit(nogil=True)
def twenty_modes_log_likelihood(theta: Any) -> float:
    """An equal mixture of twenty normal densities."""
    exponents = np.empty(len(MODES))
    for i in range(len(MODES)):
        square = (theta[0] - MODES[i, 0]) ** 2 + (theta[1] - MODES[i, 1]) ** 2
        exponents[i] = -0.5 * square / WIDTH**2
    largest = exponents.max()
    return float(largest + math.log(np.exp(exponents - largest).sum()))


def is_near(mode: Floats, theta: Floats) -> npt.NDArray[np.bool_]:
    """Whether points lie within two standard deviations of a mode."""
    return np.asarray(((theta - mode) ** 2).sum(axis=1) < (2.0 * WIDTH) ** 2)


def twenty_modes_quantities() -> tuple[Quantity, ...]:
    """By quadrature on a grid of a 20th of the modes' width; one mode is cut by the prior."""
    step = WIDTH / 20.0
    axis = np.arange(step / 2.0, SIDE, step)
    heights = np.exp(-0.5 * ((axis - MODES[:, :, None]) / WIDTH) ** 2)  # mode, coordinate, point
    density = heights[:, 0].T @ heights[:, 1]
    density /= density.sum()
    quantities = []
    for column, name in enumerate(("x", "y")):
        marginal = density.sum(axis=1 - column)
        mean = float(axis @ marginal)
        sd = math.sqrt(float((axis - mean) ** 2 @ marginal))
        quantities += [mean_of(name, column, mean), sd_of(name, column, mean, sd)]
    for number, mode in enumerate(MODES):
        near_x, near_y = (np.flatnonzero(abs(axis - place) < 2.0 * WIDTH) for place in mode)
        grid = np.stack(np.meshgrid(axis[near_x], axis[near_y], indexing="ij"), axis=-1)
        inside = is_near(mode, grid.reshape(-1, 2))
        weight = float(density[np.ix_(near_x, near_y)].ravel() @ inside)
        quantities.append(probability_of(f"mode {number + 1}", partial(is_near, mode), weight))
    return tuple(quantities)


# --- two modes in ten dimensions ------------------------------------------------------------------

DIMENSION = 10
HALF_DISTANCE = 10.0  # of modes of standard deviation 1
SMALLER_WEIGHT = 0.3
PRIOR_SD = 10.0


@njit(nogil=True)
def two_modes_log_likelihood(theta: Any) -> float:
    """0.3 N(-m, 1) + 0.7 N(m, 1) with m along the diagonal, up to a constant."""
    place = HALF_DISTANCE / math.sqrt(DIMENSION)
    left, right = math.log(SMALLER_WEIGHT), math.log(1.0 - SMALLER_WEIGHT)
    for i in range(DIMENSION):
        left -= 0.5 * (theta[i] + place) ** 2
        right -= 0.5 * (theta[i] - place) ** 2
    return float(max(left, right) + math.log1p(math.exp(-abs(left - right))))


def two_modes_quantities() -> tuple[Quantity, ...]:
    """A normal prior shrinks both modes alike and leaves their weights as they are."""
    shrinkage = PRIOR_SD**2 / (PRIOR_SD**2 + 1.0)
    place = shrinkage * HALF_DISTANCE / math.sqrt(DIMENSION)
    larger = 1.0 - SMALLER_WEIGHT
    mean = (larger - SMALLER_WEIGHT) * place
    sd = math.sqrt(shrinkage + place**2 - mean**2)

    def square_within(theta: Floats) -> Floats:
        centre = np.where(theta.sum(axis=1) > 0.0, place, -place)
        return np.asarray(((theta - centre[:, None]) ** 2).mean(axis=1))

    return (
        mean_of("x0", 0, mean),
        sd_of("x0", 0, mean, sd),
        Quantity("sd within a mode", square_within, math.sqrt(shrinkage), is_root=True),
        probability_of("larger mode", lambda theta: theta.sum(axis=1) > 0.0, larger),
    )


# --- Neal's funnel --------------------------------------------------------------------------------

FUNNEL_SD = 3.0
FUNNEL_BRANCHES = 9
FREEDOM = 3.0  # of the Student distribution from which tempering starts


@njit(nogil=True)
def funnel_log_likelihood(theta: Any) -> float:
    """N(x | 0, exp(v)) over Student's density, which is the prior: the posterior is the funnel."""
    log_variance = theta[0]
    total = 0.0
    for i in range(1, theta.size):
        total -= 0.5 * (theta[i] ** 2 * math.exp(-log_variance) + log_variance)
        total += 0.5 * (FREEDOM + 1.0) * math.log1p(theta[i] ** 2 / FREEDOM)
    return total


def funnel_prior() -> aptmc.Prior:
    """N(0, 3) for v, Student for the branches."""
    branches = {f"x{i}": stats.t(FREEDOM) for i in range(1, FUNNEL_BRANCHES + 1)}
    return aptmc.Prior(v=stats.norm(0.0, FUNNEL_SD), **branches)


def funnel_quantities() -> tuple[Quantity, ...]:
    """The marginal of v is known; the branches have heavy tails, so of them a probability."""
    below_one = integrate.quad(
        lambda v: stats.norm(0.0, FUNNEL_SD).pdf(v) * special.erf(math.exp(-0.5 * v) / 2.0**0.5),
        -30.0,
        30.0,
        limit=200,
    )[0]
    return (
        mean_of("v", 0, 0.0),
        sd_of("v", 0, 0.0, FUNNEL_SD),
        probability_of(
            "neck, v < -3", lambda theta: theta[:, 0] < -FUNNEL_SD, float(special.ndtr(-1.0))
        ),
        probability_of("|x1| < 1", lambda theta: abs(theta[:, 1]) < 1.0, below_one),
    )


# --- a coin that two probabilities share ----------------------------------------------------------

TOSSES, HEADS = 100_000, 50_000


@njit(nogil=True)
def coin_log_likelihood(theta: Any) -> float:
    """Heads with probability theta1 theta2: only the product can be told."""
    share = theta[0] * theta[1]
    if not 0.0 < share < 1.0:
        return -math.inf
    return HEADS * math.log(share) + (TOSSES - HEADS) * math.log1p(-share)


def coin_quantities() -> tuple[Quantity, ...]:
    """Given the product p, theta1 has density 1 / (theta1 log(1/p)) between p and 1."""
    width = 0.5 / math.sqrt(TOSSES)
    points, weights = np.polynomial.legendre.leggauss(200)
    p = 0.5 + 10.0 * width * points
    log_height = HEADS * np.log(p) + (TOSSES - HEADS) * np.log1p(-p) + np.log(-np.log(p))
    weights = weights * np.exp(log_height - log_height.max())
    weights /= weights.sum()
    mean = float(weights @ ((1.0 - p) / -np.log(p)))
    square = float(weights @ ((1.0 - p**2) / (-2.0 * np.log(p))))
    sd = math.sqrt(square - mean**2)
    return (
        mean_of("theta1", 0, mean),
        sd_of("theta1", 0, mean, sd),
        Quantity("mean product", lambda theta: theta[:, 0] * theta[:, 1], float(weights @ p)),
        probability_of("theta1 > theta2", lambda theta: theta[:, 0] > theta[:, 1], 0.5),
    )


# --- the paper's gamma mixture --------------------------------------------------------------------


def gamma_mixture_quantities() -> tuple[Quantity, ...]:
    """In closed form."""
    square = 0.5 * sum(
        shape * (shape + 1.0) * scale**2
        for shape, scale in zip(gamma_mixture.SHAPES, gamma_mixture.SCALES, strict=True)
    )
    mean = gamma_mixture.MEAN
    return (
        mean_of("x", 0, mean),
        sd_of("x", 0, mean, math.sqrt(square - mean**2)),
        probability_of(
            "x < 1.7",
            lambda theta: theta[:, 0] < gamma_mixture.MIDDLE,
            gamma_mixture.PROBABILITY_BELOW_MIDDLE,
        ),
    )


TARGETS = (
    Target(
        "twenty modes",
        lambda: aptmc.Tempered(
            twenty_modes_log_likelihood,
            aptmc.Prior(x=stats.uniform(0.0, SIDE), y=stats.uniform(0.0, SIDE)),
        ),
        twenty_modes_quantities,
        budget=1e5,
    ),
    Target(
        "two modes",
        lambda: aptmc.Tempered(
            two_modes_log_likelihood,
            aptmc.Prior(**{f"x{i}": stats.norm(0.0, PRIOR_SD) for i in range(DIMENSION)}),
        ),
        two_modes_quantities,
        budget=1e5,
    ),
    Target(
        "funnel",
        lambda: aptmc.Tempered(funnel_log_likelihood, funnel_prior()),
        funnel_quantities,
        budget=3e5,
    ),
    Target(
        "coin",
        lambda: aptmc.Tempered(
            coin_log_likelihood,
            aptmc.Prior(theta1=stats.uniform(0.0, 1.0), theta2=stats.uniform(0.0, 1.0)),
        ),
        coin_quantities,
        budget=1e5,
    ),
    Target("gamma mixture", gamma_mixture.problem, gamma_mixture_quantities, budget=5e4),
)
