"""Shifts, in virtual time: what counts as start-up and as work, and who is given up."""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc.backends.workers.backend import WorkerEngine as Engine
from aptmc.backends.workers.grouping import Grouping
from aptmc.backends.workers.trials import measure_units
from aptmc.errors import StopReason
from aptmc.kernels.base import STEPS
from aptmc.keys import MOVE, PILOT, START, Key
from aptmc.session.control import Control
from aptmc.session.descent import Errand
from aptmc.session.orders import Order
from aptmc.session.start_up import Part, Spent
from aptmc.session.units import Units
from tests.backends.contract import LADDER, make_session
from tests.support.virtual_workforce import SetClock, VirtualWorkforce

ANYTIME = aptmc.Anytime(every=4.0)
CALLED = 100.0


class WorkerEngine:
    """Two workers in virtual time, and the time by their clock."""

    def __init__(self, seconds, *, budget=1000.0, units=None, **times):
        self.clock = SetClock(CALLED)
        self.control = Control(self.clock)
        self.session, _ = make_session(ANYTIME, 2)
        self.workforce = VirtualWorkforce(self.clock, self.session.mover, seconds, **times)
        self.renewed_for = []
        kind = type(self.session.kernel)
        self.engine = Engine(
            units or one_step, self.control, self.workforce, budget, self._renewed, kind
        )

    def _renewed(self, session):
        self.renewed_for.append(type(session.kernel))
        return self.workforce

    def run(self, budget, session=None):
        return self.engine.run(session or self.session, budget)


def one_step(session, seconds, compute):
    return Units(session.tuning[:, STEPS].astype(int), 0)


# --- kernels --------------------------------------------------------------------------------------


def test_for_another_kernel_workers_are_started_anew():
    place = WorkerEngine(lambda order: 1.0)
    place.run(10.0)
    assert place.renewed_for == []
    other, _ = make_session(ANYTIME, 2, kernel=aptmc.Slice(1.0))
    for _ in range(2):
        place.run(10.0, other)
    assert place.renewed_for == [aptmc.Slice]


# --- start-up -------------------------------------------------------------------------------------


def test_start_up_is_all_the_time_in_which_no_moves_count():
    place = WorkerEngine(lambda order: 1.0, fork_server=7.0, start=lambda processor: 2.0)
    assert place.engine.left() == 1000.0 - 7.0
    # Workers start in 2, and two of them find six first states in 3.
    first = place.run(49.5)
    assert first.overhead.startup == 7.0 + 2.0 + 3.0
    # Something is thought over between two phases, while workers end the moves of the first.
    place.clock.time += 5.0
    second = place.run(30.0, make_session(ANYTIME, 2)[0])
    assert second.overhead.startup == 12.0 + 5.0 + 3.0
    assert (first.elapsed, second.elapsed) == (49.5, 30.0)
    assert place.clock.now() == CALLED + second.overhead.startup + 49.5 + 30.0


def test_a_worker_whose_earlier_move_takes_long_is_replaced():
    """One that is about to end is worth waiting for, but not for long."""

    def seconds(order):
        return 500.0 if order.key.chain == 0 and order.key.purpose == MOVE else 0.1

    place = WorkerEngine(seconds, start=lambda processor: 2.0)
    first = place.run(10.0)
    busy = place.workforce.workers[0], place.workforce.workers[1]
    second = place.run(10.0, make_session(ANYTIME, 2)[0])
    kept = [place.workforce.workers[processor] is busy[processor] for processor in (0, 1)]
    assert sorted(kept) == [False, True]
    assert second.overhead.startup - first.overhead.startup < 0.25 + 2.0 + 0.1 * 6


def test_start_up_that_never_ends_is_start_up_too():
    place = WorkerEngine(lambda order: 1.0, fork_server=20.0, budget=10.0)
    usage = place.run(10.0)
    assert usage.stopped is StopReason.BUDGET_SPENT
    assert usage.failure is None
    assert (usage.overhead.startup, usage.elapsed) == (10.0, 0.0)
    assert usage.present.tolist() == [0.0, 0.0]


