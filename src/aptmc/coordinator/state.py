"""What the coordinator knows: three small tables, the states, and the queues."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Flags, Floats, FloatTable, Integers, IntegerTable, table_of
from aptmc.exchange.rule import ChoosePairs
from aptmc.exchange.swap import LogWeight
from aptmc.keys import start_of_epoch
from aptmc.pools import Layout
from aptmc.record.record import NOBODY, Record
from aptmc.schedule.base import AfterCompletion, NextDeadline, Plan

CHAIN = np.dtype([
    # Fixed for the run. Chains are numbered coldest first.
    ("rung", np.int64),
    ("pool", np.int64),
    ("is_mover", np.bool_),  # does it make local moves?
    # What changes.
    ("waiting", np.bool_),  # or in flight?
    ("replica", np.int64),  # which state it holds; a swap exchanges two of these
    ("moves", np.int64),  # started so far; with the chain's number, the key of the current one
    # Of a chain in flight. This is the one place where that is kept.
    ("started_from", np.int64),  # the replica that its move started from
    ("taken", np.int64),  # its place in the order in which chains were taken
    ("processor", np.int64),  # who computes it; NOBODY if it has to be ordered again
    ("since", np.float64),  # when that began; not a number if it waits for its processor
], align=True)  # fmt: skip
POOL = np.dtype([
    ("sweep", np.int64),  # how many chains move in it
    ("head", np.int64),  # where the ring of its queue begins
    ("queued", np.int64),  # how many stand in it
    ("completed", np.int64),  # moves
    ("occasions", np.int64),  # on which chains were exchanged within it
    ("swept", np.float64),  # when its last sweep was complete
    ("sweep_time", np.float64),  # its share of a sweep's time, as far as one follows that
], align=True)  # fmt: skip
RUN = np.dtype([
    ("passed", np.int64),  # deadlines and barriers so far
    ("barriers", np.int64),  # how many of them were barriers
    ("unfinished", np.int64),  # chains that have moves left before the next barrier
    ("taken", np.int64),  # chains that went in flight so far
    ("deadline", np.float64),  # the next
    ("settles_until", np.float64),  # until then chains start anew (`settling`), and none count
    ("settling_moves", np.int64),  # that take half of that time
    ("settling_since", np.float64),  # when half of these were made
    ("settled", np.int64),  # so many were made
    ("is_settled", np.int64),  # 1 when draws have begun to count
], align=True)  # fmt: skip
RUNG = np.dtype([
    ("first", np.int64),  # of its rows of `starts`
    ("count", np.int64),  # of them
    ("given", np.int64),  # to chains, so far
], align=True)  # fmt: skip


class Functions(NamedTuple):
    """What a run is wired to: its rules, its schedule and its target."""

    choose_pairs: ChoosePairs
    choose_pairs_within: ChoosePairs
    next_deadline: NextDeadline
    after_completion: AfterCompletion
    log_weight: LogWeight


class Settling(NamedTuple):
    """How a run settles before it counts: see `settling`."""

    sweeps: int = 0  # moves of each chain that it takes, about; 0: it counts at once
    # By rung: states from which chains start anew; their own first states, if there are no others.
    starts: list[FloatTable] | None = None


SETTLED = Settling()


class Coordinator(NamedTuple):
    """All that the coordinator knows. Arrays are changed in place."""

    plan: Plan
    level: Floats  # of each rung
    value_column: int  # where a state keeps the value that exchanges look at
    epoch: int  # a part of every random key, for phases of a run that follow each other
    chains: Annotated[npt.NDArray[np.void], table_of(CHAIN)]
    pools: Annotated[npt.NDArray[np.void], table_of(POOL)]
    run: Annotated[npt.NDArray[np.void], table_of(RUN)]  # one row
    rungs: Annotated[npt.NDArray[np.void], table_of(RUNG)]
    states: FloatTable  # of each replica
    queue: IntegerTable  # of each pool: a ring of chains
    starts: FloatTable  # states from which chains start anew while the run settles

    # Columns, for whoever looks on from outside: plain Python reads and writes them.

    @property
    def rung(self) -> Integers:
        """Of each chain: the rung that it stands on."""
        return self.chains["rung"]

    @property
    def pool(self) -> Integers:
        """Of each chain: the pool that it belongs to."""
        return self.chains["pool"]

    @property
    def is_mover(self) -> Flags:
        """Of each chain: does it make local moves?"""
        return self.chains["is_mover"]

    @property
    def waiting(self) -> Flags:
        """Of each chain: is it waiting, or in flight?"""
        return self.chains["waiting"]

    @property
    def replica(self) -> Integers:
        """Of each chain: which state it holds."""
        return self.chains["replica"]

    @property
    def moves(self) -> Integers:
        """Of each chain: moves started."""
        return self.chains["moves"]

    @property
    def sweep(self) -> Integers:
        """Of each pool: how many chains move in it."""
        return self.pools["sweep"]

    @property
    def head(self) -> Integers:
        """Of each pool: where the ring of its queue begins."""
        return self.pools["head"]

    @property
    def queued(self) -> Integers:
        """Of each pool: how many stand in its queue."""
        return self.pools["queued"]

    @property
    def completed(self) -> Integers:
        """Of each pool: how many moves of its chains are complete."""
        return self.pools["completed"]

    @property
    def occasions(self) -> Integers:
        """Of each pool: how often chains were exchanged within it."""
        return self.pools["occasions"]

    @property
    def swept(self) -> Floats:
        """Of each pool: when its last sweep was complete."""
        return self.pools["swept"]

    @property
    def sweep_time(self) -> Floats:
        """Of each pool: its share of a sweep's time."""
        return self.pools["sweep_time"]

    @property
    def passed(self) -> Integers:
        """One number: deadlines and barriers so far."""
        return self.run["passed"]

    @property
    def barriers(self) -> Integers:
        """One number: how many of them were barriers."""
        return self.run["barriers"]

    @property
    def unfinished(self) -> Integers:
        """One number: chains that have moves left before the next barrier."""
        return self.run["unfinished"]

    @property
    def deadline(self) -> Floats:
        """One number: when the next deadline comes."""
        return self.run["deadline"]

    @property
    def settles_until(self) -> Floats:
        """One number: when the run is settled, and draws begin to count."""
        return self.run["settles_until"]

    @property
    def settling_since(self) -> Floats:
        """One number: when a quarter of the moves were made that settle it."""
        return self.run["settling_since"]

    @property
    def settled(self) -> Integers:
        """One number: moves that were made to settle."""
        return self.run["settled"]

    @property
    def is_settled(self) -> Integers:
        """One number: 1 when draws have begun to count."""
        return self.run["is_settled"]

    @property
    def given(self) -> Integers:
        """Of each rung: how many states its chains were given to settle."""
        return self.rungs["given"]

    @property
    def in_flight(self) -> list[int]:
        """The chains in flight, those taken first first."""
        chains = np.flatnonzero(~self.waiting)
        order: list[int] = chains[np.argsort(self.chains["taken"][chains])].tolist()
        return order


