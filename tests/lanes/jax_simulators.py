"""Simulators of JAX as users write them."""

from __future__ import annotations

import jax
import numpy as np
from jax import lax, random
from jax import numpy as jnp
from scipy import stats

import aptmc

SEEN = np.array([2.0, 4.0, 7.0, 12.0, 18.0])
PRIOR = aptmc.Prior(births=stats.uniform(0, 2), deaths=stats.uniform(0, 2))


def tree(theta, key, tolerance):
    """Lineages that branch and end, looked at five times: how far they are off, at most."""

    def goes_on(state):
        _, _, _, look, worst = state
        return (look < 5) & (worst <= tolerance)

    def step(state):
        key, alive, time, look, worst = state
        key, waiting, choosing = random.split(key, 3)
        rate = (theta[0] + theta[1]) * alive
        wait = jnp.where(rate > 0, random.exponential(waiting) / rate, jnp.inf)
        is_look = time + wait >= look + 1
        away = jnp.abs(jnp.log((alive + 0.5) / (jnp.asarray(SEEN)[look] + 0.5)))
        change = jnp.where(random.uniform(choosing) * rate < theta[0] * alive, 1.0, -1.0)
        return (
            key,
            alive + jnp.where(is_look, 0.0, change),
            jnp.where(is_look, look + 1.0, time + wait),
            look + is_look,
            jnp.where(is_look, jnp.maximum(worst, away), worst),
        )

    worst = lax.while_loop(goes_on, step, (key, 1.0, 0.0, 0, 0.0))[4]
    return jnp.where(worst <= tolerance, worst, jnp.inf)


@jax.jit
def two_modes(theta, key, tolerance):
    """The slow mode takes twenty rounds, the other one; nothing else tells them apart."""
    noise = random.normal(key)
    rounds = lax.while_loop(
        lambda n: n < jnp.where(theta[0] > 0, 20, 1), lambda n: n + 1, jnp.int32(0)
    )
    return jnp.abs(jnp.abs(theta[0]) - 2.0 + noise) + 0.0 * rounds


def row_by_row(theta, key):
    """A walk in equal times: its rounds are counted, and what it draws is known before."""
    keys = random.split(key, 6)

    def step(place, key):
        return place + theta[0] + theta[1] * random.normal(key), None

    last, _ = lax.scan(step, 0.0, keys)
    return jnp.stack([last, last**2])


def distance_in_jax(simulated, observed):
    return jnp.max(jnp.abs(simulated - observed))
