"""The cases beside pyABC in virtual time, which no other program disturbs, and in many runs.

    python -m benchmarks.pyabc_virtual
    python -m benchmarks.pyabc_virtual --to-tolerance

Simulators that sleep say how long they would; of the others, simulations are counted. So start-up
and messages cost nothing. Settings are the default's; effective draws are counted as in the table
beside pyABC. pyABC itself cannot be run so: beside it is its algorithm (`population_monte_carlo`).
The second command counts the simulations that either takes to come down to a tolerance.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from benchmarks.population_monte_carlo import compiled_generations, last_generation
from benchmarks.pyabc_cases import CASES, Case
from benchmarks.pyabc_ours import problem_of
from benchmarks.pyabc_table import effective_draws, relative_errors
from benchmarks.pyabc_to_tolerance import GOALS, Cost
from benchmarks.pyabc_to_tolerance import by_aptmc as descent_to
from benchmarks.pyabc_to_tolerance import by_populations as populations_to

RUNS = 100
TO_TOLERANCE = 20  # runs
IN_SIMULATIONS = 2  # workers


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


class Row(NamedTuple):
    """One of the table: a case with a budget."""

    case: Case
    workers: int
    seconds: float  # 0: the budget is a number of simulations

    @property
    def in_words(self) -> str:
        """The budget."""
        return f"{self.seconds:g} s" if self.seconds else f"{self.case.simulations:,} simulations"

    @property
    def whole(self) -> float:
        """What all workers may spend together."""
        return self.workers * self.seconds or self.case.simulations


def rows() -> Iterator[Row]:
    """Sleeping ones by time, compiled ones by simulations."""
    for case in CASES.values():
        if case.sleeps:
            for workers, seconds in case.seconds.items():
                yield Row(case, workers, seconds)
        elif case.first_tolerance is None:
            yield Row(case, IN_SIMULATIONS, 0.0)


def problem_in_virtual_time(case: Case) -> aptmc.Abc:
    """Whose work is seconds, if the simulator sleeps, and simulations, if it does not."""
    if not case.sleeps:
        return problem_of(case)
    sides = zip(case.parameters, case.low, case.high, strict=True)
    prior = aptmc.Prior(**{name: stats.uniform(low, high - low) for name, low, high in sides})
    return aptmc.Abc.early(SIMULATORS[case.name], prior, counts_work=True)


def by_aptmc(row: Row, runs: int, **options: Any) -> tuple[list[Any], list[float]]:
    """By run: means of the quantities, and the tolerance; runs without draws are left out.

    :param options: of `aptmc.sample`
    """
    case, problem = row.case, problem_in_virtual_time(row.case)
    means, tolerances = [], []
    for seed in range(runs):
        run = aptmc.sample(
            problem, budget=row.whole / row.workers, on=aptmc.VirtualTime(row.workers), seed=seed,
            progress=False, **options,
        )  # fmt: skip
        if run.stopped is aptmc.StopReason.TOO_SHORT:
            continue
        draws = np.column_stack([np.concatenate(run.series(name)) for name in case.parameters])
        means.append(case.quantities(draws).mean(axis=0))
        tolerances.append(run.settings.ladder.levels[0])
    return means, tolerances


def by_populations(row: Row, runs: int) -> tuple[list[Any], list[float]]:
    """The same, by the algorithm of pyABC's defaults."""
    hits = compiled_generations(row.case, with_cost(row.case))
    found = [last_generation(row.case, hits, row.whole, seed) for seed in range(runs)]
    last = [generation for generation in found if generation is not None]
    return [each.means for each in last], [each.tolerance for each in last]


def with_cost(case: Case) -> Callable[..., Any]:
    """The distance of a simulation, and what it costs."""
    if case.sleeps:
        timed = SIMULATORS[case.name]

        @njit
        def slept(theta: Any, rng: Any) -> Any:
            return timed(theta, rng, math.inf)

        return cast(Callable[..., Any], slept)
    simulate, distance, observed = case.simulate, case.distance, np.array(case.observed)

    @njit
    def counted(theta: Any, rng: Any) -> Any:
        return distance(simulate(theta, rng), observed), 1.0

    return cast(Callable[..., Any], counted)


ALGORITHMS = {"aptmc": by_aptmc, "pyABC's algorithm": by_populations}


def costs(case: Case, goal: float, runs: int) -> tuple[Cost, Cost]:
    """To a tolerance: of the descent, and of populations as pyABC has them."""
    problem, seeds = problem_in_virtual_time(case), range(runs)
    return descent_to(case, problem, goal, seeds), populations_to(
        case, with_cost(case), goal, seeds
    )


def table_to_tolerance(names: list[str], runs: int) -> None:
    """How many simulations it takes to get there."""
    print("| case | tolerance | runs | aptmc | pyABC's algorithm | ratio |")
    print("| --- " * 6 + "|")
    for name in names:
        for goal in GOALS[name]:
            ours, theirs = costs(CASES[name], goal, runs)
            ratio = theirs.median / ours.median
            print(f"| {name} | {goal:g} | {runs} | {ours} | {theirs} | {ratio:.2g} |", flush=True)


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pyabc_virtual")
    parser.add_argument("--runs", type=int, help=f"of each (default: {RUNS}, or {TO_TOLERANCE})")
    parser.add_argument("--case", choices=sorted(CASES), action="append", help="only these")
    parser.add_argument(
        "--to-tolerance", action="store_true", help="count the simulations down to a tolerance"
    )
    options = parser.parse_args()
    if options.to_tolerance:
        table_to_tolerance(options.case or list(GOALS), options.runs or TO_TOLERANCE)
    else:
        table(options.case or [row.case.name for row in rows()], options.runs or RUNS)


def table(names: list[str], runs: int) -> None:
    """What equal budgets are worth."""
    print("| case | workers | budget | by | runs | tolerance | effective draws |")
    print("| --- " * 7 + "|")
    for row in rows():
        if row.case.name not in names:
            continue
        truth = row.case.truth
        for name, algorithm in ALGORITHMS.items():
            means, tolerances = algorithm(row, runs)
            each = ", ".join(f"{1.0 / error:.3g}" for error in relative_errors(means, truth))
            print(
                f"| {row.case.name} | {row.workers} | {row.in_words} | {name} "
                f"| {len(means)} of {runs} | {np.median(tolerances):.2g} "
                f"| {effective_draws(means, truth):.3g} ({each}) |",
                flush=True,
            )


if __name__ == "__main__":
    main()
