"""How long should a move of cheap steps last? The same budget in units of several lengths.

    python -m benchmarks.unit_lengths --density coin --runs 10

The densities are those beside other samplers (`experiments.comparison`). Lengths take turns, each
run has the same seconds on the same two workers, and a density is compiled before the first. Judged
is by the mean squared error over the runs; "reported" is what the runs say themselves.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple
from unittest import mock

import numpy as np

import aptmc
from aptmc.backends.workers import trials
from experiments.comparison.priors import prior_of
from experiments.comparison.problem import Density
from experiments.comparison.problems import PROBLEMS

LENGTHS = (0.4e-3, 1e-3, 5e-3)  # seconds
WORKERS = 2


class Seen(NamedTuple):
    """One run."""

    means: list[float]  # of the density's quantities
    reported: float  # effective draws, the least of all parameters
    steps: float  # local steps of all chains
    utilisation: float


def one_run(density: Density, length: float, seed: int, seconds: float) -> Seen | None:
    """A run whose moves of cheap steps last so long; None: it had no draws."""
    problem = aptmc.Tempered(density.log_likelihood, prior_of(density.name))
    with mock.patch.multiple(trials, SHORTEST_UNIT=length, LONG_ENOUGH=length):
        run = aptmc.sample(
            problem, budget=seconds, on=aptmc.Processes(WORKERS), seed=seed, progress=False
        )
    states = np.concatenate([chain.state for chain in run.chains()])
    if not len(states):
        return None
    draws = np.asarray(problem.constrain(states[:, : problem.dimension]))
    return Seen(
        means=np.asarray(density.quantities(draws)).mean(axis=0).tolist(),
        reported=min(row.ess for row in run.summary().values()),
        steps=float(run.steps_done.sum()),
        utilisation=run.utilisation,
    )


def main() -> None:
    """One row for each length."""
    densities = [name for name, problem in PROBLEMS.items() if isinstance(problem, Density)]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unit_lengths")
    parser.add_argument("--density", choices=densities, default="coin")
    parser.add_argument("--runs", type=int, default=10, help="of each length (default: 10)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run (default: 10)")
    options = parser.parse_args()
    density = PROBLEMS[options.density]
    assert isinstance(density, Density)
    one_run(density, LENGTHS[-1], 0, options.seconds)  # compiles
    seen: dict[float, list[Seen]] = {length: [] for length in LENGTHS}
    for seed in range(1, 1 + options.runs):
        for length in LENGTHS:
            row = one_run(density, length, seed, options.seconds)
            seen[length] += [] if row is None else [row]
    print("| density | unit, ms | runs | effective draws | reported | steps | utilisation |")
    print("| --- " * 7 + "|")
    truth = density.truth
    for length, rows in seen.items():
        errors = np.array([row.means for row in rows]) - np.array(truth.means)
        effective = np.array(truth.variances) / np.square(errors).mean(axis=0)
        print(
            f"| {density.name} | {1e3 * length:.2g} | {len(rows)} "
            f"| {', '.join(f'{number:,.0f}' for number in effective)} "
            f"| {np.mean([row.reported for row in rows]):,.0f} "
            f"| {np.mean([row.steps for row in rows]):,.0f} "
            f"| {np.mean([row.utilisation for row in rows]):.2f} |"
        )


if __name__ == "__main__":
    main()
