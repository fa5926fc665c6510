"""Parts that depend on earlier parts: as functions, and in the form that is compiled."""

from __future__ import annotations

import math
import pickle
from functools import cache
from typing import Any

import cloudpickle
import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.errors import InputError
from aptmc.problem.prior.draws import draw_marginal
from aptmc.problem.prior.evaluation import draw_by_parts
from aptmc.problem.prior.log_densities import log_any_marginal
from aptmc.problem.prior.prior import Prior
from aptmc.problem.prior.rows import CODES, INVALID, ROW_LENGTH, fill_row
from tests.support.statistical import follows

SIZES = {"function": 1200, "given": 4000}  # scipy freezes a few hundred in a second


@cache
def spelled_both_ways() -> dict[str, Prior]:
    """The same prior in plain Python and compiled."""
    return {
        "function": Prior(
            sd=stats.halfnorm(scale=2),
            # Both ask for numbers, so that they are not read as `given` would say it.
            beta=aptmc.iid(lambda sd: stats.norm(1, float(sd)), 3),
            count=lambda sd, beta: stats.poisson(sd + abs(float(beta[0]))),
        ),
        "given": Prior(
            sd=stats.halfnorm(scale=2),
            beta=aptmc.iid(aptmc.given(stats.norm, 1, scale="sd"), 3),
            count=aptmc.given(stats.poisson, njit(lambda sd, beta: sd + abs(beta[0]))),
        ),
    }


def expected_log_density(points: Any) -> Any:
    sd, beta, count = points[:, 0], points[:, 1:4], np.floor(points[:, 4])
    total = stats.halfnorm(scale=2).logpdf(sd)
    total = total + stats.norm(1, sd[:, None]).logpdf(beta).sum(axis=1)
    return total + stats.poisson(sd + np.abs(beta[:, 0])).logpmf(count)


@pytest.mark.parametrize("spelling", ["function", "given"])
def test_densities_and_draws_are_those_of_the_parts(spelling: str) -> None:
    prior = spelled_both_ways()[spelling]
    assert prior.is_compiled is (spelling == "given")
    assert prior.names == ("sd", "beta[0]", "beta[1]", "beta[2]", "count")
    size = SIZES[spelling]
    points = prior.draw(np.random.default_rng(1), size)
    np.testing.assert_allclose(prior.log_density(points), expected_log_density(points), rtol=1e-9)
    sd, beta = points[:, 0], points[:, 1:4]
    assert follows(sd, stats.halfnorm(scale=2).cdf)
    # Given the others each is turned into a uniform number, which must not know of them.
    turned = stats.norm(1, sd[:, None]).cdf(beta)
    for column in range(3):
        assert follows(turned[:, column], "uniform")
        # A correlation of n pairs has sd 1 / sqrt(n); beyond 4.9 of it lies one seed in a million.
        assert abs(stats.spearmanr(turned[:, column], sd).statistic) < 4.9 / math.sqrt(size)
    assert not follows(stats.norm(1, 1).cdf(beta[:, 0]), "uniform")  # a scale that does not depend
    # The mean of (count - mean) / sqrt(mean) of so many draws: six standard errors.
    mean = sd + np.abs(beta[:, 0])
    standard = (np.floor(points[:, 4]) - mean) / np.sqrt(mean)
    assert abs(standard.mean()) < 6.0 / math.sqrt(size)
    shifted = (np.floor(points[:, 4]) - 1.3 * mean) / np.sqrt(mean)
    assert abs(shifted.mean()) > 6.0 / math.sqrt(size)


@pytest.mark.parametrize("spelling", ["function", "given"])
def test_outside_the_support_of_an_earlier_part_nothing_later_is_evaluated(spelling: str) -> None:
    prior = spelled_both_ways()[spelling]
    assert prior.log_density([-1.0, 0.0, 0.0, 0.0, 1.0]) == -math.inf
    assert prior.log_density([1.0, 0.0, 0.0, 0.0, -1.0]) == -math.inf
    both = prior.log_density([[-1.0, 0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 1.0]])
    assert np.isfinite(both).tolist() == [False, True]
    lower, upper = prior.support
    np.testing.assert_array_equal(lower, [0.0, *[-math.inf] * 4])
    np.testing.assert_array_equal(upper, [math.inf] * 5)


