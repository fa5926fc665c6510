"""Where walkers begin: positions, checked and evaluated before anything else is done."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from aptmc.clock import WallClock
from aptmc.compat.ptemcee.split_density import SplitDensity
from aptmc.compiled import FloatTable
from aptmc.errors import InputError
from aptmc.global_generators import left_alone
from aptmc.problem.chain_state import log_prior_column, state_width, value_column

TRIAL = 1.0  # seconds, after which one knows how long the rest will take
ALONE = 5.0  # seconds of evaluations that are not worth starting other processes for
PARTS = 4  # for each of them, so that none waits long for the slowest


def checked_positions(p0: Any, shape: tuple[int, int, int]) -> npt.NDArray[np.float64]:
    """The positions of all walkers, of shape (ntemps, nwalkers, dim)."""
    try:
        positions = np.array(p0, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"p0 must be an array of numbers, got {type(p0).__name__}") from None
    if positions.shape != shape:
        raise InputError(
            f"p0 must have the shape (ntemps, nwalkers, dim) = {shape}, got {positions.shape}"
        )
    if not np.isfinite(positions).all():
        where = np.argwhere(~np.isfinite(positions))[0].tolist()
        raise InputError(f"p0 must be finite, got {positions[tuple(where)]} at {where}")
    return positions


def first_states(
    density: SplitDensity, positions: npt.NDArray[np.float64], processors: int
) -> tuple[FloatTable, float]:
    """A state for each walker, coldest temperature first, and what an evaluation takes, in seconds.

    :param processors: if it takes long, it is shared out among so many processes
    """
    dimension = positions.shape[-1]
    points = positions.reshape(-1, dimension)
    states = np.zeros((len(points), state_width(dimension)))
    states[:, :dimension] = points
    clock = WallClock()
    begun, done = clock.now(), 0
    found = []
    with left_alone():
        while done < len(points):
            found.append(density(points[done].copy()))
            done += 1
            spent = clock.now() - begun
            if processors > 1 and spent > TRIAL and (len(points) - done) * spent / done > ALONE:
                break
    seconds = (clock.now() - begun) / done
    if done < len(points):
        found += _shared_out(density, points[done:], processors)
    values = np.array(found)
    states[:, value_column(dimension)] = values[:, 0]
    states[:, log_prior_column(dimension)] = values[:, 1]
    outside = np.flatnonzero(values[:, 1] == -math.inf)
    if outside.size > 0:
        walkers = positions.shape[1]
        temperature, walker = divmod(int(outside[0]), walkers)
        raise InputError(
            f"{outside.size} of {len(points)} walkers are outside of the support of the posterior, "
            f"the first at p0[{temperature}, {walker}] = {points[outside[0]].tolist()}: begin "
            "where prior and likelihood are positive"
        )
    return states, seconds


def _shared_out(density: SplitDensity, points: FloatTable, processors: int) -> list[Any]:
    import cloudpickle
    from loky import get_reusable_executor

    sent = cloudpickle.dumps(density)
    parts = np.array_split(points, min(PARTS * processors, len(points)))
    executor = get_reusable_executor(max_workers=processors)
    return [one for part in executor.map(_evaluate, [sent] * len(parts), parts) for one in part]


def _evaluate(sent: bytes, points: FloatTable) -> list[tuple[float, float]]:
    """In another process, which has not seen the functions before."""
    import cloudpickle

    density: SplitDensity = cloudpickle.loads(sent)
    return [density(point) for point in points]
