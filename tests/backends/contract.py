"""What every backend promises, as one suite that each inherits.

A backend decides who computes which move when. All else must not depend on it: given the log of its
events, one processor computes the same draws, bit for bit.
"""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

import aptmc
from aptmc import start
from aptmc.errors import RunFailed, StopReason
from aptmc.keys import MOVE
from aptmc.record.event_log import COMPLETED, TAKEN, Events
from aptmc.session.build import build_session
from aptmc.session.control import Control
from aptmc.session.event_replay import replay
from aptmc.store import MemoryStore
from tests.support import simulators
from tests.support.after_moves import after_moves
from tests.support.sessions import same
from tests.support.settings import given
from tests.support.stores import kept

LADDER = aptmc.Ladder.powers(6)
KERNEL = aptmc.RandomWalk(1.0)
PROBLEM = simulators.problem()
SEED = 1
MOVES = 150
# Far longer than any test takes: runs end when enough moves are done.
LONG = 3600.0
MOST_LOOKS, PAUSE = 12_000, 0.01
PATIENCE = 0.5  # seconds, after which one looks whether a run has ended by itself


def eventually(condition) -> None:
    """Wait for something that another process or thread does."""
    for _ in range(MOST_LOOKS):
        if condition():
            return
        time.sleep(PAUSE)
    pytest.fail("it never happened")


def make_session(
    schedule,
    processors,
    *,
    problem=PROBLEM,
    ladder=LADDER,
    kernel=KERNEL,
    pools=None,
    thin=1,
    log_events=True,
    settling=0,
):
    """A session whose chains have no states yet, and its store."""
    pools = pools or aptmc.Shared()
    layout = pools.layout(ladder, processors)
    store = MemoryStore()
    settings = given(
        problem, ladder, kernel, schedule,
        pools=pools, seed=SEED, thin=thin, log_events=log_events, settling=settling,
    )  # fmt: skip
    session = build_session(settings, store, layout=layout)
    return session, store


def run_for(backend, session, moves=MOVES, budget=LONG, awaited=()):
    """Run a session until so many more moves are done, then stop it from another thread.

    :param awaited: keys of moves that must be among them, for one worker may do all others before
        another has begun
    """
    control, machine = Control(), session.machine
    wanted = int(machine.completed.sum()) + moves

    def is_enough(_):
        are_home = [
            machine.waiting[key.chain] or machine.moves[key.chain] > key.number for key in awaited
        ]
        return machine.completed.sum() >= wanted and all(are_home)

    def watch():
        try:
            eventually(lambda: control.ask(is_enough))
        except RunFailed:  # it has ended by itself
            pass
        finally:
            control.stop()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return backend.run(session, budget, control)
    finally:
        control.end()
        watcher.join()
        session.flush()


def begin(problem=PROBLEM, **changes):
    """A run in the background that only a request ends."""
    settings: dict[str, Any] = {
        "budget": LONG,
        "ladder": LADDER,
        "kernel": KERNEL,
        "schedule": aptmc.Anytime(every="1 ms"),
        "on": aptmc.Processes(1, group=1),
        "keep": "all",
        "seed": SEED,
    }
    return start(problem, **(settings | changes))


def run_until(moves=60, problem=PROBLEM, **changes):
    """A run that is stopped when so many moves are done."""
    with pytest.MonkeyPatch.context() as patch:
        enough = after_moves(patch, moves, problem)
        with begin(problem, **changes) as handle:
            while not enough.wait(PATIENCE) and handle.is_running:
                pass
            return handle.stop()


def draws_until(store, session, time) -> list[Any]:
    """Every chain's draws up to a time, in a form that can be compared bit for bit."""
    width = session.machine.states.shape[1]
    return [
        np.column_stack([np.asarray(column, dtype=float) for column in draws])
        for draws in (
            store.draws(chain, width).between(-np.inf, time)
            for chain in range(session.machine.rung.size)
        )
    ]


def replayed(events, until, tuning, *arguments, **options):
    """The draws of a fresh session that is given the events of another."""
    session, store = make_session(*arguments, **options)
    session.tuning[:] = tuning
    replay(session, events, until)
    session.flush()
    return draws_until(store, session, until)


