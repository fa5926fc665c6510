"""What an engine costs: how long its workers wait for the next move, and how busy they are.

Moves only sleep, so that a few processors carry many workers and the coordinating process has one
for itself. "Waits" is the time of a worker between two moves; with moves queued ahead it is what
could not be hidden. Start-up, loading the problem into every worker included, is not counted.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import aptmc
from benchmarks.background import sample_for, waiting_ahead
from benchmarks.delays import DelayingExecutor

Options = dict[str, Any]
RUNGS = 6
LENGTHS = (1e-3, 10e-3, 100e-3)  # seconds
MEAN, LOG_VARIANCE = 0.1, 1.0
ROUND_TRIPS = (0.0, 1e-3, 50e-3)
CUT = (1.0, 3.0)  # seconds after the beginning between which nothing gets through


def sleeping(seconds: float, log_variance: float = 0.0) -> Callable[[Any], float]:
    """A log density whose evaluation takes a time that depends on where it is evaluated."""

    def log_density(theta: Any) -> float:
        spread = math.sqrt(log_variance) * math.sin(1e4 * theta[0]) * math.sqrt(2.0)
        time.sleep(seconds * math.exp(spread - 0.5 * log_variance))
        return -0.5 * float(theta[0] * theta[0])

    return log_density


# --- engines ------------------------------------------------------------------------------------


@contextmanager
def processes(workers: int, options: Options) -> Iterator[Any]:
    """What is used without an engine."""
    yield aptmc.Processes(workers, **options)


@contextmanager
def process_pool(workers: int, options: Options) -> Iterator[Any]:
    """The standard library's."""

    def make() -> ProcessPoolExecutor:
        return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))

    yield aptmc.Futures(make, workers, **options)


@contextmanager
def threads(workers: int, options: Options) -> Iterator[Any]:
    """Of this process; for functions that wait for something else."""
    yield aptmc.Futures(lambda: ThreadPoolExecutor(workers), workers, **options)


@contextmanager
def loky(workers: int, options: Options) -> Iterator[Any]:
    """Loky's reusable pool."""
    from loky import get_reusable_executor

    yield aptmc.Futures(lambda: get_reusable_executor(workers), workers, **options)


