"""The lock of a store: one process at a time writes it.

The system takes the lock away from a process that ends, however it ends, so nobody is ever locked
out by the dead. That is why a file system that knows no such locks is refused: in their place one
would have a file that stays behind.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from aptmc.errors import InputError

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK = "lock"
# Whoever asks whether a store is being written holds its lock for some microseconds.
PATIENCE = 0.2  # seconds
NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)  # how a file system says so


def lock(store: Path) -> BaseFileLock:
    """Take the lock of a store, or an error if another run has it. It is held until `release`."""
    from filelock import FileLock, Timeout

    # The thread that closes a store need not be the one that made it.
    held = FileLock(store / LOCK, thread_local=False, fallback_to_soft=False)
    try:
        held.acquire(timeout=PATIENCE, poll_interval=PATIENCE / 10)
    except Timeout:
        raise InputError(
            f"{store} is being written by another run: wait until it has ended, or stop it"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        raise InputError(
            f"{store} cannot be locked ({error.strerror}), so that two runs might write it at the "
            "same time: put it on another file system"
        ) from error
    return held


def being_written(store: Path) -> bool:
    """Whether some process holds the lock of a store: one that was killed does not."""
    from filelock import lock_descriptor

    try:
        # A store that one may only read can be asked, too.
        descriptor = os.open(store / LOCK, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not lock_descriptor(descriptor, blocking=False)
    finally:
        os.close(descriptor)
