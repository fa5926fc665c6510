"""Models in PyMC: the densities of the programs in `stan`, with the names of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

from experiments.posteriordb.two_signs import MEAN, SPREAD, WIDTH

STEPS = 5  # of a Runge-Kutta rule of the fourth order, for each year: right to five digits


def eight_schools_centered(y: Any, sigma: Any) -> None:
    """Parallel experiments, whose effects are drawn directly: a funnel."""
    mu = pm.Normal("mu", 0, 5)
    tau = pm.HalfCauchy("tau", 5)
    theta = pm.Normal("theta", mu, tau, shape=len(y))
    pm.Normal("y", theta, sigma, observed=y)


def eight_schools_noncentered(y: Any, sigma: Any) -> None:
    """The same with standardised effects."""
    mu = pm.Normal("mu", 0, 5)
    tau = pm.HalfCauchy("tau", 5)
    theta_trans = pm.Normal("theta_trans", 0, 1, shape=len(y))
    theta = pm.Deterministic("theta", mu + tau * theta_trans)
    pm.Normal("y", theta, sigma, observed=y)


def lotka_volterra(ts: Any, y_init: Any, y: Any) -> None:
    """Lynxes and hares, by their differential equations."""
    means, sds = np.array([1, 0.05, 1, 0.05]), np.array([0.5, 0.05, 0.5, 0.05])
    theta = pm.TruncatedNormal("theta", means, sds, lower=0.0)
    sigma = pm.LogNormal("sigma", -1, 1, shape=2)
    z_init = pm.LogNormal("z_init", np.log(10), 1, shape=2)
    h = 1.0 / STEPS

    def slope(u: Any, v: Any, theta: Any) -> tuple[Any, Any]:
        return (theta[0] - theta[1] * v) * u, (-theta[2] + theta[3] * u) * v

    def step(u: Any, v: Any, theta: Any) -> list[Any]:
        one = slope(u, v, theta)
        two = slope(u + 0.5 * h * one[0], v + 0.5 * h * one[1], theta)
        three = slope(u + 0.5 * h * two[0], v + 0.5 * h * two[1], theta)
        four = slope(u + h * three[0], v + h * three[1], theta)
        parts = zip(one, two, three, four, strict=True)
        found = [a + 2 * b + 2 * c + d for a, b, c, d in parts]
        return [u + h / 6 * found[0], v + h / 6 * found[1]]

    assert np.array_equal(ts, np.arange(1, len(ts) + 1))
    paths = pytensor.scan(
        step, outputs_info=[z_init[0], z_init[1]], non_sequences=[theta],
        n_steps=STEPS * len(ts), return_updates=False,
    )  # fmt: skip
    path = pt.stack([one[STEPS - 1 :: STEPS] for one in paths], axis=1)
    pm.LogNormal("y_init", pt.log(z_init), sigma, observed=y_init)
    pm.LogNormal("y", pt.log(path), sigma, observed=y)


def autoregression(y: Any, K: int) -> None:  # noqa: N803 (as in its data)
    """A series that goes back to its last K values."""
    alpha = pm.Normal("alpha", 0, 10)
    beta = pm.Normal("beta", 0, 10, shape=K)
    sigma = pm.HalfCauchy("sigma", 2.5)
    earlier = np.stack([y[K - k : len(y) - k] for k in range(1, K + 1)], axis=1)
    pm.Normal("y", alpha + earlier @ beta, sigma, observed=y[K:])


def blr(y: Any, X: Any) -> None:  # noqa: N803
    """A linear regression."""
    beta = pm.Normal("beta", 0, 10, shape=X.shape[1])
    sigma = pm.HalfNormal("sigma", 10)
    pm.Normal("y", X @ beta, sigma, observed=y)


def garch(y: Any, sigma1: float) -> None:
    """A series whose variance goes back to its last value and variance.

    Its Stan program has flat priors: here they are so wide that it makes no difference. Where
    alpha1 has density 2 (1 - alpha1), the triangle of alpha1 and beta1 is filled evenly.
    """
    mu = pm.Normal("mu", 0, 100)
    alpha0 = pm.HalfNormal("alpha0", 100)
    alpha1 = pm.Beta("alpha1", 1, 2)
    share = pm.Uniform("share", 0, 1)
    beta1 = pm.Deterministic("beta1", share * (1 - alpha1))

    def step(before: Any, variance: Any, *parameters: Any) -> Any:
        mu, alpha0, alpha1, beta1 = parameters
        return alpha0 + alpha1 * (before - mu) ** 2 + beta1 * variance

    first = pt.as_tensor_variable(np.float64(sigma1) ** 2)
    variances = pytensor.scan(
        step, sequences=[pt.as_tensor_variable(y[:-1])], outputs_info=[first],
        non_sequences=[mu, alpha0, alpha1, beta1], return_updates=False,
    )  # fmt: skip
    sigma = pt.concatenate([[np.float64(sigma1)], pt.sqrt(variances)])
    pm.Normal("y", mu, sigma, observed=y)


def low_dim_gauss_mix(y: Any) -> None:
    """Two normal components, the smaller mean first."""
    ordered = pm.distributions.transforms.ordered
    mu = pm.Normal("mu", 0, 2, shape=2, transform=ordered, initval=np.array([-1.0, 1.0]))
    _two_components(y, mu)


def mixture_of_two_labels(y: Any) -> None:
    """The same without an order: the components can change places."""
    _two_components(y, pm.Normal("mu", 0, 2, shape=2))


def _two_components(y: Any, mu: Any) -> None:
    sigma = pm.HalfNormal("sigma", 2, shape=2)
    theta = pm.Beta("theta", 5, 5)
    parts = pm.Normal.dist(mu, sigma)
    pm.Mixture("y", pt.stack([theta, 1 - theta]), parts, observed=y)


def two_signs(y: Any, error: Any) -> None:
    """Groups whose effects have one sign in common, which the data do not tell."""
    mu = pm.Normal("mu", MEAN, WIDTH)
    tau = pm.HalfNormal("tau", SPREAD)
    z = pm.Normal("z", 0, 1, shape=len(y))
    theta = pm.Deterministic("theta", mu + tau * z)
    pm.Normal("y", pt.abs(theta), error, observed=y)


MODELS: dict[str, Callable[..., Any]] = {
    "eight_schools_centered": eight_schools_centered,
    "eight_schools_noncentered": eight_schools_noncentered,
    "lotka_volterra": lotka_volterra,
    "arK": autoregression,
    "garch": garch,
    "low_dim_gauss_mix": low_dim_gauss_mix,
    "blr": blr,
    "mixture_of_two_labels": mixture_of_two_labels,
    "two_signs": two_signs,
}


def model_of(name: str, data: dict[str, Any]) -> Any:
    """A model with its data."""
    with pm.Model() as model:
        MODELS[name](**data)
    return model
