"""Autocorrelation, and what it costs: integrated autocorrelation time and effective sample size.

The definitions are those of the paper's section 5.1.3, which follow emcee. A *series* is the path
of one scalar through one run, or a sequence of such paths (of any lengths) from several runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from aptmc.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float64]
Series: TypeAlias = npt.ArrayLike | Sequence[npt.ArrayLike]

# Below this an autocorrelation time says nothing. It is also ArviZ's limit.
FEWEST_DRAWS = 4
# emcee's advice: a run shorter than this many autocorrelation times underestimates them.
RELIABLE_LENGTH = 50
# From so many runs on they are transformed together: one by one, a call for each takes longest.
MANY = 64
AT_A_TIME = 1 << 21  # numbers, in memory together


class AutocorrelationTime(NamedTuple):
    """An estimated integrated autocorrelation time, and how far it can be trusted."""

    value: float
    """The integrated autocorrelation time, in draws."""
    lags: int
    """How many lags were summed: the M of the paper."""
    reliable: bool
    """Whether the window closed and the runs are, on average, at least 50 times `value` long."""


def as_runs(series: Series) -> list[Floats]:
    """One float array per run: a 1-d input is one run, a sequence or the rows of a table several.

    Runs without draws are left out: they carry no information.

    >>> as_runs([1, 2, 3])
    [array([1., 2., 3.])]
    >>> as_runs([[1, 2, 3], [4, 5]])
    [array([1., 2., 3.]), array([4., 5.])]
    """
    if _are_sound(series):
        return [part for part in series if part.size > 0]
    # Lists of lists of different lengths are no arrays, so sequences are looked at run by run.
    several = not hasattr(series, "ndim") and isinstance(series, Sequence) and len(series) > 0
    if several and np.ndim(series[0]) > 0:  # type: ignore[index]
        parts = [_as_floats(part) for part in series]  # type: ignore[union-attr]
    else:
        whole = _as_floats(series)
        parts = list(whole) if whole.ndim == 2 else [whole]
    for part in parts:
        if part.ndim != 1:
            raise InputError(
                f"a run must be a 1-d series of one scalar, got an array of shape {part.shape}: "
                "pass each coordinate on its own"
            )
        if not np.isfinite(part).all():
            first = int(np.argmin(np.isfinite(part)))
            raise InputError(
                f"draws must be finite, got {part[first]} at position {first}: "
                "remove such draws or look for their cause"
            )
    return [part for part in parts if part.size > 0]


def _are_sound(series: Series) -> TypeGuard[list[Floats]]:
    """Whether these are runs already, with nothing to complain of: of many, that is soon known."""
    if not isinstance(series, list) or len(series) < MANY:
        return False
    if not all(type(run) is np.ndarray and run.ndim == 1 for run in series):
        return False
    if not all(run.dtype == np.float64 for run in series):
        return False
    return bool(np.isfinite(np.concatenate(series)).all())


def autocorrelation(
    series: Series, max_lag: int | None = None, *, mean: float | None = None
) -> Floats:
    """Autocorrelation at the lags 0, 1, ..., `max_lag` (at most, and by default, all there are).

    Several runs are averaged, each weighted by its number of draws. Each run is centred at its own
    mean unless a `mean` common to all is known. The estimator is the usual biased one (sums are
    divided by the length of the run at every lag), which is zero beyond the end of a run. A run
    that never moved has autocorrelation 1 - lag / length: what the estimator gives for any constant
    path away from the mean.

    >>> autocorrelation([1, -1, 1, -1], max_lag=2)
    array([ 1.  , -0.75,  0.5 ])
    """
    runs = as_runs(series)
    if not runs:
        raise InputError("an autocorrelation needs at least one draw, got none: run for longer")
    if max_lag is not None and max_lag < 0:
        raise InputError(f"max_lag must not be negative, got {max_lag}: use None for all lags")
    if mean is not None and not np.isfinite(mean):
        raise InputError(f"mean must be finite, got {mean}: use None for each run's own mean")
    longest = max(run.size for run in runs)
    lags = longest if max_lag is None else min(max_lag + 1, longest)
    draws = sum(run.size for run in runs)
    if len(runs) >= MANY:
        return _sum_over_many(runs, mean)[:lags] / draws
    weighted = np.zeros(lags)
    for run in runs:
        of_run = _autocorrelation_of_run(run, mean)[:lags]
        weighted[: of_run.size] += run.size * of_run
    return weighted / draws


def estimate_autocorrelation_time(
    series: Series, window: float = 6.0, *, mean: float | None = None
) -> AutocorrelationTime:
    """The integrated autocorrelation time with the number of lags summed and a verdict on it.

    Arguments and definition are those of `integrated_autocorrelation_time`.

    >>> path = np.random.default_rng(1).normal(size=10_000).cumsum()
    >>> estimate_autocorrelation_time(path).reliable
    False
    """
    runs = as_runs(series)
    longest = max((run.size for run in runs), default=0)
    if longest < FEWEST_DRAWS:
        raise InputError(
            f"an autocorrelation time needs a run of at least {FEWEST_DRAWS} draws, the longest "
            f"has {longest}: run for longer"
        )
    if not window > 0:
        raise InputError(f"window must be positive, got {window}: the paper uses 6")
    partial = 2.0 * np.cumsum(autocorrelation(runs, mean=mean)) - 1.0
    # Sokal's window: the smallest M with M >= C IAT(M). The paper (section 5.1.3) prints rho(M) in
    # place of IAT(M), a misprint: emcee and Sokal have IAT. Asking for C lags at least changes
    # nothing when IAT >= 1; without it, an alternating chain (rho(1) <= -1/2) would stop at M = 1
    # with an IAT of zero or less.
    closed = np.arange(longest) >= window * np.maximum(partial, 1.0)
    lags = int(np.argmax(closed)) if closed.any() else longest - 1
    draws = sum(run.size for run in runs)
    # Noise and alternation can still bring the sum to zero. ArviZ's floor keeps it positive.
    value = max(float(partial[lags]), 1.0 / np.log10(max(draws, 10)))
    reliable = bool(closed.any() and draws / len(runs) >= RELIABLE_LENGTH * value)
    return AutocorrelationTime(value, lags, reliable)


def integrated_autocorrelation_time(
    series: Series, window: float = 6.0, *, mean: float | None = None
) -> float:
    """How many draws are worth one independent draw: 1 + 2 (rho(1) + ... + rho(M)).

    M is the smallest number of lags that is at least `window` times the sum up to it. For several
    runs the autocorrelation is averaged first (see `autocorrelation`). A series that never moved
    has an autocorrelation time equal to its length. Runs much shorter than 50 autocorrelation
    times give values that are too small: `estimate_autocorrelation_time` says when.

    >>> path = np.repeat(np.random.default_rng(1).normal(size=10_000), 5)
    >>> 4.5 < integrated_autocorrelation_time(path) < 5.5
    True
    """
    return estimate_autocorrelation_time(series, window, mean=mean).value


def effective_sample_size(
    series: Series, window: float = 6.0, *, mean: float | None = None
) -> float:
    """How many independent draws the series is worth: its length over its autocorrelation time.

    For several runs it is the sum over runs, with the autocorrelation time they have in common. A
    run that never moved counts as one draw. The sum holds for runs that are independent of each
    other: chains that hand their states to one another look better by this measure than they are.

    >>> round(effective_sample_size([2.0] * 100), 6)
    1.0
    """
    runs = as_runs(series)
    time = integrated_autocorrelation_time(runs, window, mean=mean)
    return sum(run.size for run in runs) / time


def _autocorrelation_of_run(run: Floats, mean: float | None) -> Floats:
    size = run.size
    # Rounding would make a constant differ from its own mean, so constants are found beforehand.
    constant = run.min() == run.max() and (mean is None or run[0] == mean)
    if constant:
        return 1.0 - np.arange(size) / size
    centred = run - (run.mean() if mean is None else mean)
    # The scale cancels below. Taking it out first keeps the squares in range.
    centred /= np.abs(centred).max()
    # A power of two is a fast length. Twice the size keeps the end from wrapping onto the start.
    padded = 1 << (2 * size - 1).bit_length()
    spectrum = np.fft.rfft(centred, padded)
    power = spectrum.real**2 + spectrum.imag**2
    covariance: Floats = np.fft.irfft(power, padded)[:size]
    normalised: Floats = covariance / covariance[0]
    return normalised


def _sum_over_many(runs: list[Floats], mean: float | None) -> Floats:
    """The same of very many runs, times their numbers of draws, and summed.

    Runs of about the same length are the rows of a table. What is beyond the end of one is 0, so
    that spectra can be added before they are transformed back.
    """
    sizes = np.array([run.size for run in runs])
    total = np.zeros(sizes.max())
    order = np.argsort(sizes, kind="stable")
    first = 0
    while first < order.size:
        # Twice the size keeps the end from wrapping onto the start.
        padded = 1 << (2 * int(sizes[order[first]]) - 1).bit_length()
        fits = int(np.searchsorted(sizes[order], padded // 2, "right"))
        last = min(fits, first + max(AT_A_TIME // padded, 1))
        chosen = [runs[place] for place in order[first:last].tolist()]
        longest = chosen[-1].size
        total[:longest] += _sum_of_table(chosen, mean, padded)[:longest]
        first = last
    return total


def _sum_of_table(runs: list[Floats], mean: float | None, padded: int) -> Floats:
    """The same of runs none of which is longer than half of `padded`."""
    sizes = np.array([run.size for run in runs])
    beyond = np.arange(int(sizes.max())) >= sizes[:, None]
    table = np.empty(beyond.shape)
    table[~beyond] = np.concatenate(runs)
    table[beyond] = np.broadcast_to(table[:, :1], table.shape)[beyond]
    least, most = table.min(axis=1), table.max(axis=1)
    constant = least == most if mean is None else (least == most) & (least == mean)
    if mean is None:
        centre = np.where(beyond, 0.0, table).sum(axis=1) / sizes
    else:
        centre = np.full(sizes.size, mean)
    scale = np.maximum(most - centre, centre - least)
    table -= centre[:, None]
    table /= np.where(constant, 1.0, scale)[:, None]
    table[beyond] = 0.0
    table[constant] = 0.0
    squares = np.einsum("ij,ij->i", table, table)
    weight = np.divide(sizes, squares, out=np.zeros(sizes.size), where=~constant)
    spectrum = np.fft.rfft(table, padded, axis=1)
    power = weight @ (spectrum.real**2 + spectrum.imag**2)
    total: Floats = np.fft.irfft(power, padded)[: padded // 2]
    # Those that never moved, of which rounding would make anything.
    lengths, count = np.unique(sizes[constant], return_counts=True)
    for size, times in zip(lengths.tolist(), count.tolist(), strict=True):
        total[:size] += times * (size - np.arange(size))
    return total


def _as_floats(values: object) -> Floats:
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise InputError(f"draws must be real numbers, got {array.dtype}: convert them to floats")
    return array.astype(np.float64)
