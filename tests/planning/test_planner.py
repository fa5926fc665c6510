"""Predictions from a pilot in virtual time, beside what virtual time then brings.

Hold times depend on the rung and on the state, messages and the coordinator take time: whoever
leaves one of these out predicts something else, and tests below show that they would notice.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.planning.choices import PlanRequest
from aptmc.planning.coordinators import Coordinators
from aptmc.planning.effective import effective_draws
from aptmc.planning.flow import flow
from aptmc.planning.pilot import pilot_of
from aptmc.planning.planner import Planner
from tests.support import targets
from tests.support.problems import one

LADDER = aptmc.Ladder.geometric(4, hottest=0.1)
EVERY, LATENCY, COST = 10.0, 2.0, 0.02
CHAINS_PER_RUNG = {2: 1, 16: 7, 64: 26}
EFFORT = 20_000
NEAR = 0.05
PROBLEM = targets.problem()


@njit
def hold(theta, rung, rng):
    return 2.0**rung * rng.exponential(10.0 if theta[0] > 0.0 else 1.0)


def run_on(workers, budget, *, how_long=hold, **changes):
    settings = {
        "ladder": LADDER,
        "kernel": aptmc.RandomWalk(2.0),
        "schedule": aptmc.Anytime(every=EVERY, exchange=aptmc.RungParity()),
        "pools": aptmc.Shared(CHAINS_PER_RUNG[workers]),
        "on": aptmc.VirtualTime(workers, how_long, latency=LATENCY, cost=COST),
        "keep": "all",
        "log_events": True,
        "progress": False,
        "seed": 1,
    }
    return aptmc.sample(PROBLEM, budget=budget, **(settings | changes))


@pytest.fixture(scope="module")
def pilot():
    return run_on(2, 300_000)


@pytest.fixture(scope="module")
def measured():
    """What really happens, if that is the word."""
    return {workers: run_on(workers, 4_000_000 / workers) for workers in (16, 64)}


def as_it_was(pilot, workers, **wishes):
    """A prediction for the settings of the run that is measured; a virtual pilot knows no cost."""
    wishes = {"chains_per_rung": CHAINS_PER_RUNG[workers], "cost": COST, "every": EVERY} | wishes
    return aptmc.plan(pilot, workers, effort=EFFORT, **wishes)[0]


def is_right(found, run):
    moves = run.completions / run.elapsed
    return abs(found.utilisation / run.utilisation - 1.0) < NEAR and (
        abs(found.moves_per_second / moves - 1.0) < NEAR
    )


# --- processors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [16, 64])
def test_utilisation_and_moves_are_foreseen(pilot, measured, workers):
    found = as_it_was(pilot, workers)
    assert is_right(found, measured[workers])
    assert found.chains == measured[workers].rung_of_chain.size
    assert found.coordinator_load == pytest.approx(COST * found.moves_per_second)


@pytest.mark.parametrize("workers", [pytest.param(16, marks=pytest.mark.validation), 64])
def test_a_pilot_without_warmer_rungs_will_do_for_that(measured, workers):
    poorer = run_on(2, 300_000, keep="coldest")
    found = aptmc.plan(
        poorer, workers, cost=COST, chains_per_rung=CHAINS_PER_RUNG[workers], every=EVERY,
        effort=EFFORT,
    )  # fmt: skip
    assert is_right(found[0], measured[workers])
    assert any('keep="all"' in finding for finding in found.findings)


@pytest.mark.parametrize("workers", [16, 64])
def test_a_planner_that_knows_no_rungs_would_be_noticed(pilot, measured, workers):
    known = pilot_of(pilot)
    pooled = np.concatenate(known.hold)
    wrong = known._replace(hold=[pooled] * LADDER.rungs, transitions=None)
    request = PlanRequest(
        cost=COST, chains_per_rung=CHAINS_PER_RUNG[workers], every=EVERY, effort=EFFORT
    )
    assert not is_right(Planner(wrong, request).best(workers), measured[workers])


@pytest.mark.parametrize("workers", [16, 64])
def test_a_planner_that_forgets_messages_would_be_noticed(pilot, measured, workers):
    assert not is_right(as_it_was(pilot, workers, latency=0.0), measured[workers])


def test_what_messages_take_is_measured(pilot):
    # A virtual coordinator's time is not measured, so that it counts as a part of the latency.
    assert pilot_of(pilot).latency == pytest.approx(LATENCY + COST, rel=0.02)


def test_short_moves_make_up_for_long_ones():
    """With several processors, chains whose moves are short make more of them."""
    times = np.array([1.0, 4.0])
    one_each = flow(times, np.ones(times.size, np.int64), 1)
    assert one_each.shares[0] > 0.5
    many = flow(times, np.full(times.size, 100), 150)
    waiting = 1.0 / (many.moves_per_second / 100 * many.shares[0]) - 1.0
    assert 100 * (1 / (1 + waiting) + 4 / (4 + waiting)) == pytest.approx(150)


# --- the coordinator ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def steady():
    """All moves take one unit of time; a pilot without warmer rungs is quick to plan with."""
    on = aptmc.VirtualTime(2, one)
    return run_on(2, 3_000, how_long=one, on=on, keep="coldest", warmup=0)


@pytest.mark.parametrize("cost", [0.1, 0.01])
def test_one_coordinator_serves_so_many_moves(steady, cost):
    found = aptmc.plan(steady, [round(2 / cost)], cost=cost, latency=0, effort=EFFORT)
    assert found.saturation == pytest.approx(1.0 / cost, abs=1)
    alone, several = found
    assert alone.moves_per_second == pytest.approx(1.0 / cost, rel=0.01)
    assert alone.utilisation == pytest.approx(0.5, rel=0.02)
    assert alone.coordinator_load == pytest.approx(1.0, abs=0.01)
    assert several.coordinators == 4
    assert several.utilisation > 0.85
    assert several.moves_per_second == pytest.approx(
        several.utilisation * several.processors, rel=0.01
    )
    assert any("one coordinator is the limit" in finding for finding in found.findings)


def test_without_a_cost_there_is_no_limit(steady):
    found = aptmc.plan(steady, 64, effort=EFFORT)
    assert found.saturation is None
    assert any("no cost of the coordinator is known" in finding for finding in found.findings)


def test_several_coordinators_have_a_warmup_each(steady):
    known = pilot_of(steady)._replace(warmup_moves=1000)
    planner = Planner(known, PlanRequest(cost=0.1, latency=0.0, effort=EFFORT))
    alone, several = planner.best(20), Coordinators(planner).side_by_side(20)
    part = planner.best(20 // several.coordinators)
    assert several.warmup == part.warmup > 0.0
    assert several.ess_per_hour == pytest.approx(several.coordinators * part.ess_per_hour)
    # One ladder of all chains does its moves no faster than its one coordinator can serve.
    assert alone.warmup == pytest.approx(1000 * alone.chains / known.chains / 10.0, rel=0.02)


def test_worker_processes_group_short_moves_and_queue_them(steady):
    short = [0.8e-3 * times for times in pilot_of(steady).hold]
    known = pilot_of(steady)._replace(time_unit="s", hold=short)
    planner = Planner(known, PlanRequest(cost=1e-4, latency=1e-4))
    assert set(planner.steps(2)) == {6}  # so that a move lasts about 5 ms
    assert set(planner.steps(100)) == {31}  # 25 ms
    assert planner.ahead(2, 6) == 1
    assert planner.ahead(2, 5) == 0  # too few chains
    assert planner.ahead(100, 1000) == 0  # they last for long enough
    assert Coordinators(planner).saturation is None
    plain = Planner(known, PlanRequest(cost=1e-4, latency=0.0, group=False, ahead=0))
    assert set(plain.steps(100)) == {1}
    assert Coordinators(plain).saturation == 8


# --- effective draws ----------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [16, 64])
def test_effective_draws_are_foreseen_within_their_error(pilot, measured, workers):
    found, truth = as_it_was(pilot, workers), pilot_of(measured[workers]).effective
    error = math.hypot(found.ess_error, truth.error[0])
    assert error < 0.5
    assert abs(math.log(found.ess_per_hour / (3600.0 * truth.per_second[0]))) < 3.0 * error


def test_independent_draws_are_all_effective():
    draws = np.random.default_rng(1).normal(size=(20_000, 1))
    found = effective_draws(np.arange(20_000.0), draws, 10.0)
    assert found.per_second[0] == pytest.approx(2000.0, rel=4 * found.error[0])


def test_chains_that_repeat_each_other_count_once():
    draws = np.random.default_rng(1).normal(size=(20_000, 1))
    time = np.arange(20_000.0)
    found = effective_draws(np.tile(time, 5), np.tile(draws, (5, 1)), 10.0)
    assert found.per_second[0] == pytest.approx(2000.0, rel=4 * found.error[0])


def test_too_few_draws_have_no_known_effect():
    found = effective_draws(np.arange(10.0), np.ones((10, 2)), 1.0)
    assert np.isnan(found.per_second).all()
    assert found.worst == 0


@pytest.mark.validation
def test_the_search_finds_chains_deadlines_and_a_rule(pilot):
    plain = run_on(2, 100_000, schedule=aptmc.Anytime(EVERY, exchange=aptmc.Alternating()))
    found = aptmc.plan(plain, 16, cost=COST, effort=10_000)
    (best,) = found
    assert best.chains >= 18
    given = aptmc.plan(plain, 16, cost=COST, effort=10_000, chains_per_rung=9, every=EVERY)[0]
    assert best.ess_per_hour > given.ess_per_hour
    assert best.exchange == "NeighbouringRungs"  # most neighbours would be of the same rung
    assert any("NeighbouringRungs" in finding for finding in found.findings)
    assert any("more chains are needed" in finding for finding in found.findings)


# --- other pilots -------------------------------------------------------------------------------


def test_a_store_says_the_same(tmp_path, steady):
    again = run_on(
        2, 3_000, how_long=one, on=aptmc.VirtualTime(2, one), store=tmp_path / "pilot.zarr"
    )
    stored = aptmc.plan(again.path, [4], effort=10_000)
    assert stored.to_dict() == aptmc.plan(again, [4], effort=10_000).to_dict()
    assert repr(stored).startswith("processors")


def simulate(theta, rng):
    return theta + rng.standard_normal(1)


def distance(simulated, observed):
    return abs(simulated[0] - observed[0])


@pytest.mark.validation
def test_a_pilot_with_a_simulator_and_one_with_barriers():
    problem = aptmc.Abc(
        simulate, aptmc.Prior(mean=stats.norm(0, 5)), observed=[3.0], distance=distance
    )
    settings = {
        "budget": 3000,
        "ladder": aptmc.Ladder.tolerances([0.5, 1.5, 5, math.inf]),
        "kernel": aptmc.OneHit(1.0, cap=20),
        "on": aptmc.VirtualTime(2),
        "keep": "all",
        "progress": False,
        "seed": 1,
    }
    pilot = aptmc.sample(problem, schedule=aptmc.Anytime(every=5.0), **settings)
    found = aptmc.plan(pilot, [8], latency=1.0, effort=10_000)[0]
    assert found.exchange == "Reassignment"
    assert found.ess_per_hour > 0.0
    waiting = aptmc.sample(problem, schedule=aptmc.Synchronous(), **settings)
    found = aptmc.plan(waiting, 2, chains_per_rung=1, effort=10_000)
    assert abs(found[0].utilisation / waiting.utilisation - 1.0) < 2.0 * NEAR  # a short pilot
    assert found[0].every == math.inf
    assert found.to_dict()["predictions"][0]["every"] is None


# --- mistakes -----------------------------------------------------------------------------------


def test_fewer_chains_than_processors(steady):
    with pytest.raises(aptmc.InputError, match=r"16 processors need at least 18.*per_rung=5"):
        aptmc.plan(steady, 16, chains_per_rung=2)


def test_a_pilot_that_is_too_short():
    with pytest.raises(aptmc.InputError, match=r"rung \d of the pilot has .* run the pilot for"):
        aptmc.plan(run_on(2, 100), 16)
    with pytest.raises(aptmc.InputError, match="completed no moves"):
        aptmc.plan(run_on(2, 1e-6), 16)


def test_a_pilot_without_hold_times():
    with pytest.raises(aptmc.InputError, match="log_events=True"):
        aptmc.plan(run_on(2, 10_000, keep="coldest", log_events=False), 16)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workers": []}, "at least one number of processors"),
        ({"workers": [4, 0]}, "workers must be a whole number from 1 on, got 0"),
        ({"workers": "many"}, "workers must be a whole number"),
        ({"latency": "soon"}, "latency must be a positive duration"),
        ({"cost": -1.0}, "cost must be a positive duration"),
        ({"every": 0}, "every must be a positive duration"),
        ({"effort": 1}, "effort must be a whole number from 1000 on"),
        ({"ahead": -1}, "ahead must be a whole number from 0 on"),
        ({"pilot": 3}, "pilot must be a run or the folder of a stored one"),
    ],
)
def test_what_is_not_understood(steady, changes, words):
    with pytest.raises(aptmc.InputError, match=words):
        aptmc.plan(**({"pilot": steady, "workers": 4} | changes))
