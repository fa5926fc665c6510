"""The command line: `python -m experiments.known_targets --help`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from experiments.known_targets import densities, eight_schools, simulators, smooth
from experiments.known_targets.measures import ladder_table, measure, off_by_table

TARGETS = {
    target.name: target
    for part in (densities, smooth, eight_schools, simulators)
    for target in part.TARGETS
}


def main() -> None:
    """Run the targets that were asked for, print the tables and write them."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.known_targets", description=__doc__
    )
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full length")
    parser.add_argument("--runs", type=int, default=16, help="independent runs (default: 16)")
    parser.add_argument("--output", type=Path, default=Path("results/known_targets"))
    options = parser.parse_args()
    unknown = set(options.names) - set(TARGETS)
    if unknown:
        parser.error(f"no such target: {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    options.output.mkdir(parents=True, exist_ok=True)
    results = []
    for name in options.names or TARGETS:
        began = time.perf_counter()
        results.append(measure(TARGETS[name], scale=options.scale, runs=options.runs))
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)
    text = f"{ladder_table(results)}\n\n{off_by_table(results)}"
    (options.output / "known_targets.md").write_text(text + "\n", encoding="utf-8")
    print(f"\n{text}\n\nThe tables are in {options.output}")


if __name__ == "__main__":
    main()
