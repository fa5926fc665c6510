"""The random walk leaves its target alone, at every rung, at both speeds."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.compiled import is_compiled
from aptmc.kernels import random_walk
from aptmc.keys import Key
from aptmc.problem.chain_state import accepts
from aptmc.targets import INTERPRETED, NUMBA
from tests.support.statistical import follows

LADDER = aptmc.Ladder.powers([1.0, 0.3, 0.0])
# Prior N(0, 2^2), likelihood N(3; theta, 1): at power beta the precision is 1/4 + beta.
PRIOR = aptmc.Prior(theta=stats.norm(0, 2))


@njit
def log_likelihood(theta):
    return -0.5 * (theta[0] - 3.0) ** 2


def plain_log_likelihood(theta):
    return -0.5 * (theta[0] - 3.0) ** 2


# Made once: what is compiled for a problem is kept with it.
COMPILED = aptmc.Tempered(log_likelihood, PRIOR)
PLAIN = aptmc.Tempered(plain_log_likelihood, PRIOR)


def exact(beta):
    precision = 0.25 + beta
    return stats.norm(3.0 * beta / precision, 1.0 / np.sqrt(precision))


def moved(kernel, problem, rung, draws, rng):
    """Where independent exact draws are after one move each."""
    move = kernel.move(problem, problem.target)
    assert is_compiled(move) == problem.is_compiled
    level, tuning = LADDER.levels[rung], kernel.tuning(problem, LADDER)[rung]
    evaluate = problem.evaluation(INTERPRETED)
    row, outcome, info = np.empty(3), np.empty(3), np.empty(kernel.info_length)
    after = np.empty(draws.size)
    for i, value in enumerate(draws):
        row[0] = value
        evaluate(row)
        move(level, tuning, row, rng, outcome, info)
        after[i] = outcome[0]
    return after


@pytest.mark.parametrize("rung", [0, 1, 2])
@pytest.mark.parametrize("problem", [COMPILED, PLAIN], ids=["compiled", "plain"])
def test_a_move_leaves_exact_draws_exact(rung, problem):
    kernel = aptmc.RandomWalk(scale=[1.0, 2.0, 4.0], steps=3)
    rng = np.random.default_rng(1)
    target = exact(LADDER.levels[rung])
    after = moved(kernel, problem, rung, target.rvs(4000, random_state=rng), rng)
    assert follows(after, target.cdf)


def too_lenient(log_ratio, uniform):
    """A planted error: too lenient by a factor of e."""
    return accepts(log_ratio + 1.0, uniform)


def test_the_invariance_test_catches_a_wrong_acceptance(monkeypatch):
    monkeypatch.setattr(random_walk, "accepts", too_lenient)
    rng = np.random.default_rng(1)
    kernel = aptmc.RandomWalk(1.0, steps=3)
    after = moved(kernel, PLAIN, 0, exact(1.0).rvs(4000, random_state=rng), rng)
    assert not follows(after, exact(1.0).cdf)


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
