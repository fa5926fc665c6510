"""How well states travel along the ladder, and how busy the processors were."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from aptmc.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]


class SwapRates(NamedTuple):
    """Shares of proposed swaps that were accepted; NaN where none was proposed."""

    neighbours: Floats
    """Entry r: between rungs r and r + 1."""
    pairs: Floats
    """Entry [i, j]: between rungs i and j. Symmetric."""


def swap_rates(attempts: npt.ArrayLike, swaps: npt.ArrayLike) -> SwapRates:
    """Acceptance rates of exchanges, from counts per pair of rungs.

    Entry [i, j] of both tables counts the exchanges between a chain on rung i and one on rung j.
    Rungs that are not neighbours meet when the chains between them are in flight. Which of [i, j]
    and [j, i] holds a count does not matter: the two are added.

    >>> attempts = [[0, 10, 4], [0, 0, 0], [0, 0, 0]]
    >>> rates = swap_rates(attempts, swaps=[[0, 5, 1], [0, 0, 0], [0, 0, 0]])
    >>> rates.neighbours
    array([0.5, nan])
    >>> float(rates.pairs[0, 2])
    0.25
    """
    attempted = _as_counts("attempts", attempts)
    swapped = _as_counts("swaps", swaps)
    if attempted.shape != swapped.shape:
        raise InputError(
            f"attempts and swaps must have the same shape, got {attempted.shape} and "
            f"{swapped.shape}: give both one row and one column per rung"
        )
    # This counts swaps within one rung twice, but in both tables: their rate stays.
    attempted = attempted + attempted.T
    swapped = swapped + swapped.T
    if (swapped > attempted).any():
        first, second = np.argwhere(swapped > attempted)[0]
        raise InputError(
            f"more swaps than attempts between rungs {first} and {second}: "
            "were the two arguments exchanged?"
        )
    pairs = np.full(attempted.shape, np.nan)
    np.divide(swapped, attempted, out=pairs, where=attempted > 0)
    return SwapRates(neighbours=np.diagonal(pairs, offset=1).copy(), pairs=pairs)


def round_trips(index_process: npt.ArrayLike, hottest: int) -> Integers:
    """How many times each replica went from the coldest rung to the hottest and back.

    `index_process` has shape (time, replica): the rung on which each replica stands over time.

    >>> round_trips([[0, 2], [1, 1], [2, 0], [1, 1], [0, 2]], hottest=2)
    array([1, 0])
    """
    rungs = np.asarray(index_process)
    if rungs.ndim != 2 or rungs.dtype.kind not in "iu":
        raise InputError(
            "index_process must be a table of integers, one row per time and one column per "
            f"replica, got {rungs.dtype} of shape {rungs.shape}"
        )
    if hottest < 1:
        raise InputError(f"hottest must be 1 or more, got {hottest}: one rung has no round trips")
    if rungs.size > 0 and (rungs.min() < 0 or rungs.max() > hottest):
        raise InputError(
            f"rungs must lie between 0 and {hottest}, got {rungs.min()} to {rungs.max()}: "
            "is hottest the number of the last rung?"
        )
    paths = rungs.astype(np.int64).T
    return np.array([_round_trips_of(path, hottest) for path in paths], dtype=np.int64)


def utilisation(busy_time: npt.ArrayLike, elapsed: float, processors: int) -> float:
    """The share of processor time spent inside moves.

    `busy_time` is the total over processors, or one entry each. No time elapsed gives NaN.

    >>> utilisation([8.0, 6.0], elapsed=10.0, processors=2)
    0.7
    """
    busy = np.asarray(busy_time, dtype=np.float64)
    if not (np.isfinite(busy).all() and (busy >= 0).all()):
        raise InputError(f"busy_time must be finite and not negative, got {busy_time!r}")
    if not (np.isfinite(elapsed) and elapsed >= 0):
        raise InputError(f"elapsed must be finite and not negative, got {elapsed!r}")
    if processors < 1:
        raise InputError(f"processors must be 1 or more, got {processors!r}")
    if elapsed == 0:
        return float("nan")
    return float(busy.sum() / (elapsed * processors))


def _round_trips_of(path: Integers, hottest: int) -> int:
    ends = path[(path == 0) | (path == hottest)]
    # Only the first visit to an end counts until the other end is reached.
    arrivals = ends[np.diff(ends, prepend=-1) != 0]
    # Every arrival at the coldest rung after the first one closes a trip that began there.
    return max(int(np.count_nonzero(arrivals == 0)) - 1, 0)


def _as_counts(name: str, values: npt.ArrayLike) -> Integers:
    counts = np.asarray(values)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise InputError(
            f"{name} must be a square table with one row and one column per rung, "
            f"got shape {counts.shape}"
        )
    if counts.dtype.kind not in "iu":
        raise InputError(f"{name} must be integer counts, got {counts.dtype}")
    if counts.size > 0 and counts.min() < 0:
        raise InputError(f"{name} must not be negative, got {counts.min()}")
    return counts.astype(np.int64)
