"""The command line: `python -m experiments.comparison --help`."""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

from experiments.comparison.cells import Cell, fill
from experiments.comparison.densities import DENSITIES
from experiments.comparison.environment import INSTALL, PYTHON, install
from experiments.comparison.table import markdown

LIBRARIES = (
    "ours", "emcee", "zeus", "reddemcee", "dynesty", "nautilus", "ultranest", "blackjax",
    "ours_gradient", "numpyro",
)  # fmt: skip
SMOOTH_ONLY = ("ours_gradient", "numpyro")
RUNS = 10


def main() -> None:
    """Run what is missing of what was asked for, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.comparison", description=__doc__)
    parser.add_argument("--install", action="store_true", help="make the environment of the others")
    parser.add_argument("--problems", nargs="+", choices=DENSITIES, default=list(DENSITIES))
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--equal", choices=("evaluations", "seconds"), default="evaluations")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--at-once", type=int, default=1, help="runs, where time does not matter")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    parser.add_argument("--output", type=Path, help="write the tables there, too")
    options = parser.parse_args()
    if options.install:
        install()
    cells = [
        Cell(problem, library, seed, options.equal)
        for seed, problem, library in product(
            range(1, options.runs + 1), options.problems, options.libraries
        )
        if DENSITIES[problem].is_smooth or library not in SMOOTH_ONLY
    ]
    if not options.table:
        if not PYTHON.exists():
            parser.error(f"the other libraries are not there: {INSTALL}")
        fill(cells, options.at_once if options.equal == "evaluations" else 1)
    text = markdown(cells, options.equal)
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