SHAPES: dict[str, tuple[float, ...]] = {
    "t": (3.5,), "gamma": (0.7,), "chi2": (3.0,), "invgamma": (2.5,), "weibull_min": (1.5,),
    "lognorm": (0.6,), "beta": (2.0, 0.8), "pareto": (2.5,), "loguniform": (0.5, 4.0),
    "poisson": (3.0,), "binom": (7.0, 0.3), "bernoulli": (0.3,), "nbinom": (2.5, 0.3),
    "geom": (0.4,), "randint": (-2.0, 5.0),
}  # fmt: skip


def pair(name: str, shapes: tuple[float, ...]) -> tuple[float, float]:
    """Two shape parameters, of which a family may use fewer."""
    first, second, *_ = (*shapes, 0.0, 0.0)
    return first, second


@pytest.mark.parametrize("name", CODES)
def test_every_family_that_can_be_given_has_scipys_density_and_draws(name: str) -> None:
    family, shapes = getattr(stats, name), SHAPES.get(name, ())
    is_whole = isinstance(family, stats.rv_discrete)
    moved = {"loc": 2.0} if is_whole else {"loc": 0.3, "scale": 1.7}
    frozen, row = family(*shapes, **moved), np.empty(ROW_LENGTH)
    place = (moved["loc"], moved.get("scale", 1.0))
    code = fill_row(CODES[name], *pair(name, shapes), *place, row)
    rng = np.random.default_rng(2)
    draws = np.array([draw_marginal(rng, code, row) for _ in range(3000)])
    found = [log_any_marginal(x, code, row) for x in draws]
    expected = frozen.logpmf(np.floor(draws)) if is_whole else frozen.logpdf(draws)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    if is_whole:
        # The mean of so many draws: six standard errors, of which a shift by one is many more.
        off = (np.floor(draws).mean() - frozen.mean()) / frozen.std() * math.sqrt(3000)
        assert abs(off) < 6.0 < abs(off + math.sqrt(3000) / frozen.std())
    else:
        assert follows(draws, frozen.cdf)
        assert not follows(draws, family(*shapes, loc=0.3, scale=2.7).cdf)


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_impossible_parameters_have_no_row(name: str, bad: float) -> None:
    row, shapes = np.empty(ROW_LENGTH), SHAPES.get(name, ())
    assert fill_row(CODES[name], *pair(name, shapes), 0.0, bad, row) == INVALID
    # A t of infinitely many degrees is a normal for scipy, and too seldom wanted here.
    if shapes and not (name == "randint" and bad == -1.0):
        wrong = (
            (shapes[0], bad) if name in ("binom", "beta", "nbinom", "loguniform") else (bad, bad)
        )
        assert fill_row(CODES[name], *wrong, 0.0, 1.0, row) == INVALID


def test_impossible_parameters_mean_no_density() -> None:
    prior = Prior(
        level=stats.norm(3, 1),
        x=aptmc.given(stats.gamma, njit(abs_of), scale="level"),
    )
    assert np.isfinite(prior.log_density([1.0, 0.5]))
    assert prior.log_density([-1.0, 0.5]) == -math.inf
    assert prior.log_density([math.nan, 0.5]) == -math.inf


def abs_of(level):
    return abs(level)


def test_what_depends_may_be_a_vector_a_simplex_or_of_an_unknown_family() -> None:
    prior = Prior(
        rate=stats.gamma(5),
        x=lambda rate: stats.multivariate_normal([rate, 0], np.eye(2)),
        s=lambda rate: stats.dirichlet([rate, 1.0, 2.0]),
        y=lambda s: stats.gumbel_r(s[0], 1),
    )
    assert not prior.is_compiled
    assert prior.labels == ("rate", "x[0]", "x[1]", "s[0]", "s[1]", "s[2]", "y")
    points = prior.draw(np.random.default_rng(1), 20)
    for point in points:
        rate, x, y = point[0], point[1:3], point[5]
        shares = prior.constrain(point)[3:6]
        expected = stats.gamma(5).logpdf(rate) + stats.multivariate_normal([rate, 0]).logpdf(x)
        expected += Prior(s=stats.dirichlet([rate, 1.0, 2.0])).log_density(point[3:5])
        expected += stats.gumbel_r(shares[0], 1).logpdf(y)
        assert prior.log_density(point) == pytest.approx(expected, rel=1e-9)


