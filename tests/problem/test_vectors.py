"""Vectors, multivariate families and simplexes: densities, draws and supports are scipy's."""

from __future__ import annotations

import math
import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import InputError
from aptmc.problem.prior.evaluation import draw_by_parts, log_density_by_parts
from aptmc.problem.prior.prior import Prior
from tests.support.statistical import follows

CENTRE, MATRIX = (
    np.array([1.0, -2.0, 0.5]),
    np.array([[2.0, 0.6, 0.1], [0.6, 1.0, 0.3], [0.1, 0.3, 0.5]]),
)
SIZE = 20_000


def plain_log_density(prior: Prior, points: Any) -> Any:
    return log_density_by_parts(prior.parts, prior.parametrisation, points)


def plain_draws(prior: Prior, size: int) -> Any:
    draws = np.empty((size, prior.dimension))
    draw_by_parts(prior.parts, prior.parametrisation, np.random.default_rng(3), draws)
    return draws


def test_a_distribution_with_arrays_is_a_vector() -> None:
    prior = Prior(beta=stats.norm(np.arange(4.0), [1, 2, 3, 4]), rate=stats.gamma(2))
    assert prior.names == ("beta[0]", "beta[1]", "beta[2]", "beta[3]", "rate")
    assert [variable.shape for variable in prior.variables] == [(4,), ()]
    apart = Prior(
        a=stats.norm(0, 1), b=stats.norm(1, 2), c=stats.norm(2, 3), d=stats.norm(3, 4),
        rate=stats.gamma(2),
    )  # fmt: skip
    np.testing.assert_array_equal(prior.families, apart.families)
    np.testing.assert_array_equal(prior.parameters, apart.parameters)
    draws = prior.draw(np.random.default_rng(1), 10)
    np.testing.assert_array_equal(draws, apart.draw(np.random.default_rng(1), 10))
    np.testing.assert_array_equal(prior.log_density(draws), apart.log_density(draws))
    np.testing.assert_allclose(
        plain_log_density(prior, draws), prior.log_density(draws), rtol=1e-12
    )


def test_iid_repeats_a_distribution_in_any_shape() -> None:
    prior = Prior(table=aptmc.iid(stats.laplace(0, 2), (2, 3)))
    assert prior.names[:4] == ("table[0, 0]", "table[0, 1]", "table[0, 2]", "table[1, 0]")
    points = prior.draw(np.random.default_rng(1), 50)
    expected = stats.laplace(0, 2).logpdf(points).sum(axis=1)
    np.testing.assert_allclose(prior.log_density(points), expected, rtol=1e-12)
    np.testing.assert_allclose(plain_log_density(prior, points), expected, rtol=1e-12)
    assert repr(prior) == "Prior(table=iid(laplace(0, 2), (2, 3)))"
    columns = Prior(table=aptmc.iid(stats.norm([0.0, 10.0, 20.0], 1), (2, 3)))
    means = columns.draw(np.random.default_rng(1), 500).mean(axis=0)
    # Five hundred draws of sd 1: further than 6 standard errors lies one seed in 10 ** 8.
    assert np.abs(means - [0, 10, 20, 0, 10, 20]).max() < 6.0 / math.sqrt(500)


def test_an_unknown_family_may_be_a_vector_too() -> None:
    prior = Prior(level=aptmc.iid(stats.gumbel_r(1, 2), 3))
    assert not prior.is_compiled
    draws = prior.draw(np.random.default_rng(1), SIZE)
    for column in range(3):
        assert follows(draws[:, column], stats.gumbel_r(1, 2).cdf)
    expected = stats.gumbel_r(1, 2).logpdf(draws).sum(axis=1)
    np.testing.assert_allclose(prior.log_density(draws), expected, rtol=1e-12)
    assert abs(np.corrcoef(draws.T)[0, 1]) < 4.9 / math.sqrt(SIZE)


