"""Models of NumPyro for tests."""

from __future__ import annotations

import numpy as np
import numpyro
import numpyro.distributions as dist

DATA = np.array([2.0, 4.0])


def mean_model(y, width=3.0):
    """One mean, whose posterior is normal and known."""
    mean = numpyro.sample("mean", dist.Normal(0, width))
    numpyro.deterministic("twice", 2 * mean)
    with numpyro.plate("place", len(y)):
        numpyro.sample("y", dist.Normal(mean, 1), obs=y)


def pairs_model(pairs, weights):
    """Observations of two numbers each, some of them masked, and one of a single number."""
    mean = numpyro.sample("mean", dist.Normal(0, 1).expand([2]).to_event(1))
    with numpyro.plate("pair", len(pairs)), numpyro.handlers.mask(mask=weights > 0):
        numpyro.sample("pairs", dist.Normal(mean, 1).to_event(1), obs=pairs)
    with numpyro.handlers.scale(scale=3.0):
        numpyro.sample("last/one", dist.Normal(mean[0], 2), obs=0.5)
    numpyro.factor("soft", -(mean[1] ** 2))
