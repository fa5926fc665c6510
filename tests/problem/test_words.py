"""Problems are shown as they were written."""

from __future__ import annotations

import functools

import numpy as np
from scipy import stats

import aptmc


def flat(theta: np.ndarray) -> float:
    return 0.0


def test_a_posterior_is_shown_by_its_function_and_its_prior() -> None:
    prior = aptmc.Prior(x=stats.norm(0, 1))
    assert repr(aptmc.Tempered(flat, prior)) == "Tempered(flat, Prior(x=norm(0, 1)))"
    words = repr(aptmc.Tempered(functools.partial(max, 0.0), prior, gradient=flat))
    assert words == "Tempered(partial(max), Prior(x=norm(0, 1)), gradient=flat)"


def test_a_density_is_shown_by_its_function_and_its_start() -> None:
    assert repr(aptmc.Power(flat, [0.0, 0.25])) == "Power(flat, start=[0, 0.25])"
    problem = aptmc.Power(flat, {"x": 0.5, "beta": np.zeros(9)}, gradient=flat)
    assert repr(problem) == "Power(flat, start={'x': 0.5, 'beta': <9 numbers>}, gradient=flat)"
    assert repr(aptmc.Power(flat, lambda rng: rng.normal())) == "Power(flat, start=<lambda>)"


def test_a_prior_of_two_functions_says_how_it_was_made() -> None:
    prior = aptmc.Prior.joint(flat, lambda rng: rng.normal(size=4), x=(), slopes=3)
    assert repr(prior) == "Prior.joint(flat, <lambda>, x=(), slopes=(3,))"
