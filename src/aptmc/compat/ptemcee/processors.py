"""How many processes there are, from what ptemcee is told of threads and pools."""

from __future__ import annotations

from typing import Any

from aptmc.checks import whole_number
from aptmc.errors import InputError

# Where pools and executors keep how many processes they have.
PLACES = ("_max_workers", "_processes", "processes")


def processors_of(threads: int, pool: Any) -> int:
    """So many worker processes of the library's own as there are threads, or processes in a pool.

    A pool can only be asked to compute some points and be waited for; here nobody waits.
    """
    if pool is None:
        return whole_number("threads", threads)
    for place in PLACES:
        count = getattr(pool, place, None)
        if isinstance(count, int) and count >= 1:
            return count
    raise InputError(
        f"of a pool the number of its processes is taken, and {type(pool).__name__} does not say "
        "it: use threads=8, say; on other machines aptmc.sample(..., on=aptmc.Dask(...))"
    )
