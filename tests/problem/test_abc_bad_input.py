"""Likelihood-free problems: what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from tests.support.normal_data import (
    OBSERVED,
    PRIOR,
    distance,
    sample,
    simulate,
    simulated_distance,
    with_data,
)


@pytest.mark.parametrize("function", [None, 3.0, "simulate", np.zeros(2)])
@pytest.mark.parametrize("name", ["simulate", "distance", "summary", "simulated_distance"])
def test_what_is_no_function_is_refused(name: str, function) -> None:
    if name == "summary" and function is None:
        return  # there need not be one
    make = {
        "simulate": lambda: with_data(function),
        "simulated_distance": lambda: aptmc.Abc.early(function, PRIOR),
    }.get(name, lambda: with_data(**{name: function}))
    with pytest.raises(aptmc.InputError) as refusal:
        make()
    assert f"{name} must be a function" in str(refusal.value)
    assert repr(function) in str(refusal.value)


@pytest.mark.parametrize("prior", [None, stats.norm(0, 1), {"x": stats.norm(0, 1)}, aptmc.Prior])
def test_what_is_no_prior_is_refused(prior) -> None:
    for make in (
        lambda: aptmc.Abc(simulate, prior, observed=OBSERVED, distance=distance),
        lambda: aptmc.Abc.early(simulated_distance, prior),
    ):
        with pytest.raises(aptmc.InputError) as refusal:
            make()
        assert "prior must be an aptmc.Prior, got " in str(refusal.value)


@pytest.mark.parametrize(
    "observed",
    [
        None,
        "three",
        ["1.0", "2.0"],
        [],
        [[]],
        math.nan,
        [1.0, math.nan],
        [1.0, math.inf],
        [1.0, None],
        [1j],
        {},
    ],
    ids=repr,
)
def test_what_is_no_data_is_refused(observed) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        with_data(observed=observed)
    assert f"observed must be an array of finite numbers, got {observed!r}" in str(refusal.value)


def complain(data):
    raise ArithmeticError("out of range")


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        (lambda data: math.nan * data, "got array([nan, nan, nan])"),
        (lambda data: [1.0, math.inf], "got [1.0, inf]"),
        (lambda data: [], "got []"),
        (lambda data: None, "got None"),
        (lambda data: "mean", "got 'mean'"),
        (complain, "summary raised ArithmeticError for the observed data: out of range"),
        (lambda: 0.0, "but yours takes ()"),
    ],
)
def test_a_summary_that_fails_for_the_data_is_refused(summary, message: str) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        with_data(summary=summary)
    assert "summary" in str(refusal.value)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("on_error", "ignore"),
        ("on_error", "Raise"),
        ("on_error", None),
        ("on_error", True),
        ("start_simulations", 0),
        ("start_simulations", -1),
        ("start_simulations", 1.5),
        ("start_simulations", True),
        ("start_simulations", "many"),
        ("start_simulations", None),
    ],
)
def test_a_wrong_option_is_refused_by_name(name: str, value) -> None:
    for make in (
        lambda: with_data(**{name: value}),
        lambda: aptmc.Abc.early(simulated_distance, PRIOR, **{name: value}),
    ):
        with pytest.raises(aptmc.InputError) as refusal:
            make()
        assert name in str(refusal.value)
        assert repr(value) in str(refusal.value)


@njit
def takes_no_generator(theta):
    return theta


@njit
def gives_text(theta, rng):
    return "three"


@njit
def array_distance(simulated, observed):
    return np.abs(simulated - observed)


@njit
def early_array(theta, rng, tolerance):
    return np.abs(theta)


@pytest.mark.parametrize(
    "make",
    [
        lambda: with_data(gives_text),
        lambda: with_data(distance=array_distance),
        lambda: aptmc.Abc.early(early_array, PRIOR),
        lambda: aptmc.Abc.early(early_array, PRIOR, on_error="reject"),
        lambda: aptmc.Abc.early(simulated_distance, PRIOR, counts_work=True),
    ],
    ids=["text", "distance", "early", "early, reject", "no work"],
)
def test_compiled_functions_that_do_not_fit_are_refused_by_name(make) -> None:
    problem = make()
    with pytest.raises(aptmc.InputError, match=r"^simulate.* cannot be compiled together"):
        sample(problem)
    with pytest.raises(aptmc.InputError, match=r"^simulate.* cannot be compiled together"):
        aptmc.rejection(problem, 1.0, simulations=10, seed=1)


def test_compiled_functions_with_other_arguments_are_refused_at_once() -> None:
    with pytest.raises(
        aptmc.InputError, match=r"^simulate is called as simulate\(theta, rng\), but"
    ):
        with_data(takes_no_generator)


def never(*arguments):
    raise AssertionError("no work must be done")


NEVER = aptmc.Abc.early(never, PRIOR)
DENSITY = aptmc.Tempered(never, PRIOR)


@pytest.mark.parametrize(
    ("problem", "changes", "message"),
    [
        (NEVER, {"kernel": aptmc.RandomWalk(1.0)}, "RandomWalk needs a density, got a problem of"),
        (
            DENSITY,
            {"ladder": aptmc.Ladder.powers(3), "kernel": aptmc.OneHit(1.0)},
            "OneHit needs a simulator, got a problem of kind Tempered",
        ),
        (
            NEVER,
            {"ladder": aptmc.Ladder.powers(3)},
            "kind Abc needs a ladder of tolerances, got Ladder.powers(",
        ),
        (
            DENSITY,
            {"kernel": aptmc.RandomWalk(1.0)},
            "kind Tempered needs a ladder of powers, got Ladder.tolerances([0.8, 2.0, inf])",
        ),
        (
            NEVER,
            {"kernel": aptmc.OneHit(1.0, cap=[5, 6])},
            "cap must have one entry for each of 3 rungs, got [5, 6]",
        ),
        (NEVER, {"kernel": aptmc.OneHit(1.0, cap=[])}, "for each of 3 rungs, got []"),
        (NEVER, {"kernel": aptmc.OneHit(0.0)}, "scale must be positive, got 0.0"),
        (NEVER, {"kernel": aptmc.OneHit([1.0, 2.0])}, "3 rungs, got shape (2,)"),
        (NEVER, {"kernel": aptmc.OneHit({"x": 1.0})}, "scale must name each of theta, got"),
        *(
            (NEVER, {"kernel": aptmc.OneHit(1.0, truncate=wrong)}, f"got {wrong!r}")
            for wrong in (
                (1.0, 0.0),
                (1.0, 1.0),
                (0.0, math.nan),
                (0.0,),
                (0.0, 1.0, 2.0),
                ([0.0, 0.0], [1.0, 1.0]),
                ("low", "high"),
                None,
                0,
                1.0,
                "support",
            )
        ),
    ],
)
def test_parts_that_do_not_fit_together_are_refused_before_any_work(
    problem, changes, message: str
) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        sample(problem, **changes)
    assert message in str(refusal.value)


@pytest.mark.parametrize("cap", [0, -1, 1.5, True, "many", [5, 0], [5, None, 1.5], math.inf])
def test_a_wrong_cap_is_refused(cap) -> None:
    with pytest.raises(aptmc.InputError, match="cap must be a whole number from 1 on") as refusal:
        aptmc.OneHit(1.0, cap=cap)
    wrong = cap[-1] if isinstance(cap, list | str) else cap
    assert repr(wrong) in str(refusal.value) or repr(cap[0]) in str(refusal.value)


@pytest.mark.parametrize("truncate", [True, (0.0, 1.0)])
def test_truncation_with_a_covariance_is_refused(truncate) -> None:
    with pytest.raises(aptmc.InputError, match="truncate works with scale only"):
        aptmc.OneHit(covariance=[[1.0]], truncate=truncate)


def test_a_kernel_needs_a_scale() -> None:
    with pytest.raises(aptmc.InputError, match="OneHit needs either scale or covariance"):
        aptmc.OneHit()
    with pytest.raises(aptmc.InputError, match="OneHit needs either scale or covariance"):
        aptmc.OneHit(1.0, covariance=[[1.0]])


def test_what_makes_a_distance_is_none() -> None:
    with pytest.raises(aptmc.InputError, match=r"call it, distance=aptmc\.distance\.p_norm\(2\)$"):
        aptmc.Abc(simulate, PRIOR, observed=OBSERVED, distance=aptmc.distance.p_norm)
