"""Runs on disk: how large are they, what does writing cost, how fast are they opened again?

The share of writing is measured in a run whose simulator only sleeps, so that completions come at a
known rate: it is the time inside the calls of the store, which the coordinating process makes, over
the time of the run. The store of many draws is made through the store's own `append`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

import aptmc
from aptmc.record.event_log import COMPLETED, EventLog, empty_log
from aptmc.record.record import Record, empty_record
from aptmc.store import DiskStore
from benchmarks.background import sample_for
from benchmarks.memory import resident_megabytes

PIECE = 1 << 16  # rows that are appended at a time, as in a run
LADDER = aptmc.Ladder.powers(8)
HOLD_TIME = 0.8e-3  # seconds: on two workers about a thousand completions per second
MILLISECONDS = 1e3


@njit
def normal_density(theta: Any) -> float:
    """Standard normal, up to a constant."""
    return -0.5 * float((theta * theta).sum())


def normal(dimension: int) -> aptmc.Power:
    """A problem that costs nothing."""
    return aptmc.Power(normal_density, np.zeros(dimension))


def sleeping(hold_time: float) -> aptmc.Power:
    """A problem whose moves take so long."""

    def log_density(theta: Any) -> float:
        time.sleep(hold_time)
        return -0.5 * float(theta[0] ** 2)

    return aptmc.Power(log_density, {"x": 0.0})


def bytes_in(folder: Path) -> int:
    """What a folder takes on disk."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


# --- size ----------------------------------------------------------------------------------------


class Size(NamedTuple):
    """Bytes for each draw."""

    draws: int
    in_all: float
    without_events: float


def size(dimension: int, draws: int) -> Size:
    """Of a run in virtual time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.zarr"
        run = aptmc.sample(
            normal(dimension),
            budget=draws / 2.0,  # as many draws come from exchanges as from moves, about
            ladder=LADDER,
            kernel=aptmc.RandomWalk(1.0),
            schedule=aptmc.Anytime(every=4.0),
            on=aptmc.VirtualTime(4),
            keep="all",
            store=path,
            seed=1,
        )
        count = sum(drawn.time.size for rung in range(LADDER.rungs) for drawn in run.chains(rung))
        events = bytes_in(path / "events")
        return Size(count, bytes_in(path) / count, (bytes_in(path) - events) / count)


# --- writing -------------------------------------------------------------------------------------


class Writing(NamedTuple):
    """What the store cost the coordinating process."""

    per_second: float  # completions
    draws: int
    share: float  # of the run's time
    longest: float  # call, in seconds
    append: float  # seconds in all
    save: float


def writing(seconds: float, hold_time: float) -> Writing:
    """Of a run on two worker processes."""
    spent: dict[str, list[float]] = {"append": [], "save": []}
    methods = {name: getattr(DiskStore, name) for name in spent}

    def timed(name: str) -> Callable[..., None]:
        def call(*arguments: Any, **options: Any) -> None:
            before = time.perf_counter()
            methods[name](*arguments, **options)
            spent[name].append(time.perf_counter() - before)

        return call

    for name in spent:
        setattr(DiskStore, name, timed(name))
    try:
        with tempfile.TemporaryDirectory() as folder:
            run = sample_for(
                seconds,
                sleeping(hold_time),
                ladder=LADDER,
                kernel=aptmc.RandomWalk(1.0),
                schedule=aptmc.Anytime(every="8 ms"),
                on=aptmc.Processes(2, group=1),
                keep="all",
                store=Path(folder) / "run.zarr",
                seed=1,
            )
            count = sum(
                drawn.time.size for rung in range(LADDER.rungs) for drawn in run.chains(rung)
            )
    finally:
        for name, method in methods.items():
            setattr(DiskStore, name, method)
    append, save = sum(spent["append"]), sum(spent["save"])
    longest = max(spent["append"] + spent["save"])
    return Writing(
        run.completions / run.elapsed, count, (append + save) / run.elapsed, longest, append, save
    )


# --- many draws ----------------------------------------------------------------------------------


def filled_record(rng: np.random.Generator, begin: int) -> tuple[Record, EventLog]:
    """Rows like those of a run."""
    record = empty_record(np.zeros(1, np.int64), 1, 3, np.ones(1, np.bool_), PIECE)
    log = empty_log(PIECE)
    record.filled[0] = log.filled[0] = PIECE
    times = (begin + np.arange(PIECE)) * 1e-3
    draws, events = record.draws, log.rows
    draws["chain"] = draws["exchanged"] = draws["replica"] = events["chain"] = 0
    record.state[:] = rng.standard_normal(record.state.shape)
    draws["accepted"] = rng.integers(2, size=PIECE)
    draws["processor"] = events["processor"] = rng.integers(4, size=PIECE)
    draws["hold_time"] = rng.exponential(size=PIECE)
    draws["work"] = 1.0
    draws["time"] = events["time"] = events["ended"] = times
    events["began"] = times - draws["hold_time"]
    events["kind"] = COMPLETED
    return record, log


def make_large(path: Path, draws: int) -> float:
    """A store of so many draws of one chain, by its own means; gives the seconds it took."""
    aptmc.sample(
        normal(1), budget=5.0, ladder=aptmc.Ladder.powers(2), kernel=aptmc.RandomWalk(1.0),
        schedule=aptmc.Synchronous(), on=aptmc.VirtualTime(1), store=path, seed=1,
    )  # fmt: skip
    store, checkpoint = DiskStore.reopen(path)
    rng, before = np.random.default_rng(1), time.perf_counter()
    for begin in range(0, draws, PIECE):
        store.append(*filled_record(rng, begin))
        checkpoint.arrays["record/seen"][0] += PIECE
    store.save(checkpoint.notes, checkpoint.arrays)
    store.close()
    return time.perf_counter() - before


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call gives, and how many seconds it took."""
    before = time.perf_counter()
    return call(), time.perf_counter() - before


