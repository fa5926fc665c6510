"""Several lanes at once: the numbers of one after the other, bit for bit."""

from __future__ import annotations

import math
import shutil

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.lanes import c_here
from aptmc.backends.lanes.at_once.source import code_at_once
from aptmc.backends.lanes.c_here import ONE_BY_ONE
from aptmc.backends.lanes.cuda.source import written
from aptmc.backends.lanes.processor_fleet import ProcessorFleet
from aptmc.backends.lanes.tables import Whole
from aptmc.errors import InputError
from tests.lanes.test_c_code import (
    PLAN,
    beginning,
    epidemic,
    predators,
    row_of,
    voyage,
    whole_modes,
)

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")

STEPS = np.array([0.5, 1.5, 2.5, 3.5])


@njit
def begin_all(theta, rng, state):
    state[0] = theta[0]


@njit
def two_of(rng, x):
    if x < 0.0:
        return -x, 1
    return rng.normal(x, 0.1), int(x) + 2


@njit
def step_all(theta, rng, state, tolerance):
    """Something of all that can be done at once, and a loop that few come to."""
    state[1] += 1.0
    x = state[0] + 0.1 * rng.standard_normal()
    size, count = two_of(rng, x)
    is_far = size > 1.0 and rng.random() < 0.9
    if is_far or not math.isfinite(size):
        x = math.copysign(min(size, 3.0), x) if rng.random() < 0.5 else -x
    elif count >= 3:
        x -= 0.2 * math.exp(-size) + abs(math.sin(x)) ** 2
        if x < -1.5:
            return math.inf
    else:
        x += 0.05 * STEPS[min(count, 3)] * rng.uniform(0.0, 2.0) + math.floor(0.3 * x)
    seen = int(1e6 * x)
    if seen < 4 and seen >= 0 and STEPS[seen] > 1.0:  # the place of all others lies far outside
        x += 0.25
    place = (math.floor(abs(x)) & 3 | 1) + rng.integers(0, 3)
    x = x / (1.0 + 0.01 * place) + 1e-3 * math.sqrt(state[1])
    if x > 2.8:
        for _ in range(3):
            x -= rng.exponential(0.3)
    state[0] = x
    if state[1] < 60.0:
        return -1.0
    return abs(x) + 0.1 * rng.random()


def all_that_can_be():
    problem = aptmc.Abc.stepwise(begin_all, step_all, aptmc.Prior(x=stats.uniform(-3, 6)), state=2)
    ladder = aptmc.Ladder.tolerances([0.5, 1.0, 2.0])
    made = voyage(problem, ladder, aptmc.OneHit([0.3, 0.6, 1.0]))
    return made, row_of(problem, [0.5], 0.1)


def sailed(made, row, way, plan=PLAN):
    fleet = ProcessorFleet(made, 1, way)
    fleet.load(beginning(made, row))
    return (fleet.run(plan), *fleet.read())


def in_c(made):
    """The code for one lane, and where its functions stand."""
    return written(made, 64, on_gpu=False)


def check_that_there_are_vectors(made):
    if c_here._several_at_once(made.model, *in_c(made)) is None:
        pytest.skip("this processor has no vectors that are worth it")


@pytest.mark.parametrize(
    "make", [all_that_can_be, pytest.param(predators, marks=pytest.mark.validation)]
)
def test_they_have_the_numbers_of_one_after_the_other(make):
    made, row = make()
    check_that_there_are_vectors(made)
    several, one = (sailed(made, row, way) for way in ("c", ONE_BY_ONE))
    for these, those in zip(several, one, strict=True):
        assert np.array_equal(these, those)
    assert len(np.unique(one[0][:, :, 0])) > 50


@pytest.mark.validation
def test_a_last_bit_is_seen(monkeypatch):
    """Products that are added without being rounded first."""
    made, row = all_that_can_be()
    check_that_there_are_vectors(made)
    monkeypatch.setattr(c_here, "AT_ONCE", (*c_here.AT_ONCE, "-O2", "-ffp-contract=fast"))
    several = sailed(all_that_can_be()[0], row, "c")
    assert not np.array_equal(several[0], sailed(made, row, ONE_BY_ONE)[0])


def test_lanes_may_have_any_number_of_ticks_and_any_place():
    """Those that are not as many as fit into a vector, or have other ticks, are done alone."""
    made, row = all_that_can_be()
    ticks = np.repeat([40, 40, 7, 300], [9, 2, 1, 6])
    lanes = []
    for way in ("c", ONE_BY_ONE):
        fleet = ProcessorFleet(made, 1, way)
        fleet.load(beginning(made, row))
        for _ in range(20):
            fleet.catch_up(ticks)
        lanes.append(fleet.read())
    for these, those in zip(*lanes, strict=True):
        assert np.array_equal(these, those)
    assert (lanes[0].wholes[Whole.STEPS] > 5.0 * ticks).all()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (epidemic, "know no loops, in line .* for i in range"),
        (whole_modes, "variables that are no numbers, in line .* row = np.empty"),
    ],
)
def test_what_cannot_be_done_at_once_is_named_and_done_one_by_one(make, why):
    made, _ = make()
    source, functions = in_c(made)
    with pytest.raises(InputError, match=why):
        code_at_once(made.model, functions)
    assert c_here._several_at_once(made.model, source, functions) is None


def test_few_lanes_are_lost_to_a_loop_that_few_come_to():
    """A branch that cannot be done is the only one whose lanes are done alone."""
    made, _ = all_that_can_be()
    code = code_at_once(made.model, in_c(made)[1])
    before, _, after = code.partition("lost = lost || on;")
    assert "(x_ > real(2.8))" in before.splitlines()[-4] + before.splitlines()[-3]
    assert "lost = lost || on;" not in after


def test_a_processor_without_vectors_does_one_after_the_other(monkeypatch):
    made, _ = all_that_can_be()
    monkeypatch.setattr(c_here, "AT_ONCE", ("-no-such-option",))
    assert c_here._several_at_once(made.model, *in_c(made)) is None
