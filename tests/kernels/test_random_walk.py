"""Steps of the random walk. That it leaves its target alone is part of `test_contract.py`."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.keys import Key
from aptmc.targets import INTERPRETED, NUMBA

LADDER = aptmc.Ladder.powers([1.0, 0.3, 0.0])


@pytest.mark.validation(shortest=0.1)  # on one coordinate in `test_contract.py`
def test_compiled_and_plain_moves_are_the_same_bit_for_bit():
    prior = aptmc.Prior(a=stats.norm(0, 2), b=stats.gamma(3, scale=2))

    def plain(theta):
        return -0.5 * (theta[0] - 3.0) ** 2 - theta[1]

    kernel = aptmc.RandomWalk(covariance=[[1.0, 0.5], [0.5, 2.0]], steps=5)
    fast = kernel.move(aptmc.Tempered(njit(plain), prior), NUMBA)
    problem = aptmc.Tempered(plain, prior)
    slow = kernel.move(problem, INTERPRETED)
    tuning = kernel.tuning(problem, LADDER)
    start = problem.start(np.random.default_rng(1))
    state = {fast: start.copy(), slow: start.copy()}
    for number in range(200):
        for move in (fast, slow):
            outcome, info = np.empty(4), np.empty(kernel.info_length)
            key = Key(1, chain=0, number=number)
            rung = number % 3
            level = LADDER.levels[rung]
            move(level, tuning[rung], state[move], key.generator(), outcome, info)
            state[move] = outcome
        assert (state[fast] == state[slow]).all()


def test_steps_have_the_covariance_of_their_rung():
    covariances = np.array([[[1.0, 0.6], [0.6, 2.0]], [[4.0, -1.0], [-1.0, 1.0]]])
    ladder = aptmc.Ladder.powers([1.0, 0.5])
    problem = aptmc.Power(njit(lambda theta: 0.0), [0.0, 0.0])
    kernel = aptmc.RandomWalk(covariance=covariances)
    move, tuning = kernel.move(problem, NUMBA), kernel.tuning(problem, ladder)
    rng = np.random.default_rng(1)
    outcome, info = np.empty(4), np.empty(kernel.info_length)
    for rung in (0, 1):
        steps = np.empty((5000, 2))
        for i in range(5000):
            move(ladder.levels[rung], tuning[rung], np.zeros(4), rng, outcome, info)
            steps[i] = outcome[:2]
        # Standard error of a covariance of n normals: sqrt((s_ii s_jj + s_ij^2) / n).
        s = covariances[rung]
        error = np.sqrt((np.outer(np.diag(s), np.diag(s)) + s**2) / 5000)
        assert (abs(np.cov(steps.T) - s) < 5 * error).all()


def test_the_likelihood_is_not_asked_where_the_prior_is_zero():
    def fragile(theta):
        assert 0.0 <= theta[0] <= 1.0
        return 0.0

    problem = aptmc.Tempered(fragile, aptmc.Prior(x=stats.uniform(0, 1)))
    run = aptmc.sample(
        problem,
        budget=300,
        ladder=aptmc.Ladder.powers(3),
        kernel=aptmc.RandomWalk(2.0),
        schedule=aptmc.Anytime(every=3),
        on=aptmc.VirtualTime(),
        seed=1,
    )
    assert 0.0 <= run.series("x")[0].min() <= run.series("x")[0].max() <= 1.0
