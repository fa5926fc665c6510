"""One leap or several: effective draws per 1,000 leaps of `Mala`, `Hmc` and `Nuts`.

`python -m experiments.langevin`: eight schools, and a normal density of 50 dimensions of which the
variances differ by a factor of 1,000. No ladder, and virtual time, so that nothing depends on the
machine. Draws are those of the worst parameter, by autocorrelation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

import aptmc
from benchmarks.leaps import START, gradient, log_density

PRECISIONS = np.logspace(0.0, 3.0, 50)
BUDGET, SEEDS = 200_000, (1, 2, 3)


@njit(nogil=True)
def normal(theta: Any) -> float:
    """Independent coordinates."""
    return float(-0.5 * np.sum(PRECISIONS * theta * theta))


@njit(nogil=True)
def slope_of_normal(theta: Any) -> Any:
    """Of the same."""
    return -PRECISIONS * theta


def rate(problem: aptmc.Power, kernel: aptmc.Kernel, seed: int) -> float:
    """Of one run."""
    run = aptmc.sample(
        problem, budget=BUDGET, ladder=[1], kernel=kernel, on=aptmc.VirtualTime(1),
        pools=aptmc.Shared(4), seed=seed, progress=False,
    )  # fmt: skip
    table = run.summary()
    worst = min(table[name].ess for name in problem.labels)
    return float(1000.0 * worst / run.statistics["leaps"].sum())


def main() -> None:
    """Print a table."""
    problems = {
        "eight schools": aptmc.Power(log_density, {"theta": START}, gradient=gradient),
        "normal, 50 dimensions": aptmc.Power(
            normal, {"theta": np.zeros(PRECISIONS.size)}, gradient=slope_of_normal
        ),
    }
    print("| target | kernel | effective draws per 1,000 leaps, by seed |\n| --- | --- | --- |")
    for name, problem in problems.items():
        for kernel in (aptmc.Mala(), aptmc.Hmc(), aptmc.Nuts()):
            rates = ", ".join(f"{rate(problem, kernel, seed):.0f}" for seed in SEEDS)
            print(f"| {name} | {kernel!r} | {rates} |", flush=True)


if __name__ == "__main__":
    main()
