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
from aptmc.coordinator.state import Coordinator, Functions
from aptmc.coordinator.transitions import catch_up, complete, take_next
from aptmc.exchange.rule import ChoosePairs
from aptmc.exchange.swap import LogWeight
from aptmc.keys import HOLD, MOVE, Streams, rewind
from aptmc.problem.chain_state import HOLD_TIME, PROCESSOR, STATUS, WORK, Move
from aptmc.record.event_log import EventLog, is_full
from aptmc.record.record import NOBODY, Record
from aptmc.schedule.base import AfterCompletion, NextDeadline
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
def first_adrift(machine: Coordinator, pool: int) -> int:
    """Of a pool's chains in flight that nobody computes, the one taken first; or NOBODY."""
    found, taken = NOBODY, 0
    for chain in range(machine.chains.shape[0]):
        mine = machine.chains[chain]
        is_adrift = not mine["waiting"] and mine["processor"] == NOBODY and mine["pool"] == pool
        if is_adrift and (found == NOBODY or mine["taken"] < taken):
            found, taken = chain, mine["taken"]
    return found


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
    next_deadline: NextDeadline,
    after_completion: AfterCompletion,
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
    functions = Functions(
        choose_pairs, choose_pairs_within, next_deadline, after_completion, log_weight
    )
    rng, dial = streams.generator, streams.dial
    clock, run = flight.clock[0], machine.run[0]
    processors, places = flight.processors.shape[0], flight.places.shape[0]
    in_flight = [(math.inf, NOBODY)]
    for place in range(places):
        if flight.places[place]["chain"] != NOBODY:
            heappush(in_flight, (flight.places[place]["finish"], place))
    # Moves that were in flight elsewhere are issued again first.
    adrift = 0
    for chain in range(machine.chains.shape[0]):
        if not machine.chains[chain]["waiting"] and machine.chains[chain]["processor"] == NOBODY:
            adrift += 1
    # Who looks for work: everyone at the start, later whoever has just finished.
    first, last = 0, places
    # What is read often is read once: as plain Python, a look into a table takes its time.
    now, barriers = clock["now"], run["barriers"]

    while True:
        for place in range(first, last):
            here, processor = flight.places[place], place % processors
            if here["chain"] != NOBODY:
                continue
            owner, chain = flight.processors[processor], NOBODY
            pool = owner["pool"]
            if adrift > 0:
                chain = first_adrift(machine, pool)
                adrift -= int(chain != NOBODY)
            if chain == NOBODY:
                chain = take_next(machine, pool, processor, now, log)
            if chain == NOBODY:
                continue
            mine, info = machine.chains[chain], flight.info[place]
            rung, state = mine["rung"], machine.states[mine["replica"]]
            since, number = mine["since"], mine["moves"]
            start = since if since < now else now
            # What the processor was told before comes first.
            for other in range(processor, places, processors):
                if other != place and flight.places[other]["chain"] != NOBODY:
                    start = max(start, flight.places[other]["finish"])
            here["chain"], mine["processor"], mine["since"] = chain, processor, start
            if start < now:  # that was done elsewhere
                owner["busy"] -= now - start
            clock["suspect"], clock["stage"] = chain, A_MOVE
            rewind(dial, MOVE, chain, number)
            move(machine.level[rung], tuning[rung], state, rng, flight.outcome[place], info)
            if info[STATUS] != 0:
                return FAILED
            time_needed = info[WORK]
            if not hold_is_work:
                clock["stage"] = A_HOLD_TIME
                rewind(dial, HOLD, chain, number)
                time_needed = hold(state[:dimension].copy(), rung, rng)
            if not 0.0 <= time_needed < math.inf:
                return FAILED
            finish = max(start + time_needed / owner["speed"], now)
            here["finish"] = finish
            info[HOLD_TIME] = finish - start
            info[PROCESSOR] = processor
            heappush(in_flight, (finish, place))

        clock["stage"] = AN_EXCHANGE
        ended, place = in_flight[0]
        # The coordinator was free at the time of the last completion.
        time = max(ended + latency, now) + cost
        if time > until:
            caught_up = catch_up(machine, until, record, streams, functions)
            return FINISHED if caught_up else PAUSED
        if completions == 0 or is_full(log, places + 1):
            return PAUSED
        completions -= 1

        here, processor = flight.places[place], place % processors
        outcome, info = flight.outcome[place], flight.info[place]
        chain = here["chain"]
        mine = machine.chains[chain]
        began = mine["since"]
        if machine.plan.swaps_in_flight:
            # Only the uncorrected schedule swaps a chain in flight: its move is applied to the
            # state that it holds by now.
            if not catch_up(machine, time, record, streams, functions):
                return PAUSED
            if mine["replica"] != mine["started_from"]:
                clock["suspect"], clock["stage"] = chain, A_MOVE
                rewind(dial, MOVE, chain, mine["moves"])
                rung, state = mine["rung"], machine.states[mine["replica"]]
                hold_time = info[HOLD_TIME]
                move(machine.level[rung], tuning[rung], state, rng, outcome, info)
                if info[STATUS] != 0:
                    return FAILED
                info[HOLD_TIME], info[PROCESSOR] = hold_time, processor
                clock["stage"] = AN_EXCHANGE
        if not complete(
            machine, chain, outcome, info, began, ended, time, record, log, streams, functions
        ):
            return PAUSED
        heappop(in_flight)
        flight.processors[processor]["busy"] += ended - began
        if time > now:
            clock["standing"] = 0
        else:
            clock["standing"] += 1
            if clock["standing"] == MOST_STANDING:
                return STANDING
        clock["now"] = now = time
        here["chain"] = NOBODY
        first, last = place, place + 1
        if run["barriers"] > barriers:
            barriers = run["barriers"]
            first, last = 0, places
