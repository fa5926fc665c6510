"""Compile the library into numba's cache with two processes, before others need it.

Tests and benchmarks that start with an empty cache would have each of their processes compile the
same functions. One process begins with the first function, the other with the last; what one finds
on disk it does not compile.
"""

from __future__ import annotations

import subprocess
import sys

from aptmc.targets.compile_ahead import all_functions, compile_ahead

BACKWARDS = "--backwards"


def main() -> int:
    """Compile all functions; the other process has ended when this one does."""
    if BACKWARDS in sys.argv:
        compile_in_order(-1)
        return 0
    other = subprocess.Popen([sys.executable, __file__, BACKWARDS])
    try:
        compile_in_order(1)
    finally:
        status = other.wait()
    return status


def compile_in_order(step: int) -> None:
    """Compile what is not on disk by the time its turn comes."""
    for function in all_functions()[::step]:
        if not function.is_on_disk():
            for _ in compile_ahead([function]):
                pass


if __name__ == "__main__":
    sys.exit(main())
