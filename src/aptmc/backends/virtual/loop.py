"""The discrete-event loop of virtual time: who finishes next?

One body serves both speeds. Compiled, it runs problem, kernel and coordinator without a line of
Python; as plain Python it calls the same compiled coordinator around the user's Python functions.

A processor has one or several *places* for orders: it computes the order in one, and the others
wait. The coordinator is a queue of its own if a completion costs it time: it attends to one after
the other, and meanwhile the chain is still in flight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Annotated

from aptmc.compiled import Floats, FloatTable, Generator, compiled, pointer_to
from aptmc.coordinator.transitions import Coordinator, catch_up, complete, take_next
from aptmc.exchange.rules import ChoosePairs
from aptmc.exchange.swap import LogWeight
from aptmc.keys import HOLD, MOVE, Streams, rewind
from aptmc.problem.state import HOLD_TIME, PROCESSOR, STATUS, WORK, Move
from aptmc.record.event_log import COMPLETED, TAKEN, EventLog, log_event
from aptmc.record.record import NOBODY, Record
from aptmc.session.flight import Flight

# What became of a call of `run_until`.
FINISHED, PAUSED, FAILED, STANDING = 0, 1, 2, 3
# What was being computed.
A_MOVE, A_HOLD_TIME, AN_EXCHANGE = 0, 1, 2
MOST_STANDING = 100_000


def hold_model(theta: Floats, rung: int, rng: Generator) -> float:
    """The hold time of a move that starts at theta."""
    raise NotImplementedError("a model of the signature, not to be called")


Hold = Annotated[Callable[..., float], pointer_to(hold_model)]


@compiled
def run_until(
    until: float,
    completions: int,
    machine: Coordinator,
    flight: Flight,
    record: Record,
    log: EventLog,
    streams: Streams,
    choose_pairs: ChoosePairs,
    choose_pairs_within: ChoosePairs,
    log_weight: LogWeight,
    move: Move,
    tuning: FloatTable,
    hold: Hold,
    hold_is_work: bool,
    dimension: int,
    latency: float,
    cost: float,
) -> int:
    """Simulate until a time, or PAUSE after so many completions or when the record is full.

    The coordinator hears of a completion, and its answer has come back, after `latency`; it takes
    the time `cost` for each.
    """
    rng, dial = streams.generator, streams.dial
    processors, places = flight.busy.shape[0], flight.chain.shape[0]
    in_flight = [(math.inf, NOBODY)]
    for place in range(places):
        if flight.chain[place] != NOBODY:
            heappush(in_flight, (flight.finish[place], place))
    # Who looks for work: everyone at the start, later whoever has just finished.
    first, last = 0, places

    while True:
        for place in range(first, last):
            if flight.chain[place] != NOBODY:
                continue
            processor = place % processors
            chain, age = NOBODY, 0.0
            for position in range(flight.backlog.shape[0]):
                left = flight.backlog[position]
                if left != NOBODY and machine.pool[left] == flight.pool[place]:
                    chain, age = left, flight.backlog_age[position]
                    flight.backlog[position] = NOBODY
                    break
            is_new = chain == NOBODY
            if is_new:
                chain = take_next(machine, flight.pool[place])
            if chain == NOBODY:
                continue
            replica, rung = machine.replica[chain], machine.rung[chain]
            state, info = machine.states[replica], flight.info[place]
            # What the processor was told before comes first.
            start = flight.now[0] - age
            for other in range(processor, places, processors):
                if flight.chain[other] != NOBODY:
                    start = max(start, flight.finish[other])
            flight.chain[place] = chain
            flight.replica[place] = replica
            flight.started[place] = start
            flight.busy[processor] -= max(flight.now[0] - start, 0.0)  # that was done elsewhere
            if is_new:
                log_event(log, TAKEN, chain, processor, flight.now[0], math.nan, math.nan)
            flight.suspect[0], flight.stage[0] = chain, A_MOVE
            rewind(dial, MOVE, chain, machine.moves[chain])
            move(machine.level[rung], tuning[rung], state, rng, flight.outcome[place], info)
            if info[STATUS] != 0:
                return FAILED
            time_needed = info[WORK]
            if not hold_is_work:
                flight.stage[0] = A_HOLD_TIME
                rewind(dial, HOLD, chain, machine.moves[chain])
                time_needed = hold(state[:dimension].copy(), rung, rng)
            if not 0.0 <= time_needed < math.inf:
                return FAILED
            flight.finish[place] = max(start + time_needed / flight.speed[processor], flight.now[0])
            info[HOLD_TIME] = flight.finish[place] - start
            info[PROCESSOR] = processor
            heappush(in_flight, (flight.finish[place], place))

        flight.stage[0] = AN_EXCHANGE
        ended, place = in_flight[0]
        # The coordinator was free at the time of the last completion.
        time = max(ended + latency, flight.now[0]) + cost
        if time > until:
            caught_up = catch_up(machine, until, record, streams, choose_pairs, log_weight)
            return FINISHED if caught_up else PAUSED
        log_is_full = log.filled[0] + places + 1 > log.kind.shape[0] > 0
        if completions == 0 or log_is_full:
            return PAUSED
        completions -= 1

        processor, chain = place % processors, flight.chain[place]
        outcome, info = flight.outcome[place], flight.info[place]
        if machine.plan.swaps_in_flight:
            # Only the uncorrected schedule swaps a chain in flight: its move is applied to the
            # state that it holds by now.
            if not catch_up(machine, time, record, streams, choose_pairs, log_weight):
                return PAUSED
            replica = machine.replica[chain]
            if replica != flight.replica[place]:
                flight.suspect[0], flight.stage[0] = chain, A_MOVE
                rewind(dial, MOVE, chain, machine.moves[chain])
                rung, state = machine.rung[chain], machine.states[replica]
                hold_time = info[HOLD_TIME]
                move(machine.level[rung], tuning[rung], state, rng, outcome, info)
                if info[STATUS] != 0:
                    return FAILED
                info[HOLD_TIME], info[PROCESSOR] = hold_time, processor
                flight.stage[0] = AN_EXCHANGE
        barriers = machine.passed[0]
        if not complete(
            machine, chain, outcome, info, time,
            record, streams, choose_pairs, choose_pairs_within, log_weight,
        ):  # fmt: skip
            return PAUSED
        heappop(in_flight)
        log_event(log, COMPLETED, chain, processor, time, flight.started[place], ended)
        flight.busy[processor] += ended - flight.started[place]
        flight.standing[0] = flight.standing[0] + 1 if time == flight.now[0] else 0
        if flight.standing[0] == MOST_STANDING:
            return STANDING
        flight.now[0] = time
        flight.chain[place] = NOBODY
        first, last = place, place + 1
        if machine.plan.moves_per_barrier > 0 and machine.passed[0] > barriers:
            first, last = 0, places
