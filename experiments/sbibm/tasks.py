"""Five tasks of the benchmark: simulators and priors as its paper defines them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import stats

import aptmc


class Task(NamedTuple):
    """A simulator with its prior, and how many numbers it gives."""

    name: str
    simulate: Callable[..., Any]
    prior: aptmc.Prior

    def problem(self, observed: Any) -> aptmc.Abc:
        """The likelihood-free problem, with Euclidean distances as in the benchmark."""
        return aptmc.Abc(self.simulate, self.prior, observed=observed, distance=distance)


@njit
def distance(simulated: Any, observed: Any) -> float:
    """Euclidean."""
    return math.sqrt(((simulated - observed) ** 2).sum())


@njit
def two_moons(theta: Any, rng: Any) -> Any:
    """A crescent, of which the absolute value makes two."""
    angle = math.pi * (rng.random() - 0.5)
    radius = 0.1 + 0.01 * rng.standard_normal()
    return np.array(
        [
            radius * math.cos(angle) + 0.25 - abs(theta[0] + theta[1]) / math.sqrt(2.0),
            radius * math.sin(angle) + (theta[1] - theta[0]) / math.sqrt(2.0),
        ]
    )


@njit
def gaussian_mixture(theta: Any, rng: Any) -> Any:
    """A wide and a narrow normal with the same mean."""
    scale = 1.0 if rng.random() < 0.5 else 0.1
    return np.array([theta[0], theta[1]]) + scale * rng.standard_normal(2)


@njit
def gaussian_linear(theta: Any, rng: Any) -> Any:
    """Ten means, each seen once."""
    return theta + math.sqrt(0.1) * rng.standard_normal(10)


@njit
def slcp(theta: Any, rng: Any) -> Any:
    """Simple likelihood, complex posterior: four draws of a normal of two dimensions."""
    first, second, correlation = theta[2] ** 2, theta[3] ** 2, math.tanh(theta[4])
    data = np.empty(8)
    for i in range(4):
        a, b = rng.standard_normal(), rng.standard_normal()
        data[2 * i] = theta[0] + first * a
        other = correlation * a + math.sqrt(1.0 - correlation**2) * b
        data[2 * i + 1] = theta[1] + second * other
    return data


PEOPLE, DAYS_BETWEEN, LOOKS, COUNTED = 1e6, 17, 10, 1000
STEPS_A_DAY = 10


@njit
def slope(susceptible: float, infected: float, theta: Any) -> Any:
    """Of susceptible and infected people, per day."""
    new = theta[0] * susceptible * infected / PEOPLE
    return -new, new - theta[1] * infected


@njit
def sir(theta: Any, rng: Any) -> Any:
    """An epidemic, of which a thousand people are looked at every 17 days."""
    susceptible, infected = PEOPLE - 1.0, 1.0
    data, h = np.empty(LOOKS), 1.0 / STEPS_A_DAY
    for look in range(LOOKS):
        share = min(max(infected / PEOPLE, 0.0), 1.0)
        data[look] = rng.binomial(COUNTED, share)
        for _ in range(DAYS_BETWEEN * STEPS_A_DAY):  # Runge and Kutta's method
            s1, i1 = slope(susceptible, infected, theta)
            s2, i2 = slope(susceptible + 0.5 * h * s1, infected + 0.5 * h * i1, theta)
            s3, i3 = slope(susceptible + 0.5 * h * s2, infected + 0.5 * h * i2, theta)
            s4, i4 = slope(susceptible + h * s3, infected + h * i3, theta)
            susceptible += h / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4)
            infected += h / 6.0 * (i1 + 2.0 * i2 + 2.0 * i3 + i4)
    return data


def _box(dimension: int, half: float) -> aptmc.Prior:
    marginal = stats.uniform(-half, 2.0 * half)
    return aptmc.Prior(**{f"theta{i}": marginal for i in range(dimension)})


TASKS = {
    task.name: task
    for task in (
        Task("two_moons", two_moons, _box(2, 1.0)),
        Task("gaussian_mixture", gaussian_mixture, _box(2, 10.0)),
        Task(
            "sir",
            sir,
            aptmc.Prior(
                contact=stats.lognorm(0.5, scale=0.4), recovery=stats.lognorm(0.2, scale=0.125)
            ),
        ),
        Task("slcp", slcp, _box(5, 3.0)),
        Task(
            "gaussian_linear",
            gaussian_linear,
            aptmc.Prior(**{f"theta{i}": stats.norm(0.0, math.sqrt(0.1)) for i in range(10)}),
        ),
    )
}
