"""Cells of the table: each a run of a library on a problem, kept in a file.

Those that the page shows are kept beside this module as well, so that everybody can read them.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from queue import Queue
from typing import Any, NamedTuple

import aptmc
from experiments.comparison.environment import CACHE, OTHERS, python_of, versions
from experiments.comparison.problems import PROBLEMS

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = Path(__file__).with_name("cells.json")
OURS = "ours"
KINDS = ("evaluations", "seconds", "processor")  # what may be equal for all
PATIENCE, EXTRA = 3.0, 60.0  # budgets, and seconds: whoever has not returned then is ended
TRAINING = {"sbi": 1800.0, "nautilus": 1800.0}  # more seconds, for networks
PACE = 3_000  # evaluations a second, slow for a density
CROWD = 60.0  # seconds by the clock for one of a processor, which others want as well


class Cell(NamedTuple):
    """One run."""

    problem: str
    library: str
    seed: int
    kind: str  # what is equal for all
    workers: int = 2

    @classmethod
    def of(cls, problem: str, library: str, seed: int, kind: str) -> Cell:
        """One run; seconds of a processor are counted of one process."""
        return cls(problem, library, seed, kind, 1 if kind == "processor" else 2)

    @property
    def path(self) -> Path:
        """Where what it found is kept."""
        words = "-".join(map(str, self)).replace(" ", "_")
        return CACHE / "cells" / f"{words}.json"

    @property
    def limits(self) -> tuple[int, float, int]:
        """What it may use."""
        density = PROBLEMS[self.problem]
        if self.kind == "evaluations":
            return density.evaluations, 0.0, self.workers
        return 0, density.seconds, self.workers

    @property
    def python(self) -> Path:
        """The program that runs it."""
        return Path(sys.executable) if self.library.startswith(OURS) else python_of(self.library)

    @property
    def version(self) -> str:
        """Of the library."""
        if self.library.startswith(OURS):
            return aptmc.__version__
        name = re.split("[<=>]", OTHERS[self.library])[0]
        return versions(self.python).get(name, "")

    def measured(self) -> dict[str, Any] | None:
        """What was found on this machine, if it was."""
        if not self.path.exists():
            return None
        kept: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        return kept

    def found(self) -> dict[str, Any] | None:
        """The same, or what the page shows."""
        return self.measured() or published().get(self.path.stem)


@cache
def published() -> dict[str, Any]:
    """The cells of the page, by name."""
    if not PUBLISHED.exists():
        return {}
    kept: dict[str, Any] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    return kept


def publish(cells: Sequence[Cell]) -> None:
    """Keep what was found where the page's cells are kept."""
    found = {cell.path.stem: cell.found() for cell in cells}
    kept = published() | {name: each for name, each in found.items() if each is not None}
    lines = (f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept))
    PUBLISHED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    published.cache_clear()


def measure(cell: Cell, processors: frozenset[int] = frozenset()) -> dict[str, Any]:
    """Run it, and keep what came of it or what it complained of.

    :param processors: it has these alone; none named: all that there are
    """
    evaluations, seconds, _ = cell.limits
    patience = PATIENCE * (seconds or evaluations / PACE) + TRAINING.get(cell.library, EXTRA)
    asked = {
        "problem": cell.problem, "library": cell.library, "seed": cell.seed, "limits": cell.limits,
        "patience": None if cell.kind == "seconds" else int(patience),
        "is_processors": cell.kind == "processor",
    }  # fmt: skip
    alone = {
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg",
        "JAX_PLATFORMS": "cpu",
    }  # fmt: skip
    path = [str(ROOT), str(ROOT / "src")]
    if cell.python == Path(sys.executable):  # which finds more where this process does
        path.append(os.environ.get("PYTHONPATH", ""))
    surroundings = os.environ | alone | {"PYTHONPATH": os.pathsep.join(path)}
    clock = patience if cell.kind == "seconds" else CROWD * patience
    cell.path.parent.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        [str(cell.python), "-m", "experiments.comparison.one_run", json.dumps(asked)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings,
        cwd=CACHE, start_new_session=True,  # some leave logs where they are
    ) as process:  # fmt: skip
        if processors:  # inherited by all that it starts
            os.sched_setaffinity(process.pid, processors)
        try:
            reply, complaint = process.communicate(timeout=clock)
            if process.returncode == -signal.SIGXCPU:
                complaint = f"ended after {patience:.0f} s of a processor"
        except subprocess.TimeoutExpired:
            reply, complaint = "", f"ended after {clock:.0f} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    lines = [line for line in reply.splitlines() if line.startswith("{")]
    if lines:
        found: dict[str, Any] = json.loads(lines[-1])
    else:
        found = {"failed": (complaint.strip().splitlines() or ["no reply"])[-1][:300]}
    found["version"] = cell.version
    new = cell.path.with_suffix(f".{os.getpid()}-{cell.seed}")
    new.write_text(json.dumps(found), encoding="utf-8")
    new.rename(cell.path)
    return found


def differing(cells: Sequence[Cell]) -> list[str]:
    """Rows whose first run comes out differently now, each run again; nothing is kept of it."""
    firsts = {(cell.problem, cell.library): cell for cell in reversed(cells) if cell.found()}
    wrong = []
    for cell in reversed(firsts.values()):
        before, kept_here = cell.found() or {}, cell.measured()
        now = measure(cell)
        if kept_here is None:
            cell.path.unlink()
        else:
            cell.path.write_text(json.dumps(kept_here), encoding="utf-8")
        is_same = now.get("means") == before.get("means")
        print(f"{cell.path.stem}: {'the same' if is_same else 'differs'}", flush=True)
        if not is_same:
            wrong.append(cell.path.stem)
    return wrong


def fill(
    cells: Sequence[Cell], at_once: int, *, afresh: bool = False, minutes: float = math.inf
) -> None:
    """Run what has not been run, or not on this machine.

    :param minutes: after which no other run is begun
    """
    missing = [cell for cell in cells if (cell.measured() if afresh else cell.found()) is None]
    until = time.monotonic() + 60.0 * minutes
    free: Queue[frozenset[int]] = Queue()
    for share in shares(at_once):
        free.put(share)

    def one(cell: Cell) -> None:
        if time.monotonic() > until:
            return
        share = free.get()
        try:
            found = measure(cell, share if cell.kind != "evaluations" else frozenset())
        finally:
            free.put(share)
        words = found.get("failed") or f"{found['elapsed']:.1f} s, {found['evaluations']:,}"
        print(f"{cell.path.stem}: {words}", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(at_once) as executor:
        list(executor.map(one, missing))


def shares(at_once: int) -> list[frozenset[int]]:
    """For so many runs at once processors of their own; nothing where there are too few of them.

    Libraries start as many threads as they see processors, and each is given two here.
    """
    there = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    size = Cell._field_defaults["workers"]
    if at_once == 1 or len(there) < at_once * size:
        return [frozenset()] * at_once
    return [frozenset(there[size * each : size * (each + 1)]) for each in range(at_once)]