def test_dims_and_places_can_be_named() -> None:
    cities = {"city": ["Rome", "Oslo"]}
    prior = Prior(beta=aptmc.iid(stats.norm(0, 1), 2, dims="city", coords=cities))
    assert prior.names == ("beta[Rome]", "beta[Oslo]")
    again = Prior(beta=stats.norm([0, 0], 1)).labelled(beta=cities)
    assert again.names == prior.names
    assert again.labelled(beta={"town": None}).names == ("beta[0]", "beta[1]")
    with pytest.raises(InputError, match="there is no parameter 'gamma': there are beta"):
        again.labelled(gamma=cities)


ELLIPTICAL = {
    "normal": stats.multivariate_normal(CENTRE, MATRIX),
    "t": stats.multivariate_t(CENTRE, MATRIX, df=3.5),
    "one": stats.multivariate_normal([2.0], [[4.0]]),
}


@cache
def elliptical(kind: str) -> Prior:
    """Made once: what is compiled for a prior is kept with it."""
    return Prior(x=ELLIPTICAL[kind])


@pytest.mark.parametrize("kind", ["normal", "t", pytest.param("one", marks=pytest.mark.validation)])
def test_multivariate_densities_are_scipys_compiled_and_plain(kind: str) -> None:
    prior, frozen = elliptical(kind), ELLIPTICAL[kind]
    assert prior.is_compiled
    points = prior.draw(np.random.default_rng(1), 200)
    points[::3] *= 50.0
    expected = np.atleast_1d(frozen.logpdf(points))
    np.testing.assert_allclose(prior.log_density(points), expected, rtol=1e-11)
    np.testing.assert_allclose(plain_log_density(prior, points), expected, rtol=1e-11)
    np.testing.assert_array_equal(
        prior.support, np.outer([-math.inf, math.inf], [1] * prior.dimension)
    )
    points[0, 0] = math.nan
    assert prior.log_density(points)[0] == plain_log_density(prior, points)[0] == -math.inf


def along(frozen: Any, direction: Any) -> Any:
    """The distribution of a weighted sum."""
    if hasattr(frozen, "cov_object"):
        spread = math.sqrt(direction @ frozen.cov_object.covariance @ direction)
        return stats.norm(direction @ frozen.mean, spread)
    return stats.t(
        frozen.df, direction @ frozen.loc, math.sqrt(direction @ frozen.shape @ direction)
    )


DIRECTIONS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, -2.0, 0.5], [0.0, 1.0, 3.0]])


def projections_follow(draws: Any, frozen: Any) -> bool:
    return all(follows(draws @ one, along(frozen, one).cdf) for one in DIRECTIONS)


@pytest.mark.parametrize("kind", ["normal", "t"])
@pytest.mark.parametrize("plain", [False, True])
def test_multivariate_draws_follow_scipy(kind: str, plain: bool) -> None:
    prior = elliptical(kind)
    draws = plain_draws(prior, SIZE) if plain else prior.draw(np.random.default_rng(3), SIZE)
    assert projections_follow(draws, ELLIPTICAL[kind])


@pytest.mark.parametrize(
    "wrong",
    [
        stats.multivariate_normal(CENTRE, MATRIX * np.eye(3)),  # without correlations
        stats.multivariate_normal(CENTRE, MATRIX @ MATRIX),
        stats.multivariate_t(CENTRE, MATRIX, df=6),
    ],
)
def test_the_same_check_catches_wrong_draws(wrong: Any) -> None:
    draws = plain_draws(Prior(x=wrong), SIZE)
    assert projections_follow(draws, wrong)
    assert not projections_follow(draws, ELLIPTICAL["normal"])


# --- simplex --------------------------------------------------------------------------------------

ALPHAS = [[1.0, 1.0], [1.0, 2.0, 3.0], [0.3, 0.3, 5.0, 1.0], [20.0, 0.05, 1.0]]


