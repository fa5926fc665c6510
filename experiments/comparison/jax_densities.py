"""The same densities for samplers that want functions of JAX: log prior and log likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp

from experiments.comparison import densities as given

Function = Callable[[Any], Any]


def _box_log_prior(low: float, high: float, theta: Any) -> Any:
    inside = jnp.all((theta >= low) & (theta <= high))
    return jnp.where(inside, -theta.size * math.log(high - low), -jnp.inf)


def _normal(value: Any, mean: Any, sd: Any) -> Any:
    return -0.5 * ((value - mean) / sd) ** 2 - jnp.log(sd) - 0.5 * given.LOG_2_PI


def _egg_box(theta: Any) -> Any:
    return (2.0 + jnp.prod(jnp.cos(0.5 * theta))) ** 5


def _shells(theta: Any) -> Any:
    rest = (theta[1:] ** 2).sum()
    left = jnp.sqrt(rest + (theta[0] + given.PLACE) ** 2) - given.RADIUS
    right = jnp.sqrt(rest + (theta[0] - given.PLACE) ** 2) - given.RADIUS
    return given.HEIGHT + jnp.logaddexp(
        -0.5 * (left / given.WIDTH) ** 2, -0.5 * (right / given.WIDTH) ** 2
    )


def _coin(theta: Any) -> Any:
    share = jnp.clip(theta[0] * theta[1], 1e-300, 1.0 - 1e-16)
    tails = given.TOSSES - given.HEADS
    return given.WAYS + given.HEADS * jnp.log(share) + tails * jnp.log1p(-share)


def _labels(theta: Any) -> Any:
    weight = jnp.clip(theta[2], 1e-300, 1.0 - 1e-16)
    first = jnp.log(weight) + _normal(given.SEEN, theta[0], 1.0)
    second = jnp.log1p(-weight) + _normal(given.SEEN, theta[1], 1.0)
    return jnp.logaddexp(first, second).sum()


def _labels_log_prior(theta: Any) -> Any:
    inside = (theta[2] >= 0.0) & (theta[2] <= 1.0)
    return jnp.where(inside, _normal(theta[:2], 0.0, given.MEAN_SD).sum(), -jnp.inf)


def _spike(theta: Any) -> Any:
    slab = _normal(theta, 0.0, 1.0).sum()
    return jnp.logaddexp(slab, _normal(theta, given.SPIKE_PLACE, given.SPIKE_SD).sum()) + math.log(
        0.5
    )


def _logistic(theta: Any) -> Any:
    odds = given.FACTORS @ theta
    return given.OUTCOMES @ odds - jnp.logaddexp(0.0, odds).sum()


def _schools(theta: Any) -> Any:
    return _normal(given.EFFECTS, theta[2:], given.ERRORS).sum()


def _schools_log_prior(theta: Any) -> Any:
    mean, spread = theta[0], theta[1]
    inside = jnp.where(spread > 0.0, spread, 1.0)
    total = _normal(mean, 0.0, given.SCALE) + math.log(2.0 / (math.pi * given.SCALE))
    total += _normal(theta[2:], mean, inside).sum() - jnp.log1p((inside / given.SCALE) ** 2)
    return jnp.where(spread > 0.0, total, -jnp.inf)


LOG_PRIORS: dict[str, Function] = {
    "egg box": partial(_box_log_prior, 0.0, given.SIDE),
    "shells 2": partial(_box_log_prior, -given.BOX, given.BOX),
    "shells 10": partial(_box_log_prior, -given.BOX, given.BOX),
    "coin": partial(_box_log_prior, 0.0, 1.0),
    "labels": _labels_log_prior,
    "spike and slab": partial(_box_log_prior, -given.SLAB_BOX, given.SLAB_BOX),
    "logistic": lambda theta: _normal(theta, 0.0, given.PRIOR_SD).sum(),
    "schools": _schools_log_prior,
}
LOG_LIKELIHOODS: dict[str, Function] = {
    "egg box": _egg_box, "shells 2": _shells, "shells 10": _shells, "coin": _coin,
    "labels": _labels, "spike and slab": _spike, "logistic": _logistic, "schools": _schools,
}  # fmt: skip


def unconstrained_log_density(name: str) -> Function:
    """For moves along gradients: what is positive is moved as its logarithm."""
    if name != "schools":
        return lambda theta: LOG_PRIORS[name](theta) + LOG_LIKELIHOODS[name](theta)

    def log_density(theta: Any) -> Any:
        point = constrained(name, theta)
        return _schools_log_prior(point) + _schools(point) + theta[1]

    return log_density


def constrained(name: str, theta: Any) -> Any:
    """Back to the parameters."""
    return theta.at[..., 1].set(jnp.exp(theta[..., 1])) if name == "schools" else theta
