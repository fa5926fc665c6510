"""The state machine, driven by hand: who moves, who waits, who is exchanged, and when."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aptmc
from aptmc.problem.chain_state import OWN
from aptmc.record.record import NOBODY, empty_record
from aptmc.session.session import Outcome
from tests.support.sessions import all_draws, make_session, same


def waiting(session):
    return set(np.flatnonzero(session.machine.waiting).tolist())


def play(session, completions, rng, *, look_ahead=False):
    """A backend with random hold times: every pool's processors work without a pause.

    With `look_ahead` the deadlines are also served at random moments between completions, so that
    exchanges are carried out eagerly instead of at the next completion.
    """
    now = 0.0
    in_flight = []
    for pool in session.served:
        chain = session.take_next(pool)
        if chain != NOBODY:
            in_flight.append((rng.exponential(), pool, chain))
    for _ in range(completions):
        in_flight.sort()
        time, pool, chain = in_flight.pop(0)
        glimpses = np.sort(rng.uniform(now, time, 3))
        if look_ahead:
            for glimpse in glimpses:
                session.catch_up(glimpse)
        session.complete(chain, session.compute(chain), time)
        now = time
        busy = {pool for _, pool, _ in in_flight}
        for free in set(session.served.tolist()) - busy | {int(pool)}:
            chain = session.take_next(free)
            if chain != NOBODY:
                in_flight.append((now + rng.exponential(), free, chain))
    return now


def test_chains_take_turns():
    session, _ = make_session(aptmc.Anytime(every=1e9))
    order = []
    for step in range(8):
        chain = session.take_next(0)
        order.append(chain)
        session.complete(chain, session.compute(chain), float(step))
    assert order == [0, 1, 2, 3] * 2


def test_a_queue_serves_several_processors():
    session, _ = make_session(aptmc.Anytime(every=1e9), processors=2)
    first, second = session.take_next(0), session.take_next(0)
    assert (first, second) == (0, 1)
    session.complete(second, session.compute(second), 1.0)
    assert session.take_next(0) == 2
    session.complete(first, session.compute(first), 2.0)
    # Whoever finished first stands first in the queue.
    assert [session.take_next(0) for _ in range(3)] == [3, 1, 0]
    assert session.take_next(0) == NOBODY


def test_only_waiting_chains_are_exchanged():
    session, store = make_session(aptmc.Anytime(every=1.0), processors=2)
    in_flight = {session.take_next(0), session.take_next(0)}
    assert waiting(session) == {2, 3}
    session.catch_up(1000.5)
    draws = all_draws(session, store)
    assert [len(chain) for chain in draws] == [0, 0, 500, 500]  # every second round pairs nobody
    assert in_flight == {0, 1}


def test_uncorrected_exchanges_chains_in_flight():
    session, store = make_session(aptmc.Uncorrected(every=1.0), processors=2)
    session.take_next(0)
    session.take_next(0)
    session.catch_up(10.5)
    assert all(len(chain) > 0 for chain in all_draws(session, store))


@pytest.mark.parametrize(
    ("pools", "processors"),
    [(aptmc.Shared(), 1), (aptmc.Shared(), 3), (aptmc.Paired(), 6), (aptmc.Partitioned(), 2)],
)
def test_lazy_and_eager_deadlines_give_the_same_draws(pools, processors):
    results = []
    for look_ahead in (False, True):
        session, store = make_session(
            aptmc.Anytime(every=0.3, exchange=aptmc.RandomParity(), within=aptmc.OneRandomPair()),
            ladder=aptmc.Ladder.powers(6),
            pools=pools,
            processors=processors,
        )
        play(session, 300, np.random.default_rng(1), look_ahead=look_ahead)
        results.append(all_draws(session, store))
    assert same(*results)
    assert sum(len(draws) for draws in results[0]) > 300


def test_a_late_exchange_would_be_noticed():
    """The control: exchanging after the completion, not before it, gives other draws."""
    results = []
    for late in (False, True):
        session, store = make_session(aptmc.Anytime(every=0.3))
        for step in range(100):
            chain = session.take_next(0)
            outcome = session.compute(chain)
            time = 1.0 + step
            session.complete(chain, outcome, np.floor(time / 0.3 - 1.0) * 0.3 if late else time)
        results.append(all_draws(session, store))
    assert not same(*results)


def test_every_deadline_inside_one_hold_time_is_served():
    session, _ = make_session(aptmc.Anytime(every=2.0, exchange=aptmc.Alternating(rounds=3)))
    chain = session.take_next(0)
    session.complete(chain, session.compute(chain), 10.0)
    assert session.machine.passed[0] == 5
    # Three waiting chains: one pair in each of 5 x 3 rounds.
    assert session.record.attempts.sum() == 15


def test_a_deadline_at_the_moment_of_a_completion_comes_first():
    session, _ = make_session(aptmc.Anytime(every=1.0))
    chain = session.take_next(0)
    session.complete(chain, session.compute(chain), 1.0)
    assert session.record.attempts[0].sum() == 0  # chain 0 was still in flight
    assert session.record.attempts[1, 2] == 1


def test_synchronous_chains_wait_for_each_other():
    session, _ = make_session(aptmc.Synchronous(moves=2), processors=3)
    chains = [session.take_next(0) for _ in range(3)]
    for time in range(100):
        finished = chains.pop(0)
        before = session.machine.passed[0]
        session.complete(finished, session.compute(finished), float(time))
        started = session.machine.moves
        if session.machine.passed[0] == before:
            assert started.max() <= 2 * (before + 1)
        else:
            assert (started == 2 * session.machine.passed[0]).all()
            assert waiting(session) == {0, 1, 2, 3}
        while len(chains) < 3 and (chain := session.take_next(0)) != NOBODY:
            chains.append(chain)
    assert session.machine.passed[0] == 100 // 8
    assert session.record.attempts.sum() == 12 / 2 * (2 + 1)


def test_sweeps_exchange_within_pools_and_deadlines_between_them():
    schedule = aptmc.Anytime(every=7.0, exchange=aptmc.BetweenPools(), within=aptmc.OneRandomPair())
    session, store = make_session(
        schedule, ladder=aptmc.Ladder.powers(6), pools=aptmc.Partitioned(), processors=2
    )
    time = play(session, 600, np.random.default_rng(2))
    attempts = session.record.attempts
    within = attempts[:3, :3].sum() + attempts[3:, 3:].sum()
    between = attempts[:3, 3:].sum()
    assert within == sum(session.machine.completed // 3)
    assert between == session.machine.passed[0] == time // 7.0
    assert len(all_draws(session, store)) == 6


def test_idle_chains_are_fed_by_exchanges_only():
    ladder = aptmc.Ladder.powers(4).without_local_moves(0)
    session, store = make_session(aptmc.Anytime(every=0.5), ladder=ladder)
    play(session, 200, np.random.default_rng(3))
    assert session.machine.moves[0] == 0
    assert (session.machine.moves[1:] > 50).all()
    exchanged = 2
    assert (all_draws(session, store)[0][:, 3 + exchanged - 1] == 1.0).all()


def test_a_full_record_delays_nothing():
    results = []
    for rows in (100, 100_000):
        session, store = make_session(
            aptmc.Anytime(every=0.1, within=aptmc.Alternating()), ladder=aptmc.Ladder.powers(4)
        )
        machine = session.machine
        record = empty_record(machine.rung, 4, 3, np.ones(4, np.bool_), rows)
        object.__setattr__(session, "record", record)
        play(session, 200, np.random.default_rng(4))
        results.append(all_draws(session, store))
    assert same(*results)


@settings(max_examples=60)
@given(
    rungs=st.integers(2, 7),
    per_rung=st.integers(1, 3),
    processors=st.integers(1, 4),
    every=st.floats(0.05, 5.0),
    seed=st.integers(0, 2**32),
    partitioned=st.booleans(),
)
def test_nothing_is_lost_and_nobody_is_doubled(
    rungs, per_rung, processors, every, seed, partitioned
):
    pools = aptmc.Partitioned(per_rung) if partitioned else aptmc.Shared(per_rung)
    schedule = aptmc.Anytime(every=every)
    ladder = aptmc.Ladder.powers(rungs)
    try:
        schedule.check(pools.layout(ladder, processors))
    except aptmc.InputError:
        return
    session, _ = make_session(schedule, ladder=ladder, pools=pools, processors=processors)
    machine = session.machine
    play(session, 60, np.random.default_rng(seed))
    assert sorted(machine.replica) == list(range(machine.rung.size))
    queued = [
        int(machine.queue[pool, (machine.head[pool] + i) % machine.queue.shape[1]])
        for pool in range(machine.queue.shape[0])
        for i in range(machine.queued[pool])
    ]
    assert sorted(queued) == sorted(waiting(session))
    assert (~machine.waiting).sum() == processors
    # First in, first out: within a pool no chain is ever more than one move ahead of a waiting one
    # by more than the number of processors that overtake it.
    assert machine.moves.sum() == 60 + processors


def test_outcomes_go_to_the_chain_that_moved():
    session, _ = make_session(aptmc.Anytime(every=1e9))
    chain = session.take_next(0)
    outcome = Outcome(np.array([42.0, -1.0, 0.0]), np.zeros(OWN))
    others = session.machine.states[1:].copy()
    session.complete(chain, outcome, 1.0)
    assert (session.machine.states[session.machine.replica[chain]] == outcome.state).all()
    assert (session.machine.states[1:] == others).all()
