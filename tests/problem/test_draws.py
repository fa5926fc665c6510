"""The compiled draws follow scipy's distributions, and are the same numbers in plain Python."""

from __future__ import annotations

import importlib.util
import math
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

import aptmc.compiled
from aptmc.errors import InputError
from aptmc.problem.prior import draws
from aptmc.problem.prior.families import encode, known_families
from aptmc.problem.prior.log_densities import Family
from aptmc.problem.prior.prior import Prior
from tests.support.statistical import follows

SIZE = 20_000
INF = math.inf

# The shape parameters of every family, ordinary ones and extreme ones.
SHAPES: dict[str, list[tuple[float, ...]]] = {
    "uniform": [()],
    "norm": [()],
    "halfnorm": [()],
    "truncnorm": [
        (-1.0, 1.0),
        (-0.1, 2.4),  # on both sides of the width at which the algorithm changes
        (-0.1, 2.6),
        (-2.6, 0.1),
        (-3.0, INF),
        (-INF, INF),
        (-INF, 0.0),
        (0.0, 0.5),
        (0.0, 40.0),
        (-1e-9, 1e-9),
        (3.0, 4.0),
        (5.0, 5.0001),
        (8.0, INF),
        (40.0, INF),
        (1e6, INF),
        (-31.0, -30.0),
        (-INF, -30.0),
    ],
    "laplace": [()],
    "expon": [()],
    "logistic": [()],
    "t": [(0.02,), (0.5,), (3.0,), (1e3,), (1e12,), (INF,)],
    "cauchy": [()],
    "halfcauchy": [()],
    "loguniform": [(0.1, 10.0), (1.0, 1.0001), (1e-300, 1e300)],
    "reciprocal": [(2.0, 3.0)],
    "pareto": [(0.02,), (2.0,), (1e6,)],
    "gamma": [(0.02,), (0.5,), (1.0,), (2.0,), (1e10,)],
    "chi2": [(0.1,), (1.0,), (2.0,), (1e5,)],
    "invgamma": [(0.02,), (1.0,), (3.0,), (1e8,)],
    "weibull_min": [(0.02,), (0.5,), (1.0,), (3.0,), (1e4,)],
    "rayleigh": [()],
    "lognorm": [(0.01,), (1.0,), (80.0,)],
    "beta": [
        (0.05, 0.3),
        (0.5, 0.5),
        (1.0, 1.0),
        (2.0, 3.0),
        (0.02, 5.0),
        (0.01, 1e6),
        (1e6, 0.5),
        (1e8, 1e8),
    ],
    "triang": [(0.0,), (1e-6,), (0.3,), (1.0,)],
}
STANDARD = [(name, shapes) for name, several in SHAPES.items() for shapes in several]
# Moved away from 0, where floating point cannot tell apart what is tiny: the ordinary shapes only.
MOVED = [
    ("uniform", ()),
    ("norm", ()),
    ("halfnorm", ()),
    ("truncnorm", (-31.0, -30.0)),
    ("laplace", ()),
    ("expon", ()),
    ("logistic", ()),
    ("t", (3.0,)),
    ("halfcauchy", ()),
    ("loguniform", (0.1, 10.0)),
    ("pareto", (2.0,)),
    ("gamma", (2.0,)),
    ("chi2", (2.0,)),
    ("invgamma", (3.0,)),
    ("weibull_min", (3.0,)),
    ("rayleigh", ()),
    ("lognorm", (1.0,)),
    ("beta", (2.0, 3.0)),
    ("triang", (0.3,)),
]


def freeze(name: str, shapes: tuple[float, ...], **where: float) -> Any:
    return getattr(stats, name)(*shapes, **where)


def tables(frozen: Any) -> tuple[Any, Any]:
    encoded = encode(frozen)
    assert encoded is not None
    return np.array([encoded.family]), encoded.row[np.newaxis].copy()


def drawn(frozen: Any, size: int = SIZE) -> Any:
    points = np.empty((size, 1))
    draws.draw_priors(np.random.default_rng(20240817), *tables(frozen), points)
    return points[:, 0]


def test_every_known_family_is_tested() -> None:
    assert set(SHAPES) == set(known_families())
    assert {encode(freeze(*case)).family for case in STANDARD} == {int(code) for code in Family}


@pytest.mark.parametrize(("name", "shapes"), STANDARD)
def test_draws_follow_the_distribution_of_scipy(name: str, shapes: tuple[float, ...]) -> None:
    frozen = freeze(name, shapes)
    assert follows(drawn(frozen), frozen.cdf)


