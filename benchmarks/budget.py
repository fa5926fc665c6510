"""Is a budget of 5 s kept when one simulation in fifty sleeps for 20 s?

The paper's normal model in plain Python, two workers. Time is counted from the call to the return;
in pyABC, whose limit counts from there, from the call of `run`. pyABC looks at its limit after each
generation, and a generation ends when all of its simulations have.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import aptmc
from aptmc.models import normal
from benchmarks.pyabc_comparison import distance
from benchmarks.pyabc_driver import reason_to_leave_out, run_pyabc

BUDGET = 5.0
SHARE, SLEEP = 0.02, 20.0
TOLERANCES = [0.1, 0.25, 0.5, 1.1]
POPULATION = 100
PATIENCE = 60.0  # seconds until pyABC is stopped from outside

Turn = Callable[[int], tuple[float, str]]  # from a seed to seconds and what was done in them


def simulate(theta: Any, rng: np.random.Generator) -> Any:
    """One observation, which now and then takes very long."""
    if rng.random() < SHARE:
        time.sleep(SLEEP)
    return theta + rng.standard_normal()


def ours(seed: int) -> tuple[float, str]:
    """A turn of `sample`."""
    problem = aptmc.Abc(simulate, normal.prior(), observed=[normal.OBSERVED], distance=distance)
    start = time.perf_counter()
    run = aptmc.sample(
        problem,
        budget=BUDGET,
        ladder=aptmc.Ladder.tolerances(TOLERANCES),
        kernel=aptmc.OneHit(1.0),
        schedule=aptmc.Anytime(every=0.1),
        on=aptmc.Processes(2),
        seed=seed,
    )
    done = f"{run.simulations:,} simulations" if run.completions else str(run.stopped)
    return time.perf_counter() - start, done


def theirs(seed: int) -> tuple[float, str]:
    """A turn of pyABC."""
    done = run_pyabc(
        PATIENCE, seed=seed, sampler="MulticoreEvalParallelSampler", workers=2,
        population=POPULATION, tolerances=sorted(TOLERANCES, reverse=True),
        share=SHARE, sleep=SLEEP, max_walltime=BUDGET,
    )  # fmt: skip
    if done is None:
        return PATIENCE, "stopped from outside"
    elapsed, _, simulations, generations = done
    return elapsed, f"{simulations:,} simulations, {generations} generations"


def main(*, quick: bool) -> None:
    """Print one table."""
    contestants: dict[str, tuple[Turn, int]] = {"aptmc, `budget=5`": (ours, 1 if quick else 10)}
    reason = reason_to_leave_out(quick=quick)
    if reason is None:
        contestants[f"pyABC 0.13, `max_walltime`, population {POPULATION}"] = theirs, 3
    print(f"## A budget of {BUDGET:g} s when {SHARE:.0%} of simulations sleep {SLEEP:g} s\n")
    print("| library | runs | seconds, median | range | done meanwhile, in the median run |")
    print("| --- | --- | --- | --- | --- |")
    for name, (turn, turns) in contestants.items():
        found = sorted(turn(seed) for seed in range(turns))
        median, done = statistics.median_low(found)
        least, most = found[0][0], found[-1][0]
        print(f"| {name} | {turns} | {median:.2f} | {least:.2f} to {most:.2f} | {done} |")
    print(f"\n{reason}\n" if reason else "")
