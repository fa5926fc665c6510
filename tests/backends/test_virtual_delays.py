"""Virtual time with messages that take time, a coordinator that does, and moves that wait."""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc.backends import VirtualTime
from tests.support import targets
from tests.support.problems import one
from tests.support.sessions import PROBLEM, all_draws, make_session, same
from tests.support.statistical import standard_errors_off

LADDER = aptmc.Ladder.powers(6)
ANYTIME = aptmc.Anytime(every=3.0)
DELAYS = [
    {"latency": 2.0},
    {"cost": 0.7},
    {"latency": 1.0, "cost": 0.1, "ahead": 1},
]


def usage_of(processors, pools, hold=one, budget=2000.0, **delays):
    session, store = make_session(ANYTIME, ladder=LADDER, pools=pools, processors=processors)
    return VirtualTime(processors, hold, **delays).run(session, budget), session, store


@pytest.mark.parametrize("latency", [0.25, 1.0, 4.0])
def test_a_processor_waits_for_messages(latency):
    usage, session, _ = usage_of(2, aptmc.Shared(), latency=latency)
    assert usage.busy.sum() / 4000.0 == pytest.approx(1.0 / (1.0 + latency), rel=0.01)
    assert session.machine.completed.sum() == pytest.approx(4000.0 / (1.0 + latency), rel=0.01)


@pytest.mark.parametrize(("latency", "expected"), [(0.0, 1.0), (0.9, 1.0), (3.0, 0.5)])
def test_a_move_that_waits_at_its_processor_hides_them(latency, expected):
    """A processor has two orders in hand, and each is away for the latency: 2 / (1 + latency)."""
    usage, _, _ = usage_of(2, aptmc.Shared(), latency=latency, ahead=1)
    assert usage.busy.sum() / 4000.0 == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("processors", "per_unit"), [(2, 2 / 1.1), (8, 8 / 1.1), (16, 10.0)])
def test_the_coordinator_serves_one_completion_after_the_other(processors, per_unit):
    """Up to 1 / cost = 10 completions per unit of time, whoever waits.

    Moves of equal length keep out of each other's way, so that below that nobody waits for others.
    """
    usage, session, _ = usage_of(processors, aptmc.Shared(4), cost=0.1)
    assert session.machine.completed.sum() / 2000.0 == pytest.approx(per_unit, rel=0.01)
    assert usage.busy.sum() / 2000.0 == pytest.approx(per_unit, rel=0.01)


@pytest.mark.parametrize("delays", DELAYS)
def test_compiled_and_plain_functions_give_the_same_draws(delays):
    def draws(hold, problem):
        session, store = make_session(
            ANYTIME, ladder=LADDER, pools=aptmc.Shared(2), processors=3, problem=problem
        )
        VirtualTime(3, hold, **delays).run(session, 300.0)
        return all_draws(session, store)

    plain = aptmc.Power(targets.log_density.py_func, start=lambda rng: rng.standard_normal())
    assert same(draws(targets.hold, PROBLEM), draws(targets.hold.py_func, plain))


@pytest.mark.parametrize("delays", DELAYS)
def test_delays_cost_speed_but_never_correctness(delays):
    """Half of the waiting chains are on the slow side, whatever delays there are."""
    assert errors_off(aptmc.Anytime(every=7.0), delays) < 4.9  # one false alarm in a million


@pytest.mark.parametrize("delays", DELAYS)
def test_that_would_be_seen(delays):
    assert errors_off(aptmc.Uncorrected(every=7.0), delays) > 4.9


def errors_off(schedule, delays):
    """How many standard errors the share of the slow side lies from a half."""
    run = aptmc.sample(
        PROBLEM,
        budget=100_000,
        ladder=aptmc.Ladder.powers([1, 0.3]),
        kernel=aptmc.RandomWalk(3.0),
        schedule=schedule,
        pools=aptmc.Shared(5),
        on=VirtualTime(3, targets.hold, **delays),
        seed=1,
    )
    # Draws of chains that hand on states are correlated: blocks of time are nearly independent.
    time = np.concatenate([chain.time for chain in run.chains()])
    slow = np.concatenate([chain.state[:, 0] > 0.0 for chain in run.chains()])
    blocks = np.array_split(slow[np.argsort(time, kind="stable")], 100)
    return standard_errors_off([block.mean() for block in blocks], 0.5)


def test_a_run_may_go_on_with_another_number_of_moves_ahead(tmp_path):
    settings = {
        "ladder": LADDER,
        "kernel": aptmc.RandomWalk(1.0),
        "schedule": ANYTIME,
        "pools": aptmc.Shared(2),
        "progress": False,
        "seed": 1,
    }
    store = tmp_path / "run.zarr"
    problem = PROBLEM
    on = VirtualTime(3, targets.hold, ahead=1)
    aptmc.sample(problem, budget=100, store=store, on=on, **settings)
    whole = aptmc.sample(problem, budget=300, on=on, **settings)
    aptmc.resume(store, problem, budget=100, on=on, progress=False)
    aptmc.resume(store, problem, budget=100, on=on, progress=False)
    assert (aptmc.open(store).chains()[0].state == whole.chains()[0].state).all()
    aptmc.resume(store, problem, budget=100, on=VirtualTime(3, targets.hold), progress=False)
    assert aptmc.replay(store, problem).is_same


@pytest.mark.parametrize("wrong", [{"latency": -1.0}, {"cost": "much"}, {"latency": float("nan")}])
def test_delays_must_be_times(wrong):
    (name,) = wrong
    with pytest.raises(aptmc.InputError, match=f"{name} must be a time that is not negative"):
        VirtualTime(2, **wrong)


def test_moves_that_wait_need_more_chains():
    session, _ = make_session(ANYTIME, ladder=LADDER, pools=aptmc.Shared(), processors=3)
    with pytest.raises(aptmc.InputError, match="too few chains would be left to exchange"):
        VirtualTime(3, one, ahead=1).check(session)
