"""Neal's funnel, where no width fits everywhere: ellipses of many sizes leave it as it is."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

import aptmc
from aptmc.kernels import Students, elliptical_slice, student_fit, students
from aptmc.kernels.student_fit import fit_all
from aptmc.targets import INTERPRETED, NUMBA
from experiments.known_targets.densities import FUNNEL_SD, funnel_log_likelihood, funnel_prior
from tests.support.statistical import follows

PROBLEM = aptmc.Tempered(funnel_log_likelihood, funnel_prior())
LADDER = aptmc.Ladder.powers([1.0])
DIMENSION = PROBLEM.dimension


def exact(number, seed):
    """Independent draws of the funnel."""
    rng = np.random.default_rng(seed)
    v = FUNNEL_SD * rng.standard_normal(number)
    return np.column_stack(
        [v, np.exp(0.5 * v)[:, None] * rng.standard_normal((number, DIMENSION - 1))]
    )


def fitted(number=150):
    """To draws of which each was seen ten times, as chains have it that move slowly."""
    before = Students.one(np.zeros(DIMENSION), np.eye(DIMENSION), 3.0)
    return fit_all([np.repeat(exact(number, seed=1), 10, axis=0)], before, 32)


def moved(number, moves, target):
    """Where exact draws are after a number of moves, each with the reference that was fitted."""
    kernel = aptmc.EllipticalSlice(fitted(), steps=moves)  # one after the other, in one call
    move, tuning = kernel.move(PROBLEM, target), kernel.tuning(PROBLEM, LADDER)[0]
    evaluate, rng = PROBLEM.evaluation(INTERPRETED), np.random.default_rng(3)
    states = np.empty((number, PROBLEM.width))
    states[:, :DIMENSION] = exact(number, seed=2)
    after, info = np.empty(PROBLEM.width), np.empty(kernel.info_length)
    for state in states:
        evaluate(state)
        move(1.0, tuning, state, rng, after, info)
        state[:] = after
    return states[:, :DIMENSION]


def is_a_funnel(theta):
    within = (theta[:, 1:] ** 2).sum(axis=1) * np.exp(-theta[:, 0])
    has_depth = follows(theta[:, 0], stats.norm(0.0, FUNNEL_SD).cdf)
    return has_depth and follows(within, stats.chi2(DIMENSION - 1).cdf)


def test_exact_draws_of_the_funnel_stay_exact():
    before, after = exact(3000, seed=2), moved(3000, 60, NUMBA)
    assert is_a_funnel(after)
    # In so many moves they go far: what is compared is not where they began.
    assert np.corrcoef(before[:, 0], after[:, 0])[0, 1] < 0.6


def test_a_planted_error_is_caught_in_the_funnel(monkeypatch):
    def wrong_scale(rng, dimension, degrees, square):
        return students.draw_scale.py_func(rng, dimension, degrees, 0.0)

    assert is_a_funnel(moved(500, 4, INTERPRETED))
    monkeypatch.setattr(elliptical_slice, "draw_scale", wrong_scale)
    assert not is_a_funnel(moved(500, 4, INTERPRETED))


def widths_are_right():
    mixed = fitted(400).on(0)
    large = mixed.weights > 0.1
    spread = np.sqrt(np.einsum("kii->ki", mixed.matrices)[large, 1:]).mean(axis=1)
    expected = np.exp(0.5 * mixed.means[large, 0])
    return bool(large.sum() >= 3 and (np.abs(np.log(spread / expected)) < math.log(2.0)).all())


def test_each_component_has_its_own_widths(monkeypatch):
    assert widths_are_right()
    # With one shape for all, as few draws would have it, the neck would be as wide as the mouth.
    monkeypatch.setattr(student_fit, "resized", lambda shape, seen, count: shape)
    assert not widths_are_right()