def coordinator(
    plan: Plan,
    layout: Layout,
    level: Floats,
    states: FloatTable,
    value_column: int,
    epoch: int = 0,
    settling: Settling = SETTLED,
) -> Coordinator:
    """A coordinator with all chains waiting, in order, at the start of a run."""
    count = layout.rung.size
    chains, pools, run = np.zeros(count, CHAIN), np.zeros(layout.pools, POOL), np.zeros(1, RUN)
    chains["rung"], chains["pool"], chains["is_mover"] = layout.rung, layout.pool, layout.moves
    chains["waiting"] = True
    chains["replica"] = np.arange(count)
    chains["moves"] = start_of_epoch(epoch)
    chains["started_from"] = chains["processor"] = NOBODY
    chains["since"] = math.nan
    pools["sweep"] = np.bincount(layout.pool[layout.moves], minlength=layout.pools)
    pools["sweep_time"] = run["deadline"] = plan.first_deadline
    queue = np.empty((layout.pools, count), np.int64)
    for pool in range(layout.pools):
        movers = np.flatnonzero(layout.moves & (layout.pool == pool))
        queue[pool, : movers.size] = movers
    pools["queued"] = pools["sweep"]
    run["unfinished"] = np.count_nonzero(layout.moves)
    run["settles_until"] = math.inf if settling.sweeps > 0 else 0.0
    run["is_settled"] = settling.sweeps == 0
    run["settling_moves"] = settling.sweeps * run["unfinished"] // 2
    rungs, starts = np.zeros(level.size, RUNG), settling.starts
    rungs["count"] = np.bincount(layout.rung, minlength=level.size)
    if starts is not None:
        rungs["count"] = [len(rows) for rows in starts]
    rungs["first"] = np.cumsum(rungs["count"]) - rungs["count"]
    rows = states.copy() if starts is None else np.concatenate(starts)
    return Coordinator(
        plan, level, value_column, epoch, chains, pools, run, rungs, states, queue, rows
    )


def moves_done(machine: Coordinator) -> Floats:
    """By rung, how many moves were completed in this phase of the run."""
    done = np.zeros(machine.level.size)
    started = machine.moves - start_of_epoch(machine.epoch)
    np.add.at(done, machine.rung, started - ~machine.waiting)
    return done


def mean_per_move(machine: Coordinator, record: Record, place: int) -> Floats:
    """By rung, the mean of what completed moves have in a place of their info."""
    done = moves_done(machine)
    means = np.full(done.size, np.nan)
    np.divide(record.totals[:, place], done, out=means, where=done > 0)
    return means