def many_draws(draws: int) -> list[tuple[str, str]]:
    """One row for each thing that was measured."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.zarr"
        make_large(path, PIECE)  # so that what grows below is not what is loaded once
        aptmc.open(path).draws.load()
        path = Path(folder) / "large.zarr"
        before = resident_megabytes()
        seconds = make_large(path, draws)
        rows.append(("written, seconds", f"{seconds:.1f}"))
        rows.append(("memory of the writer grew by, MiB", f"{resident_megabytes() - before:.0f}"))
        rows.append(("on disk, bytes per draw", f"{bytes_in(path) / draws:.1f}"))
        run, seconds = timed(lambda: aptmc.open(path))
        rows.append(("opened, seconds", f"{seconds:.2f}"))
        tree, seconds = timed(lambda: run.draws)
        rows.append(("`run.draws` without its numbers, seconds", f"{seconds:.2f}"))
        values, seconds = timed(lambda: tree["posterior"]["x0"].values)
        rows.append((f"one variable ({values.size:,} numbers) read, seconds", f"{seconds:.2f}"))
    return rows


def main(*, quick: bool) -> None:
    """Print three tables."""
    print("## Stores\n")
    print("### Bytes for each draw\n")
    print("| parameters | draws | bytes per draw, with the log of events | without |")
    print("| --- " * 4 + "|")
    for dimension in (1, 3, 10):
        found = size(dimension, 20_000 if quick else 500_000)
        print(
            f"| {dimension} | {found.draws:,} | {found.in_all:.1f} | {found.without_events:.1f} |"
        )
    print("\n### What writing costs the coordinating process, saved every 5 s\n")
    print(
        "| completions per second | draws | share of the time | longest call, ms "
        "| appending, s | checkpoints, s |"
    )
    print("| --- " * 6 + "|")
    cost = writing(2.0 if quick else 60.0, HOLD_TIME)
    print(
        f"| {cost.per_second:,.0f} | {cost.draws:,} | {cost.share:.2%} "
        f"| {cost.longest * MILLISECONDS:.0f} | {cost.append:.2f} | {cost.save:.2f} |"
    )
    draws = PIECE * (4 if quick else 160)
    print(f"\n### A store of {draws:,} draws and as many events\n")
    print("| what | |")
    print("| --- | --- |")
    for name, value in many_draws(draws):
        print(f"| {name} | {value} |")
    print()
