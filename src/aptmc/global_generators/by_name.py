"""Global generators are sent by name: what holds one finds the other process's own.

`from random import gauss` holds Python's, and a distribution of scipy's numpy's. Were they copied,
each worker would draw the same numbers from its copy, which nobody seeds.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

from numpy.random import mtrand


def of_python() -> Any:
    """The hidden instance behind the functions of `random`."""
    return random.seed.__self__  # type: ignore[attr-defined]


def of_numpy() -> Any:
    """The hidden instance behind the functions of `np.random`."""
    return mtrand._rand


def of_torch() -> Any:
    """The one that torch takes if none is given, where torch is loaded."""
    return getattr(sys.modules.get("torch"), "default_generator", None)


def torch_of_its_own() -> Any:
    """The same in a process that is still to load torch."""
    import torch

    return torch.default_generator


def by_name(value: object) -> Callable[[], Any] | None:
    """The function that gives a global generator in any process, if something is one."""
    if value is of_python():
        return of_python
    if value is of_numpy():
        return of_numpy
    return torch_of_its_own if value is not None and value is of_torch() else None
