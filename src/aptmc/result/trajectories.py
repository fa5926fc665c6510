"""Trajectories along gradients on the coldest rung: how many, how long, how many went astray."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aptmc.kernels.hamiltonian import Hamiltonian

if TYPE_CHECKING:
    from aptmc.result.run import Run


class Trajectories(NamedTuple):
    """Of the completed moves of the coldest rung."""

    number: int
    leaps: int
    astray: int  # which leaps led to next to no density

    def __str__(self) -> str:
        said = f"{self.number:,} trajectories of {self.leaps / self.number:.1f} leaps in the mean"
        astray = f"{self.astray:,}" if self.astray else "none"
        return f"{said} on the coldest rung, of which {astray} went astray"


def trajectories_of(run: Run) -> Trajectories | None:
    """What the run's kernel counted; None, where it made no trajectories, or not those alone."""
    number = int(run.steps_done[0])
    if not isinstance(run.settings.kernel, Hamiltonian) or number == 0:
        return None
    counted = run.statistics
    return Trajectories(number, int(counted["leaps"][0]), int(counted["divergences"][0]))
