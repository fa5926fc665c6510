"""Every kind of prior, sampled from beginning to end in virtual time, with known answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy import integrate, stats

import aptmc
from tests.support.statistical import standard_errors_off

RUNS = 12
# Student's t with 11 degrees of freedom lies beyond 9.4 once in a million, and beyond this once in
# 300,000 for each of some twenty checks.
LARGEST = 9.4


class Case(NamedTuple):
    """A prior, a likelihood, and posterior means by label."""

    prior: Callable[[], aptmc.Prior]
    wrong: Callable[[], aptmc.Prior]  # a prior with other answers, which the check must notice
    log_likelihood: Callable[..., float]
    means: dict[str, float]


def near_data(theta):  # the data are 1, 2 and 3, with sd 1
    return -0.5 * ((theta[0] - 1.0) ** 2 + (theta[1] - 2.0) ** 2 + (theta[2] - 3.0) ** 2)


def near_four(theta):
    # Whoever sees anything but whole numbers here would be told apart at once.
    return -0.5 * (theta[0] - 4.0) ** 2 if theta[0] == math.floor(theta[0]) else math.nan


def votes(theta):  # 4, 3 and 1 votes for three parties
    if abs(theta[0] + theta[1] + theta[2] - 1.0) > 1e-9:
        return math.nan
    return 4.0 * math.log(theta[0]) + 3.0 * math.log(theta[1]) + math.log(theta[2])


def near_three_groups(theta):  # beta in places 1 to 3 with data 2, -3 and 1, each with sd 1
    return -0.5 * ((theta[1] - 2.0) ** 2 + (theta[2] + 3.0) ** 2 + (theta[3] - 1.0) ** 2)


def to_the_right(theta):
    return 2.0 * theta[0]


def mean_of_count() -> float:
    k = np.arange(60)
    weights = stats.poisson(3).pmf(k) * np.exp(-0.5 * (k - 4.0) ** 2)
    return float((k * weights).sum() / weights.sum())


def mean_of_spread() -> float:
    """The groups' own means integrated out: each datum is normal with variance 1 + sd ** 2."""

    def weight(sd: float) -> float:
        density = stats.norm(0, math.sqrt(1.0 + sd * sd)).pdf([2.0, -3.0, 1.0]).prod()
        return float(density * stats.halfnorm(scale=2).pdf(sd))

    above = integrate.quad(lambda sd: sd * weight(sd), 0.0, 20.0)[0]
    return float(above / integrate.quad(weight, 0.0, 20.0)[0])


def mean_on_the_disc() -> float:
    above = integrate.quad(lambda x: x * math.exp(2.0 * x) * math.sqrt(1.0 - x * x), -1, 1)[0]
    below = integrate.quad(lambda x: math.exp(2.0 * x) * math.sqrt(1.0 - x * x), -1, 1)[0]
    return float(above / below)


COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])


def means_with_correlation() -> dict[str, float]:
    mean = COVARIANCE @ np.linalg.solve(COVARIANCE + np.eye(3), [1.0, 2.0, 3.0])
    return {f"x[{place}]": float(mean[place]) for place in range(3)}


CLOSE = np.array([[1.0, 0.5], [0.5, 1.0]])


def near_two(theta):  # the data are 1 and 3, with sd 1
    return -0.5 * ((theta[1] - 1.0) ** 2 + (theta[2] - 3.0) ** 2)


def means_with_level() -> dict[str, float]:
    """Level and vector are jointly normal."""
    joint = np.ones((3, 3))
    joint[1:, 1:] += CLOSE
    mean = joint[:, 1:] @ np.linalg.solve(joint[1:, 1:] + np.eye(2), [1.0, 3.0])
    return dict(zip(["level", "x[0]", "x[1]"], mean.tolist(), strict=True))


def log_density_of_disc(theta):
    inside = theta[0] * theta[0] + theta[1] * theta[1] <= 1.0
    return -math.log(math.pi) if inside else -math.inf


def draw_from_disc(rng):
    angle, radius = 2.0 * math.pi * rng.random(), math.sqrt(rng.random())
    return np.array([radius * math.cos(angle), radius * math.sin(angle)])


def draw_from_square(rng):
    return np.array([2.0 * rng.random() - 1.0, 2.0 * rng.random() - 1.0])


