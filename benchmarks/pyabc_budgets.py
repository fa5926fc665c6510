"""Two libraries, the same problem, the same time: how far does each come, and how well?

    python -m benchmarks.pyabc_comparison --budgets --case sleeping --workers 16 --runs 10

Each run is a process of its own. What it found is kept in .cache/pyabc_budgets, so that a table of
many runs can be made in several sittings, and read again without running anything.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.pyabc_cases import CASES, NOTES, Case
from benchmarks.pyabc_comparison import ENVIRONMENT, INSTALL, PYTHON, is_installed
from benchmarks.pyabc_table import print_table

ROOT = Path(__file__).resolve().parents[1]
KEPT = ENVIRONMENT.parent / "pyabc_budgets"
LIBRARIES = {"aptmc": sys.executable, "pyABC": str(PYTHON)}
MODULES = {"aptmc": "benchmarks.pyabc_ours", "pyABC": "benchmarks.pyabc_theirs"}
PATIENCE = 2.0  # budgets: whoever has not returned then is stopped from outside
# A generation may need many times as many simulations as all before it; those that count are long
# complete by then.
PATIENCE_FOR_SIMULATIONS = 600.0
RUNS = 10
WORKERS = (2, 16)
IN_SIMULATIONS = 2  # workers


class Cell(NamedTuple):
    """One run."""

    case: Case
    library: str
    workers: int
    seed: int
    simulations: int = 0  # the budget, if it is not in seconds

    @property
    def file(self) -> Path:
        """Where what it found is kept."""
        unit = "simulations" if self.simulations else "seconds"
        words = [self.case.name, unit, self.library, str(self.workers), str(self.seed)]
        return KEPT / ("-".join(words).replace(" ", "_") + ".json")

    @property
    def seconds(self) -> float:
        """The budget; 0 if it is in simulations."""
        return 0.0 if self.simulations else self.case.seconds[self.workers]


def cells(names: Sequence[str], workers: Sequence[int], runs: int) -> Iterator[Cell]:
    """All that are asked for; libraries take turns, so that what disturbs one disturbs both.

    :param workers: none: only equal numbers of simulations are compared
    """
    for seed in range(1, runs + 1):
        for case in (CASES[name] for name in names):
            for library in LIBRARIES:
                for count in workers:
                    if count in case.seconds:
                        yield Cell(case, library, count, seed)
                if case.simulations:
                    yield Cell(case, library, IN_SIMULATIONS, seed, case.simulations)


def busy_share(notes: bytes, start: float, seconds: float, workers: int) -> tuple[float, int]:
    """The share of the workers' time that was slept in simulations, and how many began in time."""
    begun, lengths = np.frombuffer(notes).reshape(-1, 2).T
    end = start + seconds
    asleep = np.clip(np.minimum(begun + lengths, end) - begun, 0.0, None)
    return float(asleep.sum() / (workers * seconds)), int((begun < end).sum())


def run_cell(cell: Cell) -> Any:
    """What the run found, or what it complained of."""
    patience = PATIENCE * cell.seconds or PATIENCE_FOR_SIMULATIONS
    asked = {
        "case": cell.case.name, "workers": cell.workers, "seconds": cell.seconds,
        "simulations": cell.simulations, "seed": cell.seed, "patience": patience,
    }  # fmt: skip
    with tempfile.NamedTemporaryFile() as notes:
        surroundings = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
        if cell.case.sleeps:
            surroundings[NOTES] = notes.name
        command = [LIBRARIES[cell.library], "-m", MODULES[cell.library], json.dumps(asked)]
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


def fill(wanted: Sequence[Cell]) -> None:
    """Run what has not been run yet."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for cell in wanted:
        if cell.file.exists():
            continue
        found = run_cell(cell)
        new = cell.file.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(found))
        new.rename(cell.file)
        print(f"{cell.file.stem}: {found.get('tolerance', found)}", file=sys.stderr, flush=True)


def compare(
    names: Sequence[str] | None = None, workers: Sequence[int] | None = None, runs: int = RUNS
) -> None:
    """Run what is missing, and print the tables; of all cases, if none is named."""
    names, workers = names or list(CASES), WORKERS if workers is None else workers
    if not {*names} <= {*CASES} or not {*workers} <= {*WORKERS}:
        raise SystemExit(
            f"cases are {', '.join(CASES)} and workers 2 or 16, got {names} and {workers}"
        )
    if not is_installed():
        print(f"Left out: pyABC is not installed. `{INSTALL}` installs it in .cache/pyabc.\n")
        return
    wanted = list(cells(names, workers, runs))
    fill(wanted)
    print_table([(cell, json.loads(cell.file.read_text())) for cell in wanted])
