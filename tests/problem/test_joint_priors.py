"""Joint priors: two functions of one's own, compiled or plain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numba import njit

import aptmc
from aptmc.errors import InputError, MoveFailed
from aptmc.problem.prior.prior import Prior
from tests.support.statistical import follows


def log_density(theta):
    """Even on the half disc; the third number lies between the first two."""
    x, y, between = theta
    if x * x + y * y > 1.0 or y < 0.0 or not min(x, y) < between < max(x, y):
        return -np.inf
    return np.log(2.0 / np.pi) - np.log(abs(x - y))


def draw(rng):
    angle, radius = np.pi * rng.random(), np.sqrt(rng.random())
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    return np.array([x, y, x + (y - x) * rng.random()])


SPELLINGS = {
    "plain": Prior.joint(log_density, draw, place=2, between=()),
    "compiled": Prior.joint(njit(log_density), njit(draw), place=2, between=()),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_density_draws_and_names(spelling: str) -> None:
    prior = SPELLINGS[spelling]
    assert prior.is_compiled is (spelling == "compiled")
    assert prior.names == ("place[0]", "place[1]", "between")
    points = prior.draw(np.random.default_rng(1), 5000)
    np.testing.assert_allclose(
        prior.log_density(points), [log_density(point) for point in points], rtol=1e-12
    )
    assert follows(np.hypot(points[:, 0], points[:, 1]) ** 2, "uniform")
    assert not follows(np.hypot(points[:, 0], points[:, 1]), "uniform")
    assert prior.log_density([0.0, -0.5, 0.0]) == -math.inf
    np.testing.assert_array_equal(prior.support, np.outer([-math.inf, math.inf], [1.0] * 3))


def test_both_spellings_draw_the_same_numbers() -> None:
    plain, compiled = (prior.draw(np.random.default_rng(1), 50) for prior in SPELLINGS.values())
    np.testing.assert_allclose(plain, compiled, rtol=1e-14)


@pytest.mark.parametrize(
    "spelled",
    [pytest.param(njit, marks=pytest.mark.validation), lambda function: function],
    ids=["numba", "Python"],
)
def test_draws_without_density_are_drawn_again(spelled: Any) -> None:
    prior = Prior.joint(
        spelled(lambda theta: 0.0 if theta[0] < 0.25 else -np.inf),
        spelled(lambda rng: np.array([rng.random()])),
        x=(),
    )
    assert prior.draw(np.random.default_rng(1), 100).max() < 0.25
    nowhere = Prior.joint(
        spelled(lambda theta: -np.inf), spelled(lambda rng: np.array([rng.random()])), x=()
    )
    with pytest.raises(InputError, match="drew no point of finite log density"):
        nowhere.draw(np.random.default_rng(1))


@pytest.mark.parametrize(
    ("density", "drawn", "shapes", "message"),
    [
        (3.0, draw, {"x": 3}, "log_density must be a function"),
        (log_density, None, {"x": 3}, "draw must be a function"),
        (lambda a, b: 0.0, draw, {"x": 3}, r"log_density is called as log_density\(theta\)"),
        (log_density, lambda: 0.0, {"x": 3}, r"draw is called as draw\(rng\)"),
        (log_density, draw, {}, "needs names and shapes, got none"),
        (log_density, draw, {"x": 0}, "shape of 'x' must be a whole number from 1 on"),
        (log_density, draw, {"chain": 3}, "cannot be named 'chain'"),
    ],
)
def test_bad_arguments_are_refused(density: Any, drawn: Any, shapes: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Prior.joint(density, drawn, **shapes)


@pytest.mark.parametrize(
    ("density", "drawn", "message"),
    [
        (lambda theta: np.nan, draw, "log_density of the prior returned .*nan.* must be a number"),
        (lambda theta: "x", draw, "log_density of the prior returned"),
        (lambda theta: 1 / 0, draw, "log_density of the prior raised ZeroDivisionError"),
        (log_density, lambda rng: [1.0], "draw of the prior must return 3 finite numbers, for"),
        (log_density, lambda rng: [1.0, 2.0, np.nan], "must return 3 finite numbers"),
        (log_density, lambda rng: 1 / 0, "draw of the prior raised ZeroDivisionError"),
    ],
)
def test_what_functions_return_is_checked(density: Any, drawn: Any, message: str) -> None:
    prior = Prior.joint(density, drawn, place=2, between=())
    with pytest.raises(InputError, match=message):
        prior.draw(np.random.default_rng(1))


def bad_far_out(theta):
    return np.nan if theta[0] > 1.0 else 0.0


def draw_unit(rng):
    return np.array([rng.random()])


@pytest.mark.parametrize(
    "spelled",
    [pytest.param(njit, marks=pytest.mark.validation), lambda function: function],
    ids=["numba", "Python"],
)
def test_a_failure_in_a_run_names_the_parameters(spelled: Any) -> None:
    prior = Prior.joint(spelled(bad_far_out), spelled(draw_unit), level=())
    problem = aptmc.Tempered(spelled(lambda theta: 0.0), prior)
    with pytest.raises(MoveFailed, match=r"log_density of the prior returned .*nan.* at level=1\."):
        aptmc.sample(
            problem, budget=500.0, ladder=aptmc.Ladder.powers(3), kernel=aptmc.RandomWalk(1.0),
            schedule=aptmc.Anytime(every=3.0), on=aptmc.VirtualTime(1), seed=1,
        )  # fmt: skip