CASES = {
    "vector": Case(
        lambda: aptmc.Prior(x=aptmc.iid(stats.norm(0, 1), 3)),
        lambda: aptmc.Prior(x=aptmc.iid(stats.norm(0, 2), 3)),
        near_data,
        {"x[0]": 0.5, "x[1]": 1.0, "x[2]": 1.5},
    ),
    "multivariate normal": Case(
        lambda: aptmc.Prior(x=stats.multivariate_normal(np.zeros(3), COVARIANCE)),
        lambda: aptmc.Prior(x=stats.multivariate_normal(np.zeros(3), np.eye(3))),
        near_data,
        means_with_correlation(),
    ),
    "whole number": Case(
        lambda: aptmc.Prior(k=stats.poisson(3)),
        lambda: aptmc.Prior(k=stats.poisson(4)),
        near_four,
        {"k": mean_of_count()},
    ),
    "simplex": Case(
        lambda: aptmc.Prior(share=stats.dirichlet([1.0, 2.0, 0.5])),
        lambda: aptmc.Prior(share=stats.dirichlet([2.0, 2.0, 0.5])),
        votes,
        {"share[0]": 5.0 / 11.5, "share[1]": 5.0 / 11.5, "share[2]": 1.5 / 11.5},
    ),
    "given": Case(
        lambda: aptmc.Prior(
            sd=stats.halfnorm(scale=2), beta=aptmc.iid(aptmc.given(stats.norm, 0, "sd"), 3)
        ),
        lambda: aptmc.Prior(
            sd=stats.halfnorm(scale=2),
            beta=aptmc.iid(aptmc.given(stats.norm, 0, njit(lambda sd: 0.5 * sd)), 3),
        ),
        near_three_groups,
        {"sd": mean_of_spread()},
    ),
    "joint": Case(
        lambda: aptmc.Prior.joint(njit(log_density_of_disc), njit(draw_from_disc), x=(), y=()),
        # Draws from another distribution than that of the density: what a user might get wrong.
        lambda: aptmc.Prior.joint(
            njit(lambda theta: -math.log(4.0) if np.abs(theta).max() <= 1.0 else -math.inf),
            njit(draw_from_square),
            x=(),
            y=(),
        ),
        to_the_right,
        {"x": mean_on_the_disc(), "y": 0.0},
    ),
}
PLAIN = {
    # scipy takes a millisecond to freeze most distributions, but not this one.
    "function": Case(
        lambda: aptmc.Prior(
            level=stats.norm(0, 1),
            x=lambda level: stats.multivariate_normal([level, level], CLOSE),
        ),
        lambda: aptmc.Prior(
            level=stats.norm(0, 1),
            x=lambda level: stats.multivariate_normal([-level, -level], CLOSE),
        ),
        near_two,
        means_with_level(),
    ),
    "joint in Python": Case(
        lambda: aptmc.Prior.joint(log_density_of_disc, draw_from_disc, x=(), y=()),
        lambda: aptmc.Prior.joint(
            lambda theta: 0.0 if np.abs(theta).max() <= 0.5 else -math.inf,
            lambda rng: 0.5 * draw_from_square(rng),
            x=(),
            y=(),
        ),
        to_the_right,
        {"x": mean_on_the_disc(), "y": 0.0},
    ),
}


def sampled(problem: aptmc.Tempered, budget: float, seed: int) -> aptmc.Run:
    """Down to the prior, so that rungs are drawn from it, too."""
    return aptmc.sample(
        problem, budget=budget, ladder=aptmc.Ladder.powers([1.0, 0.4, 0.0]),
        kernel=aptmc.RandomWalk(1.0), schedule=aptmc.Anytime(every=5.0, jitter=0.5),
        on=aptmc.VirtualTime(1), seed=seed,
    )  # fmt: skip


def errors_off(problem: aptmc.Tempered, means: dict[str, float], budget: float) -> float:
    """How many standard errors the worst of some posterior means is off."""
    runs = [sampled(problem, budget, seed) for seed in range(RUNS)]
    return max(
        standard_errors_off([run.series(label)[0].mean() for run in runs], expected)
        for label, expected in means.items()
    )


# To compile a problem takes seconds: these are left to the validation. Whole numbers and simplexes
# are sampled with simulators below, too; joint priors, and those that depend on each other, are in
# plain Python.
LEFT_OUT = ("vector", "simplex", "whole number", "given", "joint")
EACH = [
    pytest.param(name, marks=[pytest.mark.validation] if name in LEFT_OUT else []) for name in CASES
]


@cache
def compiled(name: str) -> aptmc.Tempered:
    """Made once: to compile one takes longer than to sample it."""
    return aptmc.Tempered(njit(CASES[name].log_likelihood), CASES[name].prior())


@pytest.mark.parametrize("name", EACH)
def test_posterior_means_are_right(name: str) -> None:
    assert compiled(name).is_compiled
    assert errors_off(compiled(name), CASES[name].means, 6000.0) < LARGEST


def test_another_prior_is_noticed() -> None:
    """Runs with correlations do not have the means without."""
    off = errors_off(compiled("multivariate normal"), CASES["vector"].means, 6000.0)
    assert off > LARGEST


