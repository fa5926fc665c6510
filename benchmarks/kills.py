"""A worker is killed in the middle of a move: how long until its move is computed again?

The simulator only sleeps. It reports through a pipe which process computes which move: a move is
known by the first random number that its simulation draws, because the same move always draws the
same. Whoever reads the pipe kills the process that has just begun, and waits until another begins
with the same number, and until that one has ended.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from select import select
from typing import Any, NamedTuple

import numpy as np

import aptmc
from aptmc.models import normal
from benchmarks.background import start_sampling
from benchmarks.pyabc_comparison import distance

WORKERS = 2
HOLD_TIMES = (0.01, 0.2)
LONGEST_SILENCE = 60.0  # seconds
NOTE = np.dtype([("is_end", "i8"), ("process", "i8"), ("move", "f8"), ("time", "f8")])


class Note(NamedTuple):
    """What a process says of itself."""

    is_end: bool  # of a simulation, or its beginning
    process: int
    move: float
    time: float


class Recovery(NamedTuple):
    """Seconds since a kill."""

    again: float  # until the move was being computed again
    completed: float


@cache
def opened(path: str) -> int:
    """A pipe, which each process opens once."""
    return os.open(path, os.O_WRONLY)


def reporting(path: str, hold_time: float) -> Callable[..., Any]:
    """A simulator that sleeps and says so."""

    def simulate(theta: Any, rng: np.random.Generator) -> Any:
        pipe, move = opened(path), rng.random()
        for is_end in (0, 1):
            note = np.array([(is_end, os.getpid(), move, time.monotonic())], NOTE)
            os.write(pipe, note.tobytes())
            if not is_end:
                time.sleep(hold_time)
        return theta + rng.standard_normal()

    return simulate


def notes(pipe: int) -> Generator[Note]:
    """What the processes say, as they say it."""
    while select([pipe], [], [], LONGEST_SILENCE)[0]:
        for row in np.frombuffer(os.read(pipe, 64 * NOTE.itemsize), NOTE):
            yield Note(bool(row["is_end"]), *row.tolist()[1:])
    raise RuntimeError("the run has ended: no process has said anything for a minute")


def recoveries(hold_time: float, kills: int) -> list[Recovery]:
    """Kill workers one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes"
        os.mkfifo(path)
        pipe = os.open(path, os.O_RDWR)  # for writing too, or it would end with its writers
        problem = aptmc.Abc(
            reporting(str(path), hold_time), normal.prior(), observed=[normal.OBSERVED],
            distance=distance,
        )  # fmt: skip
        with start_sampling(
            problem,
            ladder=aptmc.Ladder.tolerances([1.0, 2.0, 4.0, 8.0]),
            kernel=aptmc.OneHit(1.0),
            schedule=aptmc.Anytime(every=1.0),
            on=aptmc.Processes(WORKERS, group=1, ahead=0),
            seed=1,
        ), closing(notes(pipe)) as heard:  # fmt: skip
            found = list(kill_and_wait(heard, kills))
        os.close(pipe)
    return found


def kill_and_wait(heard: Iterator[Note], kills: int) -> Iterator[Recovery]:
    """One recovery after the other."""
    while kills > 0:
        # What was in the pipe already is over.
        opening = time.monotonic()
        victim = next(note for note in heard if not note.is_end and note.time > opening)
        killed = time.monotonic()
        os.kill(victim.process, signal.SIGKILL)
        again = next(note for note in heard if note.move == victim.move)
        if again.process == victim.process:  # it had ended its move before it died
            continue
        end = next(note for note in heard if note.is_end and note.move == victim.move)
        yield Recovery(again.time - killed, end.time - killed)
        kills -= 1


def main(*, quick: bool) -> None:
    """Print one table."""
    print("## A worker is killed, milliseconds since then\n")
    print(
        "| a move takes | kills | computed again: median | 95 % | longest "
        "| completed: median | 95 % | longest |"
    )
    print("| --- " * 8 + "|")
    for hold_time in HOLD_TIMES[1:] if quick else HOLD_TIMES:
        found = recoveries(hold_time, 3 if quick else 200)
        cells = [f"{hold_time * 1e3:.0f}", str(len(found))]
        for times in zip(*found, strict=True):
            cells += [f"{value * 1e3:.1f}" for value in np.percentile(times, [50, 95, 100])]
        print("| " + " | ".join(cells) + " |")
    print()
