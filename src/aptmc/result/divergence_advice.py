"""Advice on trajectories that went astray: where the gradient led to next to no density."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aptmc.result.one_advice import Advice
from aptmc.result.trajectories import trajectories_of

if TYPE_CHECKING:
    from aptmc.result.run import Run

SOME, MANY = 0.002, 0.05  # of the trajectories of the coldest rung


def share_astray(run: Run) -> float:
    """Of the trajectories of the coldest rung; zero, where the kernel makes none."""
    made = trajectories_of(run)
    return 0.0 if made is None else made.astray / made.number


def about_divergences(share: float) -> Iterator[Advice]:
    """What to do about them, if they are more than a few."""
    if share > SOME:
        yield Advice(
            f"{share:.1%} of the trajectories of the coldest rung went astray (divergences), so "
            "that places where the density is steep or narrow may be missing",
            "Use other parameters (z = (x - mean) / scale in place of x, the log of what is "
            "positive), or kernel=aptmc.EllipticalSlice(), which needs no size of leaps",
            serious=share > MANY,
        )
