"""What a density of JAX costs in here: eight schools in NumPyro, in microseconds.

Each way is timed by processor seconds, several times in turn, and the shortest counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

import aptmc
from aptmc.keys import Key
from aptmc.problem.chain_state import WORK
from aptmc.session.orders import Mover, Order
from benchmarks.goals import above, raise_if_missed

EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
MOVES, STEPS = 64, 100
BATCH = f"{MOVES} moves of a random walk, each density"
# Microseconds that a density of a batch of moves may take, all that belongs to a step included.
MOST = 2.0


def eight_schools() -> Any:
    """The model, not centred."""
    import numpyro
    import numpyro.distributions as dist

    def model() -> None:
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("school", 8):
            z = numpyro.sample("z", dist.Normal(0, 1))
            numpyro.sample("effects", dist.Normal(mu + tau * z, ERRORS), obs=EFFECTS)

    return model


def shortest(work: Callable[[], Any], units: int, rounds: int) -> float:
    """Microseconds of processor time for one of so many units."""
    work()
    found = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return 1e6 * min(found) / units


def compiled_loops(problem: Any, calls: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Density and gradient, called again and again by compiled code, each time elsewhere."""
    density, slopes = problem.density.function, problem.slopes.function
    places = np.random.default_rng(0).normal(size=(256, problem.dimension))

    @njit
    def densities(calls: int) -> float:
        total, found = 0.0, np.empty(2)
        for call in range(calls):
            density(places[call % 256].copy(), found)
            total += found[0] + found[1]
        return total

    @njit
    def gradients(calls: int) -> float:
        total, found = 0.0, np.empty(places.shape[1])
        for call in range(calls):
            slopes(places[call % 256].copy(), 1.0, found)
            total += found[0]
        return total

    return lambda: densities(calls), lambda: gradients(calls)


def through_jax(model: Any, calls: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """The same by JAX: called from Python, and in a loop within one call."""
    import jax
    from jax.flatten_util import ravel_pytree
    from numpyro.infer.util import initialize_model

    info = initialize_model(jax.random.PRNGKey(0), model)
    flat, unravel = ravel_pytree(info.param_info.z)

    def density(theta: Any) -> Any:
        return -info.potential_fn(unravel(theta))

    both = {"density": jax.jit(density), "gradient": jax.jit(jax.grad(density))}
    place, few = np.asarray(flat), max(calls // 100, 10)
    found: dict[str, tuple[Callable[[], Any], int]] = {}
    for name, function in both.items():

        def call(function: Any = function) -> None:
            for _ in range(few):
                np.asarray(function(place))

        found[f"call {name}"] = call, few
        found[f"loop {name}"] = looping(function, place, calls), calls
    return found


def looping(function: Any, place: Any, calls: int) -> Callable[[], Any]:
    """A function of JAX, again and again in one call, each time a little further."""
    import jax

    def body(_: Any, theta: Any) -> Any:
        return theta + 1e-9 * function(theta)

    loop = jax.jit(lambda theta: jax.lax.fori_loop(0, calls, body, theta))
    return lambda: np.asarray(loop(place))


def moves(problem: Any) -> tuple[Callable[[], Any], int]:
    """Many moves of a random walk in one call, and how many densities that takes."""
    kernel = aptmc.RandomWalk(0.3, steps=STEPS)
    ladder = aptmc.Ladder.powers([1.0, 0.0])
    tuning = kernel.tuning(problem, ladder)
    mover = Mover(problem, kernel, seed=1)
    state = problem.start(np.random.default_rng(1))
    orders = [
        Order(Key(1, chain, 0, 0), 0, 1.0, tuning[0].copy(), state.copy()) for chain in range(MOVES)
    ]
    done = mover.compute_all(orders)
    densities = sum(int(outcome.info[WORK]) for outcome in done if outcome is not None)
    return lambda: mover.compute_all(orders), densities


def main(*, quick: bool) -> None:
    """Print a table."""
    import numpyro

    numpyro.enable_x64()
    calls, rounds = (20_000, 2) if quick else (200_000, 5)
    model = eight_schools()
    problem = aptmc.from_numpyro(model)
    densities, gradients = compiled_loops(problem, calls)
    ways = through_jax(model, calls)
    ways |= {"ours density": (densities, calls), "ours gradient": (gradients, calls)}
    ways[BATCH] = moves(problem)
    print(f"{'eight schools in NumPyro':42} microseconds")
    found = {}
    for name, (work, units) in ways.items():
        found[name] = shortest(work, units, rounds)
        print(f"{name:42} {found[name]:10.3f}")
    raise_if_missed(above(BATCH, found[BATCH], MOST, "µs"))
