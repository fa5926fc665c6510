"""How many lanes there are, if nobody says so: few enough that each chain moves often enough."""

from __future__ import annotations

import re

import numpy as np
import pytest

import aptmc
from aptmc.backends import Lanes
from aptmc.backends.lanes.how_many import HowMany
from aptmc.backends.lanes.processor_fleet import ProcessorFleet
from aptmc.clock import Clock
from aptmc.session.control import Control
from tests.lanes.problems import TWO_MODES, sampled, two_modes

PROBLEM = two_modes()


@pytest.mark.parametrize(
    ("rates", "tried", "chosen", "words"),
    [
        # Enough at once.
        ({96: 0.5}, [96], 96, "96 lanes chosen: each chain is to accept some 50 moves"),
        # Lanes share the machine: a quarter of them move four times as often.
        ({96: 0.15, 24: 0.6}, [96, 24], 24, "some 60 moves, of 96 lanes only 15"),
        # There is room for all of them.
        ({96: 0.15, 24: 0.2}, [96, 24], 96, "some 15 moves, of 24 lanes not many"),
        # It pays, and is not enough yet.
        ({96: 0.2, 48: 0.3, 24: 0.5}, [96, 48, 24], 24, "24 lanes chosen: .* some 50 moves"),
        # There must be chains that can be compared.
        ({96: 0.001, 12: 0.008}, [96, 12], 12, "12 lanes chosen"),
        ({8: 0.001}, [6], 6, "6 lanes chosen"),
    ],
)
def test_fewer_lanes_are_tried_until_their_chains_move_enough(rates, tried, chosen, words):
    how_many, seen = HowMany(next(iter(rates)), of_group=3), []
    while how_many.to_try is not None:
        seen.append(how_many.to_try)
        how_many.learn(rates.get(how_many.to_try, 0.001), 100.0)
    assert how_many.chosen == chosen
    assert seen == tried
    assert re.search(words, how_many.words)


class ClockOfWork(Clock):
    """Moves on by what is computed."""

    time = 0.0

    def now(self):
        return self.time


class Machine:
    """Processors whose time is known: so many seconds for a tick of each lane, and of all."""

    def __init__(self, monkeypatch, *, each=0.0, all_of_them=0.0):
        self.clock, self.lanes = ClockOfWork(), []
        run = ProcessorFleet.run

        def takes_time(fleet, deadlines):
            ticks = sum(deadline.ticks for deadline in deadlines)
            self.clock.time += ticks * (each * fleet.voyage.lanes + all_of_them)
            if fleet.voyage.lanes not in self.lanes:
                self.lanes.append(fleet.voyage.lanes)
            return run(fleet, deadlines)

        monkeypatch.setattr(ProcessorFleet, "run", takes_time)
        monkeypatch.setattr("aptmc.sampling.announced.Control", lambda: Control(self.clock))

    def sample(self, count=None, *, budget=20.0, standing=None, **options):
        on = aptmc.Lanes(count, device="cpu", threads=1, **(standing or {}))
        return sampled(PROBLEM, TWO_MODES, budget=budget, on=on, every=10, **options)


def draws_of(run):
    return np.stack([draws.state for draws in run.chains()])