@pytest.mark.validation
@pytest.mark.parametrize("name", CASES)
def test_a_wrong_prior_is_noticed(name: str, validation_scale: float) -> None:
    if name != "multivariate normal" and validation_scale < 0.1:
        pytest.skip("one of them is enough to see that the check works")
    case = CASES[name]
    wrong = aptmc.Tempered(njit(case.log_likelihood), case.wrong())
    assert errors_off(wrong, case.means, 6000.0) > LARGEST


@pytest.mark.validation
@pytest.mark.parametrize("name", PLAIN)
def test_the_same_in_plain_python(name: str) -> None:
    case = PLAIN[name]
    right = aptmc.Tempered(case.log_likelihood, case.prior())
    assert not right.is_compiled
    assert errors_off(right, case.means, 250.0) < LARGEST
    assert (
        errors_off(aptmc.Tempered(case.log_likelihood, case.wrong()), case.means, 250.0) > LARGEST
    )


@pytest.mark.parametrize("name", EACH)
def test_a_likelihood_in_python_gives_the_same_draws(name: str) -> None:
    case = CASES[name]
    one = sampled(compiled(name), 150.0, 3)
    other = sampled(aptmc.Tempered(case.log_likelihood, compiled(name).prior), 150.0, 3)
    for label in case.means:
        np.testing.assert_allclose(one.series(label)[0], other.series(label)[0], rtol=1e-9)


# --- simulators -----------------------------------------------------------------------------------


def simulate(theta, rng):
    if theta[0] != math.floor(theta[0]):
        return np.full(1, np.nan)
    return np.full(1, theta[0] + theta[1] + 0.0 * rng.random())


def distance(simulated, observed):
    return abs(simulated[0] - observed[0])


@pytest.mark.validation
@pytest.mark.parametrize("spelled", [njit, lambda function: function], ids=["numba", "Python"])
def test_simulators_see_parameters_and_so_does_rejection(spelled: Any) -> None:
    prior = aptmc.Prior(k=stats.randint(0, 4), share=stats.dirichlet([1.0, 1.0]))
    problem = aptmc.Abc(spelled(simulate), prior, observed=[2.25], distance=spelled(distance))
    # Within 0.5 of 2.25 lie k = 2 with any share up to 0.75, and k = 1 with one from 0.75 on.
    accepted = aptmc.rejection(problem, 0.5, simulations=4000, seed=1)
    assert accepted.names == ("k", "share[0]", "share[1]")
    assert set(np.unique(accepted.series("k"))) == {1.0, 2.0}
    np.testing.assert_allclose(accepted.theta[:, 1:].sum(axis=1), 1.0)
    # A binomial count of a quarter of 4000: six standard deviations.
    assert abs(accepted.rate - 0.25) < 6.0 * math.sqrt(0.25 * 0.75 / 4000)
    # Plain runs give the same draws, and fewer of them in the same time.
    number, budget = (RUNS, 4000.0) if problem.is_compiled else (1, 600.0)
    runs = [
        aptmc.sample(
            problem, budget=budget, ladder=aptmc.Ladder.tolerances([0.5, 1.5, math.inf]),
            kernel=aptmc.OneHit(1.0), schedule=aptmc.Anytime(every=5.0), on=aptmc.VirtualTime(1),
            seed=seed,
        )
        for seed in range(1, 1 + number)
    ]  # fmt: skip
    for run in runs:
        assert set(np.unique(run.draws.posterior["k"])) == {1, 2}
        assert abs(run.series("k")[0] + run.series("share[0]")[0] - 2.25).max() <= 0.5
    if problem.is_compiled:
        means = [run.series("k")[0].mean() for run in runs]
        assert standard_errors_off(means, 1.75) < LARGEST
        assert standard_errors_off(means, 1.5) > LARGEST  # if both were as likely


def test_hold_times_see_parameters_too() -> None:
    seen = []

    def hold(theta, rung, rng):
        seen.append(theta.copy())
        return 1.0

    problem = aptmc.Tempered(near_four, aptmc.Prior(k=stats.poisson(3)))
    aptmc.sample(
        problem, budget=50.0, ladder=aptmc.Ladder.powers(3), kernel=aptmc.RandomWalk(1.0),
        schedule=aptmc.Anytime(every=5.0), on=aptmc.VirtualTime(1, hold=hold), seed=1,
    )  # fmt: skip
    assert all(theta == np.floor(theta) for theta in seen)


def test_errors_name_parameters_as_users_know_them() -> None:
    def fails(theta):
        return 1 / 0

    prior = aptmc.Prior(k=stats.randint(3, 4), share=stats.dirichlet([1.0, 1.0]))
    with pytest.raises(
        aptmc.MoveFailed, match=r"ZeroDivisionError.* at k=3\.0, share\[0\]=0\."
    ) as e:
        sampled(aptmc.Tempered(fails, prior), 10.0, 1)
    assert set(e.value.parameters) == {"k", "share[0]", "share[1]"}
