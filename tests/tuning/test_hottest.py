"""A user may ask for a hotter rung than the descent would choose."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.warmup.tolerances import up_to
from tests.support.wide_prior import PRIOR, sample, share


@pytest.mark.parametrize(
    "hottest", [math.inf, pytest.param(5.0, marks=pytest.mark.validation), 0.6]
)
def test_a_ladder_ends_where_it_was_asked_to(hottest) -> None:
    run = sample(ladder=aptmc.Ladder.auto(coldest=0.1, hottest=hottest), budget=10_000)
    levels = run.settings.ladder.levels
    assert (levels[0], levels[-1]) == (0.1, hottest)
    # The descent has spaced the rungs in between as always.
    first = run.warmup_rounds[0].ladder.levels
    assert first[-1] == hottest
    rates = [share(colder) / share(warmer) for colder, warmer in pairwise(first)]
    assert all(0.15 < rate < 0.75 for rate in rates)
    # The control: left alone, a ladder ends elsewhere.
    alone = sample(ladder=aptmc.Ladder.auto(coldest=0.1), budget=10_000).settings.ladder
    assert alone.levels[-1] not in (math.inf, hottest)


def test_simulations_that_mostly_have_no_distance_are_no_excuse() -> None:
    """Left to itself a ladder ends below the prior, from which hardly a state comes."""

    def mostly_nowhere(theta, rng, tolerance):
        distance = abs(theta[0] + rng.standard_normal() - 3.0)
        return distance if rng.random() < 0.2 else math.inf

    problem = aptmc.Abc.early(mostly_nowhere, aptmc.Prior(theta=stats.norm(0, 2)))
    run = sample(problem, ladder=aptmc.Ladder.auto(coldest=0.3, hottest=math.inf))
    assert run.settings.ladder.levels[-1] == math.inf


def test_a_simulator_is_never_told_a_larger_tolerance() -> None:
    told = []

    def simulate(theta, rng, tolerance):
        told.append(tolerance)
        distance = abs(theta[0] + rng.standard_normal() - 3.0)
        return distance if distance <= tolerance else math.inf

    problem = aptmc.Abc.early(simulate, PRIOR)
    sample(problem, ladder=aptmc.Ladder.auto(coldest=0.3, hottest=2.5), budget=1_000)
    assert max(told) == 2.5
    told.clear()
    sample(problem, ladder=aptmc.Ladder.auto(coldest=0.3), budget=1_000)  # the control
    assert max(told) == math.inf


def test_the_most_rungs_are_not_exceeded() -> None:
    assert up_to(None, (1.0, 2.0), 2) == (1.0, 2.0)
    assert up_to(math.inf, (1.0, 2.0), 3) == (1.0, 2.0, math.inf)
    assert up_to(math.inf, (1.0, 2.0), 2) == (1.0, math.inf)
    assert up_to(2.0, (1.0, 2.0), 2) == (1.0, 2.0)


@pytest.mark.parametrize("wrong", [{"hottest": 0.0}, {"hottest": "inf"}, {"hottest": math.nan}])
def test_a_wish_that_cannot_be_is_refused(wrong) -> None:
    with pytest.raises(aptmc.InputError, match=r"hottest must be a tolerance larger than"):
        aptmc.Ladder.auto(**wrong)
    with pytest.raises(aptmc.InputError, match=r"hottest .* got 1\.0"):
        aptmc.Ladder.auto(coldest=1.0, hottest=1.0)


def test_powers_have_no_hottest_tolerance() -> None:
    problem = aptmc.Tempered(lambda theta: 0.0, aptmc.Prior(x=stats.norm(0, 1)))
    with pytest.raises(aptmc.InputError, match="hottest is a tolerance, got inf"):
        aptmc.sample(problem, budget=10, ladder=aptmc.Ladder.auto(hottest=math.inf))


def test_it_is_stored_with_the_wish(tmp_path) -> None:
    from aptmc.result.archive import from_json, to_json

    wish = aptmc.Ladder.auto(hottest=math.inf)
    assert from_json(to_json(wish), "ladder") == wish
    assert np.isinf(wish.hottest)
