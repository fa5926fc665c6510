"""The record: what happened to the chains, for people to read. No rule or kernel ever looks at it.

A draw is a recorded state of a chain: after each of its moves, and after each exchange that it took
part in, accepted or not. Draws are kept in order, in a buffer that is emptied now and then; counts
of swaps and round trips are kept for the whole run.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Flags, Floats, FloatTable, Integers, IntegerTable, inlined
from aptmc.problem.state import OWN

LOCAL_MOVE, EXCHANGE_MOVE = 0, 1
NOBODY = -1
COLDEST, HOTTEST = 1, 2  # ends of the ladder; 0 is neither


class Record(NamedTuple):
    """A buffer of draws, one row each, and counts of what exchanges did."""

    wanted: Flags  # by chain: are its draws kept?
    thin: int  # keep one draw of so many
    seen: Integers  # by chain: draws so far, kept or not
    filled: Integers  # one number: how many rows are in use
    chain: Integers
    kind: Integers
    accepted: Integers  # local moves: how many of the steps; exchanges: 0 or 1
    replica: Integers
    processor: Integers  # local moves: who computed it; exchanges: NOBODY
    time: Floats
    hold_time: Floats  # local moves: how long it took
    work: Floats  # local moves: how much was computed, in the kernel's own unit
    state: FloatTable

    totals: FloatTable  # [rung, place in `info`]: sums over completed moves
    attempts: IntegerTable  # [colder rung, warmer rung]
    swaps: IntegerTable
    met: Integers  # by colder rung: how often it waited beside its warmer neighbour
    chance: Floats  # by colder rung: the chances, then, that a swap would succeed, added up
    last_end: Integers  # by replica: the end of the ladder that it visited last
    round_trips: Integers  # by replica: journeys coldest -> hottest -> coldest


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
        wanted=wanted,
        thin=thin,
        seen=np.zeros(rung.size, np.int64),
        filled=np.zeros(1, np.int64),
        chain=np.empty(rows, np.int64),
        kind=np.empty(rows, np.int64),
        accepted=np.empty(rows, np.int64),
        replica=np.empty(rows, np.int64),
        processor=np.empty(rows, np.int64),
        time=np.empty(rows),
        hold_time=np.empty(rows),
        work=np.empty(rows),
        state=np.empty((rows, width)),
        totals=np.zeros((rungs, info_length)),
        attempts=np.zeros((rungs, rungs), np.int64),
        swaps=np.zeros((rungs, rungs), np.int64),
        met=np.zeros(max(rungs - 1, 1), np.int64),
        chance=np.zeros(max(rungs - 1, 1)),
        last_end=np.zeros(rung.size, np.int64),
        round_trips=np.zeros(rung.size, np.int64),
    )
    for replica in range(rung.size):
        note_arrival(record, replica, rung[replica])
    return record


def without_rows(record: Record) -> Record:
    """The same counts, and no room for draws."""
    return record._replace(
        chain=record.chain[:0],
        kind=record.kind[:0],
        accepted=record.accepted[:0],
        replica=record.replica[:0],
        processor=record.processor[:0],
        time=record.time[:0],
        hold_time=record.hold_time[:0],
        work=record.work[:0],
        state=record.state[:0],
    )


@inlined
def note_arrival(record: Record, replica: int, rung: int) -> None:
    """A replica came to a rung: does that complete a round trip?"""
    hottest = record.attempts.shape[0] - 1
    if hottest == 0:
        return
    if rung == 0:
        if record.last_end[replica] == HOTTEST:
            record.round_trips[replica] += 1
        record.last_end[replica] = COLDEST
    elif rung == hottest and record.last_end[replica] == COLDEST:
        record.last_end[replica] = HOTTEST


@inlined
def note_attempt(record: Record, colder_rung: int, warmer_rung: int, swapped: bool) -> None:
    """A pair was proposed for exchange."""
    record.attempts[colder_rung, warmer_rung] += 1
    if swapped:
        record.swaps[colder_rung, warmer_rung] += 1


@inlined
def note_chance(record: Record, colder_rung: int, log_ratio: float) -> None:
    """Neighbours wait side by side: how likely would a swap succeed? Asked whatever the rule."""
    record.met[colder_rung] += 1
    record.chance[colder_rung] += 1.0 if log_ratio >= 0.0 else math.exp(log_ratio)


@inlined
def has_room(record: Record, rows: int) -> bool:
    """Whether so many more draws fit."""
    return bool(record.filled[0] + rows <= record.chain.shape[0])


@inlined
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
    if not record.wanted[chain]:
        return
    record.seen[chain] += 1
    if record.seen[chain] % record.thin != 0:
        return
    row = record.filled[0]
    record.filled[0] = row + 1
    record.chain[row] = chain
    record.kind[row] = kind
    record.accepted[row] = accepted
    record.replica[row] = replica
    record.processor[row] = processor
    record.time[row] = time
    record.hold_time[row] = hold_time
    record.work[row] = work
    record.state[row] = state
