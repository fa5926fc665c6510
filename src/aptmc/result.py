"""What a run gives back."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from aptmc.advice import Advice, advise, describe, vital_signs
from aptmc.backends import Backend
from aptmc.backends.session import Overhead, Usage
from aptmc.chain import ACCEPTED, FAILURES, HOLD_TIME, SIMULATIONS, value_column
from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.coordinator import Coordinator, mean_per_move
from aptmc.diagnostics import (
    Evidence,
    Summary,
    SwapRates,
    log_evidence,
    summarise,
    swap_rates,
    utilisation,
)
from aptmc.errors import InputError, StopReason
from aptmc.event_log import Events
from aptmc.kernels import Kernel
from aptmc.kernels.base import STEPS
from aptmc.keys import Key
from aptmc.ladder import Ladder
from aptmc.pools import Pools
from aptmc.problem import Problem, Tempered
from aptmc.record import Record
from aptmc.schedule import Schedule
from aptmc.store import Draws, MemoryStore, joined
from aptmc.warmup import Round, WarmUp

if TYPE_CHECKING:
    import xarray


class Settings(NamedTuple):
    """Everything that defines a run."""

    problem: Problem
    budget: float
    warmup: float
    ladder: Ladder
    kernel: Kernel
    schedule: Schedule
    pools: Pools
    on: Backend
    seed: int


@final
class Run:
    """A finished run: draws, diagnostics, and why it stopped."""

    def __init__(
        self,
        settings: Settings,
        machine: Coordinator,
        record: Record,
        store: MemoryStore,
        usage: Usage,
        tuning: FloatTable,
        warmup: WarmUp | None = None,
    ) -> None:
        self.settings = settings
        self._machine = machine
        self._record = record
        self._store = store
        self._usage = usage
        self._tuning = tuning
        self._warmup = warmup

    def __repr__(self) -> str:
        draws = sum(draws.time.size for draws in self.chains())
        return f"<aptmc.Run: {draws} draws on rung 0; {self.stopped}>"

    @property
    def stopped(self) -> StopReason:
        """Why the run ended."""
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
    def overhead(self) -> Overhead:
        """What the run itself cost: coordinator, exchanges, start-up."""
        return self._usage.overhead

    @property
    def events(self) -> Events:
        """Who took and who finished which move when, if that was logged."""
        return self._store.events()

    @property
    def warmup_rounds(self) -> list[Round]:
        """What each round of the warm-up was like, if there were any."""
        return [] if self._warmup is None else self._warmup.rounds

    @property
    def in_flight(self) -> list[Key]:
        """The random keys of the moves that were under way at the end."""
        machine = self._machine
        return [
            Key(self.settings.seed, chain, int(machine.moves[chain]))
            for chain in np.flatnonzero(~machine.waiting).tolist()
        ]

    @property
    def completions(self) -> int:
        """How many moves were completed, by all chains."""
        return int(self._machine.completed.sum())

    @property
    def steps_per_move(self) -> Integers:
        """By rung, how many local steps made one move, the unit of work."""
        return self._tuning[:, STEPS].astype(np.int64)

    @property
    def acceptance_rates(self) -> Floats:
        """By rung, the share of local steps that were accepted."""
        return mean_per_move(self._machine, self._record, ACCEPTED) / self.steps_per_move

    @property
    def hold_times(self) -> Floats:
        """By rung, the mean time that a completed move took."""
        return mean_per_move(self._machine, self._record, HOLD_TIME)

    @property
    def simulations(self) -> int:
        """How many simulations completed moves took, if the problem has a simulator."""
        return int(self._record.totals[:, SIMULATIONS].sum())

    @property
    def failures(self) -> int:
        """How many simulations failed and were counted as misses, with on_error="reject"."""
        return int(self._record.totals[:, FAILURES].sum())

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

    def chains(self, rung: int = 0, *, warmup: bool = False) -> list[Draws]:
        """The draws of each chain on a rung, in order; their lengths may differ."""
        if rung not in range(self.settings.ladder.rungs):
            raise InputError(
                f"there is no rung {rung!r}: there are rungs 0 to {self.settings.ladder.rungs - 1}"
            )
        chains = np.flatnonzero(self._machine.rung == rung)
        if not self._record.wanted[chains].all():
            raise InputError(f'the draws of rung {rung} were not kept: use keep="all"')
        width = self._machine.states.shape[1]
        if warmup and self._warmup is not None:
            if rung != 0:
                raise InputError("of the warm-up only the draws of rung 0 are kept")
            return [joined(self._warmup.draws, width)]
        start, end = (-np.inf, self.settings.warmup) if warmup else (self.settings.warmup, np.inf)
        if not warmup and self.settings.warmup == 0.0:
            start = -np.inf
        return [self._store.draws(chain, width).between(start, end) for chain in chains.tolist()]

    def series(self, name: str, rung: int = 0, *, warmup: bool = False) -> list[Floats]:
        """One parameter's draws, an array for each chain on a rung."""
        names = self.settings.problem.names
        if name not in names:
            raise InputError(f"there is no parameter {name!r}: there are {', '.join(names)}")
        column = names.index(name)
        return [draws.state[:, column] for draws in self.chains(rung, warmup=warmup)]

    def summary(self) -> Summary:
        """Mean, sd, interval, effective sample size and more, for each parameter.

        Printed, it also says which settings were found or given, and what could be better.
        """
        return replace(self._table, notes=(describe(self), *map(str, self.advice)))

    @property
    def advice(self) -> list[Advice]:
        """What could be better, and how: nothing for a good run. Serious things come first."""
        return advise(vital_signs(self, self._table))

    @cached_property
    def _table(self) -> Summary:
        draws = {name: self.series(name) for name in self.settings.problem.names}
        elapsed = max(self.elapsed - self.settings.warmup, 0.0)
        return summarise(draws, elapsed, unit=self.settings.on.time_unit)

    def log_evidence(self) -> Evidence:
        """The log evidence (log marginal likelihood) of a `Tempered` problem, with its error.

        The ladder must end at power 0, the prior, and the draws of all rungs must be kept
        (keep="all"). What is left out of the log likelihood is left out of the evidence.
        """
        problem, ladder = self.settings.problem, self.settings.ladder
        if not isinstance(problem, Tempered):
            raise InputError(
                f"{type(problem).__name__} has no likelihood and prior of its own, so it has no "
                "evidence: use aptmc.Tempered(log_likelihood, prior)"
            )
        if ladder.levels[-1] != 0.0:
            raise InputError(
                f"the evidence needs a ladder down to the prior, power 0, and this one ends at "
                f"{ladder.levels[-1]:g}: use ladder='auto', or Ladder.powers([1, …, 0])"
            )
        if not self._record.wanted.all():
            raise InputError('the evidence needs the draws of all rungs: use keep="all"')
        column = value_column(problem.dimension)
        values = [
            [draws.state[:, column] for draws in self.chains(rung)] for rung in range(ladder.rungs)
        ]
        return log_evidence(ladder.levels, values)

    @cached_property
    def draws(self) -> xarray.DataTree:
        """The coldest rung's draws in ArviZ's layout; chains are cut to the shortest's length."""
        from arviz_base import from_dict

        groups = {**self._groups("", warmup=False)}
        if self.settings.warmup > 0.0 or self._warmup is not None:
            groups |= self._groups("warmup_", warmup=True)
        with warnings.catch_warnings():
            # A short run may have fewer draws than chains; the dimensions are right all the same.
            warnings.filterwarnings("ignore", "Found chain dimension to be longer", UserWarning)
            return from_dict(groups, save_warmup=True)

    def _groups(self, prefix: str, *, warmup: bool) -> dict[str, dict[str, np.ndarray]]:
        chains = self.chains(warmup=warmup)
        length = min(draws.time.size for draws in chains)
        problem = self.settings.problem
        value = value_column(problem.dimension)

        def stacked(arrays: list[np.ndarray]) -> np.ndarray:
            return np.stack([array[:length] for array in arrays])

        return {
            f"{prefix}posterior": {
                name: stacked([draws.state[:, column] for draws in chains])
                for column, name in enumerate(problem.names)
            },
            f"{prefix}sample_stats": {
                problem.value_name: stacked([draws.state[:, value] for draws in chains]),
                "time": stacked([draws.time for draws in chains]),
                "exchanged": stacked([draws.exchanged for draws in chains]),
                "accepted": stacked([draws.accepted for draws in chains]),
                "replica": stacked([draws.replica for draws in chains]),
            },
        }
