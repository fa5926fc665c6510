"""What it costs in exactness to stop when there is enough: means at the end, against the truth.

A normal posterior whose mean is 0, in virtual time, sampled until it has 200 effective draws; for
as long without a goal; and, as the control that must fail, until the mean is positive. Scores are
errors of means in units of the reported standard error: sound ones have mean 0 and a root mean
square of 1.

    python -m experiments.until [--runs 100]
"""

from __future__ import annotations

import argparse
import math
from typing import Any, final

import numpy as np
from numba import njit
from scipy import stats
from typing_extensions import override

import aptmc
from aptmc.sampling.enough import Goal

MOST = 20_000.0  # units of virtual time


@njit
def log_likelihood(theta: Any) -> float:
    """A normal likelihood about 0."""
    return -0.5 * theta[0] ** 2  # type: ignore[no-any-return]


@final
class Lucky(Goal):
    """The planted error: it looks at the mean, and ends where that is to its liking."""

    @override
    def is_reached(self, run: aptmc.Run) -> bool:
        row = run.summary()["x"]
        return row.ess >= 50.0 and row.mean > 0.0


def sampled(seed: int, budget: float, goal: Goal | None) -> aptmc.Run:
    """One run."""
    return aptmc.sample(
        aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.norm(0, 5))),
        budget=budget,
        until=goal,
        ladder=4,
        kernel=aptmc.RandomWalk(2.0),
        schedule=aptmc.Anytime(every=5),
        on=aptmc.VirtualTime(1),
        seed=seed,
        progress=False,
    )


def score(run: aptmc.Run) -> float:
    """How far the mean is from the truth, in its own standard errors."""
    row = run.summary()["x"]
    return row.mean / row.mcse


def main() -> None:
    """Print a line for each way to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    enough = [sampled(seed, MOST, aptmc.Effective(200)) for seed in range(runs)]
    length = float(np.mean([run.elapsed for run in enough]))
    lines = {
        "until Effective(200)": [score(run) for run in enough],
        f"as long, {length:.0f} units": [score(sampled(s, length, None)) for s in range(runs)],
        "until the mean is positive": [score(sampled(s, MOST, Lucky())) for s in range(runs)],
    }
    for name, found in lines.items():
        scores = np.array(found)
        size = math.sqrt(float((scores**2).mean()))
        error = 1.0 / math.sqrt(runs)
        print(f"{name}: mean score {scores.mean():.2f} ± {error:.2f}, root mean square {size:.2f}")


if __name__ == "__main__":
    main()
