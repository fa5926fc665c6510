"""The public benchmark of simulation-based inference: `python -m experiments.sbibm --help`.

Cells that were measured are kept in .cache/sbibm, and not measured again.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product, repeat
from multiprocessing import get_context
from pathlib import Path

from experiments.sbibm.cells import Cell, keep_draws, measure
from experiments.sbibm.data import pack
from experiments.sbibm.environment import CACHE, PYTHON, Place, install
from experiments.sbibm.table import table
from experiments.sbibm.tasks import TASKS


def main() -> None:
    """Measure the cells that were asked for, the cheap ones first, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.sbibm", description=__doc__)
    parser.add_argument("--install", action="store_true", help="make the environment it needs")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument(
        "--simulations",
        nargs="+",
        type=lambda text: int(float(text)),
        default=[10**3, 10**4, 10**5],
    )
    parser.add_argument("--observations", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--draws", type=int, default=10_000, help="of each kind (default: 10,000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--draws-only", action="store_true", help="keep draws for many_tests.py in .cache/sbibm"
    )
    parser.add_argument("--processes", type=int, default=1, help="with --draws-only")
    parser.add_argument("--python", type=Path, default=PYTHON, help="of another environment")
    parser.add_argument("--only-table", action="store_true", help="of what is there")
    parser.add_argument("--data", type=Path, help="a folder that --pack made")
    parser.add_argument("--pack", type=Path, help="copy the data that is needed there, and end")
    parser.add_argument(
        "--kept", type=Path, default=CACHE, help="for draws and results (default: .cache/sbibm)"
    )
    options = parser.parse_args()
    if options.install:
        install()
    place = Place(options.kept, options.data, options.python)
    if options.pack:
        wanted = product(options.tasks, options.observations)
        pack(place.tasks, options.pack, wanted)
        return
    asked = product(options.simulations, options.observations, options.tasks)
    cells = [
        Cell(task, simulations, observation, options.draws, options.seed)
        for simulations, observation, task in asked
    ]
    if options.draws_only:
        with ProcessPoolExecutor(options.processes, get_context("spawn")) as several:
            # The longest first.
            list(several.map(keep_draws, cells[::-1], repeat(place)))
        return
    for cell in cells:
        if not options.only_table and cell.result(place.kept) is None:
            found = measure(cell, place)
            print(cell, found, flush=True)
    in_order = sorted(cells, key=lambda cell: (list(TASKS).index(cell.task), cell.simulations))
    print(table(in_order, place.kept))


if __name__ == "__main__":
    main()
