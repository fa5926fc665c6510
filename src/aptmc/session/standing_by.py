"""The desk at which plain Python speaks to the compiled coordinator, in a microsecond.

To hand functions and a generator of random numbers over to compiled code takes numba a hundred
times as long as an exchange does. So they are handed over once, to compiled generators that stand
by: a request is laid in the slots, and `next` has it carried out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, final

import numpy as np

from aptmc.compiled import Floats, Integers, standing_by
from aptmc.coordinator.transitions import Coordinator, catch_up, complete
from aptmc.exchange.rules import ChoosePairs
from aptmc.exchange.swap import LogWeight
from aptmc.keys import Streams
from aptmc.record.record import Record
from aptmc.session.orders import Outcome


class Slots(NamedTuple):
    """Where a request lies: the arguments that differ from one to the next."""

    time: Floats  # one number
    chain: Integers  # one number
    outcome: Floats
    info: Floats


def catching_up(
    slots: Slots,
    machine: Coordinator,
    record: Record,
    streams: Streams,
    choose_pairs: ChoosePairs,
    log_weight: LogWeight,
) -> Iterator[bool]:
    """Call `catch_up` again and again."""
    while True:
        yield catch_up(machine, slots.time[0], record, streams, choose_pairs, log_weight)


def completing(
    slots: Slots,
    machine: Coordinator,
    record: Record,
    streams: Streams,
    choose_pairs: ChoosePairs,
    choose_pairs_within: ChoosePairs,
    log_weight: LogWeight,
) -> Iterator[bool]:
    """Call `complete` again and again."""
    while True:
        yield complete(
            machine, slots.chain[0], slots.outcome, slots.info, slots.time[0],
            record, streams, choose_pairs, choose_pairs_within, log_weight,
        )  # fmt: skip


stand_by_to_catch_up = standing_by(catching_up)
stand_by_to_complete = standing_by(completing)


@final
class Desk:
    """A coordinator, and all that it needs, ready to be asked."""

    def __init__(
        self,
        machine: Coordinator,
        record: Record,
        streams: Streams,
        choose_pairs: ChoosePairs,
        choose_pairs_within: ChoosePairs,
        log_weight: LogWeight,
    ) -> None:
        width = machine.states.shape[1]
        self._slots = slots = Slots(
            np.zeros(1), np.zeros(1, np.int64), np.zeros(width), np.zeros(record.totals.shape[1])
        )
        # Compiled code has the addresses of functions, and does not keep functions alive.
        self._functions = choose_pairs, choose_pairs_within, log_weight
        self._catching_up = stand_by_to_catch_up(
            slots, machine, record, streams, choose_pairs, log_weight
        )
        self._completing = stand_by_to_complete(
            slots, machine, record, streams, choose_pairs, choose_pairs_within, log_weight
        )

    def catch_up(self, time: float) -> bool:
        """As `aptmc.coordinator.transitions.catch_up`."""
        self._slots.time[0] = time
        return next(self._catching_up)

    def complete(self, chain: int, outcome: Outcome, time: float) -> bool:
        """As `aptmc.coordinator.transitions.complete`."""
        slots = self._slots
        slots.time[0] = time
        slots.chain[0] = chain
        slots.outcome[:] = outcome.state
        slots.info[:] = outcome.info
        return next(self._completing)
