"""Short runs on lanes, and how far they are off."""

from __future__ import annotations

import math

import numpy as np

import aptmc
from benchmarks.lanes_problems import MIXTURE, TWO_MODES, mixture, two_modes

__all__ = ["MIXTURE", "TWO_MODES", "errors_off", "lanes", "mixture", "sampled", "two_modes"]


def lanes(count, **options):
    return aptmc.Lanes(count, device="cpu", budget_in="ticks", threads=1, **options)


def sampled(problem, settings, *, budget, count=240, every=50, schedule=aptmc.Anytime, **options):
    return aptmc.sample(
        problem,
        budget=budget,
        schedule=schedule(every=every),
        on=options.pop("on", None) or lanes(count),
        seed=options.pop("seed", 1),
        progress=False,
        **settings,
        **options,
    )


def errors_off(run, of, expected):
    """How many standard errors a mean is off, told by the groups, which are independent."""
    means = np.array([of(series).mean() for series in run.series("x")])
    return (means.mean() - expected) / (means.std(ddof=1) / math.sqrt(means.size))
