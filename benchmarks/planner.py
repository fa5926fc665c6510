"""Does the planner foresee what happens? Sleeping moves, so that a few processors carry many.

A pilot on two workers, then predictions for 2, 16 and 64 from it, each with the chains and
deadlines of the run that follows and is measured. The simulations sleep for times that depend on
the parameter: the farther from the origin, the longer.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

import aptmc
from aptmc.models import normal
from benchmarks.background import sample_for
from benchmarks.pyabc_comparison import distance

RUNGS = 6
TOLERANCES = np.geomspace(1.0, 8.0, RUNGS).tolist()
MEAN = 0.02  # seconds, near the origin
EVERY = 0.1  # seconds
CHAINS_PER_WORKER = 3
WORKERS = (2, 16, 64)


def simulate(theta: Any, rng: np.random.Generator) -> Any:
    """A draw, after a sleep of a lognormal time, longer where the parameter is large."""
    farther = 1.0 + abs(float(theta[0])) / 3.0
    time.sleep(MEAN * farther * math.exp(0.5 * rng.standard_normal() - 0.125))
    return theta + rng.standard_normal()


def run_on(workers: int, chains_per_rung: int, seconds: float) -> aptmc.Run:
    """A run of so many seconds, start-up not counted."""
    return sample_for(
        seconds,
        aptmc.Abc(simulate, normal.prior(), observed=[normal.OBSERVED], distance=distance),
        ladder=aptmc.Ladder.tolerances(TOLERANCES),
        kernel=aptmc.OneHit(3.0, cap=10),
        schedule=aptmc.Anytime(every=EVERY),
        pools=aptmc.Shared(chains_per_rung),
        on=aptmc.Processes(workers),
        keep="all",
        seed=workers,
    )


def print_line(pilot: aptmc.Run, workers: int, seconds: float) -> None:
    """What was predicted beside what was measured."""
    chains_per_rung = max(CHAINS_PER_WORKER * workers // RUNGS, 1)
    began = time.perf_counter()
    (foreseen,) = aptmc.plan(pilot, workers, chains_per_rung=chains_per_rung, every=EVERY)
    took = time.perf_counter() - began
    run = run_on(workers, chains_per_rung, seconds)
    moves = run.completions / run.elapsed
    print(
        f"| {workers} | {foreseen.chains} | {foreseen.utilisation:.3f} | {run.utilisation:.3f} "
        f"| {foreseen.moves_per_second:,.1f} ± {foreseen.moves_error:.0%} | {moves:,.1f} "
        f"| {foreseen.moves_per_second / moves - 1.0:+.1%} | {foreseen.coordinator_load:.1%} "
        f"| {run.overhead.coordinator / run.elapsed:.1%} | {took:.1f} |"
    )


def main(*, quick: bool) -> None:
    """Print one table."""
    few = 8 if quick else 2
    pilot = run_on(few, max(CHAINS_PER_WORKER * few // RUNGS, 1), 3.0 if quick else 120.0)
    cost = pilot.overhead.coordinator / pilot.completions
    print(
        f"## A pilot on {few} workers of {pilot.completions} moves, and what the planner makes "
        f"of it\n\nThe coordinator took {cost * 1e3:.2f} ms for a move of the pilot.\n"
    )
    print(
        "| workers | chains | utilisation, predicted | measured | moves per second, predicted "
        "| measured | difference | coordinator busy, predicted | measured | planning, s |"
    )
    print("| --- " * 10 + "|")
    for workers in (16,) if quick else WORKERS:
        print_line(pilot, workers, 2.0 if quick else 120.0 if workers == 2 else 60.0)
    print()
