"""Pools: which chains share a queue, and how many processors serve it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from aptmc.arguments import class_named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import Flags, Integers
from aptmc.errors import InputError
from aptmc.ladder import Ladder


class Layout(NamedTuple):
    """Where everyone stands. Chains are numbered coldest first."""

    rung: Integers  # of each chain
    pool: Integers  # of each chain
    moves: Flags  # does this chain make local moves?
    served: Integers  # of each processor: the pool that it serves
    recorded: Flags | None = None  # whose draws may be kept, if not those of all chains
    apart: int = 0  # as pools say it

    @property
    def pools(self) -> int:
        """How many pools the chains are in."""
        return int(self.pool.max()) + 1

    def waiting_at_deadlines(self) -> Integers:
        """By pool, the number of chains that wait while every processor is busy."""
        movers = np.bincount(self.pool[self.moves], minlength=self.pools)
        processors = np.bincount(self.served, minlength=self.pools)
        idle = np.bincount(self.pool[~self.moves], minlength=self.pools)
        return np.where(movers > processors, movers - processors + idle, -1)


class Pools(ABC):
    """How chains and processors are divided into pools."""

    # Of ladders beside each other, that never exchange states: how many chains of the coldest rung
    # are recorded in each. All chains on one ladder: 0.
    apart = 0

    @abstractmethod
    def layout(self, ladder: Ladder, processors: int) -> Layout:
        """Place chains on the ladder's rungs, and processors in pools."""


@class_named_clearly
@final
@dataclass(frozen=True)
class Shared(Pools):
    """One queue for everyone: the load balances itself. The default.

    :param coldest: how many chains stand on the coldest rung, if not as many as on the others. Only
        there draws count, and on a long ladder hardly any time is spent there otherwise
    """

    chains_per_rung: int = 1
    coldest: int | None = None

    def layout(self, ladder: Ladder, processors: int) -> Layout:
        """All chains and all processors in pool 0."""
        rung = _rungs_of_chains(ladder, self.chains_per_rung)
        if self.coldest is not None:
            coldest = np.zeros(whole_number("coldest", self.coldest), np.int64)
            rung = np.append(coldest, rung[rung > 0])
        pool = np.zeros(rung.size, np.int64)
        return _layout(ladder, rung, pool, np.zeros(processors, np.int64))

    def __repr__(self) -> str:
        coldest = "" if self.coldest is None else f", coldest={self.coldest}"
        return f"Shared(chains_per_rung={self.chains_per_rung}{coldest})"


@class_named_clearly
@final
@dataclass(frozen=True)
class Partitioned(Pools):
    """One pool per processor, chains divided evenly, neighbours together (second scenario).

    Where moves of cold rungs take far longer than others, the processors of one queue are busy with
    cold chains most of the time, which then seldom meet others at deadlines. Of a pool only one
    chain is in flight. Worth up to three times as much there (docs/gain.md); but workers can
    neither join nor leave.
    """

    chains_per_rung: int = 1

    def layout(self, ladder: Ladder, processors: int) -> Layout:
        """Cut the chains, coldest first, into one block per processor."""
        rung = _rungs_of_chains(ladder, self.chains_per_rung)
        if rung.size < processors:
            raise InputError(
                f"{rung.size} chains cannot be divided among {processors} processors: "
                "use more rungs, chains_per_rung=2, or fewer processors"
            )
        blocks = np.array_split(np.arange(rung.size), processors)
        pool = np.repeat(np.arange(processors), [block.size for block in blocks])
        return _layout(ladder, rung, pool, np.arange(processors))


@class_named_clearly
@final
@dataclass(frozen=True)
class Paired(Pools):
    """One pool per rung, with two chains and one processor (first scenario)."""

    def layout(self, ladder: Ladder, processors: int) -> Layout:
        """Two chains on each rung, served by the processor of that rung."""
        if processors != ladder.rungs:
            raise InputError(
                f"Paired() needs one processor for each rung, got {processors} processors and "
                f"{ladder.rungs} rungs: change one of them, or use Shared()"
            )
        rung = _rungs_of_chains(ladder, 2)
        return _layout(ladder, rung, rung.copy(), np.arange(processors))


@final
@dataclass(frozen=True)
class Groups(Pools):
    """Ladders beside each other, for `aptmc.Lanes`: on each rung lanes with two chains each.

    A lane is a processor with two chains of its own (first scenario). At a deadline one of them
    waits, whose state is the draw of both; it is recorded under the number of the first.

    :param why: there are so many, if nobody has said how many
    :param lanes_per_rung: of each ladder
    :param coldest: how many lanes stand on the coldest rung, if not as many as on the others
    """

    lanes: int
    why: str = ""
    lanes_per_rung: int = 1
    coldest: int | None = None

    @property
    def apart(self) -> int:  # type: ignore[override]
        """Lanes on the coldest rung of a ladder, each with one chain that is recorded."""
        return self.lanes_per_rung if self.coldest is None else self.coldest

    def of_group(self, rungs: int) -> Integers:
        """By rung: how many lanes a ladder has there."""
        standing = np.full(rungs, whole_number("lanes_per_rung", self.lanes_per_rung))
        standing[0] = whole_number("coldest", self.apart)
        return standing

    def layout(self, ladder: Ladder, processors: int) -> Layout:
        """As many whole ladders as there are lanes for."""
        of_group = self.of_group(ladder.rungs)
        each = int(of_group.sum())
        groups = whole_number("lanes", self.lanes) // each
        if groups == 0:
            standing = "a lane on each" if each == ladder.rungs else f"{each} lanes on them"
            raise InputError(
                f"{self.lanes} lanes are too few for a ladder of {ladder.rungs} rungs, with "
                f"{standing}: use {each} lanes or more"
            )
        rung = np.repeat(np.arange(ladder.rungs), 2 * groups * of_group)
        layout = _layout(ladder, rung, 0 * rung, np.zeros(groups * each, np.int64))
        return layout._replace(recorded=np.arange(rung.size) % 2 == 0, apart=self.apart)


def _rungs_of_chains(ladder: Ladder, chains_per_rung: int) -> Integers:
    chains = whole_number("chains_per_rung", chains_per_rung)
    return np.repeat(np.arange(ladder.rungs, dtype=np.int64), chains)


def _layout(ladder: Ladder, rung: Integers, pool: Integers, served: Integers) -> Layout:
    moves = ~np.isin(rung, list(ladder.idle_rungs))
    if not moves.any():
        raise InputError("no chain makes local moves: leave at least one rung its moves")
    return Layout(rung, pool.astype(np.int64), moves, served.astype(np.int64))
