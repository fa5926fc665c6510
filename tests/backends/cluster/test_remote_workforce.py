"""Workers of an engine, played by the test: whose orders go where, and what becomes of them."""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc.backends.cluster.remote_workforce import RemoteWorkforce
from aptmc.backends.cluster.task import UNUSABLE, _head
from aptmc.backends.workers.wire import Wire
from aptmc.keys import Key
from aptmc.session.control import Control
from aptmc.session.orders import Order
from tests.support import simulators
from tests.support.scripted_dispatch import ScriptedDispatch
from tests.support.virtual_workforce import SetClock

WIRE = Wire(1, 2)
NOW = -1.0  # what has arrived is told, and nobody waits


def order(number):
    return Order(Key(1, 0, number), 0, 1.0, np.zeros(3), np.zeros(2))


def keys(*numbers):
    return [Key(1, 0, number) for number in numbers]


class Play:
    """A workforce on an engine with these homes, whose workers have been hired and are ready."""

    def __init__(self, *homes, workers=None, **options):
        self.clock = SetClock(10.0)
        self.dispatch = ScriptedDispatch(*homes)
        self.force = RemoteWorkforce(
            b"payload", WIRE, simulators.problem(), self.dispatch, self.clock, **options
        )
        assert self.force.await_ready(100.0, Control(self.clock))
        count = len(homes) if workers is None else workers
        self.workers = [self.force.hire(processor) for processor in range(count)]
        self.listen()

    def listen(self):
        self.dispatch.greet()
        return self.force.listen(NOW)

    def order(self, worker, number):
        self.force.order(self.workers[worker], order(number))

    def under_way(self, home=None):
        return self.dispatch.orders(WIRE, home)

    def answer(self, number, **times):
        self.dispatch.answer(WIRE, Key(1, 0, number), **times)
        return self.listen()


# --- time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arrived", "began", "latency"),
    [(20.0, 17.0, 7.0), (12.0, 10.0, 0.0)],
    ids=["the way takes 7", "clocks go at different speeds"],
)
def test_only_how_long_it_took_is_taken_from_the_clock_of_a_worker(arrived, began, latency):
    play = Play("a")
    play.order(0, 1)
    play.clock.time = arrived
    ((worker, reply),) = play.answer(1, began=1e9, ended=1e9 + 3.0)
    assert worker is play.workers[0]
    assert (reply.began, reply.ended, reply.latency) == (began, arrived, latency)
    assert worker.is_idle


# --- the problem travels once ---------------------------------------------------------------------


def test_orders_go_without_the_problem_unless_it_is_asked_for():
    play = Play("a")
    play.order(0, 1)
    assert [sent.task.payload for sent in play.dispatch.sent] == [None]
    play.dispatch.say_unknown(WIRE, Key(1, 0, 1))
    play.listen()
    assert [sent.task.payload for sent in play.dispatch.sent] == [b"payload"]
    assert play.under_way() == keys(1)


def test_a_problem_that_cannot_be_loaded_is_an_error_of_the_user():
    play = Play(workers=0)
    play.dispatch.add("a")
    play.force.hire(0)
    (sent,) = play.dispatch.sent
    sent.done(_head(UNUSABLE) + b"...\nModuleNotFoundError: No module named 'mine'")
    with pytest.raises(aptmc.InputError, match="workers cannot load the problem: ModuleNotFound"):
        play.force.listen(NOW)


# --- losses ---------------------------------------------------------------------------------------


def test_what_was_lost_is_sent_again_to_a_free_seat_in_the_same_order():
    play = Play("a", "b", workers=1)
    play.order(0, 1)
    play.order(0, 2)
    play.dispatch.lose("a")
    assert play.listen() == []
    assert play.under_way("b") == keys(1, 2)
    assert play.dispatch.abandoned == ["a"]


def test_who_finds_no_free_seat_shares_one_until_another_comes():
    play = Play("a", "b")
    play.order(0, 1)
    play.order(1, 2)
    play.dispatch.lose("a")
    play.listen()
    assert play.under_way("b") == keys(2, 1)
    assert play.force.crowded() == [play.workers[1]]
    play.dispatch.add("c")
    play.listen()
    assert play.force.crowded() == []
    assert play.force.vacancies() == 0
    play.order(1, 3)
    assert play.under_way("c") == keys(3)
    # What it had sent from its old seat is answered from there.
    assert [reply.key for _, reply in play.answer(2)] == keys(2)


