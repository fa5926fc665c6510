"""Kernels: local moves, as pure functions of rung, state and random stream."""

from aptmc.kernels.base import Kernel
from aptmc.kernels.mixture import Mixture
from aptmc.kernels.one_hit import OneHit
from aptmc.kernels.random_walk import RandomWalk
from aptmc.kernels.slice import Slice

__all__ = ["Kernel", "Mixture", "OneHit", "RandomWalk", "Slice"]
