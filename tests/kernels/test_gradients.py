"""Kernels that follow gradients leave their target alone, with bounds and without."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.errors import InputError
from aptmc.kernels import Metric, hamiltonian, hmc, leaping, nuts, searched_leap
from aptmc.kernels.hamiltonian import better_step, narrowest, usual_step
from aptmc.problem import unbounded
from aptmc.problem.chain_state import accepts
from aptmc.problem.prior.prior_gradient import log_prior_gradient
from aptmc.targets import INTERPRETED, NUMBA
from tests.kernels.contract import SEED, KernelContract, moved
from tests.kernels.models import Model
from tests.support.statistical import follows


@njit
def log_likelihood(theta):
    return 2.0 * math.log(theta[0]) - theta[0]


@njit
def gradient(theta):
    return np.array([2.0 / theta[0] - 1.0])


class Positive(Model):
    """A rate: gamma of shape 3 times theta ** 2 exp(-theta), so gamma at every power."""

    ladder = aptmc.Ladder.powers([1.0, 0.3, 0.0])

    def __init__(self) -> None:
        prior = aptmc.Prior(theta=stats.gamma(3))
        self.compiled = aptmc.Tempered(log_likelihood, prior, gradient=gradient)
        self.plain = aptmc.Tempered(log_likelihood.py_func, prior, gradient=gradient.py_func)

    def target(self, rung):
        beta = self.ladder.levels[rung]
        return stats.gamma(3.0 + 2.0 * beta, scale=1.0 / (1.0 + beta))

    def exact(self, rung, number, rng):
        states = np.empty((number, 3))
        states[:, 0] = self.target(rung).rvs(number, random_state=rng)
        evaluate = self.plain.evaluation(INTERPRETED)
        for state in states:
            evaluate(state)
        return states

    def in_law(self, states, rung, rng):
        return follows(states[:, 0], self.target(rung).cdf)


POSITIVE = Positive()
METRIC = Metric(np.full((3, 1, 1), 0.3), np.array([0.9, 0.8, 0.7]))


class TestHmc(KernelContract):
    model = POSITIVE
    kernel = aptmc.Hmc(METRIC, steps=2, leaps=4)
    learning = aptmc.Hmc()

    def plant(self, monkeypatch):
        """Forgets that intervals have another length on the line."""
        monkeypatch.setattr(leaping, "log_slope", lambda place, lower, upper: 0.0)
        return self.kernel


class TestMala(KernelContract):
    model = POSITIVE
    kernel = aptmc.Mala(METRIC, steps=3)
    learning = aptmc.Mala()

    def plant(self, monkeypatch):
        """Accepts too often, by a factor of e."""
        lenient = lambda log_ratio, uniform: accepts(log_ratio + 1.0, uniform)  # noqa: E731
        monkeypatch.setattr(hmc, "accepts", lenient)
        return aptmc.Mala(Metric(METRIC.covariances, np.full(3, 2.5)), steps=4)


@pytest.mark.validation  # compiled it takes what Mala takes; of plain moves see below
class TestSearchedMala(KernelContract):
    model = POSITIVE
    kernel = aptmc.Mala(METRIC, steps=2, search=True)
    learning = aptmc.Mala(search=True)

    def plant(self, monkeypatch):
        """Does not ask whether the search from there would find the same size."""
        monkeypatch.setattr(searched_leap, "BACK", searched_leap.AT_FIRST)
        return aptmc.Mala(Metric(METRIC.covariances, np.full(3, 2.5)), steps=4, search=True)


class TestNuts(KernelContract):
    model = POSITIVE
    kernel = aptmc.Nuts(METRIC, steps=2, doublings=4)
    learning = aptmc.Nuts(doublings=4)  # the same code

    def plant(self, monkeypatch):
        """Goes to the last point of the trajectory, whatever its weight."""
        monkeypatch.setattr(nuts, "takes_new", lambda rng, log_share: True)
        return aptmc.Nuts(Metric(METRIC.covariances, np.full(3, 1.5)), steps=3, doublings=3)


def test_a_size_that_would_not_be_found_from_there_is_refused(monkeypatch):
    searching = TestSearchedMala()
    rng = np.random.default_rng(SEED)
    after, _ = moved(searching.kernel, POSITIVE, 0, compiled=False, number=1000)
    assert POSITIVE.in_law(after, 0, rng)
    planted = searching.plant(monkeypatch)
    after, _ = moved(planted, POSITIVE, 0, compiled=False, number=1000)
    assert not POSITIVE.in_law(after, 0, rng)


# --- in several dimensions ------------------------------------------------------------------------

COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 2.0, 0.3], [0.0, 0.3, 0.5]])
PRECISION = np.linalg.inv(COVARIANCE)


@njit
def correlated(theta):
    return -0.5 * np.dot(theta, np.dot(PRECISION, theta))


@njit
def slope_of_correlated(theta):
    return -np.dot(PRECISION, theta)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda metric: aptmc.Hmc(metric, leaps=5), id="Hmc"),
        pytest.param(lambda metric: aptmc.Nuts(metric), id="Nuts"),
        pytest.param(
            lambda metric: aptmc.Mala(metric, steps=3), id="Mala", marks=pytest.mark.validation
        ),
        pytest.param(
            lambda metric: aptmc.Mala(metric, steps=3, search=True),
            id="Mala, searched",
            marks=pytest.mark.validation,
        ),
    ],
)
def test_correlated_draws_stay_exact_although_the_metric_is_wrong(make):
    problem = aptmc.Power(correlated, {"x": np.zeros(3)}, gradient=slope_of_correlated)
    wrong = np.array([[[1.0, -0.3, 0.0], [-0.3, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    kernel = make(Metric(wrong, np.array([0.5])))
    move = kernel.move(problem, INTERPRETED)  # the same bits, and nothing is compiled
    tuning = kernel.tuning(problem, aptmc.Ladder.powers([1.0]))[0]
    rng = np.random.default_rng(2)
    draws = rng.multivariate_normal(np.zeros(3), COVARIANCE, 3000)
    after, info = np.empty((3000, 5)), np.empty(kernel.info_length)
    for i, theta in enumerate(draws):
        move(1.0, tuning, np.array([*theta, correlated(theta), 0.0]), rng, after[i], info)
    moved = after[:, :3]
    assert (moved != draws).any(axis=1).mean() > 0.5
    assert follows(np.sum((moved @ PRECISION) * moved, axis=1), stats.chi2(3).cdf)
    for column in range(3):
        assert follows(moved[:, column], stats.norm(0, COVARIANCE[column, column] ** 0.5).cdf)


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "marginal",
    [
        stats.uniform(-1, 3), stats.norm(1, 2), stats.laplace(0, 2), stats.logistic(1, 2),
        stats.t(3, 1, 2), stats.loguniform(0.1, 10), stats.gamma(3, scale=2), stats.invgamma(3),
        stats.weibull_min(1.7, scale=2), stats.lognorm(0.8, scale=2), stats.beta(2, 3),
        stats.triang(0.3), stats.expon(scale=2), stats.halfnorm(scale=2), stats.cauchy(0, 1),
    ],
    ids=lambda marginal: marginal.dist.name,
)  # fmt: skip
def test_the_gradient_of_a_prior_is_that_of_its_density(marginal):
    prior = aptmc.Prior(other=stats.norm(0, 1), x=marginal)
    write = log_prior_gradient(prior, INTERPRETED)
    for share in (0.1, 0.35, 0.8):
        theta, found = np.array([0.5, float(marginal.ppf(share))]), np.empty(2)
        write(theta, found)
        away = 1e-6
        near = marginal.logpdf(theta[1] + away) - marginal.logpdf(theta[1] - away)
        np.testing.assert_allclose(found, [-0.5, near / (2.0 * away)], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("target", [NUMBA, INTERPRETED])
def test_a_prior_that_is_no_product_has_a_gradient_too(target):
    prior = aptmc.Prior(x=stats.multivariate_normal(np.zeros(3), COVARIANCE))
    theta, found = np.array([0.5, -1.0, 2.0]), np.empty(3)
    log_prior_gradient(prior, target)(theta, found)
    np.testing.assert_allclose(found, -PRECISION @ theta, rtol=1e-6)


@pytest.mark.parametrize(
    ("lower", "upper", "value"),
    [(-math.inf, math.inf, -3.0), (2.0, math.inf, 2.7), (-math.inf, 1.0, -4.0), (-1.0, 3.0, 2.9)],
)
def test_there_and_back_on_the_line(lower, upper, value):
    place = unbounded.to_line(value, lower, upper)
    assert unbounded.from_line(place, lower, upper) == pytest.approx(value)
    (row,) = unbounded.rows_on_line(np.array([[value]]), np.array([lower]), np.array([upper]))
    assert row[0] == pytest.approx(place)
    away = 1e-6
    ends = [unbounded.from_line(place + sign * away, lower, upper) for sign in (-1.0, 1.0)]
    slope = unbounded.log_slope(place, lower, upper)
    assert math.exp(slope) == pytest.approx((ends[1] - ends[0]) / (2.0 * away), rel=1e-6)
    slopes = [unbounded.log_slope(place + sign * away, lower, upper) for sign in (-1.0, 1.0)]
    bend = unbounded.slope_of_log_slope(place, lower, upper)
    assert bend == pytest.approx((slopes[1] - slopes[0]) / (2.0 * away), abs=1e-6)


def test_a_trajectory_that_goes_round_in_a_circle_turns_back():
    angles = np.linspace(0.0, 2.0 * math.pi, 65)
    momenta = np.column_stack([np.cos(angles), np.sin(angles)])
    turned = [
        nuts.is_turning(2, momenta[0], momenta[count], momenta[: count + 1].sum(axis=0))
        for count in range(1, 64)
    ]
    # Half way round one is farthest from where one began.
    assert turned.index(True) == pytest.approx(32, abs=1)


def test_parts_of_a_trajectory_are_those_of_a_binary_tree():
    """Every complete part is looked at once, against a plain search over all of them."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        momenta = rng.standard_normal((16, 2)) + 0.8
        begun, sums = np.empty(10), np.empty(10)
        found = next(
            (
                number
                for number in range(16)
                if nuts.note_momentum(
                    2, number, momenta[number], momenta[: number + 1].sum(axis=0), begun, sums
                )
            ),
            None,
        )
        ends = [
            first + length - 1
            for length in (2, 4, 8, 16)
            for first in range(0, 16, length)
            if nuts.is_turning(
                2,
                momenta[first],
                momenta[first + length - 1],
                momenta[first : first + length].sum(axis=0),
            )
        ]
        assert found == (min(ends) if ends else None)


