"""Kernels: local moves, as pure functions of rung, state and random stream, and how they learn."""

from aptmc.kernels.base import Kernel
from aptmc.kernels.elliptical_slice import EllipticalSlice
from aptmc.kernels.learned import Learned
from aptmc.kernels.mixture import Mixture
from aptmc.kernels.one_hit import OneHit
from aptmc.kernels.parts import Parts
from aptmc.kernels.random_walk import RandomWalk
from aptmc.kernels.seen import Seen
from aptmc.kernels.slice import Slice
from aptmc.kernels.students import Students

__all__ = [
    "EllipticalSlice",
    "Kernel",
    "Learned",
    "Mixture",
    "OneHit",
    "Parts",
    "RandomWalk",
    "Seen",
    "Slice",
    "Students",
]
