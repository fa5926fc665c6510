"""What a user wants to have set by hand, and what is left to the warm-up."""

from __future__ import annotations

from typing import Literal, NamedTuple

from aptmc.kernels import Kernel
from aptmc.ladder import AutoLadder, Ladder
from aptmc.pools import Pools
from aptmc.schedule import AUTO, Anytime, Schedule


class Wishes(NamedTuple):
    """The settings of a run, some of which are to be found."""

    ladder: Ladder | AutoLadder
    kernel: Kernel | Literal["auto"]
    schedule: Schedule
    pools: Pools | None

    @property
    def every_is_auto(self) -> bool:
        """Whether the time between deadlines is to be found."""
        return isinstance(self.schedule, Anytime) and self.schedule.every == AUTO

    @property
    def needs_warmup(self) -> bool:
        """Whether there is anything to find."""
        return (
            isinstance(self.ladder, AutoLadder)
            or not isinstance(self.kernel, Kernel)
            or self.kernel.learns
            or self.every_is_auto
        )
