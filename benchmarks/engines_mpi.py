"""The part of the benchmark of engines that runs under `mpiexec`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import aptmc
from benchmarks.engines import Options, print_engine


def main() -> None:
    """Print the lines of one engine."""
    from mpi4py.futures import MPIPoolExecutor

    executor = MPIPoolExecutor()

    @contextmanager
    def ranks(workers: int, options: Options) -> Iterator[Any]:
        yield aptmc.Futures(executor, workers, **options)

    print_engine("MPI", ranks, quick="--quick" in sys.argv)
    executor.shutdown()


if __name__ == "__main__":
    main()
