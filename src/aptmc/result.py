"""What a run gives back."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from aptmc.backends import Backend
from aptmc.backends.session import Usage
from aptmc.chain import ACCEPTED, FAILURES, SIMULATIONS, value_column
from aptmc.compiled import Floats
from aptmc.coordinator import Coordinator
from aptmc.diagnostics import Summary, SwapRates, summarise, swap_rates, utilisation
from aptmc.errors import InputError, StopReason
from aptmc.kernels import Kernel
from aptmc.ladder import Ladder
from aptmc.pools import Pools
from aptmc.problem import Problem
from aptmc.record import Record
from aptmc.schedule import Schedule
from aptmc.store import Draws, MemoryStore

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
    ) -> None:
        self.settings = settings
        self._machine = machine
        self._record = record
        self._store = store
        self._usage = usage

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
        busy = self._usage.busy
        return utilisation(busy, self.elapsed, busy.size)

    @property
    def completions(self) -> int:
        """How many moves were completed, by all chains."""
        return int(self._machine.completed.sum())

    @property
    def acceptance_rates(self) -> Floats:
        """By rung, accepted local steps per completed move."""
        moves = np.zeros(self.settings.ladder.rungs)
        np.add.at(moves, self._machine.rung, self._machine.moves - ~self._machine.waiting)
        rates = np.full(moves.size, np.nan)
        np.divide(self._record.totals[:, ACCEPTED], moves, out=rates, where=moves > 0)
        return rates

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
        """How often neighbouring rungs swapped when they were paired."""
        return swap_rates(self._record.attempts, self._record.swaps)

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
        """Mean, sd, interval, effective sample size and more, for each parameter."""
        draws = {name: self.series(name) for name in self.settings.problem.names}
        elapsed = max(self.elapsed - self.settings.warmup, 0.0)
        return summarise(draws, elapsed, unit=self.settings.on.time_unit)

    @cached_property
    def draws(self) -> xarray.DataTree:
        """The coldest rung's draws in ArviZ's layout; chains are cut to the shortest's length."""
        from arviz_base import from_dict

        groups = {**self._groups("", warmup=False)}
        if self.settings.warmup > 0.0:
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
