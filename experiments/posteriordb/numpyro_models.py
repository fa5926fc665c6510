"""Models in NumPyro: the densities of the programs in `stan`, with the names of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.stats import norm

from experiments.posteriordb.two_signs import MEAN, SPREAD, WIDTH


def eight_schools_centered(y: Any, sigma: Any) -> None:
    """Parallel experiments, whose effects are drawn directly: a funnel."""
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("J", len(y)):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        numpyro.sample("y", dist.Normal(theta, sigma), obs=y)


def eight_schools_noncentered(y: Any, sigma: Any) -> None:
    """The same with standardised effects."""
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("J", len(y)):
        theta_trans = numpyro.sample("theta_trans", dist.Normal(0, 1))
        theta = numpyro.deterministic("theta", mu + tau * theta_trans)
        numpyro.sample("y", dist.Normal(theta, sigma), obs=y)


def blr(y: Any, X: Any) -> None:  # noqa: N803 (as in its data)
    """A linear regression."""
    beta = numpyro.sample("beta", dist.Normal(0, 10).expand([X.shape[1]]).to_event(1))
    sigma = numpyro.sample("sigma", dist.HalfNormal(10))
    numpyro.sample("y", dist.Normal(X @ beta, sigma), obs=y)


def autoregression(y: Any, K: int) -> None:  # noqa: N803
    """A series that goes back to its last K values."""
    alpha = numpyro.sample("alpha", dist.Normal(0, 10))
    beta = numpyro.sample("beta", dist.Normal(0, 10).expand([K]).to_event(1))
    sigma = numpyro.sample("sigma", dist.HalfCauchy(2.5))
    earlier = np.stack([y[K - k : len(y) - k] for k in range(1, K + 1)], axis=1)
    numpyro.sample("y", dist.Normal(alpha + earlier @ beta, sigma), obs=y[K:])


def garch(y: Any, sigma1: float) -> None:
    """A series whose variance goes back to its last value and variance.

    Its Stan program has flat priors: here they are so wide that it makes no difference. Where
    alpha1 has density 2 (1 - alpha1), the triangle of alpha1 and beta1 is filled evenly.
    """
    mu = numpyro.sample("mu", dist.Normal(0, 100))
    alpha0 = numpyro.sample("alpha0", dist.HalfNormal(100))
    alpha1 = numpyro.sample("alpha1", dist.Beta(1, 2))
    share = numpyro.sample("share", dist.Uniform(0, 1))
    beta1 = numpyro.deterministic("beta1", share * (1 - alpha1))

    def step(variance: Any, before: Any) -> tuple[Any, Any]:
        later = alpha0 + alpha1 * (before - mu) ** 2 + beta1 * variance
        return later, later

    _, variances = jax.lax.scan(step, sigma1**2 + 0.0 * mu, y[:-1])
    sigma = jnp.concatenate([jnp.array([sigma1]), jnp.sqrt(variances)])
    numpyro.sample("y", dist.Normal(mu, sigma), obs=y)


STEPS = 5  # of a Runge-Kutta rule of the fourth order, for each year: right to five digits


def lotka_volterra(ts: Any, y_init: Any, y: Any) -> None:
    """Lynxes and hares, by their differential equations."""
    means, sds = np.array([1, 0.05, 1, 0.05]), np.array([0.5, 0.05, 0.5, 0.05])
    theta = numpyro.sample("theta", dist.TruncatedNormal(means, sds, low=0.0).to_event(1))
    sigma = numpyro.sample("sigma", dist.LogNormal(-1, 1).expand([2]).to_event(1))
    z_init = numpyro.sample("z_init", dist.LogNormal(np.log(10), 1).expand([2]).to_event(1))

    def slope(z: Any) -> Any:
        alpha, beta, gamma, delta = theta
        return jnp.stack([(alpha - beta * z[1]) * z[0], (-gamma + delta * z[0]) * z[1]])

    def step(z: Any, _: Any) -> tuple[Any, None]:
        h = 1.0 / STEPS
        one = slope(z)
        two = slope(z + 0.5 * h * one)
        three = slope(z + 0.5 * h * two)
        four = slope(z + h * three)
        return z + h / 6 * (one + 2 * two + 2 * three + four), None

    def year(z: Any, _: Any) -> tuple[Any, Any]:
        later, _ = jax.lax.scan(step, z, None, length=STEPS)
        return later, later

    assert np.array_equal(ts, np.arange(1, len(ts) + 1))
    _, path = jax.lax.scan(year, z_init, None, length=len(ts))
    numpyro.sample("y_init", dist.LogNormal(jnp.log(z_init), sigma).to_event(1), obs=y_init)
    numpyro.sample("y", dist.LogNormal(jnp.log(path), sigma).to_event(2), obs=y)


def mixture_of_two_labels(y: Any) -> None:
    """Two normal components, which can change places."""
    mu = numpyro.sample("mu", dist.Normal(0, 2).expand([2]).to_event(1))
    _two_components(y, mu)


def low_dim_gauss_mix(y: Any) -> None:
    """The same, the smaller mean first.

    The factor makes of the prior of the larger mean, given the smaller one, a normal density that
    is only cut off.
    """
    small = numpyro.sample("small", dist.Normal(0, 2))
    large = numpyro.sample("large", dist.TruncatedNormal(0, 2, low=small))
    numpyro.factor("order", norm.logsf(small / 2))
    _two_components(y, numpyro.deterministic("mu", jnp.stack([small, large])))


def _two_components(y: Any, mu: Any) -> None:
    sigma = numpyro.sample("sigma", dist.HalfNormal(2).expand([2]).to_event(1))
    theta = numpyro.sample("theta", dist.Beta(5, 5))
    weights = dist.Categorical(jnp.stack([theta, 1 - theta]))
    with numpyro.plate("N", len(y)):
        mixture = dist.MixtureSameFamily(weights, dist.Normal(mu, sigma))
        numpyro.sample("y", mixture, obs=y)


def two_signs(y: Any, error: Any) -> None:
    """Groups whose effects have one sign in common, which the data do not tell."""
    mu = numpyro.sample("mu", dist.Normal(MEAN, WIDTH))
    tau = numpyro.sample("tau", dist.HalfNormal(SPREAD))
    with numpyro.plate("J", len(y)):
        z = numpyro.sample("z", dist.Normal(0, 1))
        theta = numpyro.deterministic("theta", mu + tau * z)
        numpyro.sample("y", dist.Normal(jnp.abs(theta), error), obs=y)


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
