"""Functions of earlier parameters that are read as `given` says them, and those that cannot be."""

from __future__ import annotations

import math
import pickle
from typing import Any

import cloudpickle
import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.problem.prior.conditional import Conditional
from aptmc.problem.prior.given import Given
from aptmc.problem.prior.prior import Prior
from aptmc.problem.prior.traced import as_given
from aptmc.targets import INTERPRETED, NUMBA

EARLIER = {"mean": -1.5, "sd": 0.7, "effects": np.array([0.3, -2.0, 1.1])}
READ = [
    lambda mean, sd: stats.norm(mean, sd),
    lambda sd: stats.norm(scale=sd),
    lambda sd: stats.norm(0, 2 * sd + 1),
    lambda sd: stats.gamma(1 + sd**2, scale=1 / sd),
    lambda sd: stats.gamma(np.exp(-sd) + np.log1p(sd), scale=np.sqrt(sd)),
    lambda mean, sd: stats.norm(-mean, abs(mean) + np.maximum(sd, 1e-3)),
    lambda mean, sd: stats.lognorm(sd, scale=np.float64(2.0) ** mean),
    lambda effects: stats.norm(effects[1], 1.0),
    lambda effects, sd: stats.norm(effects / 3 - sd, np.sqrt(np.square(effects))),
    lambda sd: stats.poisson(np.arctan(sd)),
]


def earlier_of(rule: Any) -> dict[str, Any]:
    names = rule.__code__.co_varnames[: rule.__code__.co_argcount]
    return {name: EARLIER[name] for name in names}


@pytest.mark.parametrize("rule", READ)
def test_a_rule_is_read_with_the_parameters_that_it_gives(rule: Any) -> None:
    earlier = earlier_of(rule)
    found = as_given(rule, earlier)
    assert found is not None
    assert found.is_compiled
    others = {name: value * 1.7 for name, value in earlier.items()}
    for values in (earlier, others):
        np.testing.assert_allclose(densities(found(**values)), densities(rule(**values)))
    # The control: it does depend on them.
    assert not np.allclose(densities(found(**others)), densities(rule(**earlier)))


def densities(frozen: Any) -> Any:
    points = np.array([[0.0], [1.0], [3.0]])
    return (frozen.pmf if isinstance(frozen.dist, stats.rv_discrete) else frozen.pdf)(points)


def decides(sd: Any) -> Any:
    return stats.norm(0, sd if sd > 1.0 else 1.0)


def looks_at_kinds(sd: Any) -> Any:
    return stats.norm(0, sd if isinstance(sd, float) else 3 * sd)


def counts_calls(sd: Any) -> Any:
    counts_calls.calls = getattr(counts_calls, "calls", 0) + 1  # type: ignore[attr-defined]
    return stats.norm(0, sd * counts_calls.calls)  # type: ignore[attr-defined]


CANNOT_BE_READ = {
    "decides": decides,
    "looks at kinds": looks_at_kinds,
    "says something else each time": counts_calls,
    "wants a number": lambda sd: stats.norm(0, float(sd)),
    "math": lambda sd: stats.norm(0, math.exp(sd)),
    "compares": lambda sd: stats.norm(0, max(sd, 1.0)),
    "another family": lambda sd: stats.gumbel_r(0, sd),
    "many variables": lambda sd: stats.multivariate_normal([sd, 0.0]),
    "no distribution": lambda sd: 3.0,
    "an unknown length": lambda effects: stats.norm(sum(effects), 1.0),
    "the sum of a vector": lambda effects: stats.norm(np.sum(effects), 1.0),
    "bits of vectors that depend on who computes": lambda effects: stats.norm(np.exp(effects), 1.0),
    "part of a vector": lambda effects: stats.norm(effects[1:], 1.0),
    "a table of numbers": lambda sd: stats.norm(np.array([1.0, 2.0]) * sd, 1.0),
    "numba": lambda sd: stats.norm(0, twice(sd)),
}


@njit
def twice(number: float) -> float:
    return 2.0 * number


@pytest.mark.parametrize("name", CANNOT_BE_READ)
def test_what_cannot_be_read_stays_as_it_is(name: str) -> None:
    rule = CANNOT_BE_READ[name]
    assert as_given(rule, earlier_of(rule)) is None


def hierarchy() -> Prior:
    return Prior(
        mean=stats.norm(0, 5),
        sd=stats.halfcauchy(0, 5),
        school=aptmc.iid(lambda mean, sd: stats.norm(mean, sd), 3),
        noise=lambda sd, school: stats.gamma(1.0 + np.exp(-sd), scale=abs(school[0]) ** 0.5),
    )


def test_a_hierarchical_prior_in_plain_python_is_compiled() -> None:
    prior = hierarchy()
    assert prior.is_compiled
    assert "school=iid(given(norm, loc='mean', scale='sd'), 3)" in repr(prior)
    points = prior.draw(np.random.default_rng(1), 40)
    mean, sd, school, noise = points[:, 0], points[:, 1], points[:, 2:5], points[:, 5]
    expected = stats.norm(0, 5).logpdf(mean) + stats.halfcauchy(0, 5).logpdf(sd)
    expected += stats.norm(mean[:, None], sd[:, None]).logpdf(school).sum(axis=1)
    expected += stats.gamma(1.0 + np.exp(-sd), scale=abs(school[:, 0]) ** 0.5).logpdf(noise)
    np.testing.assert_allclose(prior.log_density(points), expected, rtol=1e-9)
    # The same source, interpreted and compiled, to the last bit.
    compiled = prior.functions(NUMBA).log_density
    plain = as_source(prior)
    assert [compiled(point) for point in points] == [plain(point) for point in points]
    assert prior.functions(INTERPRETED) is not prior.functions(NUMBA)


def test_what_was_read_reaches_workers() -> None:
    here, twin = hierarchy(), pickle.loads(cloudpickle.dumps(hierarchy()))
    assert twin.is_compiled
    assert repr(twin) == repr(here)
    point = np.array([0.1, 1.2, 0.3, -0.4, 2.0, 0.6])
    assert as_source(twin)(point) == as_source(here)(point)
    part = twin.parts[2]
    assert isinstance(part, Conditional)
    assert isinstance(part.rule, Given)


def as_source(prior: Prior) -> Any:
    """The density that is compiled, as plain Python."""
    return prior._composed_source.log_density


def test_where_parameters_are_out_of_range_there_is_no_density() -> None:
    # So rarely that it is not seen when the prior is made.
    prior = Prior(sd=stats.norm(9, 1), x=lambda sd: stats.norm(0, sd - 1.0 + 1.0 / sd))
    assert prior.is_compiled
    assert as_source(prior)(np.array([2.0, 0.0])) > -math.inf
    assert as_source(prior)(np.array([-2.0, 0.0])) == -math.inf
