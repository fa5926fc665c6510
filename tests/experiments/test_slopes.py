"""Where trajectories alone are wrong: two modes, labels and a funnel, with defaults only.

An estimate of eight runs lies more than 4 standard errors off once in 200 times by chance (Student,
7 degrees of freedom); there are 15 of them, of which some are nearly the same, and seeds are fixed.
The runs must be worth enough draws for that to mean something: those that stay in one mode are
worth one. Beside them is `Nuts()` alone, the control: without a ladder it never leaves a mode, and
with one it misses the neck of the funnel.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import aptmc
from experiments.known_targets.measures import Measured, measure_run
from experiments.known_targets.slopes import TARGETS, sampled
from experiments.known_targets.target import PROCESSORS

NAMES = {target.name: target for target in TARGETS}
RUNS = 8
# By target: the share of the experiment's length, and the fewest effective draws of a run.
LENGTHS = {"two modes 50": (2.5, 20.0), "labels": (1.0, 300.0), "funnel": (2.0, 50.0)}


@cache
def measured(name, kernel):
    target, (scale, _) = NAMES[name], LENGTHS[name]
    runs = [
        measure_run(sampled(target, kernel, scale * target.budget, seed), target.quantities)
        for seed in range(1, RUNS + 1)
    ]
    return Measured(target, scale * target.budget, runs, None)


def off_by(result):
    return [result.off_by(place) for place in range(len(result.target.quantities))]


@pytest.mark.validation(shortest=0.1)
@pytest.mark.parametrize("name", LENGTHS)
def test_defaults_are_right_where_trajectories_alone_are_wrong(name):
    result, (_, fewest) = measured(name, "automatic"), LENGTHS[name]
    assert max(off_by(result)) < 4.0
    worth = [result.effective_draws(place) for place in range(len(result.target.quantities))]
    assert min(worth) > fewest


@pytest.mark.validation(shortest=0.1)
def test_trajectories_alone_miss_the_neck_of_the_funnel():
    assert max(off_by(measured("funnel", "Nuts"))) > 4.0


@pytest.mark.validation(shortest=0.1)
@pytest.mark.parametrize(
    ("name", "mode_of"),
    [
        ("two modes 50", lambda theta: theta.sum(axis=1) > 0.0),
        ("labels", lambda theta: np.argsort(theta, axis=1) @ [9, 3, 1]),
    ],
)
def test_without_a_ladder_trajectories_stay_in_the_mode_where_they_begin(name, mode_of):
    run = aptmc.sample(
        NAMES[name].problem, budget=30_000, ladder=[1], kernel=aptmc.Nuts(), seed=1,
        pools=aptmc.Shared(PROCESSORS + 4), on=aptmc.VirtualTime(PROCESSORS), progress=False,
    )  # fmt: skip
    dimension = run.settings.problem.dimension
    modes = [np.unique(mode_of(draws.state[:, :dimension])) for draws in run.chains()]
    assert [seen.size for seen in modes] == [1] * (PROCESSORS + 4)
