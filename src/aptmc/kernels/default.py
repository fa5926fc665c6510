"""The kernels that problems have if no other is asked for, and why."""

from __future__ import annotations

from typing import NamedTuple

from aptmc.errors import InputError
from aptmc.kernels.base import Kernel
from aptmc.kernels.elliptical_slice import EllipticalSlice
from aptmc.kernels.nuts import Nuts
from aptmc.kernels.one_hit import OneHit
from aptmc.problem.base import Problem
from aptmc.problem.density import DensityProblem

# Up to so many dimensions slices were seen to be better than leaps where these are stuck.
MOST_DIMENSIONS_OF_SLICES = 50
OFFERED = "because the problem has a gradient"
STUCK = (
    "because trajectories along the gradient stayed where they began, in a mode of several or in "
    "places of very different widths"
)


# With fewer parameters slices know the shape from few draws, and a trajectory takes more.
FEWEST_DIMENSIONS_OF_LEAPS = 3


class Choice(NamedTuple):
    """A kernel, and why it is this one: the rest of a sentence that begins with its name."""

    kernel: Kernel
    why: str


def default_kernel(problem: Problem) -> Kernel:
    """The kernel that suits what a problem offers."""
    return choose(problem).kernel


def choose(problem: Problem) -> Choice:
    """For a simulator, one simulation for each step that the prior allows.

    Where there is a gradient, trajectories that follow it, unless the warm-up sees that slices
    have more draws for what they take. For a density without one elliptical
    slices, whose reference is fitted in the warm-up: on all known targets they do better than a
    random walk with slices along lines, and better than in a mixture with it, also where some
    parameters are whole numbers.
    """
    if problem.has_simulator:
        return Choice(OneHit("auto"), "because the problem has a simulator and no density")
    if isinstance(problem, DensityProblem) and problem.gradient is not None:
        if problem.dimension >= FEWEST_DIMENSIONS_OF_LEAPS:
            return Choice(Nuts(), OFFERED)
        few = "one parameter" if problem.dimension == 1 else "two parameters"
        return Choice(EllipticalSlice(), f"because with {few} a gradient does not pay")
    if problem.has_density:
        return Choice(
            EllipticalSlice(),
            f"because the problem has a density and no gradient{_whole_numbers(problem)}",
        )
    raise InputError(
        f"no kernel is known for a problem of kind {type(problem).__name__}: give one, kernel=..."
    )


def rival_of(kernel: Kernel) -> EllipticalSlice | None:
    """The kernel that a warm-up tries beside the one that a problem has at first, if any."""
    return EllipticalSlice() if isinstance(kernel, Nuts) else None


def slices_instead(of_slices: str, of_leaps: str) -> str:
    """Why slices move a problem with a gradient, by what a draw took of both in the warm-up."""
    return f"because in the warm-up a draw took {of_slices}, and {of_leaps} by Nuts"


def leaps_stay(of_leaps: str, of_slices: str) -> str:
    """Why leaps still do."""
    return f"{OFFERED}, by which a draw took {of_leaps} in the warm-up, and {of_slices} by slices"


def other_than_leaps(problem: Problem) -> Choice | None:
    """What `kernel="auto"` means where a warm-up has seen that leaps are stuck; None: still leaps.

    Slices with a reference of several components jump from mode to mode, and have no size of leaps
    that could fit one place and not another. Measured: docs/tuning.md.
    """
    if problem.dimension > MOST_DIMENSIONS_OF_SLICES:
        return None
    return Choice(EllipticalSlice(), STUCK)


def why_chosen(problem: Problem) -> str:
    """Why `kernel="auto"` means what it does."""
    if type(problem).default_kernel is not Problem.default_kernel:
        return "because the problem itself says so"
    return choose(problem).why


def _whole_numbers(problem: Problem) -> str:
    whole = [variable.name for variable in problem.variables if variable.kind == "whole"]
    if not whole:
        return ""
    are = "is a whole number" if len(whole) == 1 else "are whole numbers"
    return f"; {', '.join(whole)} {are}, whose steps slices find by themselves"
