"""GPUs of NVIDIA."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import final

from typing_extensions import override

from aptmc.backends.lanes.cuda.fleet import GpuFleet
from aptmc.backends.lanes.device import Device
from aptmc.backends.lanes.fleet import Fleet, Voyage
from aptmc.backends.lanes.many_fleets import ManyFleets
from aptmc.backends.lanes.memory import check_fit, check_host
from aptmc.backends.lanes.tables import Places

LANES_OF_GPU = 65_536


@final
@dataclass(frozen=True)
class Gpu(Device):
    """GPUs, by their numbers, computing with numbers of so many bits."""

    bits: int
    numbers: tuple[int, ...] = (0,)

    is_gpu = True

    def __str__(self) -> str:
        cupy = import_module("cupy")  # which few have installed
        properties = cupy.cuda.runtime.getDeviceProperties(self.numbers[0])
        return f"{properties['name'].decode()} with {self.bits} bits"

    @override
    def check(self, lanes: int) -> None:
        """At least for one parameter, which is known before anything is built."""
        self._check(lanes, Places(1, 0))

    def _check(self, lanes: int, places: Places) -> None:
        """Groups are shared out evenly, so that GPU decides whose memory has least left."""
        cupy, free = import_module("cupy"), []
        for number in self.numbers:
            with cupy.cuda.Device(number):
                free.append(int(cupy.cuda.runtime.memGetInfo()[0]))
        count = len(self.numbers)
        where = "on the GPU" if count == 1 else f"on each of {count} GPUs"
        check_fit(lanes, places.bytes_of_lane(self.bits), min(free), where, count)
        check_host(lanes, places)

    @property
    @override
    def usual_lanes(self) -> int:
        return LANES_OF_GPU * len(self.numbers)

    @property
    @override
    def words_at_first(self) -> str:
        several = len(self.numbers) > 1
        return f"compiling the lanes for {f'{len(self.numbers)} GPUs' if several else 'the GPU'}"

    @property
    @override
    def remark(self) -> str:
        return ""

    @override
    def made_by(self, voyage: Voyage) -> str:
        return ""

    @override
    def fleet(self, voyage: Voyage) -> Fleet:
        self._check(voyage.lanes, voyage.places)
        makers = [partial(GpuFleet, bits=self.bits, number=number) for number in self.numbers]
        return makers[0](voyage) if len(makers) == 1 else ManyFleets(voyage, makers)
