"""What executors do not say in public: how many workers they have, and how they are ended at once.

The private names of others stand here and nowhere else, and `tests/backends/cluster/
test_executors.py` notices if one of them changes. Without them nothing breaks: the user is asked
for the number of workers, and Python waits for processes before it exits.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any


def workers_of(executor: Any) -> int | None:
    """How many workers an executor has, if it tells."""
    return getattr(executor, "_max_workers", None)


def end(executor: Any) -> None:
    """End an executor, without waiting for what it computes."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    with suppress(Exception):
        try:
            executor.shutdown(wait=False, kill_workers=True)  # loky
        except TypeError:
            executor.shutdown(wait=False, cancel_futures=True)
    # Python waits for the processes of a pool before it exits, and a move may take hours.
    for process in processes:
        with suppress(Exception):
            process.kill()
