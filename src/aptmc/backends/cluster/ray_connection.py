"""The way to a Ray cluster, or a new one on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aptmc.errors import InputError


def processors_of(ray: Any) -> int:
    """How many processors a cluster has now."""
    return int(ray.cluster_resources().get("CPU", 0))


def connect(ray: Any, address: str | None, workers: int | None) -> None:
    """To a cluster that is there, or to a new one that only this machine can see."""
    try:
        if address is not None:
            ray.init(address=address, log_to_driver=False)
        else:
            with on_this_machine_alone(ray):
                ray.init(
                    address="local",
                    num_cpus=workers,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level="ERROR",
                )
    except Exception as error:
        where = "on this machine" if address is None else f"at {address!r}"
        raise InputError(
            f"no Ray cluster {where} ({type(error).__name__}: {error}): give the address of one "
            "that runs, address='auto' say, or none at all for a new one"
        ) from error


@contextmanager
def on_this_machine_alone(ray: Any) -> Iterator[None]:
    """A cluster that is made now can be reached from this machine only.

    That is how Ray does it by default on macOS and Windows. On Linux its processes listen to all
    the world, even if they are told to live at 127.0.0.1, which it takes for a mistake.

    Ray has no public setting for this. The variable is read when Ray is imported, which the user
    may have done before, so the constant made of it is set, too. It is the only private thing of
    Ray's that is used, and `tests/backends/cluster/test_ray.py` notices if it does not work.
    """
    constants = ray._private.ray_constants
    name, before = constants.ENABLE_RAY_CLUSTERS_ENV_VAR, constants.ENABLE_RAY_CLUSTER
    said = os.environ.get(name)
    constants.ENABLE_RAY_CLUSTER, os.environ[name] = False, "0"
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before
        del os.environ[name]
        if said is not None:
            os.environ[name] = said


def library() -> Any:
    """Ray itself, or what to do to have it."""
    try:
        import ray
    except ImportError:
        raise InputError("Ray is not installed: pip install 'aptmc[ray]'") from None
    return ray
