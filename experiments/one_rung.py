"""Is a ladder worth its work? Automatic settings against a single rung, on known targets.

python -m experiments.one_rung [--runs 8]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import aptmc
from experiments.known_targets.__main__ import TARGETS
from experiments.known_targets.target import PROCESSORS, Target

SCALES = {"logistic 25": 0.5, "eight schools": 0.1, "coin": 0.1}  # of the full length


def squared_errors(run: aptmc.Run, target: Target) -> list[float]:
    """Of each known quantity, in variances of a draw."""
    dimension = run.settings.problem.dimension
    theta = np.concatenate([draws.state[:, :dimension] for draws in run.chains()])
    found = []
    for quantity in target.quantities:
        values = quantity.of(theta)
        truth = quantity.truth**2 if quantity.is_root else quantity.truth
        found.append(float((values.mean() - truth) ** 2 / values.var()))
    return found


def worth(target: Target, scale: float, runs: int, **settings: Any) -> tuple[float, int]:
    """Effective draws of a run, over all quantities, and the rungs of the last."""
    errors, rungs = [], 0
    for seed in range(1, runs + 1):
        run = aptmc.sample(
            target.problem,
            budget=target.budget * scale,
            seed=seed,
            on=aptmc.VirtualTime(PROCESSORS),
            progress=False,
            **settings,
        )
        errors.append(squared_errors(run, target))
        rungs = run.settings.ladder.rungs
    return 1.0 / float(np.mean(errors)), rungs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.one_rung", description=__doc__)
    parser.add_argument("--runs", type=int, default=8)
    runs = parser.parse_args().runs
    print("| target | automatic | `ladder=[1]` |\n| --- | --- | --- |")
    for name, scale in SCALES.items():
        automatic, rungs = worth(TARGETS[name], scale, runs)
        alone, _ = worth(TARGETS[name], scale, runs, ladder=[1])
        print(f"| {name} | {automatic:,.0f} ({rungs} rungs) | {alone:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
