"""Is a size of leaps that is searched for in each move better than one that is learnt and frozen?

`python -m experiments.searched_step`: `Mala(search=True)`, which is autoMALA (Biron-Lattes and
others 2024), beside `Mala()` and `Nuts()`, on Neal's funnels of two dimensions, of which the log
variance has a standard deviation of 1 or 3, without a ladder. Where there is one see
`experiments.known_targets.kernels`.

In virtual time at equal work, in which each gradient and each density counts one. Effective draws
are those by the mean squared error over runs.
"""

from __future__ import annotations

import argparse
import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import special

import aptmc
from experiments.known_targets.kernels import worth
from experiments.known_targets.measures import Measured, RunMeasure, measure_run
from experiments.known_targets.quantities import Quantity, mean_of, probability_of, sd_of
from experiments.known_targets.target import PROCESSORS, Target
from experiments.parallel import in_parallel

CHAINS = PROCESSORS + 2  # two must wait


def funnel(width: float) -> aptmc.Power:
    """A log variance, and what has this variance."""

    @njit(nogil=True)
    def log_density(theta: Any) -> float:
        inside = theta[1] ** 2 * math.exp(-theta[0])
        return float(-0.5 * ((theta[0] / width) ** 2 + inside + theta[0]))

    @njit(nogil=True)
    def slope(theta: Any) -> Any:
        found = np.empty(2)
        by_width = theta[1] * math.exp(-theta[0])
        found[0] = -theta[0] / width**2 + 0.5 * (theta[1] * by_width - 1.0)
        found[1] = -by_width
        return found

    return aptmc.Power(log_density, {"x": np.ones(2)}, gradient=slope)


def quantities(width: float) -> tuple[Quantity, ...]:
    """Of the log variance."""
    return (
        mean_of("v", 0, 0.0, variance=width**2),
        sd_of("v", 0, 0.0, width, variance=2.0 * width**4),
        probability_of("neck", lambda theta: theta[:, 0] < -width, float(special.ndtr(-1.0))),
    )


TARGETS = {
    f"funnel, {width:.0f}": Target(
        f"funnel, {width:.0f}", partial(funnel, width), partial(quantities, width), budget=1e5
    )
    for width in (1.0, 3.0)
}
KERNELS = {"Mala": aptmc.Mala(), "Mala, search": aptmc.Mala(search=True), "Nuts": aptmc.Nuts()}


class Done(NamedTuple):
    """A run."""

    measure: RunMeasure
    leaps: float  # a move


def sampled(target: Target, kernel: str, budget: float, seed: int) -> Done:
    """On one rung."""
    run = aptmc.sample(
        target.problem, budget=budget, ladder=[1], kernel=KERNELS[kernel],
        pools=aptmc.Shared(CHAINS), on=aptmc.VirtualTime(PROCESSORS), seed=seed, progress=False,
    )  # fmt: skip
    moves = run.statistics["accepted"][0] / run.acceptance_rates[0]
    return Done(measure_run(run, target.quantities), float(run.statistics["leaps"][0] / moves))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.searched_step")
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS))
    parser.add_argument("--scale", type=float, default=1.0, help="of the lengths of runs")
    parser.add_argument("--runs", type=int, default=16)
    options = parser.parse_args()
    print("| target | kernel | leaps a move | quantity | off by | effective draws of a run |")
    print("| --- | --- | --- | --- | --- | --- |")
    for target in [TARGETS[name] for name in options.names or TARGETS]:
        for kernel in options.kernels:
            budget = options.scale * target.budget
            done = in_parallel(partial(sampled, target, kernel, budget), range(1, options.runs + 1))
            of = Measured(target, budget, [one.measure for one in done], None)
            first = [target.name, kernel, f"{np.mean([one.leaps for one in done]):.1f}"]
            for place, quantity in enumerate(target.quantities):
                off, draws = of.off_by(place), of.effective_draws(place)
                cells = [*first, quantity.name, f"{off:.1f} se", f"{draws:,.1f}"]
                print(f"| {' | '.join(cells)} |", flush=True)
            print(f"| {' | '.join([*first, 'all', '', f'{worth(of):,.1f}'])} |", flush=True)


if __name__ == "__main__":
    main()
