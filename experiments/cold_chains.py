"""How many chains should stand on the coldest tolerance? `python -m experiments.cold_chains`.

The g-and-k distribution on a given ladder, in virtual time: independent runs with equally many
simulations tell by how much means differ from run to run, and so of how many independent draws they
are worth.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import stats

import aptmc
from benchmarks.pyabc_cases import CASES

CASE = CASES["g-and-k"]
TOLERANCES = [0.2, 0.26, 0.34, 0.45, 0.6, 0.8, 1.1, 1.5]
SIMULATIONS, PROCESSORS = 20_000, 2
TIMES = (0, 1, 3)  # as many chains as on all other rungs together; 0: one, as on each of these


def effective_draws(times: int, runs: int) -> list[float]:
    """By parameter: the variance of the posterior over that of its mean from run to run."""
    sides = zip(CASE.parameters, CASE.low, CASE.high, strict=True)
    prior = aptmc.Prior(**{name: stats.uniform(low, high - low) for name, low, high in sides})
    problem = aptmc.Abc(CASE.simulate, prior, observed=list(CASE.observed), distance=CASE.distance)
    means, variances = [], []
    for seed in range(1, runs + 1):
        run = aptmc.sample(
            problem,
            budget=SIMULATIONS / PROCESSORS,
            ladder=aptmc.Ladder.tolerances(TOLERANCES),
            pools=aptmc.Shared(1, coldest=max(times * (len(TOLERANCES) - 1), 1)),
            on=aptmc.VirtualTime(PROCESSORS),
            seed=seed,
            progress=False,
        )
        draws = [np.concatenate(run.series(name)) for name in CASE.parameters]
        means.append([series.mean() for series in draws])
        variances.append([series.var() for series in draws])
    worth: list[float] = (np.mean(variances, axis=0) / np.var(means, axis=0, ddof=1)).tolist()
    return worth


def main() -> None:
    """Print a row for each number of chains."""
    parser = argparse.ArgumentParser(prog="python -m experiments.cold_chains", description=__doc__)
    parser.add_argument("--runs", type=int, default=40, help="for each row (default: 40)")
    options = parser.parse_args()
    print(f"{options.runs} runs of {SIMULATIONS:,} simulations each\n")
    print("| chains on the coldest rung | effective draws of a, b, g, k |\n| --- | --- |")
    for times in TIMES:
        found = effective_draws(times, options.runs)
        chains = max(times * (len(TOLERANCES) - 1), 1)
        print(f"| {chains} | {', '.join(f'{draws:.0f}' for draws in found)} |", flush=True)


if __name__ == "__main__":
    main()
