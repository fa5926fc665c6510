"""Who takes far too long before moves count is given up, and comes back. In virtual time."""

from __future__ import annotations

import math

import numpy as np
import pytest

import aptmc
from aptmc.backends.workers.early_moves import EarlyMoves
from aptmc.backends.workers.patience import AT_FIRST
from aptmc.backends.workers.worker_loop import WorkerLoop
from aptmc.keys import MOVE, START, Key
from aptmc.session.control import Control, FixedProcessors
from aptmc.session.descent import Errand
from aptmc.session.orders import Order
from aptmc.session.start_up import StoppedEarly
from aptmc.session.units import Units
from tests.backends.contract import make_session
from tests.support.virtual_workforce import SetClock, VirtualWorkforce

BUDGET = 1000.0


class Asking(Errand):
    """Asks for first states until so many have been heard of; notes when and by whom."""

    def __init__(self, session, count):
        self.session, self.count, self.number = session, count, 0
        self.elapsed, self.given_up = [], []

    @property
    def is_over(self):
        return len(self.elapsed) >= self.count

    def next_order(self):
        self.number += 1
        key = Key(self.session.seed, 0, self.number - 1, START)
        nothing = np.full(self.session.problem.width, np.nan)
        return Order(key, 0, 1.0, self.session.tuning[0].copy(), nothing)

    def report(self, order, outcome, seconds, elapsed):
        (self.given_up if outcome is None else self.elapsed).append(elapsed)


class Place:
    """Some workers, and moves before any count."""

    def __init__(self, seconds, processors=2):
        self.clock = SetClock()
        self.session, _ = make_session(aptmc.Anytime(every=4.0), processors)
        self.workforce = VirtualWorkforce(self.clock, self.session.mover, seconds)
        for processor in range(processors):
            self.workforce.hire(processor)
        self.early = EarlyMoves(
            self.workforce, Control(self.clock), FixedProcessors(0.0, np.zeros(processors)),
            processors, BUDGET,
        )  # fmt: skip

    def ask(self, count):
        errand = Asking(self.session, count)
        self.early.search(errand)
        return errand


@pytest.mark.parametrize("processors", [1, 2, 4])
def test_if_every_worker_is_stuck_at_first_most_of_the_budget_is_left(processors):
    """Nobody can tell yet what takes too long; but nothing may take all there is."""
    place = Place(
        lambda order: math.inf if order.key.number < processors else 0.1, processors=processors
    )
    asked = place.ask(100)
    assert asked.given_up == [AT_FIRST * BUDGET] * processors
    assert [key.number for key in place.workforce.given_up] == list(range(processors))
    assert place.clock.now() == pytest.approx(AT_FIRST * BUDGET + 10.0 / processors, abs=0.2)
    assert sorted(place.workforce.workers) == list(range(processors))


def test_trials_of_units_and_first_states_are_not_waited_for_without_end_either():
    place = Place(lambda order: math.inf if order.key.number == 0 else 0.1)
    asking = Asking(place.session, 0)
    orders = [asking.next_order() for _ in range(6)]
    orders[1] = orders[1]._replace(key=orders[0].key._replace(chain=1))  # is stuck, too
    replies = place.early.compute_timed(orders)
    assert [reply is None for reply in replies] == [True, True] + [False] * 4
    assert place.clock.now() == pytest.approx(AT_FIRST * BUDGET + 0.2)


def test_where_all_moves_are_long_one_waits_longer_and_longer():
    """A third of the budget each: the first are given up after an eighth, and after a quarter."""
    place = Place(lambda order: 0.3 * BUDGET, processors=1)
    asked = place.ask(1)
    assert asked.given_up == [0.125 * BUDGET, 0.375 * BUDGET]
    assert asked.elapsed == [pytest.approx(0.675 * BUDGET)]


def test_a_long_move_is_worth_waiting_for():
    place = Place(lambda order: 0.1 * BUDGET, processors=1)
    assert place.ask(3).given_up == []


def test_a_new_worker_may_load_and_compile_as_the_others_did():
    """What a worker computes first takes 30; later ones a hundredth of the patience with them."""
    begun = {}

    def seconds(order):
        if order.key.number == 50:
            return math.inf
        (worker,) = [one for one in place.workforce.workers.values() if order in one.orders]
        return 30.0 if begun.setdefault(worker, order.key) == order.key else 0.01

    place = Place(seconds)
    asked = place.ask(5000)
    assert len(asked.given_up) == 1
    # Both were there at the end: the one that had to begin anew, too.
    assert len(begun) == 3
    assert asked.elapsed[-1] < 100.0


def test_a_move_that_counts_is_never_given_up():
    """A kernel that gives up what takes long has another target."""
    place = Place(lambda order: math.inf if order.key.chain == 0 else 1.0)
    place.session.begin()
    loop = WorkerLoop(
        place.session, BUDGET, BUDGET, Control(place.clock), place.workforce,
        lambda compute: Units(np.ones(place.session.tuning.shape[0], int), 0), 0.0,
    )  # fmt: skip
    usage = loop.run()
    assert place.workforce.given_up == []
    under_way = [one.orders[0].key for one in place.workforce.workers.values() if one.orders]
    assert [key.purpose for key in under_way if key.chain == 0] == [MOVE]
    # It costs its own processor, and nothing else.
    assert usage.elapsed == BUDGET
    assert place.session.machine.completed.sum() == pytest.approx(BUDGET, abs=6)


def test_the_planted_error_a_patience_without_end_spends_the_budget(monkeypatch):
    """As it was: the first worker is stuck, and nobody else is there to tell."""
    monkeypatch.setattr("aptmc.backends.workers.patience.AT_FIRST", math.inf)
    place = Place(lambda order: math.inf if order.key.number == 0 else 0.1, processors=1)
    with pytest.raises(StoppedEarly):
        place.ask(1)
    assert place.clock.now() == BUDGET
