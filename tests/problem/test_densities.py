"""The compiled densities are scipy's, inside the support, at its borders and outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aptmc.compiled import FloatTable, Integers
from aptmc.problem.prior.families import encode, known_families, named_parameters
from aptmc.problem.prior.log_densities import Family, log_densities, log_density

SHAPES = st.floats(0.05, 50.0)
INTERVALS = st.tuples(st.floats(-8.0, 8.0), st.floats(0.1, 5.0)).map(lambda p: (p[0], sum(p)))
RATIOS = st.tuples(st.floats(1e-3, 1e3), st.floats(1.5, 1e6)).map(lambda p: (p[0], p[0] * p[1]))

# The shape parameters of every family, at random.
FAMILIES: dict[str, st.SearchStrategy[tuple[float, ...]]] = {
    "uniform": st.just(()),
    "norm": st.just(()),
    "halfnorm": st.just(()),
    "truncnorm": INTERVALS,
    "laplace": st.just(()),
    "expon": st.just(()),
    "logistic": st.just(()),
    "t": st.tuples(SHAPES | st.floats(50.0, 1e8) | st.just(math.inf)),
    "cauchy": st.just(()),
    "halfcauchy": st.just(()),
    "loguniform": RATIOS,
    "reciprocal": RATIOS,
    "pareto": st.tuples(SHAPES),
    "gamma": st.tuples(SHAPES | st.just(1.0)),
    "chi2": st.tuples(SHAPES | st.just(2.0)),
    "invgamma": st.tuples(SHAPES),
    "weibull_min": st.tuples(SHAPES | st.just(1.0)),
    "rayleigh": st.just(()),
    "lognorm": st.tuples(st.floats(0.05, 5.0)),
    "beta": st.tuples(SHAPES | st.just(1.0), SHAPES | st.just(1.0)),
    "triang": st.tuples(st.floats(0.0, 1.0)),
}


def tables(marginals: Sequence[Any]) -> tuple[Integers, FloatTable]:
    encoded = [marginal for marginal in map(encode, marginals) if marginal is not None]
    assert len(encoded) == len(marginals)
    families = np.array([marginal.family for marginal in encoded])
    return families, np.array([marginal.row for marginal in encoded])


def compiled_value(frozen: Any, value: float) -> float:
    return log_density(np.array([value]), *tables([frozen]))


def scipy_value(frozen: Any, value: float) -> float:
    """What scipy says, with our rule for points where its density is infinite or undefined."""
    with np.errstate(all="ignore"):
        result = float(frozen.logpdf(value))
    return result if result < math.inf else -math.inf


def agree(ours: float, theirs: float) -> bool:
    # The terms that are summed reach a few hundred: what they lose to rounding stays below 1e-12.
    return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-12)


def test_every_known_family_is_tested() -> None:
    assert set(FAMILIES) == set(known_families())


@pytest.mark.parametrize("name", FAMILIES)
@given(data=st.data())
def test_the_density_is_that_of_scipy(name: str, data: st.DataObject) -> None:
    shapes = data.draw(FAMILIES[name])
    location, scale = data.draw(st.floats(-5.0, 5.0)), data.draw(st.floats(1e-3, 1e3))
    frozen = getattr(stats, name)(*shapes, loc=location, scale=scale)
    inside = st.floats(0.001, 0.999).map(lambda level: float(frozen.ppf(level)))
    around = st.floats(-50.0, 50.0).map(lambda z: location + scale * z)
    value = data.draw(inside | around | st.sampled_from(frozen.support()))
    assert agree(compiled_value(frozen, float(value)), scipy_value(frozen, float(value)))


@pytest.mark.parametrize("name", FAMILIES)
@given(data=st.data())
def test_the_result_is_finite_or_minus_infinity_whatever_the_point(
    name: str, data: st.DataObject
) -> None:
    frozen = getattr(stats, name)(*data.draw(FAMILIES[name]), scale=data.draw(SHAPES))
    assert compiled_value(frozen, data.draw(st.floats())) < math.inf


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@given(data=st.data())
def test_what_is_not_a_finite_number_has_no_density(
    name: str, value: float, data: st.DataObject
) -> None:
    frozen = getattr(stats, name)(*data.draw(FAMILIES[name]))
    assert compiled_value(frozen, value) == -math.inf


@pytest.mark.parametrize(
    ("frozen", "value", "expected"),
    [
        (stats.uniform(1, 2), 1.0, -math.log(2.0)),
        (stats.uniform(1, 2), 3.0, -math.log(2.0)),
        (stats.uniform(1, 2), np.nextafter(3.0, 4.0), -math.inf),
        (stats.expon(1, 2), 1.0, -math.log(2.0)),
        (stats.expon(1, 2), np.nextafter(1.0, 0.0), -math.inf),
        (stats.halfnorm(0, 1), 0.0, 0.5 * math.log(2.0 / math.pi)),
        (stats.halfcauchy(0, 1), 0.0, math.log(2.0 / math.pi)),
        (stats.gamma(2.0), 0.0, -math.inf),
        (stats.gamma(1.0), 0.0, 0.0),
        (stats.chi2(2.0), 0.0, -math.log(2.0)),
        (stats.weibull_min(2.0), 0.0, -math.inf),
        (stats.weibull_min(1.0), 0.0, 0.0),
        (stats.rayleigh(), 0.0, -math.inf),
        (stats.lognorm(1.0), 0.0, -math.inf),
        (stats.invgamma(1.0), 0.0, -math.inf),
        (stats.beta(1.0, 1.0), 0.0, 0.0),
        (stats.beta(1.0, 1.0), 1.0, 0.0),
        (stats.beta(1.0, 2.0), 0.0, math.log(2.0)),
        (stats.beta(1.0, 2.0), 1.0, -math.inf),
        (stats.beta(2.0, 1.0), 0.0, -math.inf),
        (stats.beta(2.0, 1.0), 1.0, math.log(2.0)),
        (stats.pareto(3.0), 1.0, math.log(3.0)),
        (stats.loguniform(1.0, math.e), 1.0, 0.0),
        (stats.loguniform(1.0, math.e), math.e, -1.0),
        (stats.triang(0.0), 0.0, math.log(2.0)),
        (stats.triang(0.0), 1.0, -math.inf),
        (stats.triang(1.0), 1.0, math.log(2.0)),
        (stats.triang(0.5), 0.5, math.log(2.0)),
        (stats.truncnorm(-math.inf, 0.0), 0.0, 0.5 * math.log(2.0 / math.pi)),
    ],
)
def test_borders_belong_to_the_support_as_in_scipy(
    frozen: Any, value: float, expected: float
) -> None:
    assert agree(compiled_value(frozen, value), expected)
    assert agree(scipy_value(frozen, value), expected)


@pytest.mark.parametrize(
    ("frozen", "value"),
    [
        (stats.gamma(0.5), 0.0),
        (stats.chi2(1.0), 0.0),
        (stats.weibull_min(0.5), 0.0),
        (stats.beta(0.5, 0.5), 0.0),
        (stats.beta(0.5, 0.5), 1.0),
    ],
)
def test_a_border_where_the_density_is_infinite_is_excluded(frozen: Any, value: float) -> None:
    with np.errstate(all="ignore"):
        assert frozen.logpdf(value) == math.inf
    assert compiled_value(frozen, value) == -math.inf


@pytest.mark.parametrize("frozen", [stats.t(3.0), stats.cauchy(), stats.halfcauchy()])
def test_heavy_tails_do_not_overflow(frozen: Any) -> None:
    slope = (compiled_value(frozen, 1e300) - compiled_value(frozen, 1e30)) / math.log(1e270)
    tail = 3.0 if frozen.dist.name == "t" else 1.0
    assert slope == pytest.approx(-tail - 1.0, rel=1e-12)


def test_the_log_density_is_the_sum_over_dimensions() -> None:
    marginals = [stats.norm(1, 2), stats.gamma(2, scale=3), stats.beta(2, 3)]
    families, parameters = tables(marginals)
    theta = np.array([0.3, 0.4, 0.5])
    expected = sum(marginal.logpdf(x) for marginal, x in zip(marginals, theta, strict=True))
    assert agree(log_density(theta, families, parameters), expected)
    theta[1] = -1.0
    assert log_density(theta, families, parameters) == -math.inf


# One distribution of every form.
EXAMPLES: dict[str, tuple[float, ...]] = {
    "uniform": (),
    "norm": (),
    "laplace": (),
    "logistic": (),
    "t": (3.0,),
    "loguniform": (0.1, 10.0),
    "gamma": (2.5,),
    "invgamma": (2.5,),
    "weibull_min": (1.5,),
    "lognorm": (0.7,),
    "beta": (2.5, 1.5),
    "triang": (0.3,),
}


@numba.njit
def from_compiled_code(points, families, parameters):  # type: ignore[no-untyped-def]
    result = np.empty(len(points))
    for row in range(len(points)):
        result[row] = log_density(points[row], families, parameters)
    return result


def test_compiled_callers_and_the_vectorised_form_agree_bit_for_bit() -> None:
    frozen = [getattr(stats, name)(*shapes) for name, shapes in EXAMPLES.items()]
    families, parameters = tables(frozen)
    assert set(families) == {int(family) for family in Family}
    rng = np.random.default_rng(20240611)
    points = np.stack([marginal.rvs(500, random_state=rng) for marginal in frozen], axis=1)

    one_by_one = np.array([log_density(point, families, parameters) for point in points])
    np.testing.assert_array_equal(log_densities(points, families, parameters), one_by_one)
    np.testing.assert_array_equal(from_compiled_code(points, families, parameters), one_by_one)
    assert np.isfinite(one_by_one).all()


@pytest.mark.parametrize(
    ("frozen", "expected"),
    [
        (stats.norm(), {"loc": 0.0, "scale": 1.0}),
        (stats.norm(1, 2), {"loc": 1, "scale": 2}),
        (stats.norm(scale=2), {"loc": 0.0, "scale": 2}),
        (stats.gamma(2, 3, 4), {"a": 2, "loc": 3, "scale": 4}),
        (stats.gamma(scale=4, a=2), {"a": 2, "loc": 0.0, "scale": 4}),
        (stats.beta(2, b=3), {"a": 2, "b": 3, "loc": 0.0, "scale": 1.0}),
    ],
)
def test_parameters_are_found_however_they_were_given(
    frozen: Any, expected: dict[str, float]
) -> None:
    assert named_parameters(frozen) == expected


def test_an_unknown_family_has_no_encoding() -> None:
    assert encode(stats.gumbel_r(0, 1)) is None


def test_a_distribution_that_borrows_a_known_name_is_not_taken_for_it() -> None:
    class Borrowed(stats.rv_continuous):  # type: ignore[misc]
        def _pdf(self, x: Any) -> Any:
            return 2.0 * x

    assert encode(Borrowed(a=0.0, b=1.0, name="norm")()) is None
