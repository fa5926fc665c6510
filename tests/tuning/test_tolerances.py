"""Ladders of tolerances: how much mass a tolerance has, and equal spacing."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from aptmc.warmup import tolerance_ladders

RNG = np.random.default_rng(2)


def distances(tolerance: float, draws: int = 4000) -> np.ndarray:
    """Of draws of a rung whose hottest has exponential distances."""
    mass = -math.expm1(-tolerance)
    return -np.log1p(-mass * RNG.random(draws))


LADDER = np.array([0.01, 0.1, 0.5, math.inf])
CURVE = tolerance_ladders.mass_curve(LADDER, [distances(level) for level in LADDER])


@pytest.mark.parametrize("tolerance", [0.003, 0.01, 0.03, 0.1, 0.3, 2.0, math.inf])
def test_the_mass_within_a_tolerance_is_found_from_rungs_alone(tolerance):
    exact = math.log(-math.expm1(-tolerance))
    assert abs(tolerance_ladders.log_mass_within(tolerance, CURVE) - exact) < 0.15


@pytest.mark.parametrize("log_mass", [-0.1, -1.0, -3.0, -5.0])
def test_a_tolerance_is_found_from_its_mass(log_mass):
    exact = -math.log1p(-math.exp(log_mass))
    assert tolerance_ladders.tolerance_with(log_mass, CURVE) == pytest.approx(exact, rel=0.15)
    assert tolerance_ladders.tolerance_with(0.0, CURVE) == math.inf


@pytest.mark.parametrize("target", [0.25, 0.4, 0.6])
def test_neighbours_of_a_respaced_ladder_swap_as_often_as_wanted(target):
    ladder = tolerance_ladders.respaced(CURVE, 0.01, target, fewest=2, most=40)
    assert ladder[0] == 0.01
    assert ladder[-1] == math.inf
    mass = [-math.expm1(-level) for level in ladder]
    rates = [colder / warmer for colder, warmer in pairwise(mass)]
    assert all(abs(rate - target) < 0.1 for rate in rates)


def test_simulations_at_an_infinite_distance_are_no_trouble():
    """Where most simulations of the prior fail, the prior is left out of the ladder."""
    prior = np.where(RNG.random(4000) < 0.05, distances(math.inf), math.inf)
    curve = tolerance_ladders.mass_curve(np.array([math.inf]), [prior])
    ladder = tolerance_ladders.respaced(curve, float(curve[0].min()), 0.4, fewest=2, most=40)
    assert ladder[-1] < math.inf  # hardly a state would come from the prior
    assert all(np.isfinite(ladder[:-1]))
    assert tolerance_ladders.log_mass_within(1e9, curve) == pytest.approx(math.log(0.05), abs=0.3)


def test_where_most_distances_are_infinite_the_other_rungs_are_spaced_by_themselves():
    """The step from the prior does not count for the others."""
    levels = np.array([0.01, 0.1, 0.5, math.inf])
    seen = [distances(level) for level in levels]
    seen[-1] = np.where(RNG.random(4000) < 0.05, seen[-1], math.inf)
    curve = tolerance_ladders.mass_curve(levels, seen)
    ladder = tolerance_ladders.respaced(curve, 0.01, 0.4, fewest=2, most=40)
    assert ladder[-1] < math.inf  # hardly a state would come from the prior
    mass = [-math.expm1(-level) for level in ladder]
    assert mass[-1] > 0.9
    rates = [colder / warmer for colder, warmer in pairwise(mass)]
    assert all(abs(rate - 0.4) < 0.1 for rate in rates)
    assert len(tolerance_ladders.respaced(curve, 0.01, 0.4, fewest=2, most=4)) == 4


def noisy_curve() -> tuple[np.ndarray, np.ndarray]:
    return tolerance_ladders.mass_curve(LADDER, [distances(level, 100) for level in LADDER])


def test_curves_of_several_rounds_are_less_noisy_together():
    exact = math.log(-math.expm1(-0.01))
    errors = {1: [], 3: []}
    for _ in range(200):
        curves = [noisy_curve() for _ in range(3)]
        for count, found in errors.items():
            curve = tolerance_ladders.averaged(curves[-count:])
            found.append(tolerance_ladders.log_mass_within(0.01, curve) - exact)
    # Weights 1, 1/2, 1/4 leave 3/7 of the variance.
    assert np.mean(np.square(errors[3])) < 0.7 * np.mean(np.square(errors[1]))
    assert abs(np.mean(errors[3])) < 0.2


def test_an_average_reaches_as_far_as_the_last_curve():
    earlier = tolerance_ladders.mass_curve(np.array([math.inf]), [distances(math.inf)])
    tolerance, mass = tolerance_ladders.averaged([earlier, CURVE])
    assert tolerance[0] == math.inf
    assert mass[0] == 0.0
    assert tolerance.min() == CURVE[0].min()
    exact = math.log(-math.expm1(-0.01))
    assert tolerance_ladders.log_mass_within(0.01, (tolerance, mass)) == pytest.approx(
        exact, abs=0.15
    )


def test_an_average_of_one_curve_is_that_curve():
    tolerance, mass = tolerance_ladders.averaged([CURVE])
    for level in (0.01, 0.1, 1.0):
        assert tolerance_ladders.log_mass_within(level, (tolerance, mass)) == pytest.approx(
            tolerance_ladders.log_mass_within(level, CURVE), abs=0.02
        )


def test_an_average_without_finite_distances_is_the_last_curve():
    nothing = (np.array([math.inf]), np.array([0.0]))
    assert tolerance_ladders.averaged([CURVE, nothing])[0].tolist() == [math.inf]


def test_no_tolerance_is_ventured_that_only_few_draws_support():
    few = tolerance_ladders.mass_curve(np.array([math.inf]), [distances(math.inf, 30)])
    assert np.isfinite(few[0]).sum() <= 30 - tolerance_ladders.FEWEST_WITHIN + 1


def test_the_number_of_rungs_keeps_its_bounds():
    assert len(tolerance_ladders.respaced(CURVE, 0.01, 0.4, fewest=2, most=4)) == 4
    assert len(tolerance_ladders.respaced(CURVE, 0.01, 0.4, fewest=12, most=40)) == 12
