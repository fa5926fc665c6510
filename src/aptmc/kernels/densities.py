"""What kernels for densities have in common."""

from __future__ import annotations

from aptmc.errors import InputError
from aptmc.problem import Problem
from aptmc.problem.density import DensityProblem


def density_problem(problem: Problem, kernel: str) -> DensityProblem:
    """A problem with a density, or an error that says that the kernel needs one."""
    if not isinstance(problem, DensityProblem):
        raise InputError(
            f"{kernel} needs a density, got a problem of kind {type(problem).__name__}: "
            "use aptmc.OneHit for a simulator"
        )
    return problem
