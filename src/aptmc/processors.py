"""The processors of this machine."""

from __future__ import annotations

import os

from aptmc.errors import InputError

MOST = "LOKY_MAX_CPU_COUNT"


def wanted_by_others(own: float, before: float | None = None) -> float:
    """How many processes beside one's own want each processor of this machine, at least.

    By what the system says of the last minute (the load); 0 where it says nothing.

    :param own: how many of one's own are at work
    :param before: what `load` gave a while ago, if that was less
    """
    now = load()
    if now is None:
        return 0.0
    least = now if before is None else min(now, before)
    return max(least - own, 0.0) / (os.cpu_count() or 1)


def load() -> float | None:
    """How many processes wanted a processor of this machine in the last minute, if it tells."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # Windows has none
        return None


def processors_available() -> int:
    """How many processors this process may use.

    Those that it is kept to, its share of a container's quota of time (cgroups of either version),
    and the variable LOKY_MAX_CPU_COUNT count: the least of them.
    """
    import loky

    try:
        return int(loky.cpu_count())
    except ValueError as error:
        if MOST not in os.environ:
            raise
        raise InputError(
            f"the variable {MOST} must be a whole number, got {os.environ[MOST]!r}: "
            f"use {MOST}=4, say, or unset it"
        ) from error
