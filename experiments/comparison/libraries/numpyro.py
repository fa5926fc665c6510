"""NumPyro's NUTS, for densities with one mode: two chains, a thousand steps of warm-up."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.comparison.given import Answer, Limits
from experiments.comparison.problem import Density

PART = 500  # draws between two looks at the clock
STEPS = 7  # leapfrog steps of a draw, to guess how many draws there can be


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """Until the evaluations of the gradient are used up, the warm-up among them."""
    import numpyro  # here

    chains = "sequential"  # here
    if not limits.counts:  # here
        numpyro.set_host_device_count(limits.workers)  # here
        chains = "parallel"  # here
    over = limits.watch()  # here
    import jax
    import jax.numpy as jnp
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)
    from experiments.comparison.jax_densities import constrained, unconstrained_log_density

    log_density = unconstrained_log_density(density.name)
    start = jnp.asarray(np.random.default_rng(seed).normal(0.0, 0.1, (2, density.dimension)))
    kernel = NUTS(potential_fn=lambda theta: -log_density(theta))
    draws = limits.evaluations // 2 // STEPS // 2 if limits.counts else PART  # here
    warmup = min(1000, draws) if limits.counts else 1000  # here
    mcmc = MCMC(
        kernel, num_warmup=warmup, num_samples=draws, num_chains=2, chain_method=chains,
        progress_bar=False,
    )  # fmt: skip
    mcmc.warmup(
        jax.random.key(seed), init_params=start, extra_fields=("num_steps",), collect_warmup=True
    )
    used = int(mcmc.get_extra_fields()["num_steps"].sum())  # here
    parts: list[Any] = []  # here
    while not parts or not (limits.counts or over()):  # here
        mcmc.run(jax.random.key(seed + 1 + len(parts)), extra_fields=("num_steps",))
        parts.append(np.asarray(constrained(density.name, mcmc.get_samples())))
        used += int(mcmc.get_extra_fields()["num_steps"].sum())  # here
        mcmc.post_warmup_state = mcmc.last_state  # here
    return Answer(np.concatenate(parts), evaluations=used)
