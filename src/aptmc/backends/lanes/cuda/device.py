"""GPUs of NVIDIA."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import final

from typing_extensions import override

from aptmc.backends.lanes.cuda.fleet import GpuFleet, check_memory
from aptmc.backends.lanes.device import Device
from aptmc.backends.lanes.fleet import Fleet, Voyage
from aptmc.backends.lanes.many_fleets import ManyFleets
from aptmc.backends.lanes.tables import Places


@final
@dataclass(frozen=True)
class Gpu(Device):
    """GPUs, by their numbers, computing with numbers of so many bits."""

    bits: int
    numbers: tuple[int, ...] = (0,)

    is_gpu = True

    def __str__(self) -> str:
        import cupy

        properties = cupy.cuda.runtime.getDeviceProperties(self.numbers[0])
        return f"{properties['name'].decode()} with {self.bits} bits"

    @override
    def check(self, lanes: int) -> None:
        """At least for one parameter, which is known before anything is built."""
        each = -(-lanes // len(self.numbers))
        for number in self.numbers:
            check_memory(each, Places(1, 0), self.bits, number)

    @property
    @override
    def words_at_first(self) -> str:
        several = len(self.numbers) > 1
        return f"compiling the lanes for {f'{len(self.numbers)} GPUs' if several else 'the GPU'}"

    @override
    def fleet(self, voyage: Voyage) -> Fleet:
        makers = [partial(GpuFleet, bits=self.bits, number=number) for number in self.numbers]
        return makers[0](voyage) if len(makers) == 1 else ManyFleets(voyage, makers)
