"""Models of posteriordb in NumPyro: the densities of its Stan programs, with the names of these.

Data and reference numbers are those of github.com/stan-dev/posteriordb (commit 28f8d3d), under the
licence beside this file; `collect.py` takes them from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist


class Posterior(NamedTuple):
    """A model, its data, and by parameter: mean and its error, standard deviation and its error."""

    model: Callable[..., Any]
    data: dict[str, Any]
    reference: dict[str, list[float]]


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


STEPS = 20  # of a Runge-Kutta rule of the fourth order, for each year


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


MODELS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "eight_schools-eight_schools_centered": (eight_schools_centered, ("y", "sigma")),
    "eight_schools-eight_schools_noncentered": (eight_schools_noncentered, ("y", "sigma")),
    "sblrc-blr": (blr, ("y", "X")),
    "arK-arK": (autoregression, ("y", "K")),
    "garch-garch11": (garch, ("y", "sigma1")),
    "hudson_lynx_hare-lotka_volterra": (lotka_volterra, ("ts", "y_init", "y")),
}


def posterior(name: str) -> Posterior:
    """A posterior by the name that it has there."""
    numpyro.enable_x64()
    kept = json.loads((Path(__file__).parent / "references.json").read_text())[name]
    model, wanted = MODELS[name]
    given = {key: kept["data"][key] for key in wanted}
    data = {
        key: value if isinstance(value, int | float) else np.array(value, float)
        for key, value in given.items()
    }
    return Posterior(model, data, kept["reference"])
