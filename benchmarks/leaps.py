"""What a leap along a gradient costs: the time of whole moves, divided by their leaps.

One density, eight schools on the real line, written for numba and for JAX; moves of `Nuts` and
`Hmc` here, whose metric has all directions, and of BlackJAX where that is installed, whose metric
has one width for each parameter; all with leaps of the same size and a metric of ones. By processor
time, several times in turn, of which the shortest counts. Beside it the same as so many times what
density and gradient alone take in a compiled loop: that says what all else in a move costs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numba import njit

import aptmc
from aptmc.kernels import Metric
from aptmc.kernels.hamiltonian import Hamiltonian
from aptmc.keys import Key
from aptmc.session.orders import Mover, Order

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
DIMENSION, SIZE, LEAPS = 10, 0.4, 8
MOVES, STEPS, ROUNDS = 64, 50, 5
START = np.array([4.0, 1.0, *np.zeros(8)])


class Work(NamedTuple):
    """A call, and how many leaps, or calls of the density, it makes."""

    call: Callable[[], int]
    of: str
    by: str


@njit(nogil=True)
def log_density(theta: Any) -> float:
    """Mean, log width, and the standardised effects."""
    mean, width = theta[0], math.exp(theta[1])
    total = theta[1] - 0.02 * mean * mean - math.log1p(width * width / 25.0)
    for i in range(8):
        residual = (EFFECTS[i] - mean - width * theta[2 + i]) / ERRORS[i]
        total -= 0.5 * (theta[2 + i] * theta[2 + i] + residual * residual)
    return float(total)


@njit(nogil=True)
def gradient(theta: Any) -> Any:
    """Of the same."""
    mean, width = theta[0], math.exp(theta[1])
    found = np.empty(10)
    share = width * width / 25.0
    found[0], found[1] = -0.04 * mean, 1.0 - 2.0 * share / (1.0 + share)
    for i in range(8):
        pull = (EFFECTS[i] - mean - width * theta[2 + i]) / (ERRORS[i] * ERRORS[i])
        found[0] += pull
        found[1] += pull * width * theta[2 + i]
        found[2 + i] = pull * width - theta[2 + i]
    return found


def in_jax(theta: Any) -> Any:
    """The same density for JAX, which finds the gradient."""
    import jax.numpy as jnp

    mean, width, effects = theta[0], jnp.exp(theta[1]), theta[2:]
    residuals = (EFFECTS - mean - width * effects) / ERRORS
    prior = theta[1] - 0.02 * mean**2 - jnp.log1p(width**2 / 25.0)
    return prior - 0.5 * jnp.sum(effects**2) - 0.5 * jnp.sum(residuals**2)


@cache
def problem_in(language: str) -> aptmc.Power:
    """The density as it is written for numba or for JAX; made once."""
    if language == "numba":
        return aptmc.Power(log_density, {"theta": START}, gradient=gradient)
    import jax

    with jax.enable_x64(True):
        return aptmc.Power(jax.jit(in_jax), {"theta": START})


# --- here -----------------------------------------------------------------------------------------


def alone(problem: aptmc.Power, calls: int) -> Callable[[], int]:
    """Density and gradient in a compiled loop, each time a little elsewhere."""
    density, slopes = problem.log_density, problem.gradient
    assert slopes is not None

    @njit
    def loop(theta: Any, calls: int) -> float:
        total = 0.0
        for _ in range(calls):
            theta[0] += 1e-9
            total += density(theta)
            for slope in slopes(theta):  # of which nothing may be left out
                total += slope
        return total

    def call() -> int:
        loop(START.copy(), calls)
        return calls

    return call


def moved(problem: aptmc.Power, kernel: Hamiltonian) -> Callable[[], int]:
    """Many moves in one call of compiled code, as workers compute them."""
    ladder = aptmc.Ladder.powers([1.0])
    tuning = kernel.tuning(problem, ladder)[0]
    mover, place = Mover(problem, kernel, seed=1), kernel.places["leaps"]
    state = problem.start(np.random.default_rng(1))
    orders = [Order(Key(1, chain, 1, 0), 0, 1.0, tuning, state.copy()) for chain in range(MOVES)]

    def call() -> int:
        done = mover.compute_all(orders)
        return sum(int(outcome.info[place]) for outcome in done if outcome is not None)

    return call


def ours(name: str, kernels: tuple[str, ...]) -> Iterator[Work]:
    """Moves of this library."""
    metric = Metric(np.eye(DIMENSION)[None], np.array([SIZE]))
    made: dict[str, Hamiltonian] = {
        "Hmc": aptmc.Hmc(metric, leaps=LEAPS, steps=STEPS),
        "Nuts": aptmc.Nuts(metric, steps=STEPS),
    }
    for kernel in kernels:
        yield Work(moved(problem_in(name), made[kernel]), name, f"aptmc.{kernel}")


# --- elsewhere ------------------------------------------------------------------------------------


def blackjax_leaps() -> Iterator[Work]:
    """Trajectories of BlackJAX, all in one call."""
    import blackjax
    import jax

    given = {"step_size": SIZE, "inverse_mass_matrix": np.ones(DIMENSION)}
    samplers = {
        "hmc": blackjax.hmc(in_jax, num_integration_steps=LEAPS, **given),
        "nuts": blackjax.nuts(in_jax, **given),
    }
    for name, sampler in samplers.items():

        def one(state: Any, key: Any, sampler: Any = sampler) -> Any:
            state, info = sampler.step(key, state)
            return state, (info.num_integration_steps, state.position)

        def many(key: Any, one: Any = one, sampler: Any = sampler) -> Any:
            keys = jax.random.split(key, MOVES * STEPS)
            leaps, places = jax.lax.scan(one, sampler.init(START), keys)[1]
            return leaps.sum(), places  # which must be computed then

        compiled = jax.jit(many)

        def call(run: Any = compiled) -> int:
            return int(jax.block_until_ready(run(jax.random.PRNGKey(1)))[0])

        yield Work(call, "JAX", f"blackjax.{name}")


# --- the table ------------------------------------------------------------------------------------


def shortest(call: Callable[[], int], rounds: int) -> float:
    """Microseconds of processor time for one leap."""
    call()  # which compiles
    found = []
    for _ in range(rounds):
        begun = time.process_time()
        leaps = call()
        found.append((time.process_time() - begun) / leaps)
    return 1e6 * min(found)


def main(*, quick: bool) -> None:
    """Print a table."""
    print("## A leap along a gradient: eight schools, ten parameters\n")
    print("| density | by | microseconds a leap | times density and gradient alone |")
    print("| --- | --- | --- | --- |")
    names, kernels = (("numba",), ("Hmc",)) if quick else (("numba", "JAX"), ("Hmc", "Nuts"))
    rounds = 2 if quick else ROUNDS
    bare = {}
    for name in names:
        bare[name] = shortest(alone(problem_in(name), 20_000), rounds)
        print(f"| {name} | density and gradient | {bare[name]:.3f} | 1 |", flush=True)
        for work in ours(name, kernels):
            tell(work, bare[name], rounds)
    if not quick and find_spec("blackjax") is not None:
        import jax

        with jax.enable_x64(True):
            for work in blackjax_leaps():
                tell(work, bare["JAX"], rounds)
    print()


def tell(work: Work, bare: float, rounds: int) -> None:
    """A row."""
    found = shortest(work.call, rounds)
    print(f"| {work.of} | {work.by} | {found:.3f} | {found / bare:.1f} |", flush=True)
