"""The command line: `python -m experiments.moving_average --help`."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.moving_average.convergence import AUTOCOVARIANCES, VALUES, measure, table


def main() -> None:
    """Run the experiment, print its tables and write them."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.moving_average", description=__doc__
    )
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full length")
    parser.add_argument("--runs", type=int, default=30, help="independent runs (default: 30)")
    parser.add_argument("--output", type=Path, default=Path("results/moving_average"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    parts = [
        f"{case.title}\n\n{table(measure(case, scale=options.scale, runs=options.runs))}"
        for case in (VALUES, AUTOCOVARIANCES)
    ]
    text = "\n\n".join(parts)
    (options.output / "convergence.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"\nThe tables are in {options.output}")


if __name__ == "__main__":
    main()
