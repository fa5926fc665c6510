"""The command line: `python -m experiments.normal --help`."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.normal.bias import measure, table
from experiments.normal.figures import draw

BUDGET = 1e6  # simulations of each run


def main() -> None:
    """Run the experiment, print its table and write table and figure."""
    parser = argparse.ArgumentParser(prog="python -m experiments.normal", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full length")
    parser.add_argument("--runs", type=int, default=100, help="independent runs (default: 100)")
    parser.add_argument("--output", type=Path, default=Path("results/normal"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    corrected, uncorrected = (
        measure(corrected=corrected, budget=options.scale * BUDGET, runs=options.runs)
        for corrected in (True, False)
    )
    text = table(corrected, uncorrected)
    (options.output / "bias.md").write_text(text + "\n", encoding="utf-8")
    draw(corrected, uncorrected, options.output / "bias.png")
    print(text)
    print(f"\nTable and figure are in {options.output}")


if __name__ == "__main__":
    main()
