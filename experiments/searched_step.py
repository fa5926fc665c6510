"""Is a size of leaps that is searched for in each move better than one that is learnt and frozen?

`python -m experiments.searched_step`. Beside `Mala()` stands the kernel of Biron-Lattes and others
(2024), autoMALA, as Liu and others (2024) have made it symmetric: from the size that was learnt one
doubles, or halves, until the energy is off by as much as a pair of uniform numbers asks for. From
where one gets to, the same search must find the same size: otherwise the chain stays, for else one
could not come back in the same way. Each trial is a leap, forth and back.

In virtual time at equal work, in which each gradient and each density counts one. Effective draws
are those by the mean squared error over runs.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numba import njit
from scipy import special
from typing_extensions import override

import aptmc
from aptmc.compiled import Floats
from aptmc.kernels.hamiltonian import Hamiltonian
from aptmc.kernels.leaping import (
    EXTENT,
    STEP_SIZE,
    draw_momentum,
    energy_of,
    leaping,
    tell_force,
)
from aptmc.kernels.parts import Parts
from aptmc.problem.chain_state import accepts
from experiments.known_targets import eight_schools, gradients
from experiments.known_targets.kernels import worth
from experiments.known_targets.measures import Measured, measure_run
from experiments.known_targets.quantities import mean_of, probability_of, sd_of
from experiments.known_targets.target import Target
from experiments.parallel import in_parallel

MOST_DOUBLINGS = 30  # forth or back, beyond which a chain stays
# Places of a point on the line in a table: where it is, its momentum, its force.
PLACE, MOMENTUM, FORCE = range(3)


@final
@dataclass(frozen=True, repr=False)
class SearchedMala(Hamiltonian):
    """One leap, of a size that is searched for in each move."""

    best_acceptance = 0.574
    statistics = (*Hamiltonian.statistics, "no_way_back")

    @property
    @override
    def extent(self) -> int:
        """One leap."""
        return 1

    @override
    def step(self, parts: Parts) -> Callable[..., bool]:
        """A search, a leap, and the search from there."""
        return searched(parts)


def searched(parts: Parts) -> Callable[..., bool]:
    """The step."""
    dimension, library = parts.dimension, parts.target.library
    begin_at, leap = leaping(parts)
    push, energy, tell = library(draw_momentum), library(energy_of), library(tell_force)
    leaps, acceptance = parts.place("leaps"), parts.place("acceptance")
    divergences, no_way_back = parts.place("divergences"), parts.place("no_way_back")

    def off_by(
        level: float, tuning: Floats, doublings: int, log_from: float, begun: Any, point: Any,
        row: Floats, info: Floats,
    ) -> float:  # fmt: skip
        """The log ratio of a leap, which leads to a point."""
        for i in range(3):
            for j in range(dimension):
                point[i, j] = begun[i, j]
        size = tuning[STEP_SIZE] * 2.0**doublings
        info[leaps] += 1.0
        log_there = leap(
            level, tuning, size, row, point[PLACE], point[MOMENTUM], point[FORCE], info
        )
        if not log_there > -math.inf:
            return -math.inf
        return float(log_there - energy(dimension, point[MOMENTUM]) - log_from)

    off_by = parts.target.helper(off_by)

    def step(
        level: float, tuning: Floats, here: Floats, rng: Any, there: Floats, info: Floats
    ) -> bool:
        begun, point, next_point = (
            np.empty((3, dimension)), np.empty((3, dimension)), np.empty((3, dimension)),
        )  # fmt: skip
        row = np.empty(here.size)
        log_here = begin_at(level, tuning, here, row, begun[PLACE], begun[FORCE], info)
        if tuning[EXTENT] == 0.0:
            return tell(dimension, here, begun[FORCE], there)  # type: ignore[no-any-return]
        log_here -= push(rng, dimension, begun[MOMENTUM])
        one, other = rng.random(), rng.random()
        # Off by less than the first is too little, by more than the second too much.
        little, much = -math.log(max(one, other)), -math.log(min(one, other))
        before = info[leaps]

        for i in range(here.size):
            there[i] = row[i]
        chosen, up = 0, False
        ratio = off_by(level, tuning, 0, log_here, begun, point, there, info)
        first = ratio
        if abs(ratio) < little:
            up = True
            while chosen < MOST_DOUBLINGS:
                further = off_by(level, tuning, chosen + 1, log_here, begun, next_point, row, info)
                if not abs(further) < little:
                    break
                chosen, ratio = chosen + 1, further
                for i in range(3):
                    for j in range(dimension):
                        point[i, j] = next_point[i, j]
                for i in range(here.size):
                    there[i] = row[i]
        else:
            while abs(ratio) > much and chosen > -MOST_DOUBLINGS:
                chosen -= 1
                ratio = off_by(level, tuning, chosen, log_here, begun, point, there, info)
        # What is learnt is the size to begin from: how well that is accepted, for each leap made.
        info[acceptance] += (info[leaps] - before) * math.exp(min(first, 0.0))
        before = info[leaps]
        if not ratio > -math.inf or abs(chosen) == MOST_DOUBLINGS:
            info[divergences] += 1.0
            return False
        if not accepts(ratio, rng.random()):
            return False

        # From there, with the momentum turned; of the size chosen it is known where that leads.
        log_there = log_here + ratio
        for j in range(dimension):
            point[MOMENTUM, j] = -point[MOMENTUM, j]
        way = 1 if chosen >= 0 else -1
        trials = abs(chosen) + (2 if up else 0)
        same = True
        for number in range(trials):
            doublings = way * number
            if doublings == chosen:
                continue
            back = abs(off_by(level, tuning, doublings, log_there, point, next_point, row, info))
            if way > 0:
                same = back < little if doublings < chosen else not back < little
            else:
                same = back > much
            if not same:
                break
        info[acceptance] += (info[leaps] - before) * math.exp(min(first, 0.0))
        if not same:
            info[no_way_back] += 1.0
        return same

    return step


# --- targets --------------------------------------------------------------------------------------

FUNNEL_SD = 3.0


def narrow(dimension: int) -> aptmc.Power:
    """Neal's funnel, without a ladder."""

    @njit(nogil=True)
    def log_density(theta: Any) -> float:
        total = -0.5 * (theta[0] / FUNNEL_SD) ** 2
        for i in range(1, theta.size):
            total -= 0.5 * (theta[i] ** 2 * math.exp(-theta[0]) + theta[0])
        return total

    @njit(nogil=True)
    def slope(theta: Any) -> Any:
        found = np.empty_like(theta)
        found[0] = -theta[0] / FUNNEL_SD**2
        for i in range(1, theta.size):
            by_width = theta[i] * math.exp(-theta[0])
            found[0] += 0.5 * (theta[i] * by_width - 1.0)
            found[i] = -by_width
        return found

    return aptmc.Power(log_density, {"x": np.ones(dimension)}, gradient=slope)


