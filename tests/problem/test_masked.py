"""Masked entries are no numbers: what lies under a mask is nobody's data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import AptmcError
from aptmc.problem.masked import has_masked

MASKED = np.ma.masked
PARTLY = np.ma.array([1.0, 2.0], mask=[False, True])
PRIOR = aptmc.Prior(x=stats.norm(0, 1))


def density(theta: Any) -> Any:
    return MASKED if abs(theta[0]) > 0.5 else -(theta[0] ** 2)


def own_density(x: Any) -> Any:
    return MASKED if abs(x) > 0.5 else -(x**2)


def apart(ours: Any, theirs: Any) -> Any:
    return np.abs(np.asarray(ours) - np.asarray(theirs)).sum()


def abc(simulate: Any, distance: Any = apart, **more: Any) -> aptmc.Abc:
    return aptmc.Abc(simulate, PRIOR, observed=[1.0, 2.0], distance=distance, **more)


PROBLEMS = {
    "a density": lambda: aptmc.Power(density, {"x": 0.0}),
    "a likelihood": lambda: aptmc.Tempered(density, PRIOR),
    "a prior": lambda: aptmc.Tempered(
        lambda theta: -(theta[0] ** 2),
        aptmc.Prior.joint(own_density, lambda rng: rng.normal(), x=()),
    ),
    "a simulation": lambda: abc(lambda theta, rng: PARTLY),
    "a summary": lambda: abc(lambda theta, rng: np.ones(2), summary=lambda data: PARTLY),
    "a distance": lambda: abc(lambda theta, rng: np.ones(2), lambda ours, theirs: MASKED),
    "a part of the data": lambda: aptmc.Abc(
        lambda theta, rng: {"a": PARTLY}, PRIOR, observed={"a": np.ones(2)},
        distance=aptmc.distance.p_norm(2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_nothing_masked_is_taken_for_a_number(name: str) -> None:
    with pytest.raises(AptmcError, match=r"masked|nan|must be numbers"):
        aptmc.sample(PROBLEMS[name](), budget=300, on=aptmc.VirtualTime(1), seed=1, progress=False)


def test_nor_in_a_gradient() -> None:
    problem = aptmc.Tempered(
        lambda theta: -(theta[0] ** 2), PRIOR, gradient=lambda theta: PARTLY[1:]
    )
    with pytest.raises(AptmcError, match="masked"):
        aptmc.sample(
            problem, budget=300, kernel=aptmc.Mala(), on=aptmc.VirtualTime(1), seed=1,
            progress=False,
        )  # fmt: skip


def test_an_array_without_masked_entries_is_an_array() -> None:
    assert has_masked(MASKED)
    assert has_masked(PARTLY)
    assert not has_masked(PARTLY[:1])
    assert not has_masked(np.ma.array([1.0, 2.0]))
    assert not has_masked(np.ones(2))
    assert not has_masked(1.0)
