"""Elliptical slices leave their target alone, whatever the reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.errors import InputError
from aptmc.kernels import Students, elliptical_slice, students
from aptmc.kernels.students import Mixed
from aptmc.problem.chain_state import WORK
from aptmc.targets import INTERPRETED
from tests.kernels.contract import KernelContract, moved
from tests.kernels.models import Density
from tests.support.statistical import follows

DENSITY = Density()
ONE_RUNG = aptmc.Ladder.powers([1.0])


def mixed(*components, degrees=math.inf):
    """Weight, mean and matrix of each component; for all rungs alike."""
    weights, means, matrices = zip(*components, strict=True)
    return Students.of(
        [Mixed(np.array(weights), np.array(means), np.array(matrices), float(degrees))]
    )


# Wrong on purpose: with another place and width than any rung, which must not matter.
STUDENT = Students.one([0.0], [[0.3]], degrees=2)
TWO = mixed((0.3, [1.5], [[0.1]]), (0.7, [3.0], [[2.0]]), degrees=6)


def too_low(rng, log_density):
    return log_density + math.log1p(-rng.random()) - 1.0


class TestOneComponent(KernelContract):
    model = DENSITY
    kernel = aptmc.EllipticalSlice(STUDENT, steps=3)
    learning = aptmc.EllipticalSlice(components=1)

    def plant(self, monkeypatch):
        """Slices at too low a height, by a factor of e."""
        monkeypatch.setattr(elliptical_slice, "draw_height", too_low)
        return self.kernel


class TestSeveralComponents(KernelContract):
    model = DENSITY
    kernel = aptmc.EllipticalSlice(TWO, jumps=0.5, steps=3)
    learning = aptmc.EllipticalSlice()

    def plant(self, monkeypatch):
        """Forgets that volumes differ between components."""

        def without_volume(*arguments):
            students.map_between.py_func(*arguments)
            return 0.0

        monkeypatch.setattr(elliptical_slice, "map_between", without_volume)
        return self.kernel


def wrong_scale(rng, dimension, degrees, square):
    return students.draw_scale.py_func(rng, dimension, degrees, 0.0)


def always_the_first(rng, count, logs, log_total):
    return 0


@pytest.mark.parametrize(
    ("kernel", "name", "wrong"),
    [
        (TestOneComponent.kernel, "draw_scale", wrong_scale),
        (TestSeveralComponents.kernel, "draw_component", always_the_first),
    ],
    ids=["width", "component"],
)
def test_other_planted_errors_are_caught(monkeypatch, kernel, name, wrong):
    monkeypatch.setattr(elliptical_slice, name, wrong)
    after, _ = moved(kernel, DENSITY, 0, compiled=False)
    assert not DENSITY.in_law(after, 0, np.random.default_rng(2))


# --- in several dimensions ------------------------------------------------------------------------

COVARIANCE = np.array([[1.0, 0.8], [0.8, 2.0]])
PRECISION = np.linalg.inv(COVARIANCE)


@njit
def correlated(theta):
    return -0.5 * (
        PRECISION[0, 0] * theta[0] * theta[0]
        + 2.0 * PRECISION[0, 1] * theta[0] * theta[1]
        + PRECISION[1, 1] * theta[1] * theta[1]
    )


CORRELATED = aptmc.Power(correlated, [0.0, 0.0])


def moved_in_the_plane(kernel, count=4000):
    """Independent exact draws after a move, and what those evaluated."""
    move = kernel.move(CORRELATED, CORRELATED.target)
    tuning = kernel.tuning(CORRELATED, ONE_RUNG)[0]
    rng = np.random.default_rng(2)
    draws = rng.multivariate_normal([0.0, 0.0], COVARIANCE, count)
    after, work = np.empty((count, 4)), 0.0
    info = np.empty(kernel.info_length)
    for i, theta in enumerate(draws):
        row = np.array([*theta, correlated(theta), 0.0])
        move(1.0, tuning, row, rng, after[i], info)
        work += info[WORK]
    return draws, after[:, :2], work / count


WRONG = mixed(
    (0.5, [0.5, 0.0], [[1.0, -0.5], [-0.5, 1.0]]),
    (0.3, [-1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]]),
    (0.2, [0.0, -2.0], [[0.3, 0.0], [0.0, 0.2]]),
    degrees=8,
)


@pytest.mark.parametrize(
    "kernel",
    [
        aptmc.EllipticalSlice(Students.one([0.0, 0.0], COVARIANCE)),
        aptmc.EllipticalSlice(WRONG, jumps=0.5, steps=2),
    ],
    ids=["the target itself", "wrong"],
)
def test_correlated_draws_stay_exact(kernel):
    _, after, _ = moved_in_the_plane(kernel)
    assert follows(np.sum((after @ PRECISION) * after, axis=1), stats.chi2(2).cdf)
    for column in (0, 1):
        assert follows(after[:, column], stats.norm(0, COVARIANCE[column, column] ** 0.5).cdf)


def test_where_reference_and_target_are_the_same_every_first_point_is_taken():
    kernel = aptmc.EllipticalSlice(Students.one([0.0, 0.0], COVARIANCE))
    before, after, work = moved_in_the_plane(kernel)
    assert work == 1.0
    # The angle is uniform: what comes after has nothing to do with what was before.
    for column in (0, 1):
        correlation = np.corrcoef(before[:, column], after[:, column])[0, 1]
        assert abs(correlation) < 4.0 / math.sqrt(len(before))


def test_the_density_of_a_mixture_is_that_of_scipy():
    theta = np.array([0.3, -1.2])
    for degrees in (8.0, math.inf):
        reference = Students(WRONG.weights, WRONG.means, WRONG.matrices, np.array([degrees]))
        expected = sum(
            weight * stats.multivariate_t(mean, matrix, degrees).pdf(theta)
            for weight, mean, matrix in zip(*reference.on(0)[:3], strict=True)
        )
        numbers = reference.numbers()[0]
        found = students.log_mixture(2, numbers, 0, theta, np.empty(3), np.empty(3))
        assert found == pytest.approx(math.log(expected))


def test_a_jump_and_the_jump_back_lead_to_the_same_point():
    numbers, length = WRONG.numbers()[0], students.block_length(2)
    here, there, back = np.array([0.7, -0.4]), np.empty(2), np.empty(2)
    forth_volume = students.map_between(2, numbers, 1, 1 + length, here, there)
    back_volume = students.map_between(2, numbers, 1 + length, 1, there, back)
    np.testing.assert_allclose(back, here)
    assert forth_volume == pytest.approx(-back_volume)
    determinants = np.linalg.det(WRONG.matrices[0])
    assert forth_volume == pytest.approx(0.5 * math.log(determinants[1] / determinants[0]))


# --- references that are given --------------------------------------------------------------------

LADDER = aptmc.Ladder.powers([1.0, 0.3, 0.0])


def test_a_normal_prior_is_a_reference():
    prior = aptmc.Prior(
        a=stats.norm(1, 2),
        b=stats.multivariate_normal([3.0, 4.0], COVARIANCE),
        c=aptmc.iid(stats.norm(scale=0.5), 2),
    )
    problem = aptmc.Tempered(lambda theta: 0.0, prior)
    kernel = aptmc.EllipticalSlice("prior")
    expected = np.zeros((5, 5))
    expected[0, 0], expected[1:3, 1:3], expected[3:, 3:] = 4.0, COVARIANCE, 0.25 * np.eye(2)
    by_hand = aptmc.EllipticalSlice(Students.one([1.0, 3.0, 4.0, 0.0, 0.0], expected))
    np.testing.assert_array_equal(kernel.tuning(problem, LADDER), by_hand.tuning(problem, LADDER))
    assert not kernel.learns
    # With a flat likelihood every point of the ellipse is as good as any other.
    move = kernel.move(problem, INTERPRETED)
    rng = np.random.default_rng(1)
    state, outcome, info = problem.start(rng), np.empty(7), np.empty(kernel.info_length)
    for _ in range(50):
        move(0.3, kernel.tuning(problem, LADDER)[1], state, rng, outcome, info)
        assert info[WORK] == 1.0
        state = outcome.copy()


@pytest.mark.parametrize(
    ("marginal", "words"),
    [
        (stats.gamma(2), "needs a prior that is normal"),
        (stats.t(3), "needs a prior that is normal"),
    ],
)
def test_another_prior_is_none(marginal, words):
    problem = aptmc.Tempered(lambda theta: 0.0, aptmc.Prior(x=marginal))
    with pytest.raises(InputError, match=words):
        aptmc.EllipticalSlice("prior").tuning(problem, LADDER)


def test_a_density_without_prior_has_none():
    with pytest.raises(InputError, match="needs a prior that is normal, got None"):
        aptmc.EllipticalSlice("prior").tuning(CORRELATED, ONE_RUNG)


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match='reference must be "auto", "prior"'):
        aptmc.EllipticalSlice("posterior")
    with pytest.raises(InputError, match="jumps must be"):
        aptmc.EllipticalSlice(jumps=1.0)
    with pytest.raises(InputError, match="symmetric and positive definite"):
        Students.one([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(InputError, match="as many rows and columns"):
        Students.one([0.0, 0.0], [[1.0]])
    with pytest.raises(InputError, match="degrees of freedom must be positive"):
        Students.one([0.0], [[1.0]], degrees=0.0)
    with pytest.raises(InputError, match="has 1 coordinates, and the problem 2"):
        aptmc.EllipticalSlice(STUDENT).tuning(CORRELATED, ONE_RUNG)
    with pytest.raises(InputError, match="one for each of 3, got 2"):
        STUDENT.on_rungs(2).on_rungs(3)
    with pytest.raises(InputError, match="found in a warm-up"):
        aptmc.EllipticalSlice().tuning(CORRELATED, ONE_RUNG)


def test_it_says_how_it_was_made():
    assert repr(aptmc.EllipticalSlice(steps=2)) == "EllipticalSlice(steps=2)"
    assert repr(aptmc.EllipticalSlice(TWO)) == "EllipticalSlice(Students(2 components))"
    assert repr(aptmc.EllipticalSlice().at_first(np.ones(2), 3)) == "EllipticalSlice()"
