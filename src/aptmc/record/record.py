"""The record: what happened to the chains, for people to read. No rule or kernel ever looks at it.

A draw is a recorded state of a chain: after each of its moves, and after each exchange that it took
part in, accepted or not. Draws are kept in order, in a buffer that is emptied now and then; counts
of swaps and round trips are kept for the whole run.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.compiled import (
    Flags,
    Floats,
    FloatTable,
    Integers,
    IntegerTable,
    compiled,
    copy_numbers,
    inlined,
    table_of,
)
from aptmc.problem.chain_state import OWN
from aptmc.record.columns import DRAW_COLUMNS, row_of

LOCAL_MOVE, EXCHANGE_MOVE = 0, 1
NOBODY = -1
COLDEST, HOTTEST = 1, 2  # ends of the ladder; 0 is neither

DRAW = row_of(DRAW_COLUMNS)
CHAIN = np.dtype([
    ("wanted", np.bool_),  # are its draws kept?
    ("seen", np.int64),  # draws so far, kept or not
    ("before", np.int64),  # how many of them came before the run was settled, once it is
], align=True)  # fmt: skip
REPLICA = np.dtype([
    ("last_end", np.int64),  # the end of the ladder that it visited last
    ("round_trips", np.int64),  # journeys coldest -> hottest -> coldest
], align=True)  # fmt: skip
# Of two rungs; those that count neighbours are filled for rungs next to each other.
PAIR = np.dtype([
    ("attempts", np.int64),
    ("swaps", np.int64),
    ("met", np.int64),  # how often both waited
    ("chance", np.float64),  # the chances, then, that a swap would succeed, added up
], align=True)  # fmt: skip


class Record(NamedTuple):
    """A buffer of draws, one row each, and counts of what exchanges did."""

    thin: int  # keep one draw of so many
    filled: Integers  # one number: how many rows are in use
    draws: Annotated[npt.NDArray[np.void], table_of(DRAW)]
    state: FloatTable  # of each draw
    by_chain: Annotated[npt.NDArray[np.void], table_of(CHAIN)]
    by_replica: Annotated[npt.NDArray[np.void], table_of(REPLICA)]
    by_pair: Annotated[npt.NDArray[np.void], table_of(PAIR)]  # at colder * rungs + warmer
    totals: FloatTable  # [rung, place in `info`]: sums over completed moves

    # Columns, by name; plain Python reads and writes them.

    @property
    def chain(self) -> Integers:
        """By draw: the chain that it belongs to."""
        return self.draws["chain"]

    @property
    def wanted(self) -> Flags:
        """By chain: are its draws kept?"""
        return self.by_chain["wanted"]

    @property
    def seen(self) -> Integers:
        """By chain: draws so far, kept or not."""
        return self.by_chain["seen"]

    @property
    def before(self) -> Integers:
        """By chain: draws from before the run was settled, kept or not; 0 if it is not."""
        return self.by_chain["before"]

    @property
    def attempts(self) -> IntegerTable:
        """At [colder rung, warmer rung]: how often a swap was proposed."""
        return as_table(self.by_pair["attempts"])

    @property
    def swaps(self) -> IntegerTable:
        """At [colder rung, warmer rung]: how often two chains swapped."""
        return as_table(self.by_pair["swaps"])

    @property
    def met(self) -> Integers:
        """By colder rung: how often it waited beside its warmer neighbour."""
        return next_to_diagonal(self.by_pair["met"])

    @property
    def chance(self) -> Floats:
        """By colder rung: the chances, then, that a swap would succeed, added up."""
        return next_to_diagonal(self.by_pair["chance"])

    @property
    def last_end(self) -> Integers:
        """By replica: the end of the ladder that it visited last."""
        return self.by_replica["last_end"]

    @property
    def round_trips(self) -> Integers:
        """By replica: journeys coldest -> hottest -> coldest."""
        return self.by_replica["round_trips"]


def as_table(pairs: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view: [colder rung, warmer rung]."""
    rungs = math.isqrt(pairs.size)
    return pairs.reshape(rungs, rungs)


