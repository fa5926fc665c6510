"""The coordinator: completions in, moves out. All of the anytime logic is here and nowhere else.

It is a state machine without clock, files or processes. Whoever computes the moves asks `take_next`
for work and reports each finished move to `complete`, in the order and with the times in which they
finish; given those, everything that follows is determined.

Why it is exact. Chains of a pool stand in one first-in-first-out queue; each processor takes the
chain at the head, and a finished chain goes to the back. Then, whatever the hold times are, given
the chains in flight (their states and how long they have been at it) the *waiting* chains are
independent draws from their own targets (Proposition 3.1, and its extension to several processors
per pool). So an exchange between waiting chains that leaves the product of their targets invariant
leaves everything invariant. Chains in flight are left alone: found half-done at a deadline, they
are more often slow states than their targets say.

Deadlines need no alarm. Between a deadline and the next completion nobody starts or stops waiting,
so the exchanges due are carried out when that completion is reported, just before it counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aptmc.compiled import Flags, Floats, FloatTable, Integers, IntegerTable, compiled, inlined
from aptmc.exchange.rules import ChoosePairs, Waiting
from aptmc.exchange.swap import LogWeight, swap_log_ratio
from aptmc.keys import DEADLINE, EXCHANGE, Streams, first_number, rewind
from aptmc.pools import Layout
from aptmc.problem.state import ACCEPTED, HOLD_TIME, PROCESSOR, WORK, accepts
from aptmc.record.record import (
    EXCHANGE_MOVE,
    LOCAL_MOVE,
    NOBODY,
    Record,
    has_room,
    note_arrival,
    note_attempt,
    note_chance,
    write,
)
from aptmc.schedule import DEADLINES_PER_SWEEP, Plan

MOST_DEADLINES = 100_000  # in one go, so that a run can be interrupted
ALL_POOLS = -1
MANY_ROUNDS, ONE_ROUND_OF = 2000, 16
# What a completion calls for.
NOTHING, WITHIN_POOL, AT_BARRIER = 0, 1, 2


class Coordinator(NamedTuple):
    """All that the coordinator knows. Arrays are changed in place."""

    # Fixed for the run.
    plan: Plan
    level: Floats  # of each rung
    rung: Integers  # of each chain; chains are numbered coldest first
    pool: Integers  # of each chain
    is_mover: Flags  # of each chain: does it make local moves?
    sweep: Integers  # of each pool: how many chains move in it
    value_column: int  # where a state keeps the value that exchanges look at
    epoch: int  # a part of every random key, for phases of a run that follow each other
    # What changes.
    states: FloatTable  # of each replica
    replica: Integers  # of each chain: which state it holds; a swap exchanges two of these
    waiting: Flags  # of each chain: is it waiting, or in flight?
    moves: Integers  # of each chain: moves started; with its number, the key of the current one
    moves_left: Integers  # of each chain: before the next barrier, if there are barriers
    unfinished: Integers  # one number: chains that have moves left before the barrier
    queue: IntegerTable  # of each pool: a ring of chains
    head: Integers  # of each pool: where the ring begins
    queued: Integers  # of each pool: how many stand in it
    completed: Integers  # of each pool
    swept: Floats  # of each pool: when its last sweep was complete
    sweep_time: Floats  # of each pool: its share of a sweep's time, as far as one follows that
    passed: Integers  # one number: deadlines (or barriers) so far
    deadline: Floats  # one number: the next


@compiled
def exchange_round(
    machine: Coordinator,
    pool: int,
    number: int,
    time: float,
    record: Record,
    streams: Streams,
    choose_pairs: ChoosePairs,
    log_weight: LogWeight,
) -> None:
    """One round of exchanges among the waiting chains of one pool, or of all."""
    chains = machine.rung.shape[0]
    attending = np.empty(chains, np.int64)
    present = 0
    for chain in range(chains):
        may_attend = machine.waiting[chain] or machine.plan.swaps_in_flight
        if may_attend and (pool == ALL_POOLS or machine.pool[chain] == pool):
            attending[present] = chain
            present += 1
    attending = attending[:present]
    rungs = machine.rung[attending]
    before = machine.replica[attending]
    values = machine.states[:, machine.value_column][before]
    waiting = Waiting(rungs, machine.pool[attending], machine.level[rungs], values)

    # How likely neighbours would swap is good to know, but need not be asked every time.
    asks = number < MANY_ROUNDS or number % ONE_ROUND_OF == 0
    for position in range(present - 1 if asks else 0):
        if rungs[position + 1] == rungs[position] + 1:
            log_ratio = swap_log_ratio(
                waiting.level[position], waiting.level[position + 1],
                values[position], values[position + 1], log_weight,
            )  # fmt: skip
            note_chance(record, rungs[position], log_ratio)

    rewind(streams.dial, EXCHANGE, pool + 1, first_number(machine.epoch) + number)
    rng = streams.generator
    pairs = np.empty((chains, 2), np.int64)
    count = choose_pairs(number, waiting, rng, pairs)
    if not 0 <= count <= pairs.shape[0]:
        raise IndexError("an exchange rule returned an impossible number of pairs")
    took_part = np.zeros(present, np.bool_)
    for pair in range(count):
        colder, warmer = pairs[pair]
        if colder > warmer:
            colder, warmer = warmer, colder
        if colder < 0 or warmer >= present:
            raise IndexError("an exchange rule paired positions that are not there")
        took_part[colder] = took_part[warmer] = True
        if colder == warmer:
            continue
        first, second = attending[colder], attending[warmer]
        log_ratio = swap_log_ratio(
            machine.level[rungs[colder]],
            machine.level[rungs[warmer]],
            machine.states[machine.replica[first], machine.value_column],
            machine.states[machine.replica[second], machine.value_column],
            log_weight,
        )
        swapped = accepts(log_ratio, rng.random())
        note_attempt(record, rungs[colder], rungs[warmer], swapped)
        if swapped:
            held = machine.replica[first]
            machine.replica[first] = machine.replica[second]
            machine.replica[second] = held

    for position in range(present):
        if took_part[position]:
            chain = attending[position]
            replica = machine.replica[chain]
            changed = replica != before[position]
            note_arrival(record, replica, rungs[position])
            state = machine.states[replica]
            write(
                record, chain, EXCHANGE_MOVE, int(changed), replica, time, state, NOBODY, 0.0, 0.0
            )  # fmt: skip


@inlined
def exchange_rounds(
    machine: Coordinator,
    pool: int,
    occasion: int,
    rounds: int,
    time: float,
    record: Record,
    streams: Streams,
    choose_pairs: ChoosePairs,
    log_weight: LogWeight,
) -> None:
    """All rounds of one occasion: a deadline, a barrier, or the sweep of a pool."""
    for turn in range(rounds):
        number = occasion * rounds + turn
        exchange_round(machine, pool, number, time, record, streams, choose_pairs, log_weight)


@inlined
def most_draws(machine: Coordinator) -> int:
    """The most draws that the exchanges of one occasion can add."""
    rounds = max(machine.plan.rounds, machine.plan.rounds_within_pool)
    return int(rounds * machine.rung.shape[0])


@inlined
def catch_up(
    machine: Coordinator,
    time: float,
    record: Record,
    streams: Streams,
    choose_pairs: ChoosePairs,
    log_weight: LogWeight,
) -> bool:
    """Carry out the exchanges of all deadlines up to `time`.

    False means that some are left, because the record is full or because there are a great many:
    empty the record and call again.
    """
    plan, passed, deadline = machine.plan, machine.passed, machine.deadline
    first = passed[0]
    while deadline[0] <= time:
        if passed[0] - first == MOST_DEADLINES or not has_room(record, most_draws(machine)):
            return False
        exchange_rounds(
            machine, ALL_POOLS, passed[0], plan.rounds, deadline[0],
            record, streams, choose_pairs, log_weight,
        )  # fmt: skip
        passed[0] += 1
        every = plan.every
        if plan.follows > 0.0:
            every = max(machine.sweep_time.max(), plan.shortest)
        if plan.jitter > 0.0:
            rewind(streams.dial, DEADLINE, 0, first_number(machine.epoch) + passed[0])
            deadline[0] += every * (1.0 + plan.jitter * (2.0 * streams.generator.random() - 1.0))
        elif plan.follows > 0.0:
            deadline[0] += every
        else:
            # A product has no rounding errors that add up.
            deadline[0] = every * (passed[0] + 1)
    return True


@inlined
def join_queue(machine: Coordinator, chain: int) -> None:
    """A chain goes to the back of its pool's queue."""
    pool = machine.pool[chain]
    back = (machine.head[pool] + machine.queued[pool]) % machine.queue.shape[1]
    machine.queue[pool, back] = chain
    machine.queued[pool] += 1


