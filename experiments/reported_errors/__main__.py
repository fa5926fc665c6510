"""The command line: `python -m experiments.reported_errors --help`."""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

from experiments.known_targets.__main__ import TARGETS
from experiments.reported_errors.calibration import (
    Calibration,
    Errors,
    calibrated,
    errors_of_setting,
    errors_of_target,
)
from experiments.reported_errors.kept import Kept
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
        f"± {found.error:.2f} | {found.every:.2f} | {found.size:.2f} | {found.by_chain:.2f} |"
    )


def measured(name: str, runs: int, kept: Kept) -> list[Errors]:
    """So many runs, those that are kept among them."""
    if name in SETTINGS:
        measure = partial(errors_of_setting, SETTINGS[name])
        return kept.runs(name, 1.0, range(1000, 1000 + runs), measure)
    target = name.removeprefix("target ")
    scale = SCALES[target]
    budget = scale * TARGETS[target].budget
    measure = partial(errors_of_target, TARGETS[target], budget)
    return kept.runs(name, scale, range(1, 1 + runs), measure)


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
    parser.add_argument("--kept", type=Path, default=Path("results/reported_errors.jsonl"))
    options = parser.parse_args()
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no such setting: {', '.join(unknown)}; there are {', '.join(known)}")
    kept = Kept(options.kept)
    lines = [
        "| setting | runs | effective draws of a run | means of parameters | all quantities "
        "| size of errors | chains on their own |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    for name in options.names or known:
        began = time.perf_counter()
        is_target = name.startswith("target ")
        runs = options.target_runs if is_target else options.runs
        lines.append(row(name, calibrated(measured(name, runs, kept))))
        print(f"{lines[-1]} {time.perf_counter() - began:.0f} s", flush=True)
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"\nThe table is in {options.output}")


if __name__ == "__main__":
    main()