def test_arrays_and_names_of_vectors_are_spread_over_the_shape() -> None:
    prior = Prior(
        mu=aptmc.iid(stats.norm(0, 1), 2),
        x=aptmc.iid(aptmc.given(stats.norm, "mu", np.array([[1.0], [2.0]])), (2, 2)),
    )
    assert prior.is_compiled
    point = prior.draw(np.random.default_rng(1))
    mu, x = point[:2], point[2:].reshape(2, 2)
    expected = stats.norm(0, 1).logpdf(mu).sum()
    expected += stats.norm(mu, [[1.0], [2.0]]).logpdf(x).sum()
    assert prior.log_density(point) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("spelling", ["function", "given"])
def test_it_survives_being_sent_to_another_process(spelling: str) -> None:
    prior = spelled_both_ways()[spelling]
    prior.log_density(prior.draw(np.random.default_rng(1)))  # something compiled is left behind
    again = pickle.loads(cloudpickle.dumps(prior))
    points = prior.draw(np.random.default_rng(1), 5)
    np.testing.assert_array_equal(again.draw(np.random.default_rng(1), 5), points)
    np.testing.assert_array_equal(again.log_density(points), prior.log_density(points))


def test_the_slow_path_of_a_compiled_one_draws_from_the_same_distribution() -> None:
    prior = spelled_both_ways()["given"]
    draws = np.empty((500, 5))
    draw_by_parts(prior.parts, prior.parametrisation, np.random.default_rng(1), draws)
    assert follows(stats.norm(1, draws[:, 0]).cdf(draws[:, 1]), "uniform")


def test_repr_names_what_it_depends_on() -> None:
    priors = spelled_both_ways()
    assert "beta=iid(<of sd>, 3)" in repr(priors["function"])
    assert "beta=iid(given(norm, loc=1, scale='sd'), 3)" in repr(priors["given"])


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (lambda other: stats.norm(0, other), "depends on 'other', which does not stand before it"),
        (aptmc.given(stats.norm, 0, "other"), "depends on 'other', which does not stand before"),
        (lambda: stats.norm(0, 1), "depends on no earlier parameter"),
        (lambda *sd: stats.norm(0, 1), "takes them by name, got one that takes"),
        (lambda sd: 3.0, "frozen by scipy.stats, got 3.0"),
        (lambda sd: stats.norm(0, -sd), "scale in the distribution of 'beta' must be positive"),
        (lambda sd: 1 / 0, "cannot be used: ZeroDivisionError: division by zero at sd="),
    ],
)
def test_bad_functions_are_refused(said: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Prior(sd=stats.halfnorm(), beta=said)


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((stats.norm(0, 1),), {}, "needs a family of scipy.stats that is not frozen"),
        ((stats.gamma,), {}, "is frozen with a, loc, scale, each once"),
        ((stats.norm, 0, 1, 2), {}, "is frozen with loc, scale, each once"),
        ((stats.norm, 0), {"loc": 1}, "is frozen with loc, scale, each once"),
        ((stats.norm, None), {}, "loc of given.* must be a number, the name of an earlier"),
    ],
)
def test_bad_arguments_of_given_are_refused(arguments: Any, named: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        aptmc.given(*arguments, **named)


def test_a_distribution_that_changes_its_shape_is_an_error_that_says_where() -> None:
    with pytest.raises(InputError, match=r"'x' cannot be used: .* parameters of shape .* at n="):
        Prior(n=stats.randint(1, 4), x=lambda n: stats.norm(np.zeros(int(n)), 1))


@pytest.mark.parametrize(
    "depends",
    [
        lambda mean: stats.norm(0, mean),  # read, and compiled
        lambda mean: stats.norm(0, float(mean)),
        aptmc.given(stats.norm, 0, scale="mean"),
        aptmc.iid(lambda mean: stats.norm(0, mean), 2),
    ],
)
def test_a_distribution_that_is_valid_here_and_there_is_refused(depends: Any) -> None:
    """Compiled code would leave out half of the prior, without a word."""
    with pytest.raises(
        InputError, match=r"'x' must be positive and finite, got -[0-9.]+: .* at mean=-[0-9.]+$"
    ):
        Prior(mean=stats.norm(0, 1), x=depends)
