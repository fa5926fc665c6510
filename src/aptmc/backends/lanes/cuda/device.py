"""A GPU of NVIDIA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from typing_extensions import override

from aptmc.backends.lanes.cuda.fleet import GpuFleet, check_memory
from aptmc.backends.lanes.device import Device
from aptmc.backends.lanes.fleet import Fleet, Voyage
from aptmc.backends.lanes.tables import Places


@final
@dataclass(frozen=True)
class Gpu(Device):
    """The GPU that cupy uses, computing with numbers of so many bits."""

    bits: int

    is_gpu = True

    def __str__(self) -> str:
        import cupy

        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        return f"{properties['name'].decode()} with {self.bits} bits"

    @override
    def check(self, lanes: int) -> None:
        """At least for one parameter, which is known before anything is built."""
        check_memory(lanes, Places(1, 0), self.bits)

    @property
    @override
    def words_at_first(self) -> str:
        return "compiling the lanes for the GPU"

    @override
    def fleet(self, voyage: Voyage) -> Fleet:
        return GpuFleet(voyage, self.bits)
