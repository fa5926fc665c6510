"""How uncertain a mean over all draws is, whatever the chains hand to each other.

The autocorrelation of a chain alone does not tell. States that are swapped away and come back look
fresh to it, and several chains on one rung that share ancestors err in common. So the draws of all
chains are put on one line of time and cut into bins, and the sums in the bins are one series,
whose autocovariance knows of both. It is summed as far as Geyer's initial monotone sequence goes
(Practical Markov chain Monte Carlo, 1992). Draws of the same state are one draw, which bounds it
from below; of states that are held longer than any that was seen, those that were seen tell
(`heavy_tail`). `tests/diagnostics/test_calibration.py` holds the result against errors that are
known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aptmc.compiled import FloatTable, Integers
from aptmc.diagnostics.autocorrelation import (
    FEWEST_DRAWS,
    Floats,
    estimate_autocorrelation_time,
)
from aptmc.diagnostics.heavy_tail import sum_of_squares

# In fine bins the quick changes of many chains hide the slow ones that they share, which decide; in
# coarse ones the estimate is noisy. So of several chains the larger of both is taken, and of one
# that of the fine bins: the best over all settings of the calibration.
BINS, COARSER = 400, 4
FEWEST_BINS = 8
DRAWS_PER_BIN = 2
LONGEST = 1 / 8  # the share of all lags up to which an estimate can be trusted
MOST_CORRECTION = 0.4  # what centring takes away is given back, but not more than 2.5 times
LEAST_SHARE = 0.1  # of the sum without correlation: noise must not bring it to nothing
AT_A_TIME = 1024  # independent chains, whose transforms are in memory together


class Spread(NamedTuple):
    """The variance of a mean, and whether the run was long enough to tell."""

    variance: float
    lags: int  # of the fine bins, that were summed
    bins: int  # fine ones; 0 if there are too few draws for any
    reliable: bool


class Timeline:
    """Where the draws of some chains lie in time, for any number of series of them.

    :param times: of each draw, by chain; without, chains go on side by side from beginning to end
    :param apart: how many chains hand states to each other, if not all: of so many families that
        are independent, chain after chain belongs to the next
    :param mixed: whether draws of several chains were put into one series
    :param states: which draws are of the same state, by number (`states_in`)
    """

    def __init__(
        self,
        lengths: Sequence[int],
        times: Sequence[Floats] | None = None,
        *,
        apart: int = 0,
        mixed: bool = False,
        states: Integers | None = None,
    ) -> None:
        if times is None:
            times = [np.arange(length) / max(length, 1) for length in lengths]
        self.draws = sum(lengths)
        self.families = max(len(lengths) // apart, 1) if apart > 0 and self.draws > 0 else 1
        self.is_shared = mixed or len(lengths) > self.families
        every = np.concatenate(times) if self.draws > 0 else np.empty(0)
        most = self.draws // self.families // DRAWS_PER_BIN
        bins = min(BINS, most // COARSER * COARSER)
        self.bins = bins if bins >= FEWEST_BINS else 0
        self._place = self._places(every, lengths) if self.bins > 0 else None
        self._states = states
        self.has_long_stays = self._longest_stay() > LONGEST

    def _places(self, every: Floats, lengths: Sequence[int]) -> Integers:
        """Of each draw: its bin, counted on through the families."""
        first, last = every.min(), every.max()
        share = (every - first) / (last - first) if last > first else np.zeros(every.size)
        place: Integers = np.minimum((share * self.bins).astype(np.int64), self.bins - 1)
        if self.families > 1:
            place += self.bins * np.repeat(np.arange(len(lengths)) % self.families, lengths)
        return place

    def _longest_stay(self) -> float:
        """The share of the time from the first draw of a state to its last, of the slowest."""
        if self._states is None or self._place is None:
            return 0.0
        order = np.argsort(self._states, kind="stable")
        place = self._place[order] % self.bins
        first = np.flatnonzero(np.diff(self._states[order], prepend=-1))
        longest = np.maximum.reduceat(place, first) - np.minimum.reduceat(place, first)
        return float(longest.max()) / self.bins

    def least_variance(self, deviations: Floats) -> float:
        """Of the mean, as if each state were independent of all others.

        Where one was held for much of the run, others would be held for longer still in a longer
        one: they count by what those that were seen tell of them. Elsewhere that would make errors
        too large.
        """
        if self._states is None:
            return 0.0
        held = np.abs(np.bincount(self._states, deviations))
        total = sum_of_squares(held) if self.has_long_stays else float((held**2).sum())
        return total / self.draws**2

    def sums(self, deviations: Floats) -> FloatTable:
        """The sums of all draws' deviations from the mean, by family and bin."""
        assert self._place is not None
        size = self.families * self.bins
        sums: Floats = np.bincount(self._place, deviations, minlength=size).astype(np.float64)
        return sums.reshape(self.families, self.bins)


