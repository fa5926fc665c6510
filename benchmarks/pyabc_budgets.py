"""Two libraries, the same problem, the same time: how far does each come, and how well?

    python -m benchmarks.pyabc_comparison --budgets --case sleeping --workers 16 --runs 10

Each run is a process of its own. What it found is kept in .cache/pyabc_budgets, so that a table of
many runs can be made in several sittings, and read again without running anything.

On a machine with 16 cores that does nothing else, all of it, ten runs of each, in seven minutes:

    python -m benchmarks.pyabc_comparison --budgets --only-seconds --cores 16 --within 430 \
        --kept FOLDER

Then `--only-table --kept FOLDER` prints what is there, also elsewhere.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.pyabc_cases import CASES, NOTES, Case
from benchmarks.pyabc_comparison import ENVIRONMENT, INSTALL, PYTHON, is_installed
from benchmarks.pyabc_table import print_table

ROOT = Path(__file__).resolve().parents[1]
KEPT = ENVIRONMENT.parent / "pyabc_budgets"
LIBRARIES = ("aptmc", "pyABC")
MODULES = {"aptmc": "benchmarks.pyabc_ours", "pyABC": "benchmarks.pyabc_theirs"}
PATIENCE = 2.0  # budgets: whoever has not returned then is stopped from outside
# A generation may need many times as many simulations as all before it; those that count are long
# complete by then.
PATIENCE_FOR_SIMULATIONS = 600.0
RUNS = 10
WORKERS = (2, 16)
IN_SIMULATIONS = 2  # workers
# Many at a time: simulations that sleep need no core, but the workers of each run have to be begun.
ASLEEP_AT_ONCE = {2: 20, 16: 4}  # by number of workers
CORES_LEFT = 4  # of the machine, to those that sleep, while others compute


class Cell(NamedTuple):
    """One run."""

    case: Case
    library: str
    workers: int
    seed: int
    simulations: int = 0  # the budget, if it is not in seconds

    @property
    def name(self) -> str:
        """Of the file in which what it found is kept."""
        unit = "simulations" if self.simulations else "seconds"
        words = [self.case.name, unit, self.library, str(self.workers), str(self.seed)]
        return "-".join(words).replace(" ", "_") + ".json"

    @property
    def seconds(self) -> float:
        """The budget; 0 if it is in simulations."""
        return 0.0 if self.simulations else self.case.seconds[self.workers]


def cells(
    names: Sequence[str], workers: Sequence[int], runs: int, *, in_simulations: bool = True
) -> Iterator[Cell]:
    """All that are asked for; libraries take turns, so that what disturbs one disturbs both.

    :param workers: none: only equal numbers of simulations are compared
    """
    for seed in range(1, runs + 1):
        for case in (CASES[name] for name in names):
            for library in LIBRARIES:
                for count in workers:
                    if count in case.seconds:
                        yield Cell(case, library, count, seed)
                if case.simulations and in_simulations:
                    yield Cell(case, library, IN_SIMULATIONS, seed, case.simulations)


def busy_share(notes: bytes, start: float, seconds: float, workers: int) -> tuple[float, int]:
    """The share of the workers' time that was slept in simulations, and how many began in time."""
    begun, lengths = np.frombuffer(notes).reshape(-1, 2).T
    end = start + seconds
    asleep = np.clip(np.minimum(begun + lengths, end) - begun, 0.0, None)
    return float(asleep.sum() / (workers * seconds)), int((begun < end).sum())


class Place(NamedTuple):
    """Where runs are made, and kept.

    :param python: of the environment with pyABC
    """

    kept: Path = KEPT
    python: Path = PYTHON

    def file(self, cell: Cell) -> Path:
        """What a run found."""
        return self.kept / cell.name

    def interpreter(self, library: str) -> str:
        """Who runs it."""
        return sys.executable if library == "aptmc" else str(self.python)


