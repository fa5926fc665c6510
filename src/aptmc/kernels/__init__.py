"""Kernels: local moves, as pure functions of rung, state and random stream, and how they learn."""

from aptmc.kernels.base import Kernel
from aptmc.kernels.differential_evolution import Archive, DifferentialEvolution
from aptmc.kernels.elliptical_slice import EllipticalSlice
from aptmc.kernels.hamiltonian import Metric
from aptmc.kernels.hmc import Hmc, Mala
from aptmc.kernels.jumps import Fitted
from aptmc.kernels.learned import Learned
from aptmc.kernels.mixture import Mixture
from aptmc.kernels.nuts import Nuts
from aptmc.kernels.one_hit import OneHit
from aptmc.kernels.own_move import OwnMove
from aptmc.kernels.parts import Parts
from aptmc.kernels.random_walk import RandomWalk
from aptmc.kernels.reversible_jump import ReversibleJump
from aptmc.kernels.seen import Seen
from aptmc.kernels.slice import Slice
from aptmc.kernels.students import Students

__all__ = [
    "Archive",
    "DifferentialEvolution",
    "EllipticalSlice",
    "Fitted",
    "Hmc",
    "Kernel",
    "Learned",
    "Mala",
    "Metric",
    "Mixture",
    "Nuts",
    "OneHit",
    "OwnMove",
    "Parts",
    "RandomWalk",
    "ReversibleJump",
    "Seen",
    "Slice",
    "Students",
]
