"""Who guides a population that moves as a kernel does."""

from __future__ import annotations

from aptmc.kernels import EllipticalSlice, Kernel
from aptmc.kernels.hamiltonian import Hamiltonian
from aptmc.ladder import Ladder
from aptmc.problem import Problem
from aptmc.warmup.annealing.guide import Guide
from aptmc.warmup.annealing.leaping_guide import LeapingGuide
from aptmc.warmup.annealing.slicing_guide import SlicingGuide


def guide_for(kernel: Kernel, problem: Problem, ladder: Ladder) -> Guide:
    """For a kernel that anneals.

    :param ladder: of one rung, for the kernel to make its numbers for
    """
    if isinstance(kernel, Hamiltonian):
        return LeapingGuide(problem, kernel, ladder)
    assert isinstance(kernel, EllipticalSlice)
    return SlicingGuide(problem, kernel, ladder)