@compiled
def start_sweep(machine: Coordinator) -> None:
    """All chains that move join their queues, in order: at the start, and after each barrier."""
    for chain in range(machine.rung.shape[0]):
        if machine.is_mover[chain]:
            machine.moves_left[chain] = machine.plan.moves_per_barrier
            machine.unfinished[0] += 1
            join_queue(machine, chain)


@inlined
def take_next(machine: Coordinator, pool: int) -> int:
    """The chain at the head of a pool's queue goes in flight; NOBODY if the queue is empty."""
    if machine.queued[pool] == 0:
        return NOBODY
    chain = machine.queue[pool, machine.head[pool]]
    machine.head[pool] = (machine.head[pool] + 1) % machine.queue.shape[1]
    machine.queued[pool] -= 1
    machine.waiting[chain] = False
    machine.moves[chain] += 1
    return int(chain)


@inlined
def follow_sweeps(machine: Coordinator, pool: int, time: float) -> None:
    """A pool has made a sweep: move the time between deadlines towards a share of what it took.

    On a logarithmic scale, so that a few sweeps that take very long do not count for much.
    """
    took = (time - machine.swept[pool]) / DEADLINES_PER_SWEEP
    machine.swept[pool] = time
    if took > 0.0:
        machine.sweep_time[pool] *= (took / machine.sweep_time[pool]) ** machine.plan.follows