def same_when_replayed(run, **options) -> bool:
    """Whether a run with keep="all" can be computed again, up to its last event."""
    settings, until = run.settings, float(run.events.time[-1])
    again = replayed(
        run.events, until, run._tuning, settings.schedule, settings.on.processors,
        problem=settings.problem, pools=settings.pools, ladder=settings.ladder,
        settling=settings.settling, **options,
    )  # fmt: skip
    draws = [draws.between(-np.inf, until) for draws in kept(run)]
    assert sum(draw.time.size for draw in draws) > 0
    return same(
        [np.column_stack([np.asarray(column, float) for column in draw]) for draw in draws], again
    )


class Recording(NamedTuple):
    """A session that was left and run again."""

    session: Any
    store: Any
    usages: list[Any]
    in_flight: list[aptmc.Key]  # when it was left
    events_before: int

    @property
    def events(self) -> Events:
        return self.store.events()


@cache
def recording(contract) -> Recording:
    """One for each backend: starting worker processes takes time."""
    backend = contract.backend()
    session, store = make_session(contract.schedule, backend.processors)
    first = contract.leave(backend, session)
    session.flush()
    in_flight = [session.key(chain) for chain in np.flatnonzero(~session.machine.waiting).tolist()]
    events_before = store.events().kind.size
    second = run_for(backend, session, awaited=in_flight)
    return Recording(session, store, [first, second], in_flight, events_before)


def damaged(events, order=None, **columns) -> Events:
    """The same log with rows in another order, or with other numbers in a column."""
    rows = np.arange(events.kind.size) if order is None else np.asarray(order)
    return Events(*(column[rows] for column in events._replace(**columns)))


class RaisesInTheEnd(aptmc.Rule):
    """A rule that works for a while."""

    @staticmethod
    @njit
    def choose_pairs(round_number, waiting, rng, pairs):
        if round_number >= 3:
            raise ValueError("no more pairs")
        return 0


class BriefContract:
    """To be inherited, with a backend and a schedule.

    What differs most between backends, which costs two runs. The whole contract is for one backend
    of each kind: where workers are processes, every run takes a second.
    """

    schedule: aptmc.Anytime | aptmc.Synchronous
    failing_schedule: aptmc.Anytime | aptmc.Synchronous
    budget = 100.0

    @staticmethod
    def backend() -> Any:
        raise NotImplementedError

    @staticmethod
    def leave(backend, session):
        """Run a session for a while, so that something is in flight when it is left."""
        return run_for(backend, session)

    def run_until_the_budget_ends(self, session):
        return self.backend().run(session, self.budget)

    def sample(self, problem, **changes):
        settings: dict[str, Any] = {
            "budget": LONG,
            "ladder": LADDER,
            "kernel": KERNEL,
            "schedule": self.schedule,
            "on": self.backend(),
            "keep": "all",
            "seed": SEED,
        }
        return aptmc.sample(problem, **(settings | changes))

    # --- a session that was left and run again ----------------------------------------------

    def test_a_request_from_another_thread_stops_it(self):
        usage = recording(type(self)).usages[-1]
        assert usage.stopped is StopReason.STOPPED
        assert usage.failure is None
        assert usage.elapsed > 0.0

    def test_a_replay_gives_the_same_draws_bit_for_bit(self):
        session, store, events = self._recorded()
        until = float(events.time[-1])
        arguments = until, session.tuning, self.schedule, session.processors
        expected = draws_until(store, session, until)
        assert same(replayed(events, *arguments), expected)
        assert min(map(len, expected)) > 0
        exchanged = session.machine.states.shape[1] + 1  # its place among the columns
        assert sum(int(draws[:, exchanged].sum()) for draws in expected) > 0

    def test_a_log_in_a_wrong_order_is_refused(self):
        session, _, events = self._recorded()
        rows = np.arange(events.kind.size)
        first_end = int(np.flatnonzero(events.kind == COMPLETED)[0])
        its_start = int(np.flatnonzero(events.chain == events.chain[first_end])[0])
        swapped, twice = rows.copy(), np.insert(rows, first_end, first_end)
        swapped[[its_start, first_end]] = first_end, its_start
        chain = events.chain.copy()
        chain[its_start] = (chain[its_start] + 1) % LADDER.rungs
        for broken in (
            damaged(events, swapped),
            damaged(events, twice),
            damaged(events, np.delete(rows, its_start)),
            damaged(events, chain=chain),
        ):
            with pytest.raises(RunFailed, match="cannot have happened"):
                replayed(broken, 1.0, session.tuning, self.schedule, session.processors)

    def test_what_was_in_flight_when_it_was_left_is_done_first(self):
        session, _, events = self._recorded()
        before = recording(type(self)).events_before
        keys = recording(type(self)).in_flight
        assert keys
        for key in keys:
            done = (events.chain == key.chain) & (events.kind == COMPLETED)
            assert done[:before].sum() == key.number - 1
            later = np.flatnonzero(events.chain[before:] == key.chain)
            assert later.size > 0
            assert events.kind[before + later[0]] == COMPLETED
        assert session.machine.completed.sum() > MOVES

    def test_no_move_is_skipped_or_done_twice(self):
        session, store, events = self._recorded()
        for chain in range(LADDER.rungs):
            kinds = events.kind[events.chain == chain]
            assert (kinds[0::2] == TAKEN).all()
            assert (kinds[1::2] == COMPLETED).all()
            taken, done = (kinds == TAKEN).sum(), (kinds == COMPLETED).sum()
            draws = store.draws(chain, session.machine.states.shape[1])
            assert taken == session.machine.moves[chain]
            assert done == (~draws.exchanged).sum() > 0

    def test_time_never_goes_back(self):
        session, store, events = self._recorded()
        assert (np.diff(events.time) >= 0.0).all()
        for chain in range(LADDER.rungs):
            assert (np.diff(store.draws(chain, session.machine.states.shape[1]).time) >= 0.0).all()
        ends = events.completions
        assert (ends.began <= ends.ended).all()
        assert (ends.ended <= ends.time).all()
        elapsed = sum(usage.elapsed for usage in recording(type(self)).usages)
        assert events.time[-1] <= session.progress.elapsed == pytest.approx(elapsed)

    def _recorded(self):
        made = recording(type(self))
        return made.session, made.store, made.events

    # --- a failure ------------------------------------------------------------------------------

    def test_a_failure_says_where_and_keeps_the_draws_so_far(self):
        self.check_failure(simulators.raises_far_out, "raised ArithmeticError: too far out")

    def check_failure(self, function, reason):
        problem = simulators.problem(function)
        with pytest.raises(aptmc.MoveFailed, match=reason) as caught:
            self.sample(problem)
        failure = caught.value
        assert abs(failure.parameters["x"]) > simulators.FAR
        run, key = failure.run, failure.key
        assert run.stopped is StopReason.FAILED
        assert key in run.in_flight
        assert key.purpose == MOVE
        assert failure.rung == key.chain
        moves = sum((~draws.exchanged).sum() for draws in kept(run))
        assert moves == run.completions == run.events.completions.kind.size
        assert self._fails_again(problem, failure)

    def _fails_again(self, problem, failure) -> bool:
        """The move that failed can be computed again from what the failure says and the log."""
        run = failure.run
        session, _ = make_session(
            self.schedule, self.backend().processors, problem=problem,
            settling=run.settings.settling,
        )  # fmt: skip
        session.tuning[:] = run._tuning
        replay(session, run.events, float(run.events.time[-1]))
        with pytest.raises(aptmc.MoveFailed) as caught:
            session.compute(failure.key.chain)
        return str(caught.value) == str(failure)


