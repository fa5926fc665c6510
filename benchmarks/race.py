"""What the race costs per simulation, beyond the user's own function; the paper's normal model.

A simulation of this model is one normal number, so nearly all of the time is ours. The same
function is called as often in a bare loop with the same kind of generator, in turns with the race,
and its time is taken off. Time is processor time unless wall time is said.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

import aptmc
from aptmc.models import normal

TOLERANCES = (0.1, 1.1)
LADDER = aptmc.Ladder.tolerances(TOLERANCES)
SCALE = 1.0
# Near the posterior's mean, for the bare loops.
THETA = 2.5

_simulated_distance = normal.simulated_distance


class Cost(NamedTuple):
    """Seconds per simulation, medians over the turns."""

    bare: float  # of the user's function
    race: float  # of the move around it, what the function takes included
    simulations: float  # per local step

    @property
    def overhead(self) -> float:
        """What is ours."""
        return self.race - self.bare


@cache
def problem_in(*, compiled: bool) -> aptmc.Abc:
    """The normal model, compiled or in plain Python."""
    function = _simulated_distance if compiled else _simulated_distance.py_func
    return aptmc.Abc.early(function, normal.prior())


def generator(number: int) -> np.random.Generator:
    """Philox, as in a run."""
    return aptmc.Key(seed=11, chain=0, number=number).generator()


def simulate_bare(simulations: int, tolerance: float, rng: Any) -> float:
    """The user's function alone."""
    theta = np.full(1, THETA)
    total = 0.0
    for _ in range(simulations):
        total += _simulated_distance(theta, rng, tolerance)
    return total


simulate_bare_compiled = njit(simulate_bare, nogil=True)


def simulate_bare_in_python(simulations: int, tolerance: float, rng: np.random.Generator) -> None:
    """The same in plain Python."""
    function = _simulated_distance.py_func
    theta = np.full(1, THETA)
    for _ in range(simulations):
        function(theta, rng, tolerance)


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    """Processor time of a call."""
    start = time.thread_time()
    function(*arguments)
    return time.thread_time() - start


def cost_of_race(
    problem: aptmc.Abc, bare: Callable[..., Any], *, rung: int, steps: int, turns: int,
) -> Cost:  # fmt: skip
    """Time moves of many steps, and as many calls of the user's function, in turns."""
    kernel = aptmc.OneHit(SCALE, steps=steps, cap=100)
    move = kernel.move(problem, problem.target)
    tuning, level = kernel.tuning(problem, LADDER), TOLERANCES[rung]
    state = np.array([THETA, 0.5 * level, problem.prior.log_density([THETA])])
    outcome, info = np.empty_like(state), np.zeros(kernel.info_length)
    one_step = tuning[rung].copy()
    one_step[0] = 1.0
    move(level, one_step, state, generator(0), outcome, info)  # compiles
    bare(1, level, generator(0))
    bares, races, counts = [], [], []
    for number in range(turns):
        spent = seconds(move, level, tuning[rung], state, generator(number), outcome, info)
        simulations = int(info[kernel.places["simulations"]])
        races.append(spent / simulations)
        bares.append(seconds(bare, simulations, level, generator(number)) / simulations)
        counts.append(simulations / steps)
    return Cost(statistics.median(bares), statistics.median(races), statistics.median(counts))


def both_speeds(*, quick: bool) -> Iterator[tuple[str, aptmc.Abc, Callable[..., Any], int]]:
    """Name, problem, bare loop and steps of a move: about half a second of work each."""
    share = 20 if quick else 1
    compiled, plain = problem_in(compiled=True), problem_in(compiled=False)
    yield "compiled", compiled, simulate_bare_compiled, 500_000 // share
    yield "plain Python", plain, simulate_bare_in_python, 8_000 // share


