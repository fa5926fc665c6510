"""Where this library computes, by what is equal for all."""

from __future__ import annotations

import aptmc
from experiments.comparison.given import Limits


def backend_of(limits: Limits) -> aptmc.VirtualTime | aptmc.Processes | aptmc.InProcess:
    """Simulated workers count work; one processor is this process, which no clock interrupts."""
    if limits.counts:
        return aptmc.VirtualTime(limits.workers)
    return aptmc.InProcess() if limits.workers == 1 else aptmc.Processes(limits.workers)
