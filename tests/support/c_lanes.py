"""The C code of lanes, compiled for this machine's processor: what a GPU would compute."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from aptmc.backends.lanes.cuda.source import source_for
from aptmc.backends.lanes.fleet import Fleet
from aptmc.backends.lanes.tables import Lanes


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


class FleetInC(Fleet):
    """Lanes computed by the C code, with no parallelism but all else."""

    def __init__(self, voyage, folder, bits=64):
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("there is no C compiler here")
        code, library = folder / f"lanes{bits}.cpp", folder / f"lanes{bits}.so"
        code.write_text(source_for(voyage, bits, on_gpu=False))
        # As numba does it: no two operations are made into one.
        options = ["-x", "c++", "-O1", "-shared", "-fPIC", "-ffp-contract=off", "-w"]
        subprocess.run([compiler, *options, "-o", library, code, "-lm"], check=True)
        self.library, self.voyage = ctypes.CDLL(str(library)), voyage
        self.real = np.float64 if bits == 64 else np.float32

        self.retune(voyage.levels, voyage.tuning)

    def retune(self, levels, tuning):
        self.levels = levels.astype(self.real)
        self.tuning = np.ascontiguousarray(tuning, self.real)

    def load(self, lanes):
        self.reals = lanes.reals.astype(self.real)
        self.wholes, self.words = lanes.wholes.copy(), lanes.words.copy()

    def read(self):
        return Lanes(self.reals.astype(float), self.wholes.copy(), self.words.copy())

    def sums(self):
        by_place = self.wholes.reshape(len(self.wholes), self.voyage.positions, -1).sum(axis=2)
        return self.voyage.by_rung(by_place)

    def catch_up(self, ticks):
        number, voyage = ctypes.c_longlong, self.voyage
        limits = np.ascontiguousarray(ticks, np.int64)
        self.library.advance(
            number(voyage.lanes), number(voyage.groups), number(voyage.first_group),
            number(voyage.all_groups), number(0), pointer(limits), number(voyage.seed),
            pointer(self.levels), pointer(self.tuning), number(self.tuning.shape[1]),
            pointer(self.reals), pointer(self.wholes), pointer(self.words),
        )  # fmt: skip

    def run(self, deadlines):
        number, voyage, kept = ctypes.c_longlong, self.voyage, []
        for deadline in deadlines:
            self.catch_up(np.full(voyage.lanes, deadline.ticks))
            self.library.exchange(
                number(voyage.lanes), number(voyage.groups), number(voyage.first_group),
                number(deadline.number), number(voyage.seed), pointer(self.levels),
                pointer(self.reals), pointer(self.wholes),
            )  # fmt: skip
            if deadline.is_kept:
                rows = np.zeros((voyage.kept_lanes, voyage.model.dimension + 2), self.real)
                self.library.collect(
                    number(voyage.lanes), number(voyage.kept_lanes), pointer(self.reals),
                    pointer(self.wholes), pointer(rows),
                )  # fmt: skip
                kept.append(rows.astype(float))
        return np.array(kept)
