"""The processors of this machine."""

from __future__ import annotations

import os

from aptmc.errors import InputError

MOST = "LOKY_MAX_CPU_COUNT"


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
