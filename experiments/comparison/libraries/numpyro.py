"""NumPyro's NUTS, for densities with one mode: two chains, a thousand steps of warm-up."""

from __future__ import annotations

import numpy as np

from experiments.comparison.given import Answer, Limits
from experiments.comparison.problem import Density

STEPS = 7  # leapfrog steps of a draw, to guess how many draws there can be


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """Until the evaluations of the gradient are used up, the warm-up among them."""
    import jax
    import jax.numpy as jnp
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)
    from experiments.comparison.jax_densities import constrained, unconstrained_log_density

    log_density = unconstrained_log_density(density.name)
    start = jnp.asarray(np.random.default_rng(seed).normal(0.0, 0.1, (2, density.dimension)))
    kernel = NUTS(potential_fn=lambda theta: -log_density(theta))
    draws = limits.evaluations // 2 // STEPS // 2  # here
    mcmc = MCMC(
        kernel, num_warmup=min(1000, draws), num_samples=draws, num_chains=2,
        chain_method="sequential", progress_bar=False,
    )  # fmt: skip
    mcmc.warmup(
        jax.random.key(seed), init_params=start, extra_fields=("num_steps",), collect_warmup=True
    )
    used = int(mcmc.get_extra_fields()["num_steps"].sum())  # here
    mcmc.run(jax.random.key(seed + 1), extra_fields=("num_steps",))
    found = np.asarray(constrained(density.name, mcmc.get_samples()))
    used += int(mcmc.get_extra_fields()["num_steps"].sum())  # here
    return Answer(found, evaluations=used)
