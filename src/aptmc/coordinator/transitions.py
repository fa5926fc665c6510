"""What can happen to the coordinator: a chain is taken, deadlines pass, a move is complete."""

from __future__ import annotations

import math

from aptmc.compiled import Floats, compiled, copy_numbers, inlined
from aptmc.coordinator.exchange_round import ALL_POOLS, exchange_round
from aptmc.coordinator.settling import begin_to_count, start_anew
from aptmc.coordinator.state import Coordinator, Functions
from aptmc.exchange.rule import ChoosePairs
from aptmc.exchange.swap import LogWeight
from aptmc.keys import DEADLINE, Streams, first_number, rewind
from aptmc.problem.chain_state import ACCEPTED, HOLD_TIME, PROCESSOR, WORK
from aptmc.record.event_log import COMPLETED, TAKEN, EventLog, log_event
from aptmc.record.record import LOCAL_MOVE, NOBODY, Record, has_room, write
from aptmc.schedule.base import BARRIER, DEADLINES_PER_SWEEP, NOTHING, WITHIN_POOL

MOST_DEADLINES = 100_000  # in one go, so that a run can be interrupted


# --- who moves --------------------------------------------------------------------------------


@inlined
def join_queue(machine: Coordinator, chain: int) -> None:
    """A chain goes to the back of its pool's queue."""
    pool = machine.chains[chain]["pool"]
    mine = machine.pools[pool]
    machine.queue[pool, (mine["head"] + mine["queued"]) % machine.queue.shape[1]] = chain
    mine["queued"] += 1


@compiled
def take_next(machine: Coordinator, pool: int, processor: int, time: float, log: EventLog) -> int:
    """The chain at the head of a pool's queue goes in flight; NOBODY if the queue is empty."""
    mine = machine.pools[pool]
    if mine["queued"] == 0:
        return NOBODY
    head = mine["head"]
    taken = int(machine.queue[pool, head])
    mine["head"] = (head + 1) % machine.queue.shape[1]
    mine["queued"] -= 1
    chain, run = machine.chains[taken], machine.run[0]
    chain["waiting"] = False
    chain["moves"] += 1
    chain["started_from"] = chain["replica"]
    chain["taken"] = run["taken"]
    chain["processor"], chain["since"] = processor, time
    run["taken"] += 1
    log_event(log, TAKEN, taken, processor, time, math.nan, math.nan)
    return taken


@compiled
def settle(
    machine: Coordinator, number: int, outcome: Floats, info: Floats, time: float, record: Record
) -> None:
    """A finished chain has its new state and waits again."""
    chain = machine.chains[number]
    pool = machine.pools[chain["pool"]]
    copy_numbers(outcome, machine.states[chain["replica"]])
    chain["waiting"] = True
    chain["started_from"] = chain["processor"] = NOBODY
    chain["since"] = math.nan
    pool["completed"] += 1
    write(
        record, number, LOCAL_MOVE, int(info[ACCEPTED]), chain["replica"], time, outcome,
        int(info[PROCESSOR]), info[HOLD_TIME], info[WORK],
    )  # fmt: skip
    totals = record.totals[chain["rung"]]
    for place in range(info.shape[0]):
        totals[place] += info[place]
    if machine.plan.follows > 0.0 and pool["completed"] % pool["sweep"] == 0:
        # The pool has made a sweep: move the time between deadlines towards a share of what it
        # took. On a logarithmic scale, so that a few very long sweeps do not count for much.
        took = (time - pool["swept"]) / DEADLINES_PER_SWEEP
        pool["swept"] = time
        if took > 0.0:
            pool["sweep_time"] *= (took / pool["sweep_time"]) ** machine.plan.follows


