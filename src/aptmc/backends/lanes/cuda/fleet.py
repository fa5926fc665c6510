"""Lanes on a GPU: a thread for each, whose simulation stays in its registers between deadlines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.backends.lanes.cuda.source import source_for
from aptmc.backends.lanes.fleet import Deadline, Fleet, Voyage
from aptmc.backends.lanes.memory import SHARE
from aptmc.backends.lanes.tables import Lanes
from aptmc.compiled import Floats, FloatTable, FloatTables, Integers, IntegerTable
from aptmc.errors import InputError

THREADS = 128  # in a block


@final
class GpuFleet(Fleet):
    """Lanes whose columns lie in the memory of a GPU.

    :param number: of the GPU, among those of this machine
    """

    def __init__(self, voyage: Voyage, bits: int, number: int = 0) -> None:
        self._cupy: Any = import_module("cupy")  # which few have installed
        self.voyage, self._gpu = voyage, self._cupy.cuda.Device(number)
        self._real = np.dtype(np.float64 if bits == 64 else np.float32)
        with self._on_it():
            self._make_ready(bits)

    @contextmanager
    def _on_it(self) -> Iterator[None]:
        """All of this on this very GPU. If its memory does not suffice, say what would fit."""
        try:
            with self._gpu:
                yield
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            raise InputError(self._too_many(str(error))) from error

    def _too_many(self, said: str) -> str:
        """Other programs may have taken memory since lanes were counted, and draws take some."""
        voyage = self.voyage
        with self._gpu:
            free = int(self._cupy.cuda.runtime.memGetInfo()[0])
            # What cupy holds is ours.
            free += int(self._cupy.get_default_memory_pool().total_bytes())
        fit = int(SHARE * free) // voyage.places.bytes_of_lane(8 * self._real.itemsize)
        fit = min(fit, int(SHARE * voyage.lanes)) * voyage.all_groups // voyage.groups
        lanes = voyage.all_groups * voyage.positions
        return f"{lanes} lanes do not fit on the GPU: use {fit} lanes or fewer ({said})"

    def _make_ready(self, bits: int) -> None:
        voyage = self.voyage
        options = ("--std=c++17", *(() if bits == 64 else ("--use_fast_math",)))
        code = self._cupy.RawModule(code=source_for(voyage, bits), options=options, backend="nvrtc")
        self._advance, self._exchange, self._collect = (
            code.get_function(name) for name in ("advance", "exchange", "collect")
        )
        self.retune(voyage.levels, voyage.tuning)
        self._lanes, self._groups = np.int64(voyage.lanes), np.int64(voyage.groups)
        self._seed, self._first_group = np.uint64(voyage.seed), np.int64(voyage.first_group)
        self._reals: Any = None
        self._wholes: Any = None
        self._words: Any = None

    @override
    def retune(self, levels: Floats, tuning: FloatTable) -> None:
        with self._on_it():
            self._levels = self._cupy.asarray(levels, self._real)
            self._tuning = self._cupy.asarray(np.ascontiguousarray(tuning), self._real)

    @override
    def load(self, lanes: Lanes) -> None:
        with self._on_it():
            self._reals = self._cupy.asarray(lanes.reals, self._real)
            self._wholes = self._cupy.asarray(lanes.wholes)
            self._words = self._cupy.asarray(lanes.words)

    @override
    def read(self) -> Lanes:
        with self._on_it():
            reals = self._reals.get().astype(np.float64)
            return Lanes(reals, self._wholes.get(), self._words.get())

    @override
    def sums(self) -> IntegerTable:
        with self._on_it():
            voyage = self.voyage
            by_place = self._wholes.reshape(voyage.places.wholes, voyage.positions, -1)
            return voyage.by_rung(by_place.sum(axis=2).get())

    @override
    def catch_up(self, ticks: Integers) -> None:
        with self._on_it():
            self._go_on(0, self._cupy.asarray(ticks, np.int64))

    @override
    def run(self, deadlines: list[Deadline]) -> FloatTables:
        with self._on_it():
            voyage = self.voyage
            kept = sum(deadline.is_kept for deadline in deadlines)
            rows = self._cupy.empty(
                (kept, voyage.kept_lanes, voyage.model.dimension + 2), self._real
            )
            place = 0
            for deadline in deadlines:
                self._go_on(deadline.ticks, 0)
                self._exchange(
                    _blocks(voyage.groups), (THREADS,),
                    (self._lanes, self._groups, self._first_group, np.uint64(deadline.number),
                     self._seed, self._levels, self._reals, self._wholes),
                )  # fmt: skip
                if deadline.is_kept:
                    self._collect(
                        _blocks(voyage.kept_lanes), (THREADS,),
                        (self._lanes, np.int64(voyage.kept_lanes), self._reals, self._wholes,
                         rows[place]),
                    )  # fmt: skip
                    place += 1
            found: FloatTables = rows.get().astype(np.float64)
            return found

    def _go_on(self, ticks: int, limits: Any) -> None:
        self._advance(
            _blocks(self.voyage.lanes), (THREADS,),
            (self._lanes, self._groups, self._first_group, np.int64(self.voyage.all_groups),
             np.int64(ticks), limits, self._seed, self._levels, self._tuning,
             np.int64(self._tuning.shape[1]), self._reals, self._wholes, self._words),
        )  # fmt: skip


def _blocks(threads: int) -> tuple[int]:
    return ((threads + THREADS - 1) // THREADS,)