def test_without_any_seat_orders_wait_for_one():
    play = Play("a")
    play.order(0, 1)
    play.dispatch.lose("a")
    play.listen()
    play.order(0, 2)
    assert play.under_way() == []
    play.dispatch.add("b")
    play.listen()
    assert play.under_way("b") == keys(1, 2)


def test_a_home_that_is_gone_without_a_word_is_lost_too():
    play = Play("a", "b", workers=1)
    play.order(0, 1)
    play.dispatch.gone("a")
    play.listen()
    assert play.under_way("b") == keys(1)


def test_an_answer_that_comes_after_all_counts_once():
    play = Play("a", "b", workers=1)
    play.order(0, 1)
    late = play.dispatch.sent.pop()
    play.dispatch.gone("a")
    play.listen()
    assert [reply.key for _, reply in play.answer(1)] == keys(1)
    late.done(_head(UNUSABLE))
    assert play.listen() == []


def test_a_move_that_loses_its_home_three_times_is_given_up():
    play = Play("a", "b", "c", workers=1)
    play.order(0, 1)
    play.order(0, 2)
    for home in ("a", "b", "c"):
        assert play.under_way(home) == keys(1, 2)
        play.dispatch.lose(home)
        replies = play.listen()
    ((_, reply),) = replies
    assert reply.key == Key(1, 0, 1)
    assert isinstance(reply.failure, aptmc.WorkerDied)
    # The other one was never the first in line: nobody suspects it.
    play.dispatch.add("d")
    play.listen()
    assert play.under_way("d") == keys(2)


def test_where_workers_are_taken_away_a_move_may_be_lost_more_often():
    homes = "abcd"
    play = Play(*homes, workers=1, most_losses=5)
    play.order(0, 1)
    for home in homes:
        play.dispatch.lose(home)
        assert play.listen() == []
    play.dispatch.add("e")
    play.listen()
    assert play.under_way("e") == keys(1)
    play.dispatch.lose("e")
    ((_, reply),) = play.listen()
    assert "each of 5 times" in str(reply.failure)


def test_of_several_suspects_each_has_its_last_chance_alone():
    home = "all of them"
    play = Play(home, home)
    play.order(0, 1)
    play.order(1, 2)
    for successor in ("second", "third"):
        play.dispatch.places = [*play.dispatch.places, *Play(successor, successor).dispatch.places]
        play.dispatch.lose(home)
        play.listen()
        home = successor
    assert play.under_way() == keys(1)
    play.order(1, 3)
    assert play.under_way() == keys(1)
    play.answer(1)
    assert play.under_way() == keys(2)
    play.answer(2)
    assert play.under_way() == keys(3)


def test_a_last_chance_waits_for_a_seat():
    play = Play("a", "a")
    play.order(0, 1)
    play.order(1, 2)
    for home in ("a", "b"):
        play.dispatch.lose(home)
        play.listen()
        if home == "a":
            play.dispatch.add("b")
            play.listen()
    assert play.under_way() == []
    play.dispatch.add("c")
    play.listen()
    assert play.under_way("c") == keys(1)
    play.answer(1)
    assert play.under_way("c") == keys(2)


# --- who comes and goes ---------------------------------------------------------------------------


def test_seats_that_come_are_vacant_until_somebody_is_hired():
    play = Play("a")
    assert play.force.vacancies() == 0
    play.dispatch.add("b")
    play.listen()
    assert play.force.vacancies() == 1
    play.force.hire(1)
    assert play.force.vacancies() == 0


def test_the_seat_of_one_that_was_asked_to_leave_stays_empty():
    play = Play("a", "b")
    worker = play.workers[1]
    worker.is_leaving = True
    play.force.retire(worker)
    play.force.dismiss(worker)
    assert play.force.vacancies() == 0


def test_workers_of_an_engine_cannot_be_added_from_here():
    with pytest.raises(aptmc.InputError, match="those that join a cluster"):
        Play("a").force.check_growth()


def test_in_the_end_what_is_under_way_is_withdrawn():
    play = Play("a")
    play.order(0, 1)
    play.force.close()
    assert play.dispatch.sent == []
    assert play.dispatch.is_closed
