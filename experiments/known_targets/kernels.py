"""All kernels on all known densities: `python -m experiments.known_targets.kernels`.

In virtual time, at equal work counted in evaluations. Every run is kept as soon as it is complete,
so that a table that was interrupted goes on where it was; the code is not part of what is kept, so
begin with another file after a change. Of a target: the harmonic mean over its quantities of the
effective draws by the mean squared error over the runs, and how far the worst quantity is off.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import aptmc
from aptmc.problem import Problem
from experiments.known_targets import densities, smooth
from experiments.known_targets.measures import Measured, RunMeasure, measure_run
from experiments.known_targets.quantities import Sums
from experiments.known_targets.target import Target

TARGETS = {target.name: target for target in (*densities.TARGETS, *smooth.TARGETS)}
WALK, LINES = aptmc.RandomWalk("auto", spread=1.0), aptmc.Slice("auto")
BEFORE = "walk and slices"  # the default of old, beside which the others are put
KERNELS: Mapping[str, aptmc.Kernel | None] = {
    BEFORE: aptmc.Mixture(WALK, LINES, 0.2),
    "automatic": None,
    "walk": WALK,
    "slices": LINES,
    "ellipses, one": aptmc.EllipticalSlice(components=1),
    "differential evolution": aptmc.DifferentialEvolution(),
}
SCALE, RUNS = 0.3, 16
RUNS_OF_SMOOTH, SMOOTH = 3, {target.name for target in smooth.TARGETS}


def kept(path: Path) -> dict[tuple[str, str, float, int], dict[str, Any]]:
    """All runs so far, by target, kernel, scale and seed."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {(one["target"], one["kernel"], one["scale"], one["seed"]): one for one in lines}


def sampled(target: Target, kernel: aptmc.Kernel | None, scale: float, seed: int) -> RunMeasure:
    """One run, with another automatic kernel unless that is None."""
    if kernel is None:
        return measure_run(target.sample(scale * target.budget, seed), target.quantities)
    with mock.patch.object(Problem, "default_kernel", return_value=kernel):
        return measure_run(target.sample(scale * target.budget, seed), target.quantities)


def measured(target: Target, name: str, scale: float, runs: int, path: Path) -> Measured:
    """So many runs, those that are kept among them."""
    found = []
    for seed in range(1, runs + 1):
        key = target.name, name, scale, seed
        here = kept(path).get(key)
        if here is None:
            run = sampled(target, KERNELS[name], scale, seed)
            here = {
                "target": target.name, "kernel": name, "scale": scale, "seed": seed,
                "sums": [list(map(float, sums)) for sums in run.sums], "rungs": run.rungs,
                "swap_rates": np.asarray(run.swap_rates).tolist(), "round_trips": run.round_trips,
            }  # fmt: skip
            with path.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(here) + "\n")
        sums = [Sums(*numbers) for numbers in here["sums"]]
        rates = np.array(here["swap_rates"], float)
        found.append(RunMeasure(sums, here["rungs"], rates, here["round_trips"]))
    return Measured(target, scale * target.budget, found, None)


def worth(of: Measured) -> float:
    """Effective draws of a run."""
    places = range(len(of.target.quantities))
    return float(1.0 / np.mean([1.0 / of.effective_draws(place) for place in places]))


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.known_targets.kernels", description=__doc__
    )
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--kernels", default=",".join(KERNELS).replace("ellipses, one", "one"))
    parser.add_argument("--scale", type=float, help="share of the full length")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--kept", type=Path, default=Path("results/known_targets/kernels.jsonl"))
    options = parser.parse_args()
    options.kept.parent.mkdir(parents=True, exist_ok=True)
    asked = options.kernels.split(",")
    names = ["ellipses, one" if name == "one" else name for name in asked]
    print("| target | runs | " + " | ".join(names) + " |")
    print("| --- " * (2 + len(names)) + "|")
    for target in [TARGETS[name] for name in options.names or TARGETS]:
        is_smooth = target.name in SMOOTH
        scale = options.scale or (1.0 if is_smooth else SCALE)
        runs = options.runs or (RUNS_OF_SMOOTH if is_smooth else RUNS)
        cells = []
        for name in names:
            of = measured(target, name, scale, runs, options.kept)
            off = max(of.off_by(place) for place in range(len(target.quantities)))
            cells.append(f"{worth(of):,.0f} ({off:.1f})")
        print("| " + " | ".join([target.name, str(runs), *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
