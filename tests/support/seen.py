"""Small runs in virtual time, for everything that is looked at: plots, reports, views, commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scipy import stats

import aptmc
from aptmc.sampling.calls import (
    sample as sample_now,  # also where a test puts another in its place
)

WORKERS, RUNGS, BUDGET = 2, 4, 400.0


def log_likelihood(theta):
    return -0.5 * (theta[0] - 1.0) ** 2 - 0.5 * (theta[1] + 2.0) ** 2


def hold(theta, rung, rng):
    """Moves from the right take longer, so that barriers make processors wait."""
    return rng.exponential(3.0 if theta[0] > 1.0 else 1.0)


def problem() -> aptmc.Tempered:
    prior = aptmc.Prior(a=stats.norm(0, 3), b=stats.norm(0, 3))
    return aptmc.Tempered(log_likelihood, prior)


def sample(what: Any = None, **changes: Any) -> aptmc.Run:
    settings: dict[str, Any] = {
        "budget": BUDGET,
        "ladder": aptmc.Ladder.powers([1, 0.3, 0.1, 0]),
        "kernel": aptmc.RandomWalk(1.5),
        "schedule": aptmc.Anytime(every=4.3),
        "on": aptmc.VirtualTime(WORKERS, hold=hold),
        "keep": "all",
        "log_events": True,
        "progress": False,
        "seed": 1,
    }
    return sample_now(problem() if what is None else what, **(settings | changes))


def stored(folder: Path, **changes: Any) -> Path:
    """The same run, in a store."""
    path = folder / "run.zarr"
    sample(store=path, **changes)
    return path
