"""A cupy without any GPU: it hands out memory and refuses it, and computes nothing.

For what is done with GPUs before and after their kernels: which are chosen, what is put on which,
and what is said if it does not fit.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np


class OutOfMemoryError(MemoryError):
    """As cupy has it."""


class Array(np.ndarray):
    """Numbers on a GPU."""

    def get(self):
        return np.array(self)


class Machine:
    """GPUs with so many bytes each.

    :param free: bytes, of each GPU
    """

    def __init__(self, free):
        self.free, self.now, self.launched, self.made = list(free), 0, [], []
        self.count = lambda: len(self.free)

    def hold(self, array):
        """Take memory of the GPU that is used now."""
        if array.nbytes > self.free[self.now]:
            raise OutOfMemoryError(f"Out of memory allocating {array.nbytes} bytes")
        self.free[self.now] -= array.nbytes
        self.made.append((self.now, array.nbytes))
        return array.view(Array)

    def held(self, number):
        """How many bytes were taken of a GPU."""
        return sum(size for of, size in self.made if of == number)

    def module(self):
        """What `import cupy` finds."""
        machine = self

        class Device:
            def __init__(self, number=None):
                self.id = machine.now if number is None else number

            def __enter__(self):
                self.before, machine.now = machine.now, self.id

            def __exit__(self, *_):
                machine.now = self.before

        class RawModule:
            def __init__(self, code, options, backend):
                assert backend == "nvrtc"
                self.number, self.options = machine.now, options

            def get_function(self, name):
                def launch(blocks, threads, arguments):
                    assert machine.now == self.number
                    machine.launched.append((self.number, name, blocks, threads))

                return launch

        def as_array(numbers, dtype=None):
            return machine.hold(np.array(numbers, dtype))

        runtime = SimpleNamespace(
            getDeviceCount=lambda: machine.count(),
            memGetInfo=lambda: (machine.free[machine.now], 1 << 40),
            getDeviceProperties=lambda number: {"name": f"GPU {number}".encode()},
        )
        pool = SimpleNamespace(total_bytes=lambda: machine.held(machine.now))
        return SimpleNamespace(
            cuda=SimpleNamespace(
                Device=Device,
                runtime=runtime,
                memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            ),
            RawModule=RawModule,
            asarray=as_array,
            empty=lambda shape, dtype: machine.hold(np.zeros(shape, dtype)),
            get_default_memory_pool=lambda: pool,
        )

    def plug_in(self, monkeypatch):
        """Have `import cupy` find it."""
        monkeypatch.setitem(sys.modules, "cupy", self.module())
        monkeypatch.setattr("aptmc.backends.lanes.device.find_spec", lambda name: name)
        return self
