"""The sleeping cases beside pyABC, in virtual time, which no other program disturbs.

    python -m benchmarks.pyabc_virtual

The same simulators, of which each says how long it would sleep; so start-up and messages cost
nothing. Settings are the default's; effective draws are counted as in the table beside pyABC.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from benchmarks.pyabc_cases import CASES, Case
from benchmarks.pyabc_table import effective_draws, relative_errors

RUNS = 40


@njit
def slow_to_one_side(theta: Any, rng: Any, tolerance: float) -> Any:
    """Two means; the distance, and the time."""
    first = theta[0] + 0.5 * rng.standard_normal() - 1.0
    second = theta[1] + 0.5 * rng.standard_normal() + 1.0
    return math.sqrt(first**2 + second**2), 0.005 * 100.0 ** ((theta[0] + 10.0) / 20.0)


@njit
def slow_mode(theta: Any, rng: Any, tolerance: float) -> Any:
    """Two modes; the distance, and the time."""
    away = abs(theta[0] ** 2 + 0.5 * rng.standard_normal() - 9.0)
    return away, 0.2 if theta[0] > 0.0 else 0.01


SIMULATORS = {"sleeping": slow_to_one_side, "two modes": slow_mode}


def means_of(case: Case, workers: int, runs: int) -> tuple[list[Any], list[float]]:
    """By run: means of the quantities, and the tolerance; runs without draws are left out."""
    sides = zip(case.parameters, case.low, case.high, strict=True)
    prior = aptmc.Prior(**{name: stats.uniform(low, high - low) for name, low, high in sides})
    problem = aptmc.Abc.early(SIMULATORS[case.name], prior, counts_work=True)
    means, tolerances = [], []
    for seed in range(runs):
        run = aptmc.sample(
            problem, budget=case.seconds[workers], on=aptmc.VirtualTime(workers), seed=seed,
            progress=False,
        )  # fmt: skip
        if run.stopped is aptmc.StopReason.TOO_SHORT:
            continue
        draws = np.column_stack([np.concatenate(run.series(name)) for name in case.parameters])
        means.append(case.quantities(draws).mean(axis=0))
        tolerances.append(run.settings.ladder.levels[0])
    return means, tolerances


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pyabc_virtual")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each (default: 40)")
    options = parser.parse_args()
    print("| case | workers | seconds | runs | tolerance | effective draws |")
    print("| --- " * 6 + "|")
    for name in SIMULATORS:
        case = CASES[name]
        for workers, seconds in case.seconds.items():
            means, tolerances = means_of(case, workers, options.runs)
            each = ", ".join(f"{1.0 / error:.3g}" for error in relative_errors(means, case.truth))
            print(
                f"| {name} | {workers} | {seconds:g} | {len(means)} of {options.runs} "
                f"| {np.median(tolerances):.2f} | {effective_draws(means, case.truth):.3g} "
                f"({each}) |",
                flush=True,
            )


if __name__ == "__main__":
    main()