def run_cell(cell: Cell, place: Place) -> Any:
    """What the run found, or what it complained of."""
    patience = PATIENCE * cell.seconds or PATIENCE_FOR_SIMULATIONS
    asked = {
        "case": cell.case.name, "workers": cell.workers, "seconds": cell.seconds,
        "simulations": cell.simulations, "seed": cell.seed, "patience": patience,
    }  # fmt: skip
    with tempfile.NamedTemporaryFile() as notes:
        paths = [str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        surroundings = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        if cell.case.sleeps:
            surroundings[NOTES] = notes.name
        module = MODULES[cell.library]
        command = [place.interpreter(cell.library), "-m", module, json.dumps(asked)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings,
            start_new_session=True,
        ) as process:  # fmt: skip
            try:
                reply, complaint = process.communicate(timeout=patience + 120.0)
            finally:
                end_all_of(process.pid)
        if process.returncode != 0:
            return {"failed": complaint.strip().splitlines()[-1:]}
        found = json.loads(reply.splitlines()[-1])
        if cell.case.sleeps:
            said = busy_share(notes.read(), found["start"], cell.seconds, cell.workers)
            found["busy"], found["simulations"] = said
    return found


def end_all_of(group: int) -> None:
    """A run that was given up leaves workers behind."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def fill(wanted: Iterable[Cell], place: Place, until: float) -> None:
    """Run what has not been run yet, one after the other.

    :param until: by the clock of this process; no run is begun whose budget would end later
    """
    place.kept.mkdir(parents=True, exist_ok=True)
    for cell in wanted:
        file = place.file(cell)
        if file.exists() or time.monotonic() + cell.seconds > until:
            continue
        found = run_cell(cell, place)
        new = file.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(found))
        new.rename(file)
        print(f"{file.stem}: {found.get('tolerance', found)}", file=sys.stderr, flush=True)


def fill_at_once(wanted: Sequence[Cell], place: Place, until: float, cores: int) -> None:
    """The same with many runs at a time: computing ones on two cores each, beside sleepers.

    Runs with many workers come last, and then have all cores: it costs to begin so many.
    """
    own = sorted(os.sched_getaffinity(0))[:cores]
    computing = [cell for cell in wanted if not cell.case.sleeps]
    few, many = (
        [cell for cell in wanted if cell.case.sleeps and cell.workers == count] for count in WORKERS
    )
    pairs = [own[i : i + 2] for i in range(0, max(len(own) - CORES_LEFT, 2), 2)]
    rest = own[2 * len(pairs) :] or own
    with ThreadPoolExecutor(len(pairs) + sum(ASLEEP_AT_ONCE.values())) as several:

        def begun(mine: Iterable[Cell], places: Sequence[Sequence[int]]) -> list[Future[None]]:
            left = deque(mine)
            return [several.submit(fill_on, on, taken(left), place, until) for on in places]

        first = begun(computing, pairs) + begun(few, [rest] * ASLEEP_AT_ONCE[WORKERS[0]])
        for one in first:
            one.result()
        for one in begun(many, [own] * ASLEEP_AT_ONCE[WORKERS[1]]):
            one.result()


def fill_on(cores: Sequence[int], mine: Iterable[Cell], place: Place, until: float) -> None:
    """Run some, on some cores. A thread may be held there, and whom it begins is, too."""
    os.sched_setaffinity(0, cores)
    fill(mine, place, until)


def taken(left: deque[Cell]) -> Iterator[Cell]:
    """One after the other, by one of several threads."""
    with suppress(IndexError):
        while True:
            yield left.popleft()


def compare(
    names: Sequence[str] | None = None,
    workers: Sequence[int] | None = None,
    runs: int = RUNS,
    place: Place | None = None,
    *,
    cores: int = 0,
    seconds: float = math.inf,
    only_table: bool = False,
    in_simulations: bool = True,
) -> None:
    """Run what is missing, and print the tables; of all cases, if none is named.

    :param cores: for many runs at a time; 0: one after the other
    :param seconds: within which all runs are to end, about
    :param in_simulations: equal numbers of simulations as well
    """
    names, workers = names or list(CASES), WORKERS if workers is None else workers
    place = place or Place()
    if not {*names} <= {*CASES} or not {*workers} <= {*WORKERS}:
        raise SystemExit(
            f"cases are {', '.join(CASES)} and workers 2 or 16, got {names} and {workers}"
        )
    wanted = list(cells(names, workers, runs, in_simulations=in_simulations))
    if not only_table:
        if not is_installed(place.python):
            print(f"Left out: pyABC is not installed. `{INSTALL}` installs it in .cache/pyabc.\n")
            return
        until = time.monotonic() + seconds
        if cores:
            fill_at_once(wanted, place, until, cores)
        else:
            fill(wanted, place, until)
    there = [cell for cell in wanted if place.file(cell).exists()]
    print_table([(cell, json.loads(place.file(cell).read_text())) for cell in there])
