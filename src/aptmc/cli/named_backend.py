"""Find who computes, as a user names it on the command line."""

from __future__ import annotations

from argparse import Namespace

from aptmc.backends import Backend, Dask, Processes, Ray
from aptmc.errors import InputError


def find_backend(options: Namespace) -> Backend | None:
    """Worker processes here, or the cluster that --on names; None leaves it to `sample`."""
    kind, _, address = options.on.partition(":")
    if kind == "dask" and address:
        return Dask(address, options.workers)
    if kind == "ray":
        return Ray(address or None, options.workers)
    if options.on != "processes":
        raise InputError(
            f"--on must be processes, dask:ADDRESS, ray or ray:ADDRESS, got {options.on!r}"
        )
    return None if options.workers is None else Processes(options.workers)