@compiled
def go_on_or_wait(machine: Coordinator, chain: int, calls_for: int) -> bool:
    """A finished chain joins its queue, or waits at a barrier; are all there now?"""
    if calls_for & BARRIER == 0:
        join_queue(machine, chain)
        return False
    if machine.plan.never_waits:
        raise ValueError("a schedule with barriers must say so: never_waits = False")
    run = machine.run[0]
    run["unfinished"] -= 1
    if run["unfinished"] > 0:
        return False
    for other in range(machine.chains.shape[0]):
        if machine.chains[other]["is_mover"]:
            run["unfinished"] += 1
            join_queue(machine, other)
    return True


# --- who is exchanged, and when ---------------------------------------------------------------


@compiled
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
    return int(rounds * machine.chains.shape[0])


@compiled
def catch_up(
    machine: Coordinator, time: float, record: Record, streams: Streams, functions: Functions
) -> bool:
    """Carry out the exchanges of all deadlines up to `time`.

    False means that some are left, because the record is full or because there are a great many:
    empty the record and call again.
    """
    run, plan = machine.run[0], machine.plan
    first = run["passed"]
    while run["deadline"] <= time:
        if run["passed"] - first == MOST_DEADLINES or not has_room(record, most_draws(machine)):
            return False
        if run["is_settled"] == 0 and run["deadline"] > run["settles_until"]:
            begin_to_count(machine, record)
        exchange_rounds(
            machine, ALL_POOLS, run["passed"], plan.rounds, run["deadline"],
            record, streams, functions.choose_pairs, functions.log_weight,
        )  # fmt: skip
        run["passed"] += 1
        slowest = 0.0
        for pool in range(machine.pools.shape[0]):
            slowest = max(slowest, machine.pools[pool]["sweep_time"])
        number = run["passed"] - run["barriers"]
        rewind(streams.dial, DEADLINE, 0, first_number(machine.epoch) + number)
        after = functions.next_deadline(
            number, run["deadline"], slowest, streams.generator, plan.settings
        )
        if not after > run["deadline"]:
            raise ValueError("next_deadline of a schedule gave a time that is not later")
        run["deadline"] = after
    return True


@compiled
def complete(
    machine: Coordinator,
    chain: int,
    outcome: Floats,
    info: Floats,
    began: float,
    ended: float,
    time: float,
    record: Record,
    log: EventLog,
    streams: Streams,
    functions: Functions,
) -> bool:
    """A chain's move is finished, with this outcome; its processor began and ended it then.

    It counts from `time` on. The exchanges of deadlines that have passed come first; those that the
    completion itself calls for come before anyone takes the next move. False means that this
    completion has not happened yet, because the record is full or because a great many deadlines
    come first: empty the record and call again.
    """
    run, plan = machine.run[0], machine.plan
    if run["deadline"] <= time and not catch_up(machine, time, record, streams, functions):
        return False
    if not has_room(record, 2 + 2 * most_draws(machine)):
        return False
    if run["is_settled"] == 0 and time > run["settles_until"]:
        begin_to_count(machine, record)
    settle(machine, chain, outcome, info, time, record)
    if time < run["settles_until"]:
        start_anew(machine, chain, time, record)
    log_event(log, COMPLETED, chain, int(info[PROCESSOR]), time, began, ended)
    number = machine.chains[chain]["pool"]
    pool, moves = machine.pools[number], machine.chains[chain]["moves"]
    calls_for = functions.after_completion(
        moves - first_number(machine.epoch), pool["completed"], pool["sweep"], plan.settings
    )
    all_are_there = go_on_or_wait(machine, chain, calls_for)
    if calls_for == NOTHING:
        return True
    if calls_for & WITHIN_POOL and plan.rounds_within_pool > 0:
        exchange_rounds(
            machine, number, pool["occasions"], plan.rounds_within_pool, time,
            record, streams, functions.choose_pairs_within, functions.log_weight,
        )  # fmt: skip
        pool["occasions"] += 1
    if all_are_there:
        exchange_rounds(
            machine, ALL_POOLS, run["passed"], plan.rounds, time,
            record, streams, functions.choose_pairs, functions.log_weight,
        )  # fmt: skip
        run["passed"] += 1
        run["barriers"] += 1
    return True