def next_to_diagonal(pairs: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view: of rungs (0, 1), (1, 2), …; one number if there is a single rung."""
    rungs = math.isqrt(pairs.size)
    return pairs[1 :: rungs + 1] if rungs > 1 else pairs


def empty_record(
    rung: Integers,
    rungs: int,
    width: int,
    wanted: Flags,
    rows: int,
    thin: int = 1,
    info_length: int = OWN,
) -> Record:
    """A record with room for `rows` draws, when replica i stands on the rung of chain i."""
    record = Record(
        thin=thin,
        filled=np.zeros(1, np.int64),
        draws=np.empty(rows, DRAW),
        state=np.empty((rows, width)),
        by_chain=np.zeros(rung.size, CHAIN),
        by_replica=np.zeros(rung.size, REPLICA),
        by_pair=np.zeros(rungs * rungs, PAIR),
        totals=np.zeros((rungs, info_length)),
    )
    record.by_chain["wanted"] = wanted
    # As if it had just arrived there.
    record.by_replica["last_end"] = np.where((rung == 0) & (rungs > 1), COLDEST, 0)
    return record


def without_rows(record: Record) -> Record:
    """The same counts, and no room for draws."""
    return record._replace(draws=record.draws[:0], state=record.state[:0])


@inlined
def note_arrival(record: Record, replica: int, rung: int) -> None:
    """A replica came to a rung: does that complete a round trip?"""
    hottest = record.totals.shape[0] - 1
    journey = record.by_replica[replica]
    if hottest > 0 and rung == 0:
        if journey["last_end"] == HOTTEST:
            journey["round_trips"] += 1
        journey["last_end"] = COLDEST
    elif hottest > 0 and rung == hottest and journey["last_end"] == COLDEST:
        journey["last_end"] = HOTTEST


@inlined
def begin_journey(record: Record, replica: int, rung: int) -> None:
    """A replica has a state that it did not have from its last journey."""
    is_cold = rung == 0 and record.totals.shape[0] > 1
    record.by_replica[replica]["last_end"] = COLDEST if is_cold else 0


@inlined
def note_attempt(record: Record, colder_rung: int, warmer_rung: int, swapped: bool) -> None:
    """A pair was proposed for exchange."""
    pair = record.by_pair[colder_rung * record.totals.shape[0] + warmer_rung]
    pair["attempts"] += 1
    pair["swaps"] += int(swapped)


@inlined
def note_chance(record: Record, colder_rung: int, log_ratio: float) -> None:
    """Neighbours wait side by side: how likely would a swap succeed? Asked whatever the rule."""
    pair = record.by_pair[colder_rung * record.totals.shape[0] + colder_rung + 1]
    pair["met"] += 1
    pair["chance"] += 1.0 if log_ratio >= 0.0 else math.exp(log_ratio)


@inlined
def has_room(record: Record, rows: int) -> bool:
    """Whether so many more draws fit."""
    return bool(record.filled[0] + rows <= record.draws.shape[0])


@compiled
def write(
    record: Record,
    chain: int,
    kind: int,
    accepted: int,
    replica: int,
    time: float,
    state: Floats,
    processor: int,
    hold_time: float,
    work: float,
) -> None:
    """Add a draw, if the draws of its chain are wanted."""
    mine = record.by_chain[chain]
    if not mine["wanted"]:
        return
    mine["seen"] += 1
    if mine["seen"] % record.thin != 0:
        return
    row = record.filled[0]
    record.filled[0] = row + 1
    draw = record.draws[row]
    draw["chain"] = chain
    draw["exchanged"] = kind == EXCHANGE_MOVE
    draw["accepted"] = accepted
    draw["replica"] = replica
    draw["processor"] = processor
    draw["time"] = time
    draw["hold_time"] = hold_time
    draw["work"] = work
    copy_numbers(state, record.state[row])