@contextmanager
def dask(workers: int, options: Options) -> Iterator[Any]:
    """A scheduler and two worker processes, whose threads share the work."""
    from distributed import Client, LocalCluster

    count = min(workers, 2)
    with (
        LocalCluster(
            n_workers=count,
            threads_per_worker=workers // count,
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield aptmc.Dask(client, **options)


@contextmanager
def ray(workers: int, options: Options) -> Iterator[Any]:
    """A cluster on this machine, with an actor for each worker."""
    import ray as library

    try:
        yield aptmc.Ray(workers=workers, **options)
    finally:
        library.shutdown()


ENGINES = {
    "Processes": (processes, None),
    "process pool": (process_pool, None),
    "loky": (loky, "loky"),
    "Dask": (dask, "distributed"),
    "Ray": (ray, "ray"),
}


# --- two workers ----------------------------------------------------------------------------------


def print_two(name: str, on: Any, seconds: float, least: float) -> None:
    """One run on two workers, in a line."""
    run = sample_for(
        max(least, 40 * seconds),
        aptmc.Power(sleeping(seconds), {"x": 0.0}),
        ladder=aptmc.Ladder.powers(2 * RUNGS),
        kernel=aptmc.RandomWalk(1.0),
        schedule=aptmc.Anytime(every=0.1),
        on=on,
        seed=1,
    )
    waits = (1.0 - run.utilisation) * 2 * run.elapsed / run.completions
    print(
        f"| {name} | {seconds * 1e3:g} | {waiting_ahead(run)} | {waits * 1e3:.2f} "
        f"| {run.utilisation:.3f} | {run.overhead.coordinator / run.completions * 1e6:.0f} "
        f"| {run.overhead.startup:.1f} |",
        flush=True,
    )


def print_engine(name: str, engine: Any, *, quick: bool) -> None:
    """All lines of an engine."""
    least = 0.5 if quick else 4.0
    for ahead in (0,) if quick else (0, 1):
        with engine(2, {"group": 1, "ahead": ahead}) as on:
            for seconds in LENGTHS[1:2] if quick else LENGTHS:
                print_two(name, on, seconds, least)


def print_mpi(*, quick: bool) -> None:
    """MPI ranks are started from outside."""
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if find_spec("mpi4py") is None or mpiexec is None:
        print("| MPI | left out: no mpi4py or no mpiexec |")
        return
    module = ["-m", "mpi4py.futures", "-m", "benchmarks.engines_mpi"]
    subprocess.run(
        [mpiexec, "-n", "3", sys.executable, *module, *(["--quick"] if quick else [])], check=True
    )


# --- many workers, and far away -------------------------------------------------------------------


def print_many(name: str, engine: Any, workers: int, seconds: float) -> None:
    """Many workers, in a line."""
    with engine(workers, {"group": 1}) as on:
        run = sample_for(
            seconds,
            aptmc.Power(sleeping(MEAN, LOG_VARIANCE), {"x": 0.0}),
            ladder=aptmc.Ladder.powers(RUNGS),
            kernel=aptmc.RandomWalk(1.0),
            schedule=aptmc.Anytime(every=0.3),
            pools=aptmc.Shared(math.ceil(3 * workers / RUNGS)),
            on=on,
            seed=workers,
        )
    waits = (1.0 - run.utilisation) * workers * run.elapsed / run.completions
    print(
        f"| {name} | {workers} | {waiting_ahead(run)} | {run.completions / run.elapsed:,.0f} "
        f"| {waits * 1e3:.2f} | {run.utilisation:.3f} "
        f"| {run.overhead.coordinator / run.completions * 1e6:.0f} | {run.overhead.startup:.1f} |",
        flush=True,
    )


def print_far(round_trip: float, ahead: Any, seconds: float, cut: tuple[float, float]) -> None:
    """Two workers that are far away, in a line."""
    executor = DelayingExecutor(2, round_trip / 2.0)
    is_cut = np.isfinite(cut[0])
    if is_cut:
        executor.cut(*cut)
    run = sample_for(
        seconds,
        aptmc.Power(sleeping(10e-3), {"x": 0.0}),
        ladder=aptmc.Ladder.powers(4 * RUNGS),
        kernel=aptmc.RandomWalk(1.0),
        schedule=aptmc.Anytime(every=0.1),
        on=aptmc.Futures(executor, 2, group=1, ahead=ahead),
        seed=1,
    )
    executor.shutdown()
    way = f"{round_trip * 1e3:g}" + (f", cut for {cut[1] - cut[0]:g} s" if is_cut else "")
    print(
        f"| {way} | {waiting_ahead(run)} | {run.completions / run.elapsed:,.0f} "
        f"| {run.utilisation:.3f} |",
        flush=True,
    )


def main(*, quick: bool) -> None:
    """Print the tables."""
    print("## Engines, two workers\n")
    print(
        "| engine | move, ms | ahead | a worker waits, ms per move | utilisation "
        "| coordinator, µs per move | start-up, s |"
    )
    print("| --- " * 7 + "|")
    for name, (engine, needs) in ENGINES.items():
        is_left_out = quick and name in ("loky", "Ray")
        if not is_left_out and (needs is None or find_spec(needs) is not None):
            print_engine(name, engine, quick=quick)
    print_mpi(quick=quick)
    print(f"\n## Engines, many workers, moves of {MEAN * 1e3:.0f} ms on average\n")
    print(
        "| engine | workers | ahead | moves per second | a worker waits, ms per move | utilisation "
        "| coordinator, µs per move | start-up, s |"
    )
    print("| --- " * 8 + "|")
    many = {"threads": (threads, None)} | ({} if quick else ENGINES)
    for workers in (16,) if quick else (16, 64):
        for name, (engine, needs) in many.items():
            is_heavy = workers > 16 and name in ("process pool", "loky", "Ray")
            if not is_heavy and (needs is None or find_spec(needs) is not None):
                print_many(name, engine, workers, 1.0 if quick else 20.0)
    print("\n## Two workers far away, moves of 10 ms\n")
    print("| there and back, ms | ahead | moves per second | utilisation |")
    print("| --- " * 4 + "|")
    never = (math.inf, math.inf)
    for round_trip in ROUND_TRIPS[2:] if quick else ROUND_TRIPS:
        for ahead in ("auto",) if quick else (0, "auto"):
            print_far(round_trip, ahead, 1.0 if quick else 10.0, never)
    if not quick:
        print_far(ROUND_TRIPS[1], "auto", 10.0, CUT)
    print()
