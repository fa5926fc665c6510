"""An epidemic whose likelihood takes 2 ms of plain Python, beside emcee on the same workers.

Both have the same seconds on 2 processes; of emcee's the first quarter does not count, as of ours.
Effective draws are counted by one estimator for both, which puts the draws of all chains on one
line of time, since chains that exchange states, and walkers that move by each other, err in common.
And as they are also counted at equal evaluations (`python -m benchmarks.beside_emcee` does only
that, and `--timed` the other), a machine that is busy with something else does not decide. emcee is
no dependency: `pip install emcee`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy import stats

import aptmc
from aptmc.clock import WallClock
from aptmc.planning.effective import effective_draws
from aptmc.targets import NUMBA

CLOCK = WallClock()
SECONDS, WORKERS, WALKERS, BURN_IN = 60.0, 2, 16, 0.25
EVALUATIONS = 60_000  # in as many seconds, at 2 ms on 2 workers
HEAD = (
    "| seed | sampler | effective draws | evaluations | per 1,000 evaluations | means | note |\n"
    f"{'| --- ' * 7}|"
)
MOST_ITERATIONS = 100_000  # for which emcee takes memory at once
DAYS, PEOPLE, STEPS = 40, 1000.0, 330
NAMES = ("beta", "gamma", "infected")
TRUTH = np.array([0.5, 0.15, 5.0])
PRIOR = aptmc.Prior(
    beta=stats.lognorm(0.6, scale=0.4),
    gamma=stats.lognorm(0.6, scale=0.2),
    infected=stats.lognorm(0.8, scale=5.0),
)


def cases(theta: Any) -> list[float]:
    """New infections by day, in Euler's steps: about 2 ms."""
    beta, gamma, infected = float(theta[0]), float(theta[1]), float(theta[2])
    susceptible, found = PEOPLE - infected, []
    for _ in range(DAYS):
        before = susceptible
        for _ in range(STEPS):
            new = min(beta * susceptible * infected / PEOPLE / STEPS, susceptible)
            susceptible -= new
            infected += new - gamma * infected / STEPS
        found.append(before - susceptible)
    return found


OBSERVED = np.random.default_rng(1).poisson(cases(TRUTH))


def log_likelihood(theta: Any) -> float:
    """Of counts by day, which are Poisson."""
    total, expected = 0.0, cases(theta)
    for day in range(DAYS):
        mean = max(expected[day], 1e-9)
        total += OBSERVED[day] * math.log(mean) - mean
    return total


def in_no_time() -> Any:
    """The same, compiled: to count evaluations, and no seconds."""
    compiled_cases = njit(cases)

    @njit
    def compiled(theta: Any) -> float:
        total, expected = 0.0, compiled_cases(theta)
        for day in range(DAYS):
            mean = max(expected[day], 1e-9)
            total += OBSERVED[day] * math.log(mean) - mean
        return total

    return compiled


def log_posterior(theta: npt.NDArray[np.float64]) -> float:
    """As emcee asks for it."""
    log_prior = float(PRIOR.log_density(theta))
    return log_prior + log_likelihood(theta) if np.isfinite(log_prior) else -np.inf


class Worth(NamedTuple):
    """What a run was worth."""

    effective: float  # draws, of the parameter that has the fewest
    evaluations: float  # in the part whose draws count
    means: npt.NDArray[np.float64]
    note: str = ""


def effective(times: npt.NDArray[np.float64], draws: npt.NDArray[np.float64]) -> float:
    """Of all chains together, which may err in common; the fewest of any parameter."""
    return float(effective_draws(times, draws, 1.0).per_second.min())


def ours(function: Any, budget: float, on: aptmc.Backend, seed: int) -> Worth:
    """With nothing but the problem, the budget and the number of workers."""
    problem = aptmc.Tempered(function, PRIOR)
    run = aptmc.sample(problem, budget=budget, on=on, seed=seed, progress=False)
    cold = run.chains()
    draws = np.concatenate([chain.state[:, : len(NAMES)] for chain in cold])
    times = np.concatenate([chain.time for chain in cold])
    work, rungs = float(run.statistics["work"].sum()), f"{run.settings.ladder.rungs} rungs"
    return Worth(effective(times, draws), work, draws.mean(axis=0), rungs)


