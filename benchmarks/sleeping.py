"""Many workers whose simulations only sleep, for lognormal times: how long do the workers wait?

So a few processors carry many workers. Utilisation is the time asleep in simulations, over the time
of all workers; ours is the run's own figure, which is nearly the same, as moves do little else. Our
run is timed from its first move, pyABC's from the call of `run`, on tolerances at which it accepts
about every other simulation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import aptmc
from aptmc.models import normal
from benchmarks.background import sample_for, waiting_ahead
from benchmarks.pyabc_comparison import distance
from benchmarks.pyabc_driver import reason_to_leave_out, run_pyabc

MEAN = 0.1  # seconds
RUNGS = 12
TOLERANCES = np.geomspace(1.0, 20.0, RUNGS).tolist()
CHAINS_PER_WORKER = 3
EVERY = 0.3  # seconds: about the time in which each chain moves once
SCHEDULES = {"anytime": aptmc.Anytime(every=EVERY), "synchronous": aptmc.Synchronous()}
PYABC_TOLERANCES = [4.0, 2.0, 1.0, 0.5]
PYABC_SAMPLERS = {
    "evaluations": "MulticoreEvalParallelSampler",
    "particles": "MulticoreParticleParallelSampler",
}
PATIENCE = 300.0


def sleeping(log_variance: float) -> Callable[..., Any]:
    """A simulator that sleeps."""
    sigma = math.sqrt(log_variance)

    def simulate(theta: Any, rng: np.random.Generator) -> Any:
        time.sleep(MEAN * math.exp(sigma * rng.standard_normal() - 0.5 * log_variance))
        return theta + rng.standard_normal()

    return simulate


def print_ours(schedule: str, workers: int, log_variance: float, seconds: float) -> None:
    """One run of ours, in a line."""
    run = sample_for(
        seconds,
        aptmc.Abc(
            sleeping(log_variance), normal.prior(), observed=[normal.OBSERVED], distance=distance
        ),
        ladder=aptmc.Ladder.tolerances(TOLERANCES),
        kernel=aptmc.OneHit(1.0),
        schedule=SCHEDULES[schedule],
        pools=aptmc.Shared(CHAINS_PER_WORKER * workers // RUNGS),
        on=aptmc.Processes(workers),
        seed=workers,
    )
    steps = run.steps_per_move
    ahead = waiting_ahead(run) if schedule == "anytime" else 0
    units = f"{steps.min()} to {steps.max()}" if steps.max() > 1 else "1"
    name = f"aptmc, {schedule}, {CHAINS_PER_WORKER * workers} chains"
    print_line(workers, log_variance, name, f"{units}, {ahead}", run.elapsed, run.simulations,
               run.utilisation, run.overhead.startup)  # fmt: skip


def print_theirs(kind: str, population: int, workers: int, log_variance: float) -> None:
    """One run of pyABC, in a line."""
    done = run_pyabc(
        PATIENCE, seed=workers, sampler=PYABC_SAMPLERS[kind], workers=workers,
        population=population, tolerances=PYABC_TOLERANCES, mean=MEAN, log_variance=log_variance,
    )  # fmt: skip
    name = f"pyABC 0.13, {kind}, population {population}"
    if done is None:
        print(f"| {workers} | {log_variance:g} | {name} | stopped after {PATIENCE:g} s |")
        return
    elapsed, slept, simulations, _ = done
    print_line(
        workers, log_variance, name, "", elapsed, simulations, slept / (workers * elapsed), None
    )


def print_line(
    workers: int, log_variance: float, name: str, units: str, elapsed: float, simulations: int,
    utilisation: float, startup: float | None,
) -> None:  # fmt: skip
    """A line of the table."""
    print(
        f"| {workers} | {log_variance:g} | {name} | {units} | {elapsed:.1f} "
        f"| {simulations / elapsed:,.0f} | {utilisation:.3f} "
        f"| {'' if startup is None else f'{startup:.1f}'} |"
    )


def main(*, quick: bool) -> None:
    """Print one table."""
    reason = reason_to_leave_out(quick=quick)
    print(f"## Simulations that sleep, {MEAN * 1e3:.0f} ms on average\n")
    print(
        "| workers | log-variance | sampler | steps per move, ahead | seconds "
        "| simulations per second | utilisation | start-up, s |"
    )
    print("| --- " * 8 + "|")
    for workers in (16,) if quick else (16, 64):
        for log_variance in (1.0,) if quick else (1.0, 4.0):
            for schedule in ("anytime",) if quick else SCHEDULES:
                print_ours(schedule, workers, log_variance, 2.0 if quick else 30.0)
            if reason is None:
                for kind in PYABC_SAMPLERS:
                    for population in (workers, 4 * workers):
                        print_theirs(kind, population, workers, log_variance)
    print(f"\n{reason}\n" if reason else "")
