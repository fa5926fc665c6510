"""BlackJAX: adaptive tempered sequential Monte Carlo, whose steps learn the particles' spread."""

from __future__ import annotations

import numpy as np

from experiments.comparison.given import Answer, Limits
from experiments.comparison.problem import Density

STEPS, SHARE, STAGES = 10, 0.5, 20  # of each particle; of the particles' worth; a guess


def sample(density: Density, limits: Limits, seed: int) -> Answer:
    """As many particles as twenty stages of ten random-walk steps afford."""
    over = limits.watch()  # here
    import blackjax
    import blackjax.smc.resampling as resampling
    import jax
    import jax.numpy as jnp
    from blackjax.smc import extend_params

    jax.config.update("jax_enable_x64", True)
    from experiments.comparison.jax_densities import LOG_LIKELIHOODS, LOG_PRIORS

    log_prior, log_likelihood = LOG_PRIORS[density.name], LOG_LIKELIHOODS[density.name]
    count = limits.evaluations // (STEPS * STAGES) if limits.counts else 4000  # here
    particles = jnp.asarray(density.draw_prior(np.random.default_rng(seed), count))
    key = jax.random.key(seed)
    kernel = blackjax.additive_step_random_walk.build_kernel()

    def step(rng_key, state, log_density, root):  # type: ignore[no-untyped-def]
        propose = blackjax.mcmc.random_walk.normal(root)
        return kernel(rng_key, state, log_density, propose)

    def learn(rng_key, state, info):  # type: ignore[no-untyped-def]
        spread = jnp.cov(state.particles, rowvar=False, aweights=state.weights)
        root = jnp.linalg.cholesky(spread + 1e-12 * jnp.eye(density.dimension))
        return extend_params({"root": 2.38 / np.sqrt(density.dimension) * root})

    root = jnp.linalg.cholesky(jnp.cov(particles, rowvar=False))
    smc = blackjax.inner_kernel_tuning(
        blackjax.adaptive_tempered_smc, log_prior, log_likelihood, step,
        blackjax.additive_step_random_walk.init, resampling.systematic,
        mcmc_parameter_update_fn=learn, initial_parameter_value=extend_params({"root": root}),
        target_ess=SHARE, num_mcmc_steps=STEPS,
    )  # fmt: skip
    state, evidence, stages = smc.init(particles), 0.0, 0
    advance = jax.jit(smc.step)
    while state.sampler_state.tempering_param < 1.0:
        if over():  # here
            # Particles that are on their way are of no posterior.
            raise TimeoutError(f"at power {state.sampler_state.tempering_param:.2g}")  # here
        key, now = jax.random.split(key)
        state, info = advance(now, state)
        evidence, stages = evidence + float(info.log_likelihood_increment), stages + 1
    found = state.sampler_state
    used = stages * STEPS * count  # here
    return Answer(
        np.asarray(found.particles), np.asarray(found.weights), evidence, used, f"{stages} stages"
    )
