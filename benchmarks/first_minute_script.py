"""What a newcomer runs first, with a word to the benchmark at each step: called, moved, drew, done.

Between `once` and `counts` is done what is done once on a machine, outside the budget. Run by
`benchmarks.first_minute` in a new process. The words go to a pipe, and the benchmark looks at the
processor time of all processes at that moment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import aptmc

WORKERS = 2


def readme() -> tuple[Any, dict[str, Any]]:
    """The README's first example."""
    from scipy import stats

    def log_likelihood(theta: Any) -> float:
        return float(-0.5 * (abs(theta[0]) - 8.0) ** 2)

    return aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(-20, 40))), {}


def plain() -> tuple[Any, dict[str, Any]]:
    """The same with all settings given, so that the first draw comes without a warm-up."""
    problem, _ = readme()
    return problem, {
        "ladder": aptmc.Ladder.geometric(4, hottest=0.01),
        "kernel": aptmc.RandomWalk(2.0),
        "schedule": aptmc.Anytime(every="20 ms"),
    }


def lotka_volterra() -> tuple[Any, dict[str, Any]]:
    """The paper's simulator, compiled, in a file; all settings given."""
    from experiments.lotka_volterra.gain import HARDER
    from experiments.lotka_volterra.samplers import problem

    settings = HARDER.settings
    return problem("uniform"), {
        "ladder": aptmc.Ladder.tolerances(settings.tolerances),
        "kernel": aptmc.OneHit(settings.standard_deviations, truncate=(0.0, settings.upper)),
        "schedule": aptmc.Anytime(every="20 ms"),
    }


def lotka_volterra_found() -> tuple[Any, dict[str, Any]]:
    """The same without any settings."""
    problem, _ = lotka_volterra()
    return problem, {}


def in_jax() -> tuple[Any, dict[str, Any]]:
    """A likelihood in JAX, in 64 bits, all settings given."""
    jax: Any = import_module("jax")
    jnp: Any = import_module("jax.numpy")
    jax.config.update("jax_enable_x64", True)
    data = jnp.linspace(-1.0, 1.0, 100)
    is_double = jax.jit(lambda theta: theta.dtype == jnp.float64)

    def log_density(theta: Any) -> Any:
        return -0.5 * jnp.sum((data - theta[0]) ** 2) / jnp.exp(2.0 * theta[1]) - 100.0 * theta[1]

    log_density = jax.jit(log_density)

    def log_likelihood(theta: Any) -> float:
        if not is_double(jnp.asarray(theta)):
            raise TypeError("the worker computes in 32 bits")
        return float(log_density(theta))

    return aptmc.Tempered(log_likelihood, prior_of_two()), IN_JAX


def in_jax_as_it_is() -> tuple[Any, dict[str, Any]]:
    """The same density as a plain function of `jax.numpy`."""
    jax: Any = import_module("jax")
    jnp: Any = import_module("jax.numpy")
    jax.config.update("jax_enable_x64", True)
    data = jnp.linspace(-1.0, 1.0, 100)

    def log_likelihood(theta: Any) -> Any:
        return -0.5 * jnp.sum((data - theta[0]) ** 2) / jnp.exp(2.0 * theta[1]) - 100.0 * theta[1]

    return aptmc.Tempered(log_likelihood, prior_of_two()), IN_JAX


def prior_of_two() -> aptmc.Prior:
    """A mean and the logarithm of a standard deviation."""
    from scipy import stats

    return aptmc.Prior(mean=stats.norm(0, 1), log_sd=stats.norm(0, 1))


IN_JAX = {
    "ladder": aptmc.Ladder.geometric(4, hottest=0.01),
    "kernel": aptmc.RandomWalk(0.1),
    "schedule": aptmc.Anytime(every="20 ms"),
}


CASES: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "readme": readme,
    "plain": plain,
    "lotka-volterra": lotka_volterra,
    "lotka-volterra-found": lotka_volterra_found,
    "jax": in_jax,
    "jax-as-it-is": in_jax_as_it_is,
}


def say_when_it_moves(say: Callable[[str], None]) -> None:
    """Have the next completed move reported, and the next one whose draws count."""
    from aptmc.sampling import phases
    from aptmc.session import session

    some_phases: Any = phases.Phases
    some_session: Any = session.Session
    complete, sample = some_session.complete, some_phases.sample
    awaited = {"moved", "drew"}
    is_sampling = False

    def overheard(*arguments: Any, **named: Any) -> None:
        complete(*arguments, **named)
        for word in ("moved", "drew") if is_sampling else ("moved",):
            if word in awaited:
                awaited.discard(word)
                say(word)
        if not awaited:
            some_session.complete = complete

    def announced(*arguments: Any) -> Any:
        nonlocal is_sampling
        is_sampling = True
        some_phases.sample = sample
        return sample(*arguments)

    some_session.complete = overheard
    some_phases.sample = announced


def say_what_does_not_count(say: Callable[[str], None]) -> None:
    """Have the beginning and the end reported of what is done once on a machine."""
    from aptmc.session import control

    some_control: Any = control.Control
    do_once = some_control.do_once

    def overheard(mine: Any) -> None:
        if mine.once is None:
            return
        say("once")
        do_once(mine)
        say("counts")

    some_control.do_once = overheard


def main(case: str, budget: float, runs: int, pipe: int) -> None:
    """Sample so many times in this process."""

    def say(word: str) -> None:
        os.write(pipe, f"{word}\n".encode())

    problem, settings = CASES[case]()
    say_what_does_not_count(say)
    for seed in range(runs):
        say_when_it_moves(say)
        say("called")
        aptmc.sample(
            problem,
            budget=budget,
            on=aptmc.Processes(WORKERS),
            progress=False,
            seed=seed,
            **settings,
        )
        say("done")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