def print_races(*, quick: bool) -> None:
    """The table of overheads per simulation."""
    turns = 3 if quick else 9
    print("## The race, nanoseconds per simulation\n")
    print("| code | tolerance | simulations per step | user's function | in the race | overhead |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, problem, bare, steps in both_speeds(quick=quick):
        for rung, level in enumerate(TOLERANCES):
            cost = cost_of_race(problem, bare, rung=rung, steps=steps, turns=turns)
            print(
                f"| {name} | {level} | {cost.simulations:.1f} | {cost.bare * 1e9:,.1f} "
                f"| {cost.race * 1e9:,.1f} | {cost.overhead * 1e9:,.1f} |"
            )
    print()


def print_virtual_time(*, quick: bool) -> None:
    """The table of whole moves: race, coordinator, exchanges and recording."""
    print("## Completed moves in virtual time: 8 rungs, 4 processors, exchanges included\n")
    print("| code | moves | simulations per move | microseconds per move | beyond the simulator |")
    print("| --- | --- | --- | --- | --- |")
    ladder = aptmc.Ladder.tolerances(np.geomspace(*TOLERANCES, 8).tolist())
    share = 20 if quick else 1
    for name, problem, bare, _ in both_speeds(quick=quick):
        budget = (1e6 if problem.is_compiled else 1e4) / share

        def run(budget: float, problem: aptmc.Abc = problem) -> aptmc.Run:
            return aptmc.sample(
                problem,
                budget=budget,
                ladder=ladder,
                kernel=aptmc.OneHit(SCALE, cap=100),
                schedule=aptmc.Anytime(every=20.0, exchange=aptmc.Alternating()),
                on=aptmc.VirtualTime(4),
                seed=1,
            )

        run(50.0)
        start = time.thread_time()
        result = run(budget)
        spent = time.thread_time() - start
        calls = min(result.simulations, 200_000)
        simulator = seconds(bare, calls, 1.0, generator(0)) / calls * result.simulations
        moves = result.completions
        print(
            f"| {name} | {moves} | {result.simulations / moves:.1f} | {spent / moves * 1e6:.2f} "
            f"| {(spent - simulator) / moves * 1e6:.2f} |"
        )
    print()


def print_rejection(*, quick: bool) -> None:
    """The table of rejection, by number of threads.

    The first call compiles and is shown apart. What every later call costs, however little it
    simulates, is measured by calls with one simulation and taken off. Processor time shows what
    threads cost even where other work keeps the processors busy.
    """
    print("## Rejection at tolerance 0.1\n")
    print(
        "| code | threads | first call, seconds | simulations per second of wall time "
        "| range | nanoseconds of processor time |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    turns, share = (1, 20) if quick else (7, 1)
    for name, problem, _, _ in both_speeds(quick=quick):
        simulations = (20_000_000 if problem.is_compiled else 100_000) // share
        first = time_rejection(problem, 1, 0, threads=1)
        set_ups: list[Spent] = []
        work: dict[int, list[Spent]] = {1: [], 2: []} if problem.is_compiled else {1: []}
        for seed in range(turns):
            set_ups.append(time_rejection(problem, 1, seed, threads=1))
            for threads, spent in work.items():
                spent.append(time_rejection(problem, simulations, seed, threads=threads))
        set_up = Spent(*(statistics.median(times) for times in zip(*set_ups, strict=True)))
        for threads, spent in work.items():
            rates = sorted(simulations / (each.wall - set_up.wall) for each in spent)
            processor = statistics.median(each.processor for each in spent) - set_up.processor
            print(
                f"| {name} | {threads} | {first.wall:.2f} | {statistics.median(rates):,.0f} "
                f"| {rates[0]:,.0f} to {rates[-1]:,.0f} | {processor / simulations * 1e9:,.0f} |"
            )
    print()


class Spent(NamedTuple):
    """Seconds of a call."""

    wall: float
    processor: float  # of all threads


def time_rejection(problem: aptmc.Abc, simulations: int, seed: int, *, threads: int) -> Spent:
    """One call."""
    wall, processor = time.perf_counter(), time.process_time()
    aptmc.rejection(problem, 0.1, simulations=simulations, seed=seed, threads=threads)
    return Spent(time.perf_counter() - wall, time.process_time() - processor)


def main(*, quick: bool) -> None:
    """Print three tables: the race, moves in virtual time, and rejection."""
    print_races(quick=quick)
    print_virtual_time(quick=quick)
    print_rejection(quick=quick)
