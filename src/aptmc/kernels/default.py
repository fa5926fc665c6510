"""The kernels that problems have if no other is asked for."""

from __future__ import annotations

from aptmc.errors import InputError
from aptmc.kernels.base import Kernel
from aptmc.kernels.mixture import Mixture
from aptmc.kernels.one_hit import OneHit
from aptmc.kernels.random_walk import RandomWalk
from aptmc.kernels.slice import Slice
from aptmc.problem.base import Problem

SPREAD = 1.0
# Measured: docs/tuning.md. A slice takes about five evaluations, so that half of them are for one.
SHARE_OF_SLICES = 0.2


def default_kernel(problem: Problem) -> Kernel:
    """For a simulator, one simulation for each step that the prior allows.

    For a density a random walk with steps of many sizes, and now and then a slice: where one
    covariance fits nowhere, as in a funnel, slices find the size that fits; elsewhere they cost
    more than they are worth.
    """
    if problem.has_simulator:
        return OneHit("auto")
    if problem.has_density:
        return Mixture(RandomWalk("auto", spread=SPREAD), Slice("auto"), SHARE_OF_SLICES)
    raise InputError(
        f"no kernel is known for a problem of kind {type(problem).__name__}: give one, kernel=..."
    )
