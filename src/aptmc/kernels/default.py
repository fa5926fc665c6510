"""The kernels that problems have if no other is asked for."""

from __future__ import annotations

from aptmc.errors import InputError
from aptmc.kernels.base import Kernel
from aptmc.kernels.elliptical_slice import EllipticalSlice
from aptmc.kernels.one_hit import OneHit
from aptmc.problem.base import Problem


def default_kernel(problem: Problem) -> Kernel:
    """For a simulator, one simulation for each step that the prior allows.

    For a density elliptical slices, whose reference is fitted in the warm-up: on all known targets
    they do better than a random walk with slices along lines, and better than in a mixture with it.
    """
    if problem.has_simulator:
        return OneHit("auto")
    if problem.has_density:
        return EllipticalSlice()
    raise InputError(
        f"no kernel is known for a problem of kind {type(problem).__name__}: give one, kernel=..."
    )
