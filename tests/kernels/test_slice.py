"""Slice sampling leaves its target alone, at every rung, at both speeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.compiled import is_compiled
from aptmc.errors import InputError
from aptmc.kernels import slice as slice_module
from aptmc.keys import Key
from aptmc.problem.chain_state import ACCEPTED, STATUS, WORK
from aptmc.targets import INTERPRETED, NUMBA
from tests.kernels.models import Density, log_likelihood
from tests.support.statistical import follows

LADDER = aptmc.Ladder.powers([1.0, 0.3, 0.0])
# Prior N(0, 2^2), likelihood N(3; theta, 1): at power beta the precision is 1/4 + beta.
PRIOR = aptmc.Prior(theta=stats.norm(0, 2))


COMPILED = Density().compiled


def exact(beta):
    precision = 0.25 + beta
    return stats.norm(3.0 * beta / precision, 1.0 / np.sqrt(precision))


def moved(kernel, problem, draws, rng, *, level=1.0, rung=0, ladder=LADDER):
    """Where independent exact draws are after one move each."""
    move = kernel.move(problem, problem.target)
    assert is_compiled(move) == problem.is_compiled
    tuning = kernel.tuning(problem, ladder)[rung]
    evaluate = problem.evaluation(INTERPRETED)
    draws = draws.reshape(len(draws), -1)
    row, outcome = np.empty(problem.width), np.empty(problem.width)
    info, after = np.empty(kernel.info_length), np.empty_like(draws)
    for i, theta in enumerate(draws):
        row[: theta.size] = theta
        evaluate(row)
        move(level, tuning, row, rng, outcome, info)
        assert info[STATUS] == 0.0
        after[i] = outcome[: theta.size]
    return after


@pytest.mark.parametrize("rung", [0, 1, 2])
@pytest.mark.parametrize(
    ("scale", "stretches"), [(5.0, 1), (0.4, 3), (1.0, 50)], ids=["long", "short", "many"]
)
def test_any_scale_leaves_exact_draws_exact(rung, scale, stretches):
    """More than `test_contract.py` has, with the code that it has compiled."""
    kernel = aptmc.Slice(scale, stretches=stretches, steps=3)
    rng = np.random.default_rng(1)
    level = LADDER.levels[rung]
    target = exact(level)
    draws = target.rvs(3000, random_state=rng)
    after = moved(kernel, COMPILED, draws, rng, level=level, rung=rung)
    assert follows(after[:, 0], target.cdf)


COVARIANCE = np.array([[1.0, 0.8], [0.8, 2.0]])
PRECISION = np.linalg.inv(COVARIANCE)


@njit
def correlated(theta):
    return -0.5 * (
        PRECISION[0, 0] * theta[0] ** 2
        + 2.0 * PRECISION[0, 1] * theta[0] * theta[1]
        + PRECISION[1, 1] * theta[1] ** 2
    )


def test_lines_in_all_directions_leave_correlated_draws_exact():
    problem = aptmc.Power(correlated, [0.0, 0.0])
    kernel = aptmc.Slice(covariance=2.0 * COVARIANCE, stretches=3)
    rng = np.random.default_rng(2)
    draws = rng.multivariate_normal([0.0, 0.0], COVARIANCE, 6000)
    after = moved(kernel, problem, draws, rng, ladder=aptmc.Ladder.powers([1.0]))
    assert (after != draws).any(axis=1).all()
    assert follows(np.sum((after @ PRECISION) * after, axis=1), stats.chi2(2).cdf)
    for column in (0, 1):
        assert follows(after[:, column], stats.norm(0, COVARIANCE[column, column] ** 0.5).cdf)
    # Half of the lines are parallel to an axis.
    on_axis = int((after == draws).any(axis=1).sum())
    assert stats.binomtest(on_axis, 6000, 0.5).pvalue > 1e-6


def two_slopes(theta):
    """Steep on the left and long on the right, so that slices are far from symmetric."""
    return theta[0] / 0.2 if theta[0] < 0.0 else -theta[0] / 5.0


def two_slopes_cdf(x):
    x = np.asarray(x)
    left = 0.2 * np.exp(np.minimum(x, 0.0) / 0.2)
    right = 0.2 + 5.0 * -np.expm1(-np.maximum(x, 0.0) / 5.0)
    return np.where(x < 0.0, left, right) / 5.2


def moved_on_two_slopes(kernel):
    """Independent exact draws before and after a move."""
    problem = aptmc.Power(two_slopes, 1.0)
    rng = np.random.default_rng(3)
    left = rng.random(2500) < 0.2 / 5.2
    draws = np.where(left, -0.2, 5.0) * rng.exponential(size=2500)
    after = moved(kernel, problem, draws, rng, ladder=aptmc.Ladder.powers([1.0]))
    return draws, after[:, 0]


SHORT = aptmc.Slice(1.0, stretches=4, steps=4)
LONG = aptmc.Slice(40.0, stretches=1)


def test_a_long_tail_stays_exact():
    assert follows(moved_on_two_slopes(SHORT)[1], two_slopes_cdf)


def all_of_them_below(rng, stretches):
    """A planted error: an interval grows at its lower end alone, and is not split at random."""
    rng.random()
    return stretches - 1


def test_the_invariance_test_catches_stretches_that_are_not_split_at_random(monkeypatch):
    monkeypatch.setattr(slice_module, "stretches_below", all_of_them_below)
    assert not follows(moved_on_two_slopes(SHORT)[1], two_slopes_cdf)


def too_low(rng, log_density):
    """A planted error: too low by a factor of e."""
    return log_density + math.log1p(-rng.random()) - 1.0


def test_the_invariance_test_catches_a_wrong_height(monkeypatch):
    monkeypatch.setattr(slice_module, "draw_height", too_low)
    assert not follows(moved_on_two_slopes(SHORT)[1], two_slopes_cdf)


def test_an_interval_shrinks_until_a_point_is_found(monkeypatch):
    before, after = moved_on_two_slopes(LONG)
    assert (before != after).all()
    assert follows(after, two_slopes_cdf)
    # Cut on the wrong side it loses the state, and with it all points that are high enough.
    monkeypatch.setattr(slice_module, "is_below", lambda along: along >= 0.0)
    before, after = moved_on_two_slopes(LONG)
    assert (before == after).mean() > 0.5


def test_giving_up_early_is_exact_too(monkeypatch):
    monkeypatch.setattr(slice_module, "MOST_SHRINKS", 2)
    before, after = moved_on_two_slopes(LONG)
    assert (before == after).any()
    assert follows(after, two_slopes_cdf)


@pytest.mark.validation(shortest=0.1)  # on one coordinate in `test_contract.py`
def test_compiled_and_plain_moves_are_the_same_bit_for_bit():
    prior = aptmc.Prior(a=stats.norm(0, 2), b=stats.gamma(3, scale=2))

    def plain(theta):
        return -0.5 * (theta[0] - 3.0) ** 2 - theta[1]

    kernel = aptmc.Slice(covariance=[[1.0, 0.5], [0.5, 2.0]], steps=5)
    fast = kernel.move(aptmc.Tempered(njit(plain), prior), NUMBA)
    problem = aptmc.Tempered(plain, prior)
    slow = kernel.move(problem, INTERPRETED)
    tuning = kernel.tuning(problem, LADDER)
    start = problem.start(np.random.default_rng(1))
    state = {fast: start.copy(), slow: start.copy()}
    for number in range(200):
        rung = number % 3
        infos = []
        for move in (fast, slow):
            outcome, info = np.empty(4), np.empty(kernel.info_length)
            generator = Key(1, chain=0, number=number).generator()
            move(LADDER.levels[rung], tuning[rung], state[move], generator, outcome, info)
            state[move] = outcome
            infos.append(info[: STATUS + 3])
        assert (state[fast] == state[slow]).all()
        assert (infos[0] == infos[1]).all()


def counted(function):
    def counting(theta):
        counting.calls += 1
        return function(theta)

    counting.calls = 0
    return counting


@pytest.mark.parametrize("level", [1.0, 0.0])
def test_the_work_of_a_move_is_the_evaluations_that_it_takes(level):
    function = counted(log_likelihood.py_func)
    problem = aptmc.Tempered(function, PRIOR)
    kernel = aptmc.Slice(1.0, stretches=4, steps=20)
    move = kernel.move(problem, INTERPRETED)
    tuning = kernel.tuning(problem, aptmc.Ladder.powers([level, 0.0] if level else [1.0, 0.0]))
    state, outcome, info = problem.start(np.random.default_rng(1)), np.empty(3), np.empty(6)
    function.calls = 0
    move(level, tuning[0], state, np.random.default_rng(2), outcome, info)
    assert info[WORK] == function.calls >= 20
    assert info[ACCEPTED] == 20


def test_virtual_time_charges_a_move_what_it_evaluates():
    run = aptmc.sample(
        COMPILED,
        budget=2_000,
        ladder=LADDER,
        kernel=aptmc.Slice(1.0, stretches=4),
        schedule=aptmc.Anytime(every=5),
        on=aptmc.VirtualTime(),
        seed=1,
    )
    assert run.hold_times[0] > 3.0
    assert run.hold_times[2] == 1.0
    assert run.completions < 2_000 / 2


def test_the_likelihood_is_not_asked_where_the_prior_is_zero():
    def fragile(theta):
        assert 0.0 <= theta[0] <= 1.0
        return 0.0

    problem = aptmc.Tempered(fragile, aptmc.Prior(x=stats.uniform(0, 1)))
    rng = np.random.default_rng(1)
    after = moved(aptmc.Slice(2.0), problem, rng.random(2000), rng)
    assert follows(after[:, 0], stats.uniform(0, 1).cdf)


@pytest.mark.parametrize(
    ("value", "compiled"),
    [
        (math.nan, False),
        (math.inf, False),
        (math.inf, True),
        pytest.param(math.nan, True, marks=pytest.mark.validation),
    ],
)
def test_a_value_that_no_density_has_ends_the_run_and_says_where(value, compiled):
    def bad_beyond_four(theta):
        return value if theta[0] > 4.0 else -0.5 * theta[0] ** 2

    function = njit(bad_beyond_four) if compiled else bad_beyond_four
    with pytest.raises(aptmc.MoveFailed, match="must be a number or -inf") as failure:
        aptmc.sample(
            aptmc.Power(function, 0.0),
            budget=20_000,
            ladder=aptmc.Ladder.powers([1.0, 0.5, 0.2]),
            kernel=aptmc.Slice(3.0),
            schedule=aptmc.Anytime(every=5),
            on=aptmc.VirtualTime(),
            seed=1,
        )
    assert failure.value.parameters["x"] > 4.0


def test_a_state_of_density_zero_is_left():
    problem = aptmc.Power(lambda theta: -math.inf if theta[0] < 0.0 else -theta[0], 1.0)
    kernel = aptmc.Slice(4.0)
    move = kernel.move(problem, INTERPRETED)
    tuning = kernel.tuning(problem, aptmc.Ladder.powers([1.0]))[0]
    rng = np.random.default_rng(1)
    state = np.array([-1.0, -math.inf, 0.0])
    for _ in range(50):
        outcome, info = np.empty(3), np.empty(kernel.info_length)
        move(1.0, tuning, state, rng, outcome, info)
        state = outcome
    assert state[0] > 0.0


def test_it_is_for_densities_only():
    problem = aptmc.Abc.early(lambda theta, rng, tolerance: 0.0, PRIOR)
    with pytest.raises(InputError, match="Slice needs a density"):
        aptmc.Slice(1.0).tuning(problem, aptmc.Ladder.tolerances([1.0]))


@pytest.mark.parametrize("wrong", [{"stretches": 0}, {"stretches": 1.5}, {"steps": 0}])
def test_a_number_that_cannot_be_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        aptmc.Slice(1.0, **wrong)


def test_it_says_how_it_was_made():
    assert repr(aptmc.Slice(0.5, steps=2)) == "Slice(scale=0.5, stretches=1, steps=2)"