def test_a_budget_that_ends_among_first_states_says_how_far_they_came():
    # The first two show how long states take; what takes most of a budget is given up before.
    seconds = {0: 0.5, 1: 0.5}
    place = WorkerEngine(
        lambda order: seconds.get(order.key.chain, 4.0), fork_server=2.0, budget=10.0
    )
    place.control.start_up.tell(Part.WORKERS, "starting 2 workers")
    usage = place.run(10.0)
    assert (usage.stopped, usage.elapsed) == (StopReason.BUDGET_SPENT, 0.0)
    assert place.clock.now() == CALLED + 10.0
    # Six first states, of which two workers find four in 4.5 seconds.
    assert place.control.start_up.spent()[1:] == (
        Spent("starting the workers", 2.0),
        Spent("finding first states", 8.0, 4 / 6, "first states: 4 of 6"),
    )


def test_what_happens_is_told_before_it_does():
    place = WorkerEngine(lambda order: 3.0, units=units_by_trial)
    told = []
    place.control.start_up.hear = lambda part, words: told.append((place.clock.now(), words))
    place.run(100.0)
    times, words = zip(*told, strict=True)
    assert words[:2] == ("first states: 0 of 6", "first states: 2 of 6")
    assert (times[0], times[1]) == (CALLED, CALLED + 3.0)
    assert words[-1] == "trying how long moves take"
    assert times[-1] == CALLED + 9.0
    assert place.control.start_up.words == ""  # moves count by now


# --- work -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("late", [False, True], ids=["in flight", "late"])
def test_moves_under_way_at_the_end_count_as_work_up_to_the_end(late, monkeypatch):
    """Whether their replies come after the end, or are heard of too late."""
    place = WorkerEngine(lambda order: 4.0)
    if late:
        listen = place.workforce.listen
        monkeypatch.setattr(place.workforce, "listen", lambda until: listen(until + 2.0))
    usage = place.run(10.0)
    assert place.clock.now() == (CALLED + 24.0 if late else CALLED + 22.0)
    assert place.session.machine.completed.sum() == 4
    assert usage.busy.tolist() == [10.0, 10.0]
    assert usage.present.tolist() == [10.0, 10.0]


# --- a cluster that grows and shrinks -------------------------------------------------------------


def test_who_joins_is_given_work_and_who_lost_its_place_goes():
    place = WorkerEngine(lambda order: 1.0)
    place.workforce.joins = [CALLED + 13.0]
    place.workforce.leaves = {0: CALLED + 33.0}
    # First states take 3, so moves count from 103 on.
    usage = place.run(40.0)
    assert usage.busy.tolist() == usage.present.tolist()
    assert usage.busy == pytest.approx([31.0, 40.0, 30.0], abs=1.0)
    completions = place.session.machine.completed.sum()
    assert completions == pytest.approx(usage.busy.sum(), abs=3)


@pytest.mark.parametrize("pools", [aptmc.Partitioned()], ids=repr)
def test_processors_that_belong_to_pools_stay(pools):
    place = WorkerEngine(lambda order: 1.0)
    place.session, _ = make_session(ANYTIME, 2, pools=pools)
    place.workforce.joins = [CALLED + 13.0]
    place.workforce.leaves = {0: CALLED + 33.0}
    usage = place.run(40.0)
    assert usage.present.tolist() == [40.0, 40.0]


def test_nobody_is_taken_in_if_all_chains_would_be_in_flight():
    place = WorkerEngine(lambda order: 1.0)
    place.workforce.joins = [CALLED + 13.0] * 10
    place.run(40.0)
    assert len(place.workforce.workers) == LADDER.rungs - 1


# --- patience -------------------------------------------------------------------------------------


def units_by_trial(session, seconds, compute):
    return measure_units(session, compute, seconds=seconds, group=False, ahead=0)


def test_a_worker_is_not_given_up_before_it_is_ready():
    """A trial move may take 20 times as long as others did, or 1 s; a fresh Python takes longer."""
    place = WorkerEngine(
        lambda order: 0.01,
        budget=100.0,
        units=units_by_trial,
        start=lambda processor: 30.0 * processor,
    )
    usage = place.run(60.0)
    assert place.workforce.given_up == []
    assert usage.stopped is StopReason.BUDGET_SPENT
    # Nor does its start count as work: all states and trials are the other's.
    assert usage.busy[1] == pytest.approx(60.0 - 30.0 + usage.overhead.startup, abs=0.1)


def test_a_trial_move_that_hangs_is_given_up():
    def seconds(order):
        return 50.0 if order.key.purpose == PILOT and order.rung == 2 else 0.01

    place = WorkerEngine(seconds, budget=100.0, units=units_by_trial)
    place.run(60.0)
    (key,) = place.workforce.given_up
    assert (key.purpose, key.chain) == (PILOT, 2)
    assert LADDER.rungs > 2


