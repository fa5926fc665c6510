"""nutpie: NUTS for densities with one mode, with its own way to adapt; the gradient is JAX's."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.comparison.given import GIVEN, Answer, Limits
from experiments.comparison.problem import Density

STEPS = 7  # leapfrog steps of a draw, to guess how many draws there can be
WARMUP, MOST = 400, 1_000_000  # its default; more draws than there is time for


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """Two chains, until the evaluations of the gradient are used up, the warm-up among them."""
    import jax
    import jax.numpy as jnp
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    jax.config.update("jax_enable_x64", True)
    from experiments.comparison.jax_densities import constrained, unconstrained_log_density

    compiled = jax.jit(jax.value_and_grad(unconstrained_log_density(density.name)))

    def value_and_slope(theta: Any) -> Any:
        GIVEN.count()  # here
        value, slope = compiled(jnp.asarray(theta))
        return float(value), np.asarray(slope)

    size = density.dimension
    model = from_pyfunc(
        ndim=size, make_logp_fn=lambda: value_and_slope,
        make_expand_fn=lambda *_: lambda theta: {"theta": theta},
        expanded_dtypes=[np.dtype("float64")], expanded_shapes=[(size,)], expanded_names=["theta"],
    )  # fmt: skip
    draws = limits.evaluations // 2 // STEPS // 2 if limits.counts else MOST  # here
    cores = 1 if limits.counts else limits.workers  # here
    sampler = nutpie.sample(
        model, draws=draws, tune=WARMUP, chains=2, cores=cores, seed=seed, progress_bar=False,
        blocking=False,
    )  # fmt: skip
    trace = sampler.wait(timeout=None if limits.counts else limits.seconds)
    theta = np.asarray(trace.posterior["theta"]).reshape(-1, size)
    return Answer(np.asarray(constrained(density.name, jnp.asarray(theta))))
