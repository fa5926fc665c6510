"""The processors of this machine."""

from __future__ import annotations

import math
import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup/cpu.max")


def processors_available(cgroup: Path = CGROUP) -> int:
    """How many processors this process may use, its share of a container's quota included.

    Not every system can tell those that it may use from all.
    """
    allowed = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    )
    return max(1, min(allowed, _quota(cgroup)))


def _quota(cgroup: Path) -> int:
    """Processors that a container's quota of time is worth; very many if there is none."""
    try:
        quota, period = cgroup.read_text(encoding="ascii").split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError, ZeroDivisionError):  # no quota, or a system that has no such file
        return 1 << 30
