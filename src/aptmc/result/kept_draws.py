"""The draws that a run has kept: of which chains, from when on, and how many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

import numpy as np

from aptmc.compiled import Integers
from aptmc.coordinator.state import Coordinator
from aptmc.errors import InputError
from aptmc.record.record import Record
from aptmc.settings import Settings
from aptmc.store import Draws, Store, joined
from aptmc.warmup import WarmUp


@final
class KeptDraws:
    """Reads draws from a store, and leaves out those of the warm-up unless they are asked for."""

    def __init__(
        self,
        settings: Settings,
        machine: Coordinator,
        record: Record,
        store: Store,
        warmup: WarmUp | None,
    ) -> None:
        self._settings = settings
        self._machine = machine
        self._record = record
        self._store = store
        self._warmup = warmup
        self._remembered: list[Draws] | None = None

    @property
    def counted_from(self) -> float:
        """From when on draws count."""
        return self._settings.counted_from(float(self._machine.settles_until[0]))

    @property
    def has_warmup(self) -> bool:
        """Whether there were draws that do not count."""
        return self._settings.warmup > 0.0 or self._warmup is not None

    def of_rung(self, rung: int, *, warmup: bool) -> list[Draws]:
        """By chain on a rung, in order; their lengths may differ."""
        rungs = self._settings.ladder.rungs
        if rung not in range(rungs):
            raise InputError(f"there is no rung {rung!r}: there are rungs 0 to {rungs - 1}")
        if self._remembered is not None and rung == 0 and not warmup:
            return list(self._remembered)
        chains = self.recorded_on(rung)
        if chains.size == 0:
            raise InputError(f'the draws of rung {rung} were not kept: use keep="all"')
        width = self._machine.states.shape[1]
        if warmup and self._warmup is not None:
            if rung != 0:
                raise InputError("of the warm-up only the draws of rung 0 are kept")
            return [joined(self._warmup.draws, width)]
        begins = self.counted_from
        start, end = (-np.inf, begins) if warmup else (begins, np.inf)
        if not warmup and begins == 0.0:
            start = -np.inf
        return [draws.between(start, end) for draws in self._store.chains(chains.tolist(), width)]

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """Inside, the coldest rung's draws are read once, not whenever they are asked for."""
        if self._remembered is not None:  # by whoever asks for this
            yield
            return
        self._remembered = self.of_rung(0, warmup=False)
        try:
            yield
        finally:
            self._remembered = None

    def recorded_on(self, rung: int) -> Integers:
        """The chains on a rung whose draws are kept: of a lane, one stands for both."""
        return np.flatnonzero((self._machine.rung == rung) & self._record.wanted)

    @property
    def knows_lengths(self) -> bool:
        """Whether one can tell how many draws there are without reading them."""
        is_known = self.counted_from in (0.0, float(self._machine.settles_until[0]))
        return is_known and self._settings.warmup == 0.0 and self._store.damage is None

    def lengths(self) -> Integers:
        """By chain on the coldest rung, how many draws there are."""
        if not self.knows_lengths:
            return np.array([draws.time.size for draws in self.of_rung(0, warmup=False)])
        kept = self._record.seen // self._record.thin - self._before()
        on_rung_0: Integers = kept[self.recorded_on(0)]
        return on_rung_0

    def lengths_before(self) -> Integers:
        """By chain on the coldest rung, how many draws are from before the run was settled."""
        on_rung_0: Integers = self._before()[self.recorded_on(0)]
        return on_rung_0

    def _before(self) -> Integers:
        record = self._record
        before: Integers = record.before if self._machine.is_settled[0] else record.seen
        return before // record.thin
