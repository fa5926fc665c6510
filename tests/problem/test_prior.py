"""The prior: what it computes, what it draws, and what it refuses."""

from __future__ import annotations

import copy
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aptmc.errors import InputError
from aptmc.problem.prior import log_densities as densities
from aptmc.problem.prior.prior import Prior

MARGINALS = {
    "rate": stats.gamma(2, scale=0.5),
    "shift": stats.norm(1, 3),
    "share": stats.beta(2, 5),
}
# Gumbel is none of the families that are compiled.
UNKNOWN = {**MARGINALS, "level": stats.gumbel_r(0, 2)}


def points_around(marginals: dict[str, Any], size: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    rng = np.random.default_rng(7)
    columns = [marginal.rvs(size, random_state=rng) for marginal in marginals.values()]
    points = np.stack(columns, axis=-1)
    points[::10, 0] *= -1.0  # outside the support of a gamma
    return points


def test_names_and_dimension_follow_the_keywords() -> None:
    prior = Prior(**MARGINALS)
    assert prior.names == ("rate", "shift", "share")
    assert prior.dimension == 3


def test_any_keyword_can_be_a_name_even_self() -> None:
    names = ("self", "lambda", "β", "k_on")
    assert Prior(**{name: stats.norm() for name in names}).names == names


def test_support_is_that_of_the_marginals() -> None:
    lower, upper = Prior(**MARGINALS).support
    np.testing.assert_array_equal(lower, [0.0, -math.inf, 0.0])
    np.testing.assert_array_equal(upper, [math.inf, math.inf, 1.0])


@pytest.mark.parametrize(("marginals", "is_compiled"), [(MARGINALS, True), (UNKNOWN, False)])
def test_log_density_is_the_sum_of_the_marginals_over_any_leading_axes(
    marginals: dict[str, Any], is_compiled: bool
) -> None:
    prior = Prior(**marginals)
    assert prior.is_compiled is is_compiled
    points = points_around(marginals, 120).reshape(2, 60, -1)
    expected = sum(
        marginal.logpdf(points[..., column]) for column, marginal in enumerate(marginals.values())
    )
    result = prior.log_density(points)
    assert result.shape == (2, 60)
    # A few terms of order one to ten, each rounded once or twice.
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    assert np.isneginf(result).any()


@pytest.mark.parametrize("marginals", [MARGINALS, UNKNOWN])
def test_one_point_gives_a_float_equal_to_the_vectorised_value(marginals: dict[str, Any]) -> None:
    prior = Prior(**marginals)
    points = points_around(marginals, 100)
    one_by_one = [prior.log_density(point) for point in points]
    assert all(type(value) is float for value in one_by_one)
    np.testing.assert_array_equal(one_by_one, prior.log_density(points))


def test_compiled_code_gets_the_same_value_bit_for_bit() -> None:
    prior = Prior(**MARGINALS)
    points = points_around(MARGINALS, 100)
    families, parameters = prior.families, prior.parameters
    compiled = [densities.log_density(point, families, parameters) for point in points]
    np.testing.assert_array_equal(compiled, prior.log_density(points))


@pytest.mark.parametrize("marginals", [MARGINALS, UNKNOWN])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_point_that_is_not_finite_has_no_density(marginals: dict[str, Any], value: float) -> None:
    theta = np.full(len(marginals), 0.5)
    theta[1] = value
    assert Prior(**marginals).log_density(theta) == -math.inf


def test_an_infinite_density_at_a_border_is_excluded_in_the_slow_path_too() -> None:
    fast = Prior(rate=stats.gamma(0.5))
    slow = Prior(rate=stats.gamma(0.5), level=stats.gumbel_r(0, 1))
    assert fast.log_density([0.0]) == -math.inf
    assert slow.log_density([0.0, 0.0]) == -math.inf


def test_log_density_takes_lists_integers_strides_read_only_and_empty_arrays() -> None:
    prior = Prior(a=stats.norm(), b=stats.norm())
    expected = prior.log_density(np.array([1.0, 2.0]))
    assert prior.log_density([1, 2]) == expected
    assert prior.log_density(np.array([1, 2])) == expected
    assert prior.log_density(np.array([1.0, 0.0, 2.0])[::2]) == expected
    read_only = np.array([1.0, 2.0])
    read_only.flags.writeable = False
    assert prior.log_density(read_only) == expected
    np.testing.assert_array_equal(prior.log_density(np.array([[1.0, 1.0], [2.0, 2.0]]).T), expected)
    assert prior.log_density(np.empty((0, 2))).shape == (0,)


def test_draws_have_the_shapes_asked_for_and_repeat_with_the_seed() -> None:
    prior = Prior(**MARGINALS)
    assert prior.draw(np.random.default_rng(1)).shape == (3,)
    assert prior.draw(np.random.default_rng(1), 0).shape == (0, 3)
    draws = prior.draw(np.random.default_rng(1), 5)
    assert draws.shape == (5, 3)
    np.testing.assert_array_equal(draws, prior.draw(np.random.default_rng(1), 5))


# One Kolmogorov-Smirnov test per column, all three of which raise a false alarm together at most
# once in a million seeds (Bonferroni).
FALSE_ALARM = 1e-6


def follows(draws: np.ndarray[Any, Any], marginals: dict[str, Any]) -> bool:
    p_values = [
        stats.kstest(draws[:, column], marginal.cdf).pvalue
        for column, marginal in enumerate(marginals.values())
    ]
    return bool(min(p_values) > FALSE_ALARM / len(p_values))


def test_draws_follow_the_prior() -> None:
    assert follows(Prior(**MARGINALS).draw(np.random.default_rng(2), 20_000), MARGINALS)


@pytest.mark.parametrize(
    "wrong", [{"rate": stats.gamma(2, scale=0.55)}, {"shift": stats.norm(1.2, 3)}]
)
def test_the_same_check_catches_draws_from_a_slightly_wrong_prior(wrong: dict[str, Any]) -> None:
    planted = Prior(**{**MARGINALS, **wrong})
    assert not follows(planted.draw(np.random.default_rng(2), 20_000), MARGINALS)


def test_the_same_check_catches_columns_in_the_wrong_order() -> None:
    draws = Prior(**MARGINALS).draw(np.random.default_rng(2), 20_000)
    assert not follows(draws[:, ::-1], MARGINALS)


def test_columns_are_drawn_independently() -> None:
    prior = Prior(a=stats.norm(), b=stats.norm())
    draws = prior.draw(np.random.default_rng(3), 20_000)
    # The correlation of n independent pairs has standard deviation 1 / sqrt(n); beyond 4.9 of them
    # lies one seed in a million.
    correlation = stats.pearsonr(draws[:, 0], draws[:, 1]).statistic
    assert abs(correlation) < 4.9 / math.sqrt(20_000)


def test_a_draw_always_has_a_density() -> None:
    # Most draws of this beta are nearer to 1 than floating point can tell.
    prior = Prior(share=stats.beta(1.0, 0.01))
    raw = stats.beta(1.0, 0.01).rvs(1000, random_state=np.random.default_rng(4))
    assert (raw == 1.0).mean() > 0.5
    assert np.isfinite(prior.log_density(prior.draw(np.random.default_rng(4), 1000))).all()


class Nowhere(stats.rv_continuous):  # type: ignore[misc]
    """A distribution that contradicts itself: its density is 0 wherever it draws."""

    def _logpdf(self, x: Any) -> Any:
        return np.full_like(x, -math.inf)

    def _rvs(self, size: Any = None, random_state: Any = None) -> Any:
        return random_state.random(size)


def test_a_prior_that_never_draws_inside_its_support_says_so() -> None:
    with pytest.raises(InputError, match="drew no point of finite log density"):
        Prior(a=Nowhere(name="nowhere")()).draw(np.random.default_rng(1))


def test_a_prior_cannot_be_changed() -> None:
    prior = Prior(**MARGINALS)
    with pytest.raises(FrozenInstanceError):
        prior.names = ("a", "b", "c")  # type: ignore[misc]
    before = prior.log_density([0.5, 0.5, 0.5])
    prior.families[:] = 0
    prior.parameters[:] = 0.0
    prior.support[0][:] = 0.0
    assert prior.log_density([0.5, 0.5, 0.5]) == before
    np.testing.assert_array_equal(prior.support[0], [0.0, -math.inf, 0.0])


@pytest.mark.parametrize("marginals", [MARGINALS, UNKNOWN])
@pytest.mark.parametrize("remade", [copy.deepcopy, lambda prior: pickle.loads(pickle.dumps(prior))])
def test_a_prior_survives_being_sent_to_another_process(
    marginals: dict[str, Any], remade: Callable[[Prior], Prior]
) -> None:
    prior = Prior(**marginals)
    points = points_around(marginals, 10)
    np.testing.assert_array_equal(remade(prior).log_density(points), prior.log_density(points))


def test_repr_is_the_call_that_made_it() -> None:
    prior = Prior(rate=stats.gamma(2, scale=np.float64(0.5)), level=stats.gumbel_r(0, 1 / 3))
    assert repr(prior) == "Prior(rate=gamma(2, scale=0.5), level=gumbel_r(0, 0.333333))"


def test_importing_the_prior_does_not_import_scipy_stats() -> None:
    # It takes most of a second.
    script = "import sys, aptmc.problem.prior.prior; print('scipy.stats' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    answer = subprocess.run(
        [sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True
    )
    assert answer.stdout.strip() == "False"


def test_no_marginals_is_an_error() -> None:
    with pytest.raises(InputError, match="at least one parameter"):
        Prior()


@pytest.mark.parametrize("name", ["", "two words", "a-b", "1st", "_hidden", "a/b"])
def test_a_name_must_be_an_identifier(name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be named .*: use letters"):
        Prior(**{name: stats.norm()})


@pytest.mark.parametrize("name", ["chain", "draw", "rung"])
def test_a_name_must_not_hide_a_dimension_of_the_draws(name: str) -> None:
    with pytest.raises(InputError, match=f"{name!r}, which is a dimension of the draws"):
        Prior(**{name: stats.norm()})


@pytest.mark.parametrize(
    ("marginal", "message"),
    [
        (stats.norm, "has no parameters yet, got 'norm' itself: freeze it"),
        (stats.poisson, "has no parameters yet, got 'poisson' itself: freeze it"),
        (stats.dirichlet, "has no parameters yet, got 'dirichlet' itself: freeze it"),
        (3.0, "frozen by scipy.stats, got 3.0"),
        ("norm", "frozen by scipy.stats, got 'norm'"),
        (None, "frozen by scipy.stats, got None"),
        (stats.wishart(3, np.eye(2)), "is a wishart, which is not known here: use dirichlet"),
    ],
)
def test_a_marginal_must_be_a_frozen_distribution(marginal: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"'rate' .*{message}"):
        Prior(rate=marginal)


@pytest.mark.parametrize(
    ("marginal", "message"),
    [
        (stats.norm(0, -1), "scale in the distribution of 'rate' must be positive .* got -1.0"),
        (stats.norm(0, 0), "scale in .* must be positive and finite, got 0.0"),
        (stats.norm(0, math.nan), "scale in .* must be positive and finite, got nan"),
        (stats.norm(0, math.inf), "scale in .* must be positive and finite, got inf"),
        (stats.norm(math.nan, 1), "loc in .* must be a number, got nan"),
        (stats.uniform(math.inf, 1), "loc in .* must be a number, got inf"),
        (stats.gamma(math.nan), "a in .* must be a number, got nan"),
        (stats.gamma(-1), r"not valid, got gamma\(-1\)"),
        (stats.truncnorm(2, 1), r"not valid, got truncnorm\(2, 1\)"),
        (stats.triang(1.5), r"not valid, got triang\(1.5\)"),
        (stats.uniform(1, 1e-20), r"not valid, got uniform\(1, 1e-20\)"),
        (stats.gamma(math.inf), "cannot be computed in floating point"),
        (stats.truncnorm(1e200, math.inf), "cannot be computed in floating point"),
        (stats.norm([0, 1], [1, -1]), "scale in .* must be positive and finite, got -1.0"),
        (stats.norm([]), r"loc in .* must be one number, got \[\]: or an array"),
        (stats.norm("zero"), "loc in .* must be one number, got 'zero'"),
    ],
)
def test_parameters_must_be_valid_numbers(marginal: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Prior(rate=marginal)


@pytest.mark.parametrize("shape", [(), (1,), (2,), (4,), (3, 2), (5, 3, 4)])
def test_theta_must_have_one_number_per_parameter(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="one number for each of rate, shift, share"):
        Prior(**MARGINALS).log_density(np.zeros(shape))


@pytest.mark.parametrize("theta", ["text", [[1.0, 2.0], [3.0]], {"rate": 1.0}, [1j, 2j, 3j]])
def test_theta_must_be_numbers(theta: Any) -> None:
    with pytest.raises(InputError, match="theta must be an array of numbers"):
        Prior(**MARGINALS).log_density(theta)


@pytest.mark.parametrize("rng", [None, 1, np.random.RandomState(1)])
def test_draw_needs_a_numpy_generator(rng: Any) -> None:
    with pytest.raises(InputError, match="rng must be a numpy Generator"):
        Prior(**MARGINALS).draw(rng)


@pytest.mark.parametrize("size", [-1, 2.5, "3", (2, 3)])
def test_draw_needs_a_count(size: Any) -> None:
    with pytest.raises(InputError, match="size must be a non-negative integer or None"):
        Prior(**MARGINALS).draw(np.random.default_rng(1), size)


def test_asking_for_compiled_tables_of_an_unknown_family_is_an_error() -> None:
    prior = Prior(**UNKNOWN)
    with pytest.raises(InputError, match="cannot be evaluated by compiled code"):
        _ = prior.families
    with pytest.raises(InputError, match="ask is_compiled first"):
        _ = prior.parameters
