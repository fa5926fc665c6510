"""Lanes sample what they should, however long some states take; what is uncorrected does not.

Groups are independent, so their means tell the standard error. A false alarm, 4 of them off, comes
once in 16,000 seeds; what is wrong must be 10 off.
"""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc.models import gamma_mixture
from tests.lanes.problems import MIXTURE, TWO_MODES, errors_off, mixture, sampled, two_modes

MOST, FEWEST = 4.0, 10.0


def is_slow(series):
    return series > 0.0


def itself(series):
    return series


def test_two_modes_have_equal_shares_though_one_takes_twenty_times_as_long():
    run = sampled(two_modes(), TWO_MODES, budget=60_000)
    assert abs(errors_off(run, is_slow, 0.5)) < MOST
    assert run.swap_rates.neighbours == pytest.approx([0.31, 0.48], abs=0.03)
    assert run.round_trips > 1000


def test_two_modes_without_the_correction_are_caught():
    run = sampled(two_modes(), TWO_MODES, budget=20_000, schedule=aptmc.Uncorrected)
    assert errors_off(run, is_slow, 0.5) > FEWEST


@pytest.mark.validation
def test_predators_and_prey_have_the_means_of_rejection(validation_scale):
    """At the paper's coldest tolerance."""
    from benchmarks.lanes import predators

    on = aptmc.Lanes(512, device="cpu", budget_in="ticks", settle=0.3)
    ticks = max(int(4e6 * validation_scale), 300_000)
    assert (np.abs(predators(on, ticks, thin=1).off) < MOST).all()


@pytest.mark.validation(shortest=0.1)
@pytest.mark.parametrize("schedule", [aptmc.Anytime, aptmc.Uncorrected])
def test_predators_and_prey_without_the_correction_are_caught(schedule, validation_scale):
    """Against a long run: uncorrected, prey are eaten too seldom, by a sixth of the spread."""
    from benchmarks.lanes import without_correction

    def lanes(count, **options):
        return aptmc.Lanes(count, device="cpu", **options)

    ticks = max(int(3e6 * validation_scale), 1_500_000)
    _, (_, predation, death) = without_correction(2048, ticks, schedule, lanes)
    if schedule is aptmc.Uncorrected:
        assert predation < -FEWEST
        assert death < -MOST
    else:
        assert abs(predation) < MOST
        assert abs(death) < MOST


def test_the_gamma_mixture_has_its_mean():
    run = sampled(mixture(), MIXTURE, budget=40_000)
    assert abs(errors_off(run, itself, gamma_mixture.MEAN)) < MOST
    series = np.concatenate(run.series("x"))
    below = np.mean(series < gamma_mixture.MIDDLE)
    assert below == pytest.approx(gamma_mixture.PROBABILITY_BELOW_MIDDLE, abs=0.02)


def test_the_gamma_mixture_without_the_correction_is_caught():
    run = sampled(mixture(), MIXTURE, budget=20_000, schedule=aptmc.Uncorrected)
    assert errors_off(run, itself, gamma_mixture.MEAN) > FEWEST
