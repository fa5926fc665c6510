"""One round of exchanges: who attends, which pairs, and who swaps."""

from __future__ import annotations

import numpy as np

from aptmc.compiled import compiled
from aptmc.coordinator.state import Coordinator
from aptmc.exchange.rule import ChoosePairs, Waiting
from aptmc.exchange.swap import LogWeight, swap_log_ratio
from aptmc.keys import EXCHANGE, Streams, first_number, rewind
from aptmc.problem.chain_state import accepts
from aptmc.record.record import (
    EXCHANGE_MOVE,
    NOBODY,
    Record,
    note_arrival,
    note_attempt,
    note_chance,
    write,
)

ALL_POOLS = -1
MANY_ROUNDS, ONE_ROUND_OF = 2000, 16


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
    chains, states, value = machine.chains, machine.states, machine.value_column
    count = chains.shape[0]
    attending, before = np.empty(count, np.int64), np.empty(count, np.int64)
    rungs, pools = np.empty(count, np.int64), np.empty(count, np.int64)
    levels, values = np.empty(count), np.empty(count)
    present = 0
    for chain in range(count):
        mine = chains[chain]
        may_attend = mine["waiting"] or machine.plan.swaps_in_flight
        if may_attend and (pool == ALL_POOLS or mine["pool"] == pool):
            attending[present], before[present] = chain, mine["replica"]
            rungs[present], pools[present] = mine["rung"], mine["pool"]
            levels[present] = machine.level[mine["rung"]]
            values[present] = states[mine["replica"], value]
            present += 1
    waiting = Waiting(rungs[:present], pools[:present], levels[:present], values[:present])

    # How likely neighbours would swap is good to know, but need not be asked every time.
    asks = number < MANY_ROUNDS or number % ONE_ROUND_OF == 0
    for position in range(present - 1 if asks else 0):
        if rungs[position + 1] == rungs[position] + 1:
            log_ratio = swap_log_ratio(
                levels[position], levels[position + 1],
                values[position], values[position + 1], log_weight,
            )  # fmt: skip
            note_chance(record, rungs[position], log_ratio)

    rewind(streams.dial, EXCHANGE, pool + 1, first_number(machine.epoch) + number)
    rng = streams.generator
    pairs = np.empty((count, 2), np.int64)
    chosen = choose_pairs(number, waiting, rng, pairs)
    if not 0 <= chosen <= pairs.shape[0]:
        raise IndexError("an exchange rule returned an impossible number of pairs")
    took_part = np.zeros(count, np.bool_)
    for pair in range(chosen):
        colder, warmer = pairs[pair]
        if colder > warmer:
            colder, warmer = warmer, colder
        if colder < 0 or warmer >= present:
            raise IndexError("an exchange rule paired positions that are not there")
        took_part[colder] = took_part[warmer] = True
        if colder == warmer:
            continue
        first, second = chains[attending[colder]], chains[attending[warmer]]
        held, other = first["replica"], second["replica"]
        log_ratio = swap_log_ratio(
            levels[colder], levels[warmer], states[held, value], states[other, value], log_weight
        )
        swapped = accepts(log_ratio, rng.random())
        note_attempt(record, rungs[colder], rungs[warmer], swapped)
        if swapped:
            first["replica"], second["replica"] = other, held

    for position in range(present):
        if took_part[position]:
            chain = attending[position]
            replica = chains[chain]["replica"]
            changed = replica != before[position]
            note_arrival(record, replica, rungs[position])
            write(
                record, chain, EXCHANGE_MOVE, int(changed), replica, time, states[replica],
                NOBODY, 0.0, 0.0,
            )  # fmt: skip