def test_the_size_of_leaps_follows_the_acceptance():
    assert better_step(1.0, 0.8, 0.8) == pytest.approx(1.0)
    assert better_step(1.0, 0.5, 0.8) < 0.8
    assert better_step(1.0, 0.95, 0.8) > 1.2
    assert better_step(1.0, 0.0, 0.8) >= hamiltonian.MOST_SHORTER
    assert usual_step(16) == 0.5
    assert narrowest(np.diag([4.0, 1.0]), np.diag([1.0, 1.0])) == pytest.approx(0.5)


# --- a run ----------------------------------------------------------------------------------------


@pytest.mark.validation
def test_metric_and_leaps_are_learnt_for_each_rung():
    scales = np.array([0.1, 1.0, 10.0])

    @njit
    def log_density(theta):
        return -0.5 * np.sum((theta / scales) ** 2)

    @njit
    def slope(theta):
        return -theta / scales**2

    problem = aptmc.Power(log_density, {"x": np.zeros(3)}, gradient=slope)
    run = aptmc.sample(
        problem,
        budget=60_000,
        ladder=aptmc.Ladder.powers([1.0, 0.25]),
        kernel=aptmc.Nuts(),
        pools=aptmc.Shared(2),
        on=aptmc.VirtualTime(2),
        progress=False,
        seed=1,
    )
    metric = run.settings.kernel.metric
    for rung, wider in enumerate((1.0, 2.0)):
        found = np.sqrt(np.diag(metric.covariances[rung]))
        np.testing.assert_allclose(found, wider * scales, rtol=0.3)
    rates = run.statistics["acceptance"] / run.statistics["leaps"]
    np.testing.assert_allclose(rates, 0.8, atol=0.25)
    assert run.statistics["divergences"].sum() == 0
    draws = np.concatenate([one.state[:, :3] for one in run.chains()])
    np.testing.assert_allclose(draws.std(axis=0), scales, rtol=0.1)


