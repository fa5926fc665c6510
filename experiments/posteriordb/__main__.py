"""Models of posteriordb, here and by their languages: `python -m experiments.posteriordb`.

Five models of posteriordb in each of three languages, each by this library and right after by the
language's own samplers, and two models with several modes; others where they are named. What was
measured is kept in .cache/posteriordb, and not measured again. With --keep it goes into cells.json,
of which the page's table is made, as --kept prints it. PyMC wants an older numba than the rest of
the project is tested with: `make frontends` makes an environment. Programs of Stan need a compiler
and BridgeStan's sources, which it downloads, or finds in BRIDGESTAN.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from threading import get_ident
from typing import Any, NamedTuple

from experiments.posteriordb.drawn import LANGUAGES, MOST, SLICES, THEIRS, keep
from experiments.posteriordb.posteriors import NAMES
from experiments.posteriordb.table import table

FIVE = (
    "eight_schools_centered", "eight_schools_noncentered", "lotka_volterra", "blr",
    "low_dim_gauss_mix",
)  # fmt: skip
SEVERAL_MODES = ("mixture_of_two_labels", "two_signs")
CACHE = Path(__file__).resolve().parents[2] / ".cache" / "posteriordb"
# What the page shows.
CELLS = Path(__file__).with_name("cells.json")
Found = dict[tuple[str, str, str], dict[str, Any]]


class Cell(NamedTuple):
    """One sampler on one posterior."""

    name: str
    language: str
    who: str
    is_ours: bool


def cells(names: Iterable[str], languages: Iterable[str]) -> Iterable[Cell]:
    """In the order of the table."""
    for name in names:
        for language in languages:
            own = ("aptmc", SLICES) if name in SEVERAL_MODES else ("aptmc",)
            for who in (*own, *THEIRS[language]):
                yield Cell(name, language, who, who in own)


def measure(cell: Cell, seconds: float, python: str) -> None:
    """In a process of its own, which keeps what came of it."""
    print(f"{cell.name}, {cell.language}, {cell.who}", file=sys.stderr, flush=True)
    asked = [*cell[:3], str(kept(cell, seconds)), f"{seconds:g}"]
    done = subprocess.run([python, "-m", "experiments.posteriordb.drawn", *asked], check=False)
    if done.returncode == -signal.SIGXCPU:
        keep(kept(cell, seconds), {"given_up": MOST})


def side_by_side(groups: list[list[Cell]], jobs: int, seconds: float, python: str) -> None:
    """So many models at a time; the samplers of one are one after the other, on one processor."""
    free = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []

    def work(group: list[Cell]) -> None:
        if jobs > 1 and free:
            # Of this thread, and of the processes that it starts.
            os.sched_setaffinity(0, {own.setdefault(get_ident(), free[len(own) % len(free)])})
        for cell in group:
            measure(cell, seconds, python)

    own: dict[int, int] = {}
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, groups))


def kept(cell: Cell, seconds: float) -> Path:
    """Where a cell is kept; theirs take as long as they take."""
    budget = f"{seconds:g}" if cell.is_ours else "0"
    return CACHE / f"{cell.name}-{cell.language}-{cell.who}-{budget}.json"


def main() -> None:
    """Measure the cells that were asked for, each in a process of its own, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.posteriordb", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which of {', '.join(NAMES)}")
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--seconds", type=float, default=15.0, help="of processor, for ours")
    parser.add_argument("--jobs", type=int, default=1, help="models at a time, each on a processor")
    parser.add_argument("--python", default=sys.executable, help="of another environment")
    parser.add_argument("--keep", action="store_true", help="in cells.json, for the page")
    parser.add_argument("--kept", action="store_true", help="print what the page shows")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no posterior {', '.join(unknown)}: choose of {', '.join(NAMES)}")
    wanted = list(cells(options.names or (*FIVE, *SEVERAL_MODES), options.languages))
    if not options.kept:
        left = [cell for cell in wanted if not kept(cell, options.seconds).exists()]
        # What is compared is measured one right after the other, on a machine in the same state.
        groups = [list(cells) for _, cells in groupby(left, key=lambda cell: cell[:2])]
        side_by_side(groups, options.jobs, options.seconds, options.python)
    files = {cell[:3]: kept(cell, options.seconds) for cell in wanted}
    new = {cell: json.loads(file.read_text()) for cell, file in files.items() if file.exists()}
    found = shown() | new if options.keep else shown() if options.kept else new
    found = {cell[:3]: found[cell[:3]] for cell in wanted if cell[:3] in found}
    if options.keep:
        rows = {"|".join(cell): one for cell, one in found.items()}
        CELLS.write_text(json.dumps(rows, indent=0) + "\n")
    print(table(found))


def shown() -> Found:
    """What the page shows, by posterior, language and sampler."""
    rows: dict[str, dict[str, Any]] = json.loads(CELLS.read_text())
    found: Found = {}
    for key, one in rows.items():
        name, language, who = key.split("|")
        found[name, language, who] = one
    return found


if __name__ == "__main__":
    main()