def of_narrow() -> Any:
    """The marginal of the log variance."""
    return (
        mean_of("v", 0, 0.0, variance=FUNNEL_SD**2),
        sd_of("v", 0, 0.0, FUNNEL_SD, variance=2.0 * FUNNEL_SD**4),
        probability_of("neck", lambda theta: theta[:, 0] < -FUNNEL_SD, float(special.ndtr(-1.0))),
    )


ALONE = {"funnel, 2 dimensions", "funnel, 10 dimensions"}
(SCHOOLS,) = eight_schools.TARGETS
LONG = {target.name: target for target in gradients.TARGETS}
TARGETS = (
    Target("funnel, 2 dimensions", partial(narrow, 2), of_narrow, budget=1e5),
    Target("funnel, 10 dimensions", partial(narrow, 10), of_narrow, budget=2e5),
    Target("funnel, with a ladder", LONG["funnel"].make_problem, LONG["funnel"].make_quantities,
           budget=1e5),
    Target("eight schools", LONG["eight schools"].make_problem, SCHOOLS.make_quantities,
           budget=3e4),
    Target("normal 50", LONG["normal 50"].make_problem, LONG["normal 50"].make_quantities,
           budget=2.5e4),
)  # fmt: skip
KERNELS = {"Mala": aptmc.Mala, "searched": SearchedMala, "Nuts": aptmc.Nuts}


def sampled(target: Target, kernel: str, budget: float, seed: int) -> aptmc.Run:
    """One run."""
    alone: dict[str, Any] = {"ladder": [1], "pools": aptmc.Shared(6)}
    return aptmc.sample(
        target.problem, budget=budget, kernel=KERNELS[kernel](), on=aptmc.VirtualTime(4),
        seed=seed, progress=False, **(alone if target.name in ALONE else {}),
    )  # fmt: skip


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.searched_step", description=__doc__
    )
    names = {target.name: target for target in TARGETS}
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(names)} (default: all)")
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS))
    parser.add_argument("--scale", type=float, default=1.0, help="of the lengths of runs")
    parser.add_argument("--runs", type=int, default=16)
    options = parser.parse_args()
    print("| target | kernel | effective draws of a run | worst quantity off by | leaps a move |")
    print("| --- | --- | --- | --- | --- |")
    for target in [names[name] for name in options.names or names]:
        for kernel in options.kernels:
            budget = options.scale * target.budget

            def one(seed: int, target: Target = target, kernel: str = kernel,
                    budget: float = budget) -> Any:  # fmt: skip
                run = sampled(target, kernel, budget, seed)
                moved = run.statistics["accepted"] / run.acceptance_rates
                leaps = run.statistics["leaps"][0] / moved[0]
                lost = run.statistics.get("no_way_back", np.zeros(1))[0] / moved[0]
                return measure_run(run, target.quantities), leaps, lost

            done = in_parallel(one, range(1, options.runs + 1))
            of = Measured(target, budget, [measure for measure, _, _ in done], None)
            off = max(of.off_by(place) for place in range(len(target.quantities)))
            leaps = float(np.mean([leaps for _, leaps, _ in done]))
            lost = float(np.mean([lost for _, _, lost in done]))
            no_way = f", no way back from {lost:.0%}" if kernel == "searched" else ""
            print(
                f"| {target.name} | {kernel} | {worth(of):,.1f} | {off:.1f} se | "
                f"{leaps:.1f}{no_way} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
