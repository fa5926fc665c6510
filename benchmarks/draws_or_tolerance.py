"""More draws, or a smaller tolerance? The same budgets, divided between them in several ways.

    python -m benchmarks.draws_or_tolerance

The cases are those beside pyABC, in virtual time (`benchmarks.pyabc_virtual`).
"""

from __future__ import annotations

import argparse

import numpy as np

import aptmc
from benchmarks.pyabc_table import effective_draws
from benchmarks.pyabc_virtual import by_aptmc, rows

RUNS = 40
WISHES = (25.0, 50.0, 100.0, 200.0, 400.0, None)  # effective draws; None: the default


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.draws_or_tolerance")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each (default: {RUNS})")
    runs = parser.parse_args().runs
    words = ["the default" if wish is None else f"{wish:.0f}" for wish in WISHES]
    print("| case | budget | " + " | ".join(words) + " |\n" + "| --- " * (2 + len(WISHES)) + "|")
    for row in rows():
        cells = []
        for wish in WISHES:
            ladder = "auto" if wish is None else aptmc.Ladder.auto(effective_draws=wish)
            means, tolerances = by_aptmc(row, runs, ladder=ladder)
            found = effective_draws(means, row.case.truth)
            cells.append(f"{found:.3g} at {np.median(tolerances):.2g}")
        print(f"| {row.case.name} | {row.in_words} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