def held(shares: Any) -> Any:
    """The coordinates of some shares: the inverse of what is tested, written another way."""
    count = shares.shape[-1]
    rest = shares[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]
    offsets = np.log(np.arange(count - 1, 0, -1))
    return np.log(shares[..., :-1]) - np.log(rest) + offsets


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_density_of_a_simplex_is_scipys_times_the_change_of_variables(
    alpha: list[float],
) -> None:
    prior = Prior(s=stats.dirichlet(alpha))
    assert prior.is_compiled
    assert prior.dimension == len(alpha) - 1
    shares = stats.dirichlet([3.0] * len(alpha)).rvs(20, random_state=np.random.default_rng(1))
    points = held(shares)
    np.testing.assert_allclose(prior.constrain(points), shares, rtol=1e-12)
    step = 1e-6
    for point, share in zip(points, shares, strict=True):
        jacobian = np.empty((len(alpha) - 1,) * 2)
        for place in range(len(alpha) - 1):
            aside = np.zeros(len(alpha) - 1)
            aside[place] = step
            ends = prior.constrain([point + aside, point - aside])
            jacobian[:, place] = (ends[0] - ends[1])[:-1] / (2.0 * step)
        _, log_volume = np.linalg.slogdet(jacobian)
        expected = stats.dirichlet(alpha).logpdf(share) + log_volume
        # Differences of sixth-digit steps are good to about eight digits.
        assert prior.log_density(point) == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert plain_log_density(prior, point[None])[0] == prior.log_density(point)


def shares_follow(draws: Any, alpha: list[float]) -> bool:
    """Each share, and the first two together, are beta distributed."""
    total = sum(alpha)
    single = all(
        follows(draws[:, i], stats.beta(one, total - one).cdf) for i, one in enumerate(alpha)
    )
    if len(alpha) == 2:
        return single
    both = alpha[0] + alpha[1]
    return single and follows(draws[:, 0] + draws[:, 1], stats.beta(both, total - both).cdf)


@pytest.mark.parametrize("alpha", ALPHAS[:3])
@pytest.mark.parametrize("plain", [False, True])
def test_draws_of_a_simplex_follow_scipy(alpha: list[float], plain: bool) -> None:
    prior = Prior(s=stats.dirichlet(alpha))
    draws = plain_draws(prior, SIZE) if plain else prior.draw(np.random.default_rng(3), SIZE)
    shares = prior.constrain(draws)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert shares_follow(shares, alpha)
    assert not shares_follow(shares[:, ::-1], alpha) or alpha == alpha[::-1]
    assert not shares_follow(shares, [one * 1.3 for one in alpha])


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (aptmc.iid(stats.norm([0, 1], 1), 3), r"parameters of shape \(2,\), which do not fit"),
        (aptmc.iid(stats.dirichlet([1, 1]), 3), "give it without iid"),
        (aptmc.iid(3.0, 3), "frozen by scipy.stats, got 3.0"),
        (aptmc.iid(stats.norm, 3), "has no parameters yet"),
        (
            stats.multivariate_normal([0, 0], [[1, 1], [1, 1]], allow_singular=True),
            "positive definite",
        ),
    ],
)
def test_bad_vectors_are_refused(said: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Prior(x=said)


@pytest.mark.parametrize("shape", [0, -1, 2.5, "3", (2, 0)])
def test_a_shape_is_made_of_whole_numbers(shape: Any) -> None:
    with pytest.raises(InputError, match="must be a whole number from 1 on"):
        aptmc.iid(stats.norm(), shape)


def test_all_of_them_can_be_pickled_and_have_no_tables_where_coordinates_depend() -> None:
    prior = Prior(x=ELLIPTICAL["normal"], s=stats.dirichlet([1, 2]), k=stats.poisson(3))
    points = prior.draw(np.random.default_rng(1), 5)
    again = pickle.loads(pickle.dumps(prior))
    np.testing.assert_array_equal(again.log_density(points), prior.log_density(points))
    with pytest.raises(InputError, match="independent parameters"):
        _ = prior.families
    with pytest.raises(InputError, match="is not made of independent numbers"):
        _ = prior.marginals