def test_a_density_that_cannot_be_computed_far_away_does_no_harm():
    def log_density(theta):
        return -math.inf if abs(theta[0]) > 3.0 else (math.nan if theta[0] > 2.5 else 0.0)

    problem = aptmc.Power(log_density, 0.0, gradient=lambda theta: np.zeros(1))
    kernel = aptmc.Hmc(Metric(np.ones((1, 1, 1)), np.array([1.5])), steps=20)
    move = kernel.move(problem, INTERPRETED)
    tuning = kernel.tuning(problem, aptmc.Ladder.powers([1.0]))[0]
    info, outcome = np.empty(kernel.info_length), np.empty(3)
    state = np.zeros(3)
    for seed in range(20):
        move(1.0, tuning, state, np.random.default_rng(seed), outcome, info)
        state = outcome.copy()
        assert -3.0 <= state[0] <= 2.5
    assert info[kernel.places["divergences"]] > 0


def test_a_gradient_is_needed():
    problem = aptmc.Power(lambda theta: 0.0, 0.0)
    with pytest.raises(InputError, match="Nuts follows a gradient, and the problem has none"):
        aptmc.Nuts(METRIC).tuning(problem, POSITIVE.ladder)
    simulator = aptmc.Abc.early(lambda theta, rng, tolerance: 0.0, aptmc.Prior(x=stats.norm()))
    with pytest.raises(InputError, match=r"and a simulator has none: use aptmc\.OneHit"):
        aptmc.Nuts(METRIC).tuning(simulator, POSITIVE.ladder)
    with pytest.raises(InputError, match="learnt in a warm-up"):
        aptmc.Hmc().tuning(POSITIVE.plain, POSITIVE.ladder)
    with pytest.raises(InputError, match="for 3 rungs and 1 coordinates"):
        aptmc.Hmc(METRIC).tuning(POSITIVE.plain, aptmc.Ladder.powers([1.0]))
    with pytest.raises(InputError, match="metric must be"):
        aptmc.Mala("now")
    with pytest.raises(InputError, match="search must be True or False, got 3"):
        aptmc.Mala(search=3)
    with pytest.raises(InputError, match="extent"):
        aptmc.Nuts(doublings=0)


def test_they_say_how_they_were_made():
    assert repr(aptmc.Nuts(doublings=5, steps=2)) == "Nuts(steps=2, doublings=5)"
    assert repr(aptmc.Mala(search=True)) == "Mala(search=True)"
    assert repr(aptmc.Mala(METRIC)) == "Mala(Metric(1 dimensions on 3 rungs))"
