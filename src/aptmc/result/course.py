"""What a finished run did: why it stopped, what it cost, how far down it came, and what it counted.

Its draws are in `aptmc.result.run`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np

from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.coordinator.state import Coordinator, mean_per_move, moves_done
from aptmc.diagnostics import SwapRates, swap_rates, utilisation
from aptmc.errors import StopReason, StoreDamaged
from aptmc.kernels.base import STEPS
from aptmc.keys import Key
from aptmc.problem.chain_state import ACCEPTED, HOLD_TIME, OWN, WORK
from aptmc.record.event_log import Events
from aptmc.record.record import Record
from aptmc.session.descent import Reached
from aptmc.session.session import Overhead, Usage
from aptmc.session.start_up import Spent
from aptmc.settings import Settings
from aptmc.store import Store
from aptmc.warmup import Round, WarmUp


class Course(ABC):
    """The course of a run, which `Run` is."""

    def __init__(
        self,
        settings: Settings,
        machine: Coordinator,
        record: Record,
        store: Store,
        usage: Usage,
        tuning: FloatTable,
        warmup: WarmUp | None,
        statistics: tuple[str, ...],
        reached: Reached | None,
    ) -> None:
        self.settings = settings
        self._machine = machine
        self._record = record
        self._store = store
        self._usage = usage
        self._tuning = tuning
        self._warmup = warmup
        self._statistics = statistics
        self._reached = reached

    @property
    @abstractmethod
    def counted_from(self) -> float:
        """From when on draws count, in seconds or units of virtual time."""

    @property
    def stopped(self) -> StopReason:
        """Why the run ended, as a member of `StopReason`."""
        return self._usage.stopped

    @property
    def elapsed(self) -> float:
        """How long it ran, in seconds or units of virtual time."""
        return self._usage.elapsed

    @property
    def utilisation(self) -> float:
        """Share of processor time spent inside moves."""
        busy, present = self._usage.busy, self._usage.present
        if present is None:
            return utilisation(busy, self.elapsed, busy.size)
        # Some processors came or went in mid-run.
        return utilisation(busy, float(present.sum()), 1)

    @property
    def wanted_by_others(self) -> float:
        """How many processes of others wanted each processor of the machine, about, as far as the
        system tells: 0 for runs without workers of their own.
        """
        return self._usage.others

    @property
    def repeats_itself(self) -> bool:
        """Whether the simulator was seen to give the same data again for the same parameters."""
        return self._usage.repeats_itself

    @property
    def overhead(self) -> Overhead:
        """What the run itself cost: coordinator, exchanges, start-up."""
        return self._usage.overhead

    @property
    def start_up(self) -> tuple[Spent, ...]:
        """What came before the first moves of the last call, and how long each part took."""
        return self._usage.start_up

    @property
    def events(self) -> Events:
        """Who took and who finished which move when, if that was logged."""
        return self._store.events()

    @property
    def damage(self) -> list[StoreDamaged]:
        """What could not be read, of a store that was opened to salvage what is sound."""
        return list(self._store.damage or [])

    @property
    def warmup_rounds(self) -> list[Round]:
        """What each round of the warm-up was like, if there were any."""
        return [] if self._warmup is None else self._warmup.rounds

    @property
    def reached(self) -> Reached | None:
        """How far down a likelihood-free run came: its tolerance, the one that was asked for, and
        how much of the prior lies within. None for powers, and before that is known.
        """
        return self._reached

    @property
    def in_flight(self) -> list[Key]:
        """The random keys of the moves that were under way at the end."""
        machine = self._machine
        return [
            Key(self.settings.seed, chain, int(machine.moves[chain]))
            for chain in np.flatnonzero(~machine.waiting).tolist()
        ]

    @property
    def path(self) -> Path | None:
        """The folder of its store; None if it is in memory."""
        return self._store.path

    @property
    def keeps_all(self) -> bool:
        """Whether the draws of all rungs were kept."""
        kept = np.unique(self._machine.rung[self._record.wanted])
        return bool(kept.size == self.settings.ladder.rungs)

    @property
    def thin(self) -> int:
        """Of how many draws one was kept."""
        return self._record.thin

    @property
    def rung_of_chain(self) -> Integers:
        """On which rung each chain stands, for reading `events`."""
        return self._machine.rung

    @property
    def completions(self) -> int:
        """How many moves were completed, by all chains."""
        return int(self._machine.completed.sum())

    @property
    def sweeps(self) -> float:
        """How many moves each chain has completed, in the mean."""
        return self.completions / int(np.count_nonzero(self._machine.is_mover))

    @property
    def steps_per_move(self) -> Integers:
        """By rung, how many local steps made one move, the unit of work."""
        return self._tuning[:, STEPS].astype(np.int64)

    @property
    def steps_done(self) -> Integers:
        """By rung, how many local steps completed moves have made."""
        return moves_done(self._machine).astype(np.int64) * self.steps_per_move

    @property
    def acceptance_rates(self) -> Floats:
        """By rung, the share of local steps that were accepted."""
        return mean_per_move(self._machine, self._record, ACCEPTED) / self.steps_per_move

    @property
    def hold_times(self) -> Floats:
        """By rung, the mean time that a completed move took."""
        return mean_per_move(self._machine, self._record, HOLD_TIME)

    @property
    def statistics(self) -> dict[str, Floats]:
        """By name and rung, what completed moves counted: work, accepted steps, and the kernel's
        own.
        """
        totals = self._record.totals
        own = {name: totals[:, OWN + i].copy() for i, name in enumerate(self._statistics)}
        return {"work": totals[:, WORK].copy(), "accepted": totals[:, ACCEPTED].copy(), **own}

    @property
    def simulations(self) -> int:
        """How many simulations completed moves took, if the problem has a simulator."""
        return int(np.sum(self.statistics.get("simulations", 0)))

    @property
    def failures(self) -> int:
        """How many simulations failed and were counted as misses, with on_error="reject"."""
        return int(np.sum(self.statistics.get("failures", 0)))

    @property
    def swap_rates(self) -> SwapRates:
        """How often neighbouring rungs swap when they are paired.

        For neighbours it is the mean chance of a swap whenever they waited side by side, whatever
        the rule then did: less noisy than a count, and it means the same for `Reassignment`.
        """
        met, chance = self._record.met, self._record.chance
        pairs = self.settings.ladder.rungs - 1
        neighbours = np.full(pairs, np.nan)
        np.divide(chance[:pairs], met[:pairs], out=neighbours, where=met[:pairs] > 0)
        rates = swap_rates(self._record.attempts, self._record.swaps)
        return rates._replace(neighbours=neighbours)

    @property
    def round_trips(self) -> int:
        """Journeys of a state from the coldest rung to the hottest and back."""
        return int(self._record.round_trips.sum())