def theirs(function: Any, iterations: int, seconds: float, pool: Any, seed: int) -> Worth:
    """As its tutorial has it: as many walkers as keep the processes busy, a burn-in."""
    import emcee

    start = PRIOR.draw(np.random.default_rng(seed), WALKERS)
    sampler = emcee.EnsembleSampler(WALKERS, len(NAMES), function, pool=pool)
    sampler._random = np.random.RandomState(seed)
    end = CLOCK.now() + seconds
    for _ in sampler.sample(start, iterations=iterations):
        if CLOCK.now() > end:
            break
    chain = sampler.get_chain()
    chain = chain[int(BURN_IN * len(chain)) :]
    times = np.repeat(np.arange(1.0, len(chain) + 1.0), WALKERS)
    draws = chain.reshape(-1, len(NAMES))
    return Worth(effective(times, draws), float(len(draws)), draws.mean(axis=0))


def show(seed: int, name: str, worth: Worth) -> None:
    """A row."""
    rate = 1000.0 * worth.effective / max(worth.evaluations, 1.0)
    cells = [str(seed), name, f"{worth.effective:,.0f}", f"{worth.evaluations:,.0f}", f"{rate:.0f}"]
    cells += [", ".join(f"{mean:.4g}" for mean in worth.means), worth.note or "-"]
    print("| " + " | ".join(cells) + " |", flush=True)


def counted(evaluations: int, seeds: Sequence[int]) -> None:
    """Equal evaluations on both sides, the warm-up and the burn-in among them."""
    print(f"## An epidemic: {evaluations:,} evaluations on {WORKERS} workers\n\n{HEAD}")
    function, log_prior_at = in_no_time(), PRIOR.functions(NUMBA).log_density

    def log_posterior_in_no_time(theta: Any) -> float:
        log_prior = log_prior_at(theta)
        return log_prior + function(theta) if np.isfinite(log_prior) else -np.inf

    for seed in seeds:
        on = aptmc.VirtualTime(WORKERS)
        show(seed, "aptmc", ours(function, evaluations / WORKERS, on, seed))
        iterations = evaluations // WALKERS
        show(seed, "emcee", theirs(log_posterior_in_no_time, iterations, np.inf, None, seed))
    print()


def timed(seconds: float, seeds: Sequence[int]) -> None:
    """Equal seconds."""
    began = CLOCK.now()
    for _ in range(20):
        log_likelihood(TRUTH)
    took = f"{1e3 * (CLOCK.now() - began) / 20:.1f} ms of plain Python"
    print(f"## An epidemic, {took}: {seconds:g} s on {WORKERS} workers\n\n{HEAD}")
    for seed in seeds:
        show(seed, "aptmc", ours(log_likelihood, seconds, aptmc.Processes(WORKERS), seed))
        with get_context("fork").Pool(WORKERS) as pool:
            show(seed, "emcee", theirs(log_posterior, MOST_ITERATIONS, seconds, pool, seed))
    print()


def main(*, quick: bool) -> None:
    """Print two tables."""
    if find_spec("emcee") is None:
        print("## Beside emcee: not measured, pip install emcee\n")
        return
    counted(6_000 if quick else EVALUATIONS, (1,) if quick else range(1, 11))
    timed(6.0 if quick else SECONDS, (1,) if quick else (1, 2, 3))


def asked() -> None:
    """As the options say."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside_emcee")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(1, 11)))
    parser.add_argument("--timed", action="store_true", help="equal seconds, not evaluations")
    options = parser.parse_args()
    if options.timed:
        timed(SECONDS, options.seeds)
    else:
        counted(EVALUATIONS, options.seeds)


if __name__ == "__main__":
    asked()
