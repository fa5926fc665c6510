"""Lanes go the way of a simulated machine whose hold times are whole ticks.

Draw by draw where a lane can be told what happens to it by itself: on one rung, where nothing is
exchanged. On several rungs in law, because exchanges have random keys of their own on lanes.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.keys import MOVE
from aptmc.pools import Groups
from aptmc.session.build import build_session
from aptmc.store import MemoryStore
from benchmarks import lanes_problems
from tests.lanes.problems import TWO_MODES, lanes, sampled, two_modes
from tests.support.lane_generator import LaneGenerator
from tests.support.settings import given

PROBLEM = two_modes()
RUNGS = 3
MOST, FEWEST = 4.0, 10.0


@pytest.mark.validation(shortest=0.1)  # `make test` has the same draw by draw, on one rung
def test_virtual_time_with_the_same_ticks_has_the_same_law():
    """Two chains on each rung and a processor of their own, there and here."""
    virtual = sampled(
        PROBLEM, TWO_MODES, budget=60_000, on=aptmc.VirtualTime(RUNGS), pools=aptmc.Paired()
    )
    here = sampled(PROBLEM, TWO_MODES, budget=6000, on=lanes(60, settle=0.0))
    assert here.acceptance_rates == pytest.approx(virtual.acceptance_rates, abs=0.03)
    assert here.swap_rates.neighbours == pytest.approx(virtual.swap_rates.neighbours, abs=0.05)
    assert abs(virtual.acceptance_rates[0] - virtual.acceptance_rates[1]) > 0.1  # could fail


@njit
def begin_count(theta, rng, state):
    state[0] = 0.0


@njit
def step_count(theta, rng, state, tolerance):
    """Every move of a rung takes equally long, whatever it draws."""
    state[0] += 1.0
    return -1.0 if state[0] < (10.0 if tolerance <= 1.0 else 33.0) else 3.0 * rng.random()


@pytest.mark.validation
def test_virtual_time_goes_the_same_way_tick_by_tick():
    """Where moves take times that are known, the same moves are made and the same are in flight."""
    # So small proposals that the prior never refuses one.
    problem = aptmc.Abc.stepwise(begin_count, step_count, PROBLEM.prior, state=1)
    kernel = aptmc.OneHit([1e-6, 1e-6])
    settings = {"ladder": aptmc.Ladder.tolerances([1.0, 2.0]), "kernel": kernel}
    seen = set()
    # Among them ticks with which a deadline comes, a move ends, or both.
    for budget in (600, 610, 617, 627, 650, 660, 693, 1230, 1320, 1650, 1651):
        here = sampled(problem, settings, budget=budget, on=lanes(2, settle=0.0))
        virtual = sampled(
            problem, settings, budget=budget, on=aptmc.VirtualTime(2), pools=aptmc.Paired()
        )
        assert here.in_flight == virtual.in_flight
        assert here.completions == virtual.completions
        assert here.elapsed == virtual.elapsed == budget
        seen.add(tuple(here.in_flight))
    assert len(seen) > 6


# --- draw by draw --------------------------------------------------------------------------------


def wide_modes(form):
    """The two modes, with a prior so wide that it refuses no proposal: that would take a tick."""
    begin, step = form(lanes_problems.begin_two_modes), form(lanes_problems.step_two_modes)
    prior = aptmc.Prior(x=stats.uniform(-1000, 2000))
    return aptmc.Abc.stepwise(begin, step, prior, state=1)


COMPILED, PLAIN = wide_modes(lambda function: function), wide_modes(lambda one: one.py_func)
ONE_RUNG, WALK = aptmc.Ladder.tolerances([1.0]), aptmc.OneHit([3.0])
ALONE = given(COMPILED, ONE_RUNG, WALK, aptmc.Anytime(every=50), seed=3)


class LaneStreams:
    """The streams of a run, of a lane's generator in place of numpy's."""

    def __init__(self, seed):
        self.counter, self.position, self.seed = np.zeros(4, np.int64), self, seed
        self.generator, self.dial = LaneGenerator(seed, 0, 0), self

    def __setitem__(self, place, value):
        """To wind a generator back, its position is written, last."""
        _, number, chain, purpose = self.counter.tolist()
        assert purpose == MOVE
        self.generator.words[:] = LaneGenerator(self.seed, chain, number).words


def after(ticks, problem, on, *, pools, seed=None):
    """Two chains on one rung, so many ticks after they have begun."""
    layout = pools.layout(ALONE.ladder, on.processors)
    settings = ALONE.found(problem=problem, on=on, pools=pools, budget=ticks)
    session = build_session(settings, MemoryStore(), layout=layout)
    if seed is not None:
        assert session.coordinator is not None  # which has numpy's, for exchanges
        session.__dict__["streams"] = LaneStreams(seed)
    log_prior = problem.prior.log_density([2.0])
    session.begin_from(np.array([[2.0, 0.1, log_prior], [-2.0, 0.2, log_prior]]))
    on.run(session, ticks)
    machine = session.machine
    return machine.states[machine.replica], machine.waiting, machine.moves


@pytest.mark.parametrize("ticks", [1, 7, 50, 400])
def test_a_lane_goes_the_way_of_virtual_time_draw_by_draw(ticks):
    """From the same states, with the same random numbers, two chains take turns alike."""
    here = after(ticks, COMPILED, lanes(1, settle=0.0), pools=Groups(1))
    there, elsewhere = (
        after(ticks, PLAIN, aptmc.VirtualTime(1), pools=aptmc.Paired(), seed=seed)
        for seed in (ALONE.seed, ALONE.seed + 1)
    )
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one, other)
    if ticks == 400:
        assert here[2].sum() > 20
        assert not np.isin(here[0][:, 0], [2.0, -2.0]).any()
        # The control: another seed goes another way.
        assert not np.array_equal(here[0], elsewhere[0])


# --- in law --------------------------------------------------------------------------------------


@njit
def log_two_widths(theta):
    """A narrow hill and a wide one, of equal mass: slices of the wide one take more points."""
    narrow = math.exp(-0.5 * ((theta[0] + 1.0) / 0.3) ** 2) / 0.3
    wide = math.exp(-0.5 * (theta[0] - 1.0) ** 2)
    return math.log(narrow + wide)


def two_widths():
    return aptmc.Tempered(log_two_widths, aptmc.Prior(x=stats.uniform(-8, 16)))


SLICES = {"ladder": aptmc.Ladder.powers([1.0, 0.3, 0.0]), "kernel": aptmc.Slice(0.5)}
# With how many ticks there are between deadlines, and how large the errors may be.
CASES = {
    "two modes": (two_modes, TWO_MODES, 50, 0.2),
    "an epidemic": (lanes_problems.epidemic, lanes_problems.EPIDEMIC, 20, 0.02),
    "a tree": (lanes_problems.tree, lanes_problems.TREE, 10, 0.02),
    "a density": (two_widths, SLICES, 11, 0.1),
}


def mean_of(means):
    """Of independent runs or groups, and its standard error."""
    return np.mean(means), np.std(means, ddof=1) / math.sqrt(len(means))


@pytest.mark.validation(shortest=0.1)
@pytest.mark.parametrize("name", CASES)
def test_lanes_have_the_law_of_virtual_time(name, validation_scale):
    """A false alarm, more than 4 standard errors, comes once in 16,000 seeds.

    Chains in flight that are exchanged, too, are the control where they make a difference that is
    large: of two modes, of which one takes twenty times as long.
    """
    make, settings, every, largest = CASES[name]
    problem, ticks = make(), int(200_000 * validation_scale)
    label = problem.labels[0]

    def on_lanes(schedule):
        run = sampled(
            problem, settings, budget=ticks, on=lanes(240, settle=0.2), every=every, thin=5,
            schedule=schedule,
        )  # fmt: skip
        return mean_of([series.mean() for series in run.series(label)])

    machine, means = aptmc.VirtualTime(settings["ladder"].rungs), []
    for seed in range(24):
        run = sampled(
            problem, settings, budget=2 * ticks, on=machine, pools=aptmc.Paired(), every=every,
            seed=seed,
        )  # fmt: skip
        later = [draws[len(draws) // 5 :] for draws in run.series(label)]
        means.append(np.concatenate(later).mean())
    mean, error = mean_of(means)
    assert error < largest
    found, its_error = on_lanes(aptmc.Anytime)
    assert its_error < largest
    assert abs(found - mean) < MOST * math.hypot(error, its_error)
    if name == "two modes":
        found, its_error = on_lanes(aptmc.Uncorrected)
        assert abs(found - mean) > FEWEST * math.hypot(error, its_error)