@inlined
def settle(
    machine: Coordinator, chain: int, outcome: Floats, info: Floats, time: float, record: Record
) -> int:
    """A finished chain has its new state and waits again; says which exchanges that calls for."""
    pool = machine.pool[chain]
    machine.states[machine.replica[chain]] = outcome
    machine.waiting[chain] = True
    machine.completed[pool] += 1
    write(
        record, chain, LOCAL_MOVE, int(info[ACCEPTED]), machine.replica[chain], time, outcome,
        int(info[PROCESSOR]), info[HOLD_TIME], info[WORK],
    )  # fmt: skip
    record.totals[machine.rung[chain]] += info

    calls_for = NOTHING
    if machine.completed[pool] % machine.sweep[pool] == 0:
        if machine.plan.follows > 0.0:
            follow_sweeps(machine, pool, time)
        if machine.plan.rounds_within_pool > 0:
            calls_for += WITHIN_POOL
    if machine.plan.moves_per_barrier == 0:
        join_queue(machine, chain)
        return calls_for

    machine.moves_left[chain] -= 1
    if machine.moves_left[chain] > 0:
        join_queue(machine, chain)
        return calls_for
    machine.unfinished[0] -= 1
    if machine.unfinished[0] == 0:
        start_sweep(machine)
        calls_for += AT_BARRIER
    return calls_for


@compiled
def exchange_after(
    machine: Coordinator,
    calls_for: int,
    pool: int,
    time: float,
    record: Record,
    streams: Streams,
    choose_pairs: ChoosePairs,
    choose_pairs_within: ChoosePairs,
    log_weight: LogWeight,
) -> None:
    """Carry out the exchanges that a completion calls for, before anyone takes the next move."""
    plan = machine.plan
    if calls_for & WITHIN_POOL:
        sweeps = machine.completed[pool] // machine.sweep[pool]
        exchange_rounds(
            machine, pool, sweeps - 1, plan.rounds_within_pool, time,
            record, streams, choose_pairs_within, log_weight,
        )  # fmt: skip
    if calls_for & AT_BARRIER:
        exchange_rounds(
            machine, ALL_POOLS, machine.passed[0], plan.rounds, time,
            record, streams, choose_pairs, log_weight,
        )  # fmt: skip
        machine.passed[0] += 1


@compiled
def complete(
    machine: Coordinator,
    chain: int,
    outcome: Floats,
    info: Floats,
    time: float,
    record: Record,
    streams: Streams,
    choose_pairs: ChoosePairs,
    choose_pairs_within: ChoosePairs,
    log_weight: LogWeight,
) -> bool:
    """A chain's move is finished, with this outcome, at this time.

    False means that this completion has not happened yet, because the record is full or because a
    great many deadlines come first: empty the record and call again.
    """
    a_deadline_has_passed = machine.deadline[0] <= time
    if a_deadline_has_passed and not catch_up(
        machine, time, record, streams, choose_pairs, log_weight
    ):
        return False
    if not has_room(record, 1 + 2 * most_draws(machine)):
        return False
    calls_for = settle(machine, chain, outcome, info, time, record)
    if calls_for != NOTHING:
        exchange_after(
            machine, calls_for, machine.pool[chain], time,
            record, streams, choose_pairs, choose_pairs_within, log_weight,
        )  # fmt: skip
    return True


def moves_done(machine: Coordinator) -> Floats:
    """By rung, how many moves were completed in this phase of the run."""
    done = np.zeros(machine.level.size)
    started = machine.moves - first_number(machine.epoch)
    np.add.at(done, machine.rung, started - ~machine.waiting)
    return done


def mean_per_move(machine: Coordinator, record: Record, place: int) -> Floats:
    """By rung, the mean of what completed moves have in a place of their info."""
    done = moves_done(machine)
    means = np.full(done.size, np.nan)
    np.divide(record.totals[:, place], done, out=means, where=done > 0)
    return means


def coordinator(
    plan: Plan,
    layout: Layout,
    level: Floats,
    states: FloatTable,
    value_column: int,
    epoch: int = 0,
) -> Coordinator:
    """A coordinator with all chains waiting, in order, at the start of a run."""
    chains, pools = layout.rung.size, layout.pools
    machine = Coordinator(
        plan=plan,
        level=level,
        rung=layout.rung,
        pool=layout.pool,
        is_mover=layout.moves,
        sweep=np.bincount(layout.pool[layout.moves], minlength=pools).astype(np.int64),
        value_column=value_column,
        epoch=epoch,
        states=states,
        replica=np.arange(chains),
        waiting=np.ones(chains, np.bool_),
        moves=np.full(chains, first_number(epoch)),
        moves_left=np.zeros(chains, np.int64),
        unfinished=np.zeros(1, np.int64),
        queue=np.empty((pools, chains), np.int64),
        head=np.zeros(pools, np.int64),
        queued=np.zeros(pools, np.int64),
        completed=np.zeros(pools, np.int64),
        swept=np.zeros(pools),
        sweep_time=np.full(pools, plan.every),
        passed=np.zeros(1, np.int64),
        deadline=np.full(1, plan.every),
    )
    start_sweep(machine)
    return machine