@pytest.mark.parametrize(("name", "shapes"), MOVED)
@pytest.mark.parametrize("where", [{"loc": -2.0, "scale": 0.01}, {"loc": 5.0, "scale": 1e3}])
def test_draws_are_moved_and_stretched(
    name: str, shapes: tuple[float, ...], where: dict[str, float]
) -> None:
    frozen = freeze(name, shapes, **where)
    assert follows(drawn(frozen), frozen.cdf)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (stats.uniform(), stats.uniform(0, 1.03)),
        (stats.norm(), stats.norm(0, 1.2)),
        (stats.norm(), stats.norm(0.1, 1)),
        (stats.halfnorm(), stats.norm()),
        (stats.truncnorm(-1, 1), stats.truncnorm(-1, 1.1)),
        (stats.truncnorm(3, INF), stats.expon(3, 1 / 3)),  # a tail without the rejection step
        (stats.truncnorm(40, INF), stats.truncnorm(40.01, INF)),
        (stats.laplace(), stats.norm(0, math.sqrt(2))),
        (stats.expon(), stats.laplace()),
        (stats.logistic(), stats.laplace()),
        (stats.t(3), stats.t(1.5)),  # degrees of freedom and half of them mistaken
        (stats.halfcauchy(), stats.cauchy()),
        (stats.loguniform(0.1, 10), stats.uniform(0.1, 9.9)),
        (stats.pareto(2), stats.pareto(3)),  # exponent and shape mistaken
        (stats.gamma(2), stats.gamma(1)),
        (stats.gamma(2), stats.gamma(2.1)),
        (stats.invgamma(3), stats.invgamma(2)),
        (stats.weibull_min(3), stats.weibull_min(2)),
        (stats.lognorm(0.5), stats.lognorm(2)),  # a scale and its inverse mistaken
        (stats.beta(2, 3), stats.beta(3, 2)),
        (stats.triang(0.3), stats.triang(0.7)),
    ],
)
def test_the_same_check_catches_wrong_draws(right: Any, wrong: Any) -> None:
    assert follows(drawn(wrong), wrong.cdf)
    assert not follows(drawn(wrong), right.cdf)


@pytest.fixture(scope="module")
def plain() -> ModuleType:
    """The module of the draws, with nothing in it compiled."""
    spec = importlib.util.spec_from_file_location("plain_draws", draws.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aptmc.compiled, "compiled", lambda function: function)
        spec.loader.exec_module(module)
    assert not aptmc.compiled.is_compiled(module.draw_prior)
    return module


@pytest.mark.parametrize(("name", "shapes"), STANDARD)
def test_plain_python_draws_the_same_bits(
    name: str, shapes: tuple[float, ...], plain: ModuleType
) -> None:
    families, parameters = tables(freeze(name, shapes, loc=0.1, scale=1.3))
    ours, theirs, third, fourth, fifth = (np.random.default_rng(8) for _ in range(5))
    one, other, another, usual, least = (np.empty(1) for _ in range(5))
    least_that_knows = draws.draws_of(families)
    for _ in range(300):
        draws.draw_prior(ours, families, parameters, one)
        plain.draw_prior(theirs, families, parameters, other)
        draws.draw_prior.py_func(third, families, parameters, another)  # type: ignore[attr-defined]
        draws.draw_usual_prior(fourth, families, parameters, usual)
        least_that_knows(fifth, families, parameters, least)
        assert one[0] == other[0] == another[0] == usual[0] == least[0]
    assert ours.random() == theirs.random() == third.random() == fourth.random() == fifth.random()


@numba.njit
def from_compiled_code(rng, families, parameters, points):  # type: ignore[no-untyped-def]
    for row in range(len(points)):
        draws.draw_prior(rng, families, parameters, points[row])


def test_compiled_callers_get_the_same_bits_as_the_prior() -> None:
    prior = Prior(a=stats.gamma(0.7), b=stats.norm(1, 2), c=stats.beta(0.4, 3))
    points = np.empty((50, 3))
    from_compiled_code(np.random.default_rng(5), prior.families, prior.parameters, points)
    np.testing.assert_array_equal(points, prior.draw(np.random.default_rng(5), 50))


def test_many_draws_are_as_many_single_draws() -> None:
    prior = Prior(a=stats.gamma(0.7), b=stats.norm(1, 2), c=stats.beta(0.4, 3))
    rng = np.random.default_rng(5)
    one_by_one = [prior.draw(rng) for _ in range(20)]
    np.testing.assert_array_equal(one_by_one, prior.draw(np.random.default_rng(5), 20))


@pytest.mark.parametrize(
    "frozen",
    [
        stats.truncnorm(1e150, INF),  # narrower than the distance between two numbers
        stats.uniform(1, 3e-16),
        stats.norm(1e300, 1),
        stats.gamma(0.001),  # half of all draws are smaller than any number
        stats.gamma(0.5, loc=1e9),
        stats.beta(0.01, 0.01),
        stats.pareto(1e-3),  # half of all draws are larger than any number
        stats.t(1e-3),
        stats.lognorm(1e3),
        stats.invgamma(1e-3),
        stats.weibull_min(1e-3),
        stats.cauchy(0, 1e307),
    ],
)
def test_a_draw_has_a_density_however_extreme(frozen: Any) -> None:
    prior = Prior(level=frozen)
    assert np.isfinite(prior.log_density(prior.draw(np.random.default_rng(6), 500))).all()


@pytest.mark.parametrize(
    "frozen", [stats.gamma(2, loc=1e20), stats.gamma(1e-17), stats.beta(2, 1e-9), stats.t(1e-17)]
)
def test_a_distribution_that_floating_point_cannot_hold_is_an_error(
    frozen: Any, plain: ModuleType
) -> None:
    prior = Prior(level=frozen)
    message = "drew no point of finite log density in 1000 attempts"
    with pytest.raises(InputError, match=rf"Prior\(level=.*{message}"):
        prior.draw(np.random.default_rng(1), 3)
    for module in (draws, plain):
        with pytest.raises(InputError, match=message):
            module.draw_prior(
                np.random.default_rng(1), prior.families, prior.parameters, np.empty(1)
            )