class Contract(BriefContract):
    """All of it."""

    # --- ends -----------------------------------------------------------------------------------

    def test_the_budget_ends_it(self):
        session, store = make_session(self.schedule, self.backend().processors)
        usage = self.run_until_the_budget_ends(session)
        assert usage.stopped is StopReason.BUDGET_SPENT
        assert usage.elapsed == session.progress.elapsed > 0.0
        session.flush()
        # With the end known, the exchanges after the last event are in the replay too.
        again = replayed(
            store.events(), usage.elapsed, session.tuning, self.schedule, session.processors
        )
        assert same(again, draws_until(store, session, np.inf))
        assert sum(map(len, again)) > 0

    def test_a_number_that_is_none_is_a_failure_too(self):
        self.check_failure(simulators.nan_far_out, "returned nan")

    def test_a_rule_that_fails_is_named(self):
        with pytest.raises(aptmc.ExchangeFailed, match="no more pairs") as caught:
            self.sample(PROBLEM, schedule=self.failing_schedule)
        assert caught.value.run.stopped is StopReason.FAILED
        assert caught.value.run.completions > 0

    # --- what is kept ---------------------------------------------------------------------------

    def test_draws_can_be_thinned_and_the_log_left_out(self):
        backend = self.backend()
        session, store = make_session(self.schedule, backend.processors, thin=3, log_events=False)
        run_for(backend, session)
        assert store.events().kind.size == 0
        assert session.record.seen.min() > 3
        for chain, seen in enumerate(session.record.seen.tolist()):
            assert store.draws(chain, session.machine.states.shape[1]).time.size == seen // 3