def spread_of_mean(chains: Sequence[Floats], timeline: Timeline) -> Spread:
    """The variance of the mean of all draws, from their deviations from it, by chain.

    It is not smaller than what the chains' own autocorrelation says, nor than what distinct states
    say: chains that never left their places, each another, have sums that do not change at all.
    """
    own, is_reliable = _own_variance(chains)
    every = np.concatenate(chains)
    own = max(own, timeline.least_variance(every))
    if timeline.bins == 0:
        return Spread(own, 0, 0, reliable=False)
    found = spread_in_bins(every, timeline)
    is_reliable = is_reliable and found.reliable and not timeline.has_long_stays
    return found._replace(variance=max(found.variance, own), reliable=is_reliable)


def spread_in_bins(deviations: Floats, timeline: Timeline) -> Spread:
    """The same from the sums in bins alone."""
    sums = timeline.sums(deviations)
    fine = _spread(sums, timeline.draws)
    if not timeline.is_shared or timeline.bins < COARSER * FEWEST_BINS:
        return fine
    coarse = _spread(sums.reshape(len(sums), -1, COARSER).sum(axis=2), timeline.draws)
    return fine._replace(variance=max(fine.variance, coarse.variance))


def _spread(sums: FloatTable, draws: int) -> Spread:
    families, bins = sums.shape
    covariance = _autocovariance(sums)
    pairs = covariance[: bins // 2 * 2].reshape(-1, 2).sum(axis=1)
    ended = pairs <= 0.0
    count = int(np.argmax(ended)) if ended.any() else pairs.size
    total = 2.0 * float(np.minimum.accumulate(pairs[:count]).sum()) - float(covariance[0])
    total = max(total, LEAST_SHARE * float(covariance[0]))
    # Deviations are from the mean of the draws themselves, which makes each covariance too small by
    # the variance that is looked for over the number of bins.
    lost = max(4 * count - 1, 0) / (bins * families)
    total /= max(1.0 - lost, MOST_CORRECTION)
    is_long = 2 * count <= LONGEST * bins or families > 1
    return Spread(total / draws**2, 2 * count, bins, is_long)


def effective_draws(chains: Sequence[Floats], timeline: Timeline) -> float:
    """How many independent draws would give the mean of all draws as well; NaN if nobody knows.

    Draws that are all the same count as one for each chain.
    """
    if max((chain.size for chain in chains), default=0) < FEWEST_DRAWS:
        return math.nan
    every = np.concatenate(chains)
    if every.min() == every.max():
        return float(len(chains))
    mean = every.mean()
    spread = spread_of_mean([chain - mean for chain in chains], timeline)
    return float(every.var(ddof=1)) / spread.variance


def _own_variance(chains: Sequence[Floats]) -> tuple[float, bool]:
    """As if chains were independent, and whether they are long enough for that."""
    found = estimate_autocorrelation_time(list(chains), mean=0.0)
    every = np.concatenate(chains)
    degrees = max(every.size - 1, 1)
    return float((every**2).sum()) / degrees * found.value / every.size, found.reliable


def _autocovariance(series: FloatTable) -> Floats:
    """The sums of products at each lag, over independent series together."""
    bins = series.shape[1]
    padded = 1 << (2 * bins - 1).bit_length()
    power = np.zeros(padded // 2 + 1)
    for first in range(0, len(series), AT_A_TIME):
        spectrum = np.fft.rfft(series[first : first + AT_A_TIME], padded, axis=1)
        power += (spectrum.real**2 + spectrum.imag**2).sum(axis=0)
    covariance: Floats = np.fft.irfft(power, padded)[:bins]
    return covariance
