"""The garbage collector stands still while the compiler works.

numba makes millions of objects that refer to each other, all of which live until it is done. To
look through them again and again takes a good part of the time, and more of it in a process that
has much in memory.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """A block in which nothing is collected; afterwards all is as it was."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
