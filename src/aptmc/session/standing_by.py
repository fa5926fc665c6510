"""How plain Python speaks to the compiled coordinator, in a microsecond.

To hand functions and a generator of random numbers over to compiled code takes numba a hundred
times as long as an exchange does. So they are handed over once, to a compiled generator that stands
by: a request is laid before it, and `next` has it carried out. As long as it is not compiled, the
same source answers as plain Python.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from aptmc.compiled import AtFirstUse, Floats, standing_by, table_of
from aptmc.coordinator.state import Coordinator, Functions
from aptmc.coordinator.transitions import catch_up, complete, take_next
from aptmc.exchange.rule import ChoosePairs
from aptmc.exchange.swap import LogWeight
from aptmc.keys import Streams
from aptmc.record.event_log import EventLog
from aptmc.record.record import NOBODY, Record
from aptmc.schedule.base import AfterCompletion, NextDeadline
from aptmc.session.compilation import Compilation
from aptmc.session.orders import Outcome
from aptmc.targets import interpreted

TAKE, CATCH_UP, COMPLETE = 0, 1, 2
REQUEST = np.dtype([
    ("what", np.int64),
    ("whom", np.int64),  # a pool to take from, or the chain that has finished
    ("processor", np.int64),
    ("time", np.float64),
    ("began", np.float64),
    ("ended", np.float64),
], align=True)  # fmt: skip


class Slots(NamedTuple):
    """The memory in which a request, and the outcome that it is about, are handed over."""

    request: Annotated[npt.NDArray[np.void], table_of(REQUEST)]  # one row
    outcome: Floats
    info: Floats


def answering(
    slots: Slots,
    machine: Coordinator,
    record: Record,
    log: EventLog,
    streams: Streams,
    choose_pairs: ChoosePairs,
    choose_pairs_within: ChoosePairs,
    next_deadline: NextDeadline,
    after_completion: AfterCompletion,
    log_weight: LogWeight,
) -> Iterator[int]:
    """Do what was asked for, again and again."""
    functions = Functions(
        choose_pairs, choose_pairs_within, next_deadline, after_completion, log_weight
    )
    while True:
        request = slots.request[0]  # a generator would keep a copy of it, were it found before
        what, whom, time = request["what"], request["whom"], request["time"]
        if what == TAKE:
            answer = take_next(machine, whom, request["processor"], time, log)
        elif what == CATCH_UP:
            answer = int(catch_up(machine, time, record, streams, functions))
        else:
            is_done = complete(
                machine, whom, slots.outcome, slots.info, request["began"], request["ended"], time,
                record, log, streams, functions,
            )  # fmt: skip
            answer = int(is_done)
        yield answer


stand_by_to_answer: Any = standing_by(answering)


def is_in_cache() -> bool:
    """Whether the compiled coordinator need not be compiled: it is loaded, or was on disk."""
    return bool(stand_by_to_answer.load())


def _interpreted_until_compiled(arguments: Any, compilation: Compilation) -> Iterator[int]:
    """The same answers; who gives them changes between two requests.

    Nothing has to be handed over, since all that is known stands in the arguments.
    """
    plain: Any = [interpreted(one) if isinstance(one, AtFirstUse) else one for one in arguments]
    answers = interpreted(answering)(*plain)
    while not compilation.is_done():
        with np.errstate(all="ignore"):  # compiled code does not warn
            answer = next(answers)
        yield answer
    yield from stand_by_to_answer(*arguments)


@final
class StandingBy:
    """A coordinator, and all that it needs, ready to be asked."""

    def __init__(
        self,
        machine: Coordinator,
        record: Record,
        log: EventLog,
        streams: Streams,
        functions: Functions,
        compilation: Compilation,
    ) -> None:
        request = np.zeros(1, REQUEST)
        slots = Slots(request, np.zeros(machine.states.shape[1]), np.zeros(record.totals.shape[1]))
        self._request, self._outcome, self._info = request, slots.outcome, slots.info
        # Compiled code has the addresses of functions, and does not keep functions alive.
        self._functions = functions
        arguments = (slots, machine, record, log, streams, *functions)
        self._answers: Iterator[int]
        if compilation.is_done():
            self._answers = stand_by_to_answer(*arguments)
        else:
            self._answers = _interpreted_until_compiled(arguments, compilation)

    def take_next(self, pool: int, processor: int, time: float) -> int:
        """As `aptmc.coordinator.transitions.take_next`."""
        self._request[0] = (TAKE, pool, processor, time, math.nan, math.nan)
        return next(self._answers)

    def catch_up(self, time: float) -> bool:
        """As `aptmc.coordinator.transitions.catch_up`."""
        self._request[0] = (CATCH_UP, NOBODY, NOBODY, time, math.nan, math.nan)
        return bool(next(self._answers))

    def complete(
        self, chain: int, outcome: Outcome, began: float, ended: float, time: float
    ) -> bool:
        """As `aptmc.coordinator.transitions.complete`."""
        self._request[0] = (COMPLETE, chain, NOBODY, time, began, ended)
        self._outcome[:] = outcome.state
        self._info[:] = outcome.info
        return bool(next(self._answers))
