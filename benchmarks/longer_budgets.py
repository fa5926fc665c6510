"""What a short likelihood-free run says that ten times its budget would give, and what that gives.

    python -m benchmarks.longer_budgets

In virtual time, by counted simulations. Only runs are shown in which the hint is given: those whose
tolerance keeps more than a tenth of the prior's own simulations.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from benchmarks.pyabc_cases import CASES
from benchmarks.pyabc_ours import problem_of

RUNS = 8
BUDGETS = (40, 80, 160)  # simulations
TIMES = 10
CUSTOMERS = 50


@njit
def distance(simulated: Any, observed: Any) -> float:
    """Euclidean."""
    return math.sqrt(((simulated - observed) ** 2).sum())


@njit
def two_means(theta: Any, rng: Any) -> Any:
    """Each seen once."""
    return theta + 0.5 * rng.standard_normal(2)


@njit
def two_modes(theta: Any, rng: Any) -> Any:
    """A square."""
    return np.array([theta[0] ** 2 + 0.5 * rng.standard_normal()])


@njit
def queue(theta: Any, rng: Any) -> Any:
    """Quantiles of the times between departures, where one customer is served at a time."""
    arrival, departure = 0.0, 0.0
    between = np.empty(CUSTOMERS)
    for customer in range(CUSTOMERS):
        arrival += rng.standard_exponential() / theta[2]
        before = departure
        departure = max(arrival, departure) + theta[0] + theta[1] * rng.random()
        between[customer] = departure - before
    between.sort()
    return between[np.array([0, 12, 25, 37, CUSTOMERS - 1])]


def problems() -> dict[str, aptmc.Abc]:
    """By name."""
    side = stats.uniform(-10.0, 20.0)
    served = stats.uniform(0.0, 10.0)
    waits = aptmc.Prior(least=served, spread=served, rate=stats.uniform(0.01, 0.32))
    seen = queue(np.array([1.0, 4.0, 0.2]), np.random.default_rng(1))
    return {
        "two means": aptmc.Abc(two_means, aptmc.Prior(a=side, b=side), [1.0, -1.0], distance),
        "two modes": aptmc.Abc(two_modes, aptmc.Prior(x=side), [9.0], distance),
        "queue": aptmc.Abc(queue, waits, seen, distance),
        "epidemic": problem_of(CASES["epidemic"]),
        "g-and-k": problem_of(CASES["g-and-k"]),
    }


def reached(problem: aptmc.Abc, simulations: int, seed: int) -> Any:
    """How far a run came; None if it was too short."""
    run = aptmc.sample(
        problem, budget=simulations, on=aptmc.VirtualTime(1), seed=seed, progress=False
    )
    return None if run._warmup is None else run._warmup.reached


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.longer_budgets")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each (default: {RUNS})")
    runs = parser.parse_args().runs
    print(f"| case | simulations | hints | tolerance | said | with {TIMES} times as many | kept |")
    print("| --- " * 7 + "|")
    for name, problem in problems().items():
        for simulations in BUDGETS:
            rows = []
            for seed in range(runs):
                short = reached(problem, simulations, seed)
                if short is None or not (short.is_wide and math.isfinite(short.level)):
                    continue
                longer = reached(problem, TIMES * simulations, runs + seed)
                rows.append((short.level, short.tolerance_after(TIMES), longer.level))
            if not rows:
                continue
            level, said, found = np.median(np.array(rows), axis=0)
            kept = sum(found <= said for _, said, found in rows)
            print(
                f"| {name} | {simulations} | {len(rows)} of {runs} | {level:.3g} | {said:.3g} "
                f"| {found:.3g} | {kept} of {len(rows)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