# --- trials ---------------------------------------------------------------------------------------


def purposes_of(seconds, *, phases=1, budget=100.0, **options):
    """What a run with units of its own choice computes before moves count, and its units."""
    ordered = []

    def noted(order):
        ordered.append(order.key.purpose)
        return seconds(order)

    place = WorkerEngine(noted, units=Grouping("auto", "auto").units, **options)
    for _ in range(phases):
        session = make_session(ANYTIME, 2)[0]
        place.run(budget, session)
    return ordered, session.progress.units


@pytest.mark.parametrize("phases", [1, 2])
def test_where_first_states_take_long_no_move_is_tried(phases):
    ordered, units = purposes_of(lambda order: 10.0, phases=phases)
    assert PILOT not in ordered
    assert MOVE in ordered
    assert units.steps.tolist() == [1] * LADDER.rungs
    assert units.ahead == 0


def test_where_first_states_are_cheap_moves_are_tried_and_grouped():
    ordered, units = purposes_of(lambda order: 1e-3 * order.tuning[STEPS], budget=5.0)
    assert PILOT in ordered
    assert (units.steps > 1).all()


def test_what_only_the_first_call_of_a_worker_takes_says_nothing():
    """It may load libraries, or compile."""
    called = set()

    def seconds(order):
        is_first = order.key.chain < 2 and order.key.chain not in called
        called.add(order.key.chain)
        return 10.0 if is_first else 1e-3 * order.tuning[STEPS]

    ordered, units = purposes_of(seconds, budget=5.0)
    assert PILOT in ordered
    assert (units.steps > 1).all()


class Search(Errand):
    """Asks for so many first states of a rung."""

    def __init__(self, session, count):
        self.session, self.left, self.number = session, count, 0

    @property
    def is_over(self):
        return self.left <= 0

    def next_order(self):
        self.number += 1
        key = Key(self.session.seed, 0, self.number, START)
        nothing = np.full(self.session.problem.width, np.nan)
        return Order(key, 0, 1.0, self.session.tuning[0].copy(), nothing)

    def report(self, order, outcome, seconds, elapsed):
        self.left -= 1


def tried_after_a_search(seconds, *, count=100, latency=0.0):
    """Whether moves are tried after a search has shown how long its own take. Afterwards all moves
    are short, so that nothing else tells."""
    ordered, searching = [], True

    def noted(order):
        ordered.append(order.key.purpose)
        return seconds(order) if searching else 1e-3 * order.tuning[STEPS]

    place = WorkerEngine(noted, units=Grouping("auto", "auto").units)
    listen = place.workforce.listen

    def from_afar(until):
        return [(worker, reply._replace(latency=latency)) for worker, reply in listen(until)]

    place.workforce.listen = from_afar
    place.engine.search(place.session, Search(place.session, count))
    searching = False
    place.run(30.0)
    assert MOVE in ordered
    return PILOT in ordered


def test_where_a_search_has_shown_that_moves_are_long_none_is_tried():
    """Its states may be quick to find: all that matters is how long a step takes in the mean."""
    assert not tried_after_a_search(lambda order: 0.2 if order.key.number % 2 else 0.01)


def test_where_a_search_was_cheap_or_short_or_far_away_moves_are_tried():
    assert tried_after_a_search(lambda order: 1e-3 * order.tuning[STEPS])
    assert tried_after_a_search(lambda order: 0.1, count=20)
    assert tried_after_a_search(lambda order: 0.1, latency=0.05)


def test_what_only_the_first_calls_of_a_search_take_says_nothing():
    def seconds(order):
        is_first = order.key.purpose == START and order.key.number <= 2
        return 10.0 if is_first else 1e-3 * order.tuning[STEPS]

    assert tried_after_a_search(seconds)


def test_deadlines_after_the_end_of_a_phase_are_none_of_its_own():
    """Whoever falls behind, because a round of exchanges or an order takes long, must not catch up
    with deadlines that pass meanwhile, and then with those that pass meanwhile, without an end."""
    place = WorkerEngine(lambda order: 1.0)
    order = place.workforce.order

    def slow(worker, move):
        order(worker, move)
        place.clock.time += 60.0 if move.key.purpose == MOVE else 0.0

    place.workforce.order = slow
    place.run(50.0)
    assert place.session.machine.passed[0] == 50.0 // 4.0
