"""Find who computes, as a user names it on the command line."""

from __future__ import annotations

from argparse import Namespace

from aptmc.backends import Backend, Dask, Lanes, Processes, Ray
from aptmc.errors import InputError


def find_backend(options: Namespace) -> Backend | None:
    """Worker processes here, the cluster that --on names, or lanes; None leaves it to `sample`."""
    kind, _, address = options.on.partition(":")
    if kind == "dask" and address:
        return Dask(address, options.workers)
    if kind == "ray":
        return Ray(address or None, options.workers)
    if kind == "lanes" and (address.isdigit() or not address):
        return Lanes(int(address) if address else None)
    if options.on != "processes":
        raise InputError(
            "--on must be processes, dask:ADDRESS, ray, ray:ADDRESS, lanes or lanes:NUMBER, got "
            f"{options.on!r}"
        )
    return None if options.workers is None else Processes(options.workers)
