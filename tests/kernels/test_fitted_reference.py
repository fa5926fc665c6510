"""A fitted reference in place of the prior: moves leave every rung's own density alone."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import InputError
from aptmc.kernels import Students, fitted_reference, parts
from aptmc.kernels.base import Parts
from aptmc.kernels.students import Mixed
from aptmc.keys import Key
from aptmc.targets import INTERPRETED, NUMBA, interpreted
from tests.kernels.models import log_likelihood
from tests.support.statistical import follows

DRAWS = 1500
# Not like the posterior, N(2.4, 0.8): what is exact must be so with any reference.
REFERENCE = Students.of(
    [Mixed(np.array([0.4, 0.6]), np.array([[0.0], [4.0]]), np.array([[[0.5]], [[1.5]]]), 5.0)]
)
LADDER = aptmc.Ladder.powers([1.0, 0.4, 0.0], reference=REFERENCE)
PRIOR = aptmc.Prior(theta=stats.norm(0, 2))


def slope(theta):
    return 3.0 - theta


PLAIN = aptmc.Tempered(log_likelihood.py_func, PRIOR, gradient=slope).with_fitted_reference()
COMPILED = aptmc.Tempered(log_likelihood, PRIOR).with_fitted_reference()
GRID = np.linspace(-15.0, 20.0, 20_001)


def log_reference(theta):
    mixed = 0.4 * stats.t(5, 0, math.sqrt(0.5)).pdf(theta)
    mixed += 0.6 * stats.t(5, 4, math.sqrt(1.5)).pdf(theta)
    share = fitted_reference.PRIOR_SHARE
    return np.log((1.0 - share) * mixed + share * stats.norm(0, 2).pdf(theta))


@cache
def distribution(rung):
    level = LADDER.levels[rung]
    log_target = stats.norm(0, 2).logpdf(GRID) - 0.5 * (GRID - 3.0) ** 2
    logs = (1.0 - level) * log_reference(GRID) + level * log_target
    masses = np.cumsum(np.exp(logs - logs.max()))
    return masses / masses[-1]


def exact(rung, kernel):
    """Independent states of a rung, evaluated as a move does it."""
    theta = np.interp(np.random.default_rng(1).random(DRAWS), distribution(rung), GRID)
    evaluate = Parts(PLAIN, INTERPRETED, {}).evaluate
    info = np.concatenate([np.zeros(5), kernel.numbers(PLAIN, LADDER)[rung]])
    states = np.empty((DRAWS, PLAIN.width))
    for state, value in zip(states, theta, strict=True):
        state[0] = value
        evaluate(state, info)
    return states


def moved(kernel, rung, problem, target, draws=DRAWS):
    """Where independent exact draws are after one move each."""
    move, numbers = kernel.move(problem, target), kernel.numbers(problem, LADDER)[rung]
    states = exact(rung, kernel)[:draws]
    after, infos = np.empty_like(states), np.empty((draws, kernel.info_length))
    for i, state in enumerate(states):
        level = LADDER.levels[rung]
        move(level, numbers, state, Key(1, i, 0).generator(), after[i], infos[i])
    return after, infos


SLICE = aptmc.EllipticalSlice(Students.one([1.0], [[2.0]], degrees=4), steps=2)
KERNELS = {
    "ellipses": SLICE,
    "walk": aptmc.RandomWalk(2.0, steps=2),
    "mixture": aptmc.Mixture(aptmc.RandomWalk(1.0), aptmc.Slice(2.0), steps=2),
    "gradient": aptmc.Hmc(leaps=4).at_first(np.ones(1), 3),
}


def test_a_state_has_the_reference_and_the_target_over_it():
    states = exact(1, SLICE)[:5]
    theta = states[:, 0]
    log_prior = stats.norm(0, 2).logpdf(theta)
    log_target = log_prior - 0.5 * (theta - 3.0) ** 2
    np.testing.assert_allclose(states[:, 2], log_reference(theta))
    np.testing.assert_allclose(states[:, 1], log_target - log_reference(theta))
    np.testing.assert_allclose(states[:, 3], log_prior)


def test_states_of_another_reference_are_brought_to_this_one():
    states = exact(1, SLICE)[:5]
    theta = states[:, :1]
    unbrought = np.column_stack([theta, -0.5 * (theta - 3.0) ** 2, states[:, 3], states[:, 3]])
    brought = fitted_reference.referred_rows(unbrought, 1, REFERENCE, fitted_reference.PRIOR_SHARE)
    np.testing.assert_allclose(brought, states)


@pytest.mark.parametrize("rung", [0, 1, 2])
@pytest.mark.parametrize("name", KERNELS)
def test_a_move_leaves_exact_draws_exact(name, rung):
    after, infos = moved(KERNELS[name], rung, PLAIN, INTERPRETED)
    assert follows(after[:, 0], lambda theta: np.interp(theta, GRID, distribution(rung)))
    assert not infos[:, 0].any()


def test_a_fresh_draw_has_nothing_to_do_with_the_state():
    after, _ = moved(SLICE, 2, PLAIN, INTERPRETED)
    correlation = np.corrcoef(after[:, 0], exact(2, SLICE)[:, 0])[0, 1]
    assert abs(correlation) < 5.0 / math.sqrt(DRAWS)


def without_volume(dimension, row, info):
    interpreted(fitted_reference.refer)(dimension, row, info)
    row[dimension] += row[dimension + 1] - row[dimension + 2]


def from_the_prior(rng, dimension, info, row):
    return False


@pytest.mark.parametrize(
    ("name", "wrong", "rung"), [("refer", without_volume, 1), ("draw_fitted", from_the_prior, 2)]
)
def test_planted_errors_are_caught(monkeypatch, name, wrong, rung):
    monkeypatch.setattr(parts, name, wrong)
    states = exact(rung, SLICE)
    move = SLICE.move(PLAIN, INTERPRETED)
    numbers, after = SLICE.numbers(PLAIN, LADDER)[rung], np.empty_like(states)
    for i, state in enumerate(states):
        for _ in range(2):
            generator = Key(1, i, 0).generator()
            move(LADDER.levels[rung], numbers, state, generator, after[i], np.empty(7))
            state = after[i].copy()
    assert not follows(after[:, 0], lambda theta: np.interp(theta, GRID, distribution(rung)))


def test_compiled_and_plain_moves_are_the_same_bit_for_bit():
    for rung in range(3):
        fast = moved(SLICE, rung, COMPILED, NUMBA, 50)
        slow = moved(SLICE, rung, PLAIN, INTERPRETED, 50)
        np.testing.assert_array_equal(fast[0], slow[0])
        np.testing.assert_array_equal(fast[1], slow[1])


def test_slopes_are_those_of_the_rungs_density():
    rng = np.random.default_rng(2)
    matrices = np.array([[[1.0, 0.5], [0.5, 2.0]], [[0.5, 0.0], [0.0, 0.3]]])
    mixed = Mixed(np.array([0.4, 0.6]), rng.normal(size=(2, 2)), matrices, 5.0)
    problem = aptmc.Tempered(
        lambda theta: -0.5 * theta @ theta,
        aptmc.Prior(x=stats.norm(1, 2), y=stats.logistic(0, 1)),
        gradient=lambda theta: -theta,
    ).with_fitted_reference()
    for reference in (mixed, mixed._replace(degrees=math.inf)):
        numbers = fitted_reference.numbers_of(Students.of([reference]), 0.1)
        info, made = np.concatenate([np.zeros(5), numbers]), Parts(problem, INTERPRETED, {})
        for level in (1.0, 0.3, 0.0):
            row = np.array([0.7, -0.4, 0.0, 0.0, 0.0])

            def log_density(theta, level=level, info=info, made=made):
                state = np.array([*theta, 0.0, 0.0, 0.0])
                made.evaluate(state, info)
                return level * state[2] + state[3]

            made.evaluate(row, info)
            slopes, step = np.empty(2), 1e-6
            made.gradient(level, row, slopes, info)
            for place in range(2):
                away = step * np.eye(2)[place]
                expected = log_density(row[:2] + away) - log_density(row[:2] - away)
                assert slopes[place] == pytest.approx(expected / (2.0 * step), rel=1e-5)


def test_what_cannot_be_is_refused():
    def sampled(problem, **options):
        return aptmc.sample(problem, budget=100, on=aptmc.VirtualTime(1), **options)

    with pytest.raises(InputError, match=r'"learned" or aptmc\.kernels\.Students'):
        aptmc.Ladder.powers([1, 0], reference="fitted")
    with pytest.raises(InputError, match='must be "learned", got'):
        aptmc.Ladder.auto(reference=REFERENCE)
    given = PLAIN.as_given
    with pytest.raises(InputError, match=r"this ladder ends at 0\.5"):
        sampled(given, ladder=aptmc.Ladder.powers([1, 0.5], reference="learned"))
    other = Students.one([0.0, 0.0], np.eye(2))
    with pytest.raises(InputError, match="2 coordinates, and the problem 1"):
        sampled(given, ladder=aptmc.Ladder.powers([1, 0], reference=other))
    own = aptmc.OwnMove(lambda level, theta, rng: theta)
    with pytest.raises(InputError, match="OwnMove moves towards prior"):
        sampled(given, ladder=aptmc.Ladder.auto(reference="learned"), kernel=own)
    simulator = aptmc.Abc.early(lambda theta, rng, tolerance: 0.0, PRIOR)
    with pytest.raises(InputError, match="no reference can be learned"):
        sampled(simulator, ladder=aptmc.Ladder.auto(reference="learned"))