def test_lanes_that_share_a_machine_are_as_many_as_can_forget(monkeypatch, tmp_path):
    machine, store = Machine(monkeypatch, each=1e-4), tmp_path / "run.zarr"
    run = machine.sample(store=store)
    first, chosen = machine.lanes[0], machine.lanes[-1]
    assert first == 255
    assert chosen < first / 2
    assert run.settings.pools.lanes == chosen
    assert len(run.chains()) == chosen // 3
    assert not any("forget" in str(advice) for advice in run.advice)
    assert run.statistics["accepted"][0] > 20.0 * 2 * chosen / 3
    assert f"{chosen} lanes chosen" in str(run.summary())
    # As many lanes as others would take by themselves have too few moves, and that is said.
    given = machine.sample(255)
    assert given.settings.pools.lanes == 255
    assert any("Use fewer lanes" in str(advice) for advice in given.advice)
    assert "lanes chosen" not in str(given.summary())
    # What was chosen stays, and is computed again.
    on = aptmc.Lanes(device="cpu", threads=1)
    assert aptmc.replay(store, PROBLEM, on=on).is_same
    left = aptmc.resume(store, PROBLEM, budget=20.0, on=on, progress=False)
    assert left.settings.pools == run.settings.pools
    assert draws_of(left).shape[1] > 1.8 * draws_of(run).shape[1]
    assert np.array_equal(draws_of(left)[:, : draws_of(run).shape[1]], draws_of(run))


def test_of_several_on_a_rung_whole_groups_are_chosen(monkeypatch):
    machine = Machine(monkeypatch, each=1e-4)
    run = machine.sample(standing={"coldest": 4})  # and one on each of two others
    first, chosen = machine.lanes[0], machine.lanes[-1]
    assert first == 252
    assert chosen < first / 2
    assert chosen % 6 == 0
    assert run.settings.pools.lanes == chosen
    assert len(run.chains()) == chosen // 6 * 4


def test_where_there_is_room_for_all_nobody_goes(monkeypatch):
    machine = Machine(monkeypatch, all_of_them=0.02)
    run = machine.sample()
    assert len(machine.lanes) == 2
    assert run.settings.pools.lanes == 255
    assert "not many more" in str(run.summary())
    assert any("Use fewer lanes" in str(advice) for advice in run.advice)


def test_draws_of_trials_do_not_count(monkeypatch):
    """The run begins where the trials end, with other random keys, and settles."""
    machine = Machine(monkeypatch, each=1e-4)
    run = machine.sample()
    begun = run._first_states.reshape(3, -1, 3)
    assert begun.shape[1] == 2 * len(run.chains())
    times = draws_of(run).shape[1]
    spent = run.elapsed
    assert spent < 20.0 - 255 * 10 * 1e-4  # less a trial
    assert run.chains()[0].time[0] >= 0.1 * spent
    assert times > 20


@pytest.mark.validation
def test_a_warm_up_comes_before(monkeypatch):
    machine = Machine(monkeypatch, each=1e-4)
    on = aptmc.Lanes(device="cpu", threads=1)
    run = aptmc.sample(
        PROBLEM, budget=40.0, ladder=TWO_MODES["ladder"], on=on, seed=1, progress=False,
        schedule=aptmc.Anytime(every=10),
    )  # fmt: skip
    assert machine.lanes[0] == 255
    assert run.settings.pools.lanes == machine.lanes[-1] < 255
    assert run.warmup_rounds


def test_in_ticks_all_lanes_make_as_many_moves():
    on = aptmc.Lanes(device="cpu", threads=1, budget_in="ticks")
    run = sampled(PROBLEM, TWO_MODES, budget=100, on=on)
    assert run.settings.pools == on.own_pools


def test_a_run_that_is_stopped_in_a_trial_has_no_draws_and_goes_on(monkeypatch, tmp_path):
    machine, store = Machine(monkeypatch, each=1e-4), tmp_path / "run.zarr"
    monkeypatch.setattr(Lanes, "try_out", stopped_at_once)
    run = machine.sample(store=store)
    assert run.stopped is aptmc.StopReason.STOPPED
    assert run.elapsed == 0.0
    monkeypatch.undo()
    machine = Machine(monkeypatch, each=1e-4)
    on = aptmc.Lanes(device="cpu", threads=1)
    left = aptmc.resume(store, PROBLEM, budget=20.0, on=on, progress=False)
    assert left.settings.pools.lanes == machine.lanes[-1] < 255


def stopped_at_once(on, session, control, left):
    control.stop()
    return on.run(session, left, control)
