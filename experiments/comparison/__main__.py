"""The command line: `python -m experiments.comparison --help`."""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

from experiments.comparison.cells import Cell, fill, publish
from experiments.comparison.environment import INSTALL, PYTHON, install
from experiments.comparison.picture import draw
from experiments.comparison.problems import PROBLEMS
from experiments.comparison.simulators import SIMULATORS
from experiments.comparison.table import markdown

DENSITY = ("ours", "emcee", "zeus", "reddemcee", "dynesty", "nautilus", "ultranest", "blackjax")
SMOOTH = ("ours_draws", "ours_gradient", "numpyro", "nutpie")
SIMULATOR = ("ours_simulator", "ours_adjusted", "pyabc", "elfi", "sbi")
AT_ZERO = ("ours_adjusted", "sbi")  # what they aim at: of no use where a tolerance is given
LIBRARIES = (*DENSITY, *SMOOTH, *SIMULATOR)
RUNS = 10
KINDS = ("evaluations", "seconds")


def libraries_for(problem: str) -> tuple[str, ...]:
    """Who can sample it."""
    if problem in SIMULATORS:
        at_zero = not SIMULATORS[problem].tolerances
        return SIMULATOR if at_zero else tuple(each for each in SIMULATOR if each not in AT_ZERO)
    return (*DENSITY, *SMOOTH) if PROBLEMS[problem].is_smooth else DENSITY


def with_tables(page: str, kind: str, tables: str) -> str:
    """A page with new tables between the marks for their kind."""
    begin, end = f"<!-- equal {kind} -->", "<!-- end -->"
    before, mark, rest = page.partition(begin)
    if not mark or end not in rest:
        raise SystemExit(f"the page has no marks {begin} and {end}: put them where tables belong")
    return f"{before}{begin}\n\n{tables.strip()}\n\n{end}{rest.partition(end)[2]}"


def main() -> None:
    """Run what is missing of what was asked for, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.comparison", description=__doc__)
    parser.add_argument("--install", action="store_true", help="make the environment of the others")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--equal", choices=(*KINDS, "both"), default="evaluations")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument(
        "--at-once",
        type=int,
        default=1,
        help="runs, where time does not matter: \
evaluations are equal, or simulations sleep",
    )
    parser.add_argument("--afresh", action="store_true", help="run what the page has as well")
    parser.add_argument("--table", action="store_true", help="only print what is there")
    parser.add_argument("--page", type=Path, help="put the tables into docs/comparison.md")
    parser.add_argument("--picture", type=Path, help="draw them, docs/figures/comparison.png")
    options = parser.parse_args()
    if options.install:
        install()
    everything = []
    for kind in KINDS if options.equal == "both" else (options.equal,):
        cells = [
            Cell(problem, library, seed, kind)
            for seed, problem, library in product(
                range(1, options.runs + 1), options.problems, options.libraries
            )
            if library in libraries_for(problem)
            and (kind == "seconds" or PROBLEMS[problem].evaluations > 0)
        ]
        everything += cells
        if not options.table:
            if not PYTHON.exists():
                parser.error(f"the other libraries are not there: {INSTALL}")
            fill(cells, options.at_once, afresh=options.afresh)
        text = markdown(cells, kind)
        print(text)
        if options.page:
            page = with_tables(options.page.read_text(encoding="utf-8"), kind, text)
            options.page.write_text(page, encoding="utf-8")
            publish(cells)
    if options.picture:
        draw(everything, options.picture)


if __name__ == "__main__":
    main()
