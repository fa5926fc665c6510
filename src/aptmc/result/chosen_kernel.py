"""Which kernel `kernel="auto"` was, why, and what it has found and done: one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aptmc.kernels import EllipticalSlice, Kernel, Students
from aptmc.kernels.hamiltonian import Hamiltonian
from aptmc.result.trajectories import trajectories_of

if TYPE_CHECKING:
    from aptmc.result.run import Run
    from aptmc.settings import Settings


def about_kernel(run: Run) -> str | None:
    """The sentence; None where the kernel was given and makes no trajectories."""
    why, trajectories = run.settings.chosen, trajectories_of(run)
    if not why and trajectories is None:
        return None
    why = why or "as it was given"
    made = "" if trajectories is None else str(trajectories)
    measured = [part for part in (_found(run), _cost(run), made) if part]
    said = f"kernel: {type(run.settings.kernel).__name__}, {why}"
    return f"{said}; {', '.join(measured)}" if measured else said


def _found(run: Run) -> str:
    """What the warm-up has found, as far as people can read it."""
    kernel = run.settings.kernel
    if isinstance(kernel, EllipticalSlice) and isinstance(kernel.reference, Students):
        components = kernel.reference.components(0)
        of = (
            "one Student distribution" if components == 1 else f"{components} Student distributions"
        )
        return f"its reference on the coldest rung is made of {of}"
    return ""


def _cost(run: Run) -> str:
    """What a step takes on the coldest rung."""
    kernel = run.settings.kernel
    steps = run.steps_done[0]
    if steps == 0 or run.settings.problem.ladder_kind == "tolerances":
        return ""
    unit = "evaluations and gradients" if isinstance(kernel, Hamiltonian) else "evaluations"
    return f"a step takes {run.statistics['work'][0] / steps:.1f} {unit}"


MORE = 10  # times as many steps
# Those that are asked for by a scale which they learn.
BY_SCALE = ("OneHit", "RandomWalk", "Slice")


def more_steps(settings: Settings) -> str:
    """What to write for moves of more local steps, whether the kernel was given or not."""
    kernel = settings.kernel
    steps = getattr(kernel, "steps", None)
    name = type(kernel).__name__
    if not isinstance(steps, int) or not isinstance(kernel, Kernel):
        return "more work in each move"
    if not settings.chosen:
        return f"more local steps per move, {name}(..., steps={MORE * steps})"
    learns = '"auto", ' if name in BY_SCALE else ""
    return f"more local steps per move, kernel=aptmc.{name}({learns}steps={MORE * steps})"
