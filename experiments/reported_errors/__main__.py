"""The command line: `python -m experiments.reported_errors --help`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from experiments.known_targets.__main__ import TARGETS
from experiments.reported_errors.calibration import (
    Calibration,
    calibration,
    calibration_of_target,
)
from experiments.reported_errors.settings import SETTINGS

# Of a target's full length, so that a run takes a second or two and still has draws enough.
SCALES = {
    "twenty modes": 0.2,
    "two modes": 0.5,
    "funnel": 0.4,
    "coin": 0.2,
    "gamma mixture": 0.4,
    "logistic 25": 0.4,
    "normal 50": 0.5,
    "eight schools": 0.2,
    "normal": 0.4,
    "moving average": 0.3,
    "predators 1": 0.3,
    "predators 0.4": 0.3,
}


def row(name: str, found: Calibration) -> str:
    """A line of the table, in Markdown."""
    return (
        f"| {name} | {found.runs} | {found.effective:,.0f} | {found.reported:.2f} "
        f"± {found.error:.2f} | {found.by_chain:.2f} |"
    )


def main() -> None:
    """Measure what was asked for, print the table and write it."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.reported_errors", description=__doc__
    )
    known = [*SETTINGS, *(f"target {name}" for name in SCALES)]
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(known)} (default: all)")
    parser.add_argument("--runs", type=int, default=400, help="of a setting (default: 400)")
    parser.add_argument("--target-runs", type=int, default=20, help="of a target (default: 20)")
    parser.add_argument("--output", type=Path, default=Path("results/reported_errors.md"))
    options = parser.parse_args()
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no such setting: {', '.join(unknown)}; there are {', '.join(known)}")
    measures: dict[str, Callable[[], Calibration]] = {
        name: partial(calibration, setting, options.runs) for name, setting in SETTINGS.items()
    }
    for name, scale in SCALES.items():
        measure = partial(calibration_of_target, TARGETS[name], scale, options.target_runs)
        measures[f"target {name}"] = measure
    lines = [
        "| setting | runs | effective draws of a run | reported | chains on their own |",
        "| --- | --- | --- | --- | --- |",
    ]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    for name in options.names or known:
        began = time.perf_counter()
        lines.append(row(name, measures[name]()))
        print(f"{lines[-1]} {time.perf_counter() - began:.0f} s", flush=True)
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"\nThe table is in {options.output}")


if __name__ == "__main__":
    main()
