"""Gradients that come with a density: kept, checked, and offered to kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.errors import InputError, MoveFailed
from aptmc.targets import INTERPRETED, NUMBA


def log_likelihood(theta):
    return -0.5 * theta @ theta


def gradient(theta):
    return -theta


def problem(gradient: Any, kind: str = "Tempered") -> Any:
    if kind == "Power":
        return aptmc.Power(log_likelihood, {"x": np.zeros(2)}, gradient=gradient)
    prior = aptmc.Prior(x=aptmc.iid(stats.norm(0, 1), 2))
    return aptmc.Tempered(log_likelihood, prior, gradient=gradient)


@pytest.mark.parametrize("kind", ["Tempered", "Power"])
@pytest.mark.parametrize("compiled", [False, True])
def test_the_gradient_is_offered_to_kernels(kind: str, compiled: bool) -> None:
    given = problem(njit(gradient) if compiled else gradient, kind)
    function = given.gradient_function(NUMBA if compiled else INTERPRETED)
    theta, found = np.array([1.0, -2.0]), np.empty(2)
    function(theta, found)
    np.testing.assert_array_equal(found, [-1.0, 2.0])


def test_a_function_that_changes_its_argument_does_no_harm() -> None:
    def meddling(theta):
        theta *= -1.0
        return theta

    theta, found = np.array([1.0, -2.0]), np.empty(2)
    problem(meddling).gradient_function(INTERPRETED)(theta, found)
    np.testing.assert_array_equal(theta, [1.0, -2.0])


def test_without_one_the_error_says_how_to_give_it() -> None:
    with pytest.raises(InputError, match=r"has no gradient: give one, Tempered\("):
        problem(None).gradient_function(INTERPRETED)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(3.0, "gradient must be a function"), (lambda a, b: a, r"called as gradient\(theta\)")],
)
def test_what_cannot_be_called_is_refused_at_once(wrong: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        problem(wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda theta: 1.0, r"gradient returned 1\.0, must be an array of 2 numbers"),
        (lambda theta: np.zeros(3), "must be an array of 2 numbers"),
        (lambda theta: ["a", "b"], "must be an array of 2 numbers"),
        (lambda theta: np.full(2, np.nan), "must be numbers"),
        (lambda theta: 1 / 0, "gradient raised ZeroDivisionError"),
    ],
)
def test_what_it_returns_is_checked_when_it_is_called(wrong: Any, message: str) -> None:
    function = problem(wrong).gradient_function(INTERPRETED)
    with pytest.raises(MoveFailed, match=rf"{message}.* at x\[0\]=1\.0, x\[1\]=-2\.0"):
        function(np.array([1.0, -2.0]), np.empty(2))


def test_a_compiled_one_of_the_wrong_length_is_refused() -> None:
    function = problem(njit(lambda theta: theta[:1])).gradient_function(NUMBA)
    with pytest.raises(InputError, match="another length than theta"):
        function(np.array([1.0, -2.0]), np.empty(2))


def test_whole_numbers_and_simplexes_have_no_gradient() -> None:
    prior = aptmc.Prior(k=stats.poisson(3), s=stats.dirichlet([1, 1]))
    with pytest.raises(InputError, match=r"real parameters only, got k \(whole\), s \(simplex\)"):
        aptmc.Tempered(log_likelihood, prior, gradient=gradient)


def test_it_belongs_to_the_fingerprint() -> None:
    assert problem(gradient).fingerprint() == problem(gradient).fingerprint()
    assert problem(gradient).fingerprint() != problem(None).fingerprint()
