"""The command line: `python -m experiments.comparison --help`."""

from __future__ import annotations

import argparse
import math
from itertools import product
from pathlib import Path

from experiments.comparison import environment
from experiments.comparison.cells import KINDS, Cell, differing, fill, publish
from experiments.comparison.environment import INSTALL, install
from experiments.comparison.glance import glance
from experiments.comparison.picture import draw
from experiments.comparison.problems import PROBLEMS
from experiments.comparison.simulators import SIMULATORS
from experiments.comparison.table import markdown

DENSITY = ("ours", "emcee", "zeus", "reddemcee", "dynesty", "nautilus", "ultranest", "blackjax")
SMOOTH = ("ours_draws", "ours_gradient", "numpyro", "nutpie")
SIMULATOR = ("ours_simulator", "ours_adjusted", "pyabc", "elfi", "sbi")
AT_ZERO = ("ours_adjusted", "sbi")  # what they aim at: of no use where a tolerance is given
KNOWS_NO_TIME = ("nutpie",)  # and raises when it is told to end
LIBRARIES = (*DENSITY, *SMOOTH, *SIMULATOR)
RUNS = 10


def libraries_for(problem: str) -> tuple[str, ...]:
    """Who can sample it."""
    if problem in SIMULATORS:
        at_zero = not SIMULATORS[problem].tolerances
        return SIMULATOR if at_zero else tuple(each for each in SIMULATOR if each not in AT_ZERO)
    return (*DENSITY, *SMOOTH) if PROBLEMS[problem].is_smooth else DENSITY


def can_be_equal(problem: str, kind: str, library: str = "") -> bool:
    """Whether it means something there: who sleeps has a clock, and no number of simulations."""
    if kind != "evaluations" and library in KNOWS_NO_TIME:
        return False
    if kind == "processor":
        return problem not in SIMULATORS
    return kind == "seconds" or PROBLEMS[problem].evaluations > 0


def with_tables(page: str, mark: str, tables: str) -> str:
    """A page with new tables after their mark."""
    begin, end = f"<!-- {mark} -->", "<!-- end -->"
    before, found, rest = page.partition(begin)
    if not found or end not in rest:
        raise SystemExit(f"the page has no marks {begin} and {end}: put them where tables belong")
    return f"{before}{begin}\n\n{tables.strip()}\n\n{end}{rest.partition(end)[2]}"


def main() -> None:
    """Run what is missing of what was asked for, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.comparison", description=__doc__)
    parser.add_argument(
        "--install", action="store_true", help="make the environments of the other libraries"
    )
    parser.add_argument(
        "--here", action="store_true", help="the others are in this environment already"
    )
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--equal", choices=(*KINDS, "all"), default="evaluations")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument(
        "--at-once",
        type=int,
        default=1,
        help="runs, where time does not matter (evaluations are equal, or simulations sleep) or \
each can have two processors of its own, which it then gets",
    )
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="after which no other run is begun"
    )
    parser.add_argument("--afresh", action="store_true", help="run what the page has as well")
    parser.add_argument(
        "--check", action="store_true", help="run one of each row again: is it still the same?"
    )
    parser.add_argument("--table", action="store_true", help="only print what is there")
    parser.add_argument("--page", type=Path, help="put the tables into docs/comparison.md")
    parser.add_argument("--picture", type=Path, help="draw them, docs/figures/comparison.png")
    options = parser.parse_args()
    environment.HERE = options.here
    if options.install:
        install(options.libraries)
    everything = []
    for kind in KINDS if options.equal == "all" else (options.equal,):
        cells = [
            Cell.of(problem, library, seed, kind)
            for seed, problem, library in product(
                range(1, options.runs + 1), options.problems, options.libraries
            )
            if library in libraries_for(problem) and can_be_equal(problem, kind, library)
        ]
        if options.check:
            different = differing(cells)
            if different:
                raise SystemExit(f"{len(different)} rows are of other code: run them --afresh")
            continue
        # A picture has one row for a problem: of evaluations, or of seconds where none count.
        everything += [
            cell
            for cell in cells
            if kind == "evaluations"
            or (kind == "seconds" and not can_be_equal(cell.problem, "evaluations"))
        ]
        if not options.table:
            absent = {cell.library for cell in cells if not cell.python.exists()}
            if absent:
                parser.error(f"{', '.join(sorted(absent))} must be installed first: {INSTALL}")
            fill(cells, options.at_once, afresh=options.afresh, minutes=options.minutes)
        if not any(cell.found() for cell in cells):
            continue
        text = markdown(cells, kind)
        print(text)
        if options.page:
            page = options.page.read_text(encoding="utf-8")
            page = with_tables(page, f"equal {kind}", text)
            page = with_tables(page, f"equal {kind}, at a glance", glance(cells, kind))
            options.page.write_text(page, encoding="utf-8")
            publish(cells)
    if options.picture:
        draw(everything, options.picture)


if __name__ == "__main__":
    main()
