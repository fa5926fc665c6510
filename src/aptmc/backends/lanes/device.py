"""Which machine computes the lanes: a GPU, or this machine's processors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Literal, final

from typing_extensions import override

from aptmc.backends.lanes.c_here import WAYS, compiler_here
from aptmc.backends.lanes.fleet import Fleet, Voyage
from aptmc.backends.lanes.many_fleets import ManyFleets
from aptmc.backends.lanes.memory import check_host
from aptmc.backends.lanes.processor_fleet import ProcessorFleet
from aptmc.backends.lanes.tables import Places
from aptmc.checks import whole_number
from aptmc.errors import InputError
from aptmc.processors import processors_available

LANES_HERE = 256


class Device(ABC):
    """A machine with lanes."""

    is_gpu = False

    @abstractmethod
    def __str__(self) -> str:
        """Its kind, on which the last bits of draws depend."""

    @abstractmethod
    def check(self, lanes: int) -> None:
        """Refuse more lanes than there can be memory for."""

    @property
    @abstractmethod
    def usual_lanes(self) -> int:
        """How many lanes there are, at the most, if nothing is said."""

    @property
    @abstractmethod
    def words_at_first(self) -> str:
        """What is said while it makes ready."""

    @property
    @abstractmethod
    def remark(self) -> str:
        """What the summary of a run says of it, if anything."""

    @abstractmethod
    def made_by(self, voyage: Voyage) -> str:
        """The compiler, if the last bits of draws depend on it."""

    @abstractmethod
    def fleet(self, voyage: Voyage) -> Fleet:
        """Lanes for a run."""


@final
@dataclass(frozen=True)
class Processors(Device):
    """This machine's own."""

    threads: int
    instead_because: str = ""  # what a GPU lacks, if one was looked for
    fleets: int = 1  # among which they are divided
    compiler: str = "auto"

    def __str__(self) -> str:
        return "processors"

    @property
    @override
    def words_at_first(self) -> str:
        found = "no GPU was found, so lanes are computed here: " if self.instead_because else ""
        return f"{found}compiling the lanes"

    @property
    @override
    def usual_lanes(self) -> int:
        return LANES_HERE

    @property
    @override
    def remark(self) -> str:
        because = self.instead_because.partition("\n")[0]
        return f"lanes made by processors, because {because}" if because else ""

    @override
    def check(self, lanes: int) -> None:
        """At least for one parameter, which is known before anything is built."""
        check_host(lanes, Places(1, 0))

    @override
    def made_by(self, voyage: Voyage) -> str:
        """Of densities: what simulators draw is computed by this library alone."""
        return "" if voyage.model.stages is None else compiler_here(voyage, self.compiler)

    @override
    def fleet(self, voyage: Voyage) -> Fleet:
        check_host(voyage.lanes, voyage.places)
        if self.fleets == 1:
            return ProcessorFleet(voyage, self.threads, self.compiler)
        threads = max(self.threads // self.fleets, 1)
        part = partial(ProcessorFleet, threads=threads, compiler=self.compiler)
        return ManyFleets(voyage, [part] * self.fleets)


def chosen_device(
    name: str, *, bits: int, threads: int | None, devices: int | Literal["all"] = 1,
    compiler: str = "auto",
) -> Device:  # fmt: skip
    """The device that was asked for, or an error that says what is missing."""
    if compiler not in WAYS:
        known = ", ".join(f'"{way}"' for way in WAYS)
        raise InputError(f"compiler must be one of {known}, got {compiler!r}")
    if devices != "all":
        devices = whole_number("devices", devices)
    if name not in ("auto", "gpu", "cpu"):
        raise InputError(f'device must be "auto", "gpu" or "cpu", got {name!r}')
    threads = processors_available() if threads is None else whole_number("threads", threads)
    # Processors are one device, which may be divided to try how several would do.
    fleets = 1 if devices == "all" else devices
    if name == "cpu":
        return Processors(threads, fleets=fleets, compiler=compiler)
    missing = _what_is_missing()
    if missing is None:
        return _gpus(bits, devices)
    if name == "gpu":
        raise InputError(f'device="gpu" cannot be used here: {missing}; use device="cpu"')
    return Processors(threads, instead_because=missing, fleets=fleets, compiler=compiler)


def _gpus(bits: int, devices: int | Literal["all"]) -> Device:
    import cupy

    from aptmc.backends.lanes.cuda.device import Gpu

    if devices == 1:
        return Gpu(bits, (int(cupy.cuda.Device().id),))
    found = int(cupy.cuda.runtime.getDeviceCount())
    if devices != "all" and devices > found:
        raise InputError(f'devices={devices} are more than the {found} GPUs here: use "all"')
    return Gpu(bits, tuple(range(found if devices == "all" else devices)))


def _what_is_missing() -> str | None:
    if find_spec("cupy") is None:
        return "the package cupy is not installed (pip install aptmc[cuda])"
    import cupy

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # a driver that is missing, or too old
        return f"cupy finds no GPU ({error})"
    return None if count > 0 else "cupy finds no GPU"
