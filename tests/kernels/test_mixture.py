"""A mixture of kernels does what they do, each as often as it should.

That it leaves its target alone, compiled and plain, is part of `test_contract.py`.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import InputError
from aptmc.problem.chain_state import WORK
from tests.support.statistical import FALSE_ALARM, follows

LADDER = aptmc.Ladder.powers([1.0, 0.3])


def normal(theta):
    return -0.5 * theta[0] ** 2


PLAIN = aptmc.Power(normal, 0.0)
MIXTURE = aptmc.Mixture(aptmc.RandomWalk([2.0, 3.0]), aptmc.Slice([4.0, 8.0]), 0.3, steps=4)


def moved(kernel, problem, rung, draws, rng):
    """Where draws are after one move each, and the work of each move."""
    move = kernel.move(problem, problem.target)
    tuning = kernel.tuning(problem, LADDER)[rung]
    outcome, info = np.empty(3), np.empty(kernel.info_length)
    after, work = np.empty(draws.size), np.empty(draws.size)
    for i, x in enumerate(draws):
        state = np.array([x, normal([x]), 0.0])
        move(LADDER.levels[rung], tuning, state, rng, outcome, info)
        after[i], work[i] = outcome[0], info[WORK]
    return after, work


class Drift(aptmc.kernels.Kernel):
    """A planted error: goes to the right, always."""

    def step(self, parts):
        def step(level, tuning, here, rng, there, info):
            there[:] = here
            there[0] += 1.0
            return True

        return step


def test_a_wrong_kernel_in_it_is_caught():
    rng = np.random.default_rng(1)
    kernel = aptmc.Mixture(aptmc.RandomWalk(2.0), Drift(), 0.2)
    after, work = moved(kernel, PLAIN, 0, rng.standard_normal(3000), rng)
    assert not follows(after, stats.norm.cdf)
    drifted = int((work == 0.0).sum())
    assert stats.binomtest(drifted, 3000, 0.2).pvalue > FALSE_ALARM


def test_mixtures_of_different_kernels_are_different_moves():
    other = aptmc.Mixture(aptmc.Slice(1.0), aptmc.RandomWalk(1.0))
    assert other.code != MIXTURE.code  # moves are kept by it
    again = aptmc.Mixture(aptmc.RandomWalk(1.0), aptmc.Slice(1.0), 0.9)
    assert again.code == MIXTURE.code


def test_steps_are_those_of_the_mixture():
    kernel = aptmc.Mixture(aptmc.RandomWalk(1.0, steps=7), aptmc.Slice(1.0, steps=3), steps=2)
    assert kernel.tuning(PLAIN, LADDER)[:, 0].tolist() == [2.0, 2.0]
    move = aptmc.Mixture(aptmc.RandomWalk(1.0, steps=7), aptmc.RandomWalk(1.0, steps=3), steps=2)
    _, work = moved(move, PLAIN, 0, np.zeros(10), np.random.default_rng(1))
    assert work.tolist() == [2.0] * 10


def test_a_value_that_no_density_has_ends_the_run_and_says_where():
    problem = aptmc.Power(lambda theta: math.nan if theta[0] > 4.0 else normal(theta), 0.0)
    with pytest.raises(aptmc.MoveFailed, match="must be a number or -inf") as failure:
        aptmc.sample(
            problem,
            budget=20_000,
            ladder=aptmc.Ladder.powers([1.0, 0.5, 0.2]),
            kernel=aptmc.Mixture(aptmc.RandomWalk(1.0), aptmc.Slice(3.0)),
            schedule=aptmc.Anytime(every=5),
            on=aptmc.VirtualTime(),
            seed=1,
        )
    assert failure.value.parameters["x"] > 4.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"share": 0.0}, "share must be"),
        ({"share": 1.0}, "share must be"),
        ({"share": "half"}, "share must be"),
        ({"second": 3.0}, "two aptmc kernels"),
        ({"steps": 0}, "steps"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    kernels = {"first": aptmc.RandomWalk(1.0), "second": aptmc.Slice(1.0)}
    with pytest.raises(InputError, match=message):
        aptmc.Mixture(**(kernels | wrong))


def test_it_says_how_it_was_made():
    kernel = aptmc.Mixture(aptmc.RandomWalk(1.0), aptmc.Slice(2.0), 0.25, steps=3)
    assert repr(kernel) == (
        "Mixture(RandomWalk(scale=1.0), Slice(scale=2.0, stretches=1), share=0.25, steps=3)"
    )
