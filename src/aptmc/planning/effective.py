"""Effective draws per second, chains of the coldest rung taken together.

Chains that hand their states to one another are not independent, so that effective sample sizes of
single chains do not add up. What counts is how far the mean over *all* draws of the coldest rung
strays. So draws are put in the order of time, whichever chain they are of, and cut into blocks; the
autocorrelation of the blocks' means says how uncertain the overall mean is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.diagnostics.autocorrelation import estimate_autocorrelation_time

# Coarse on purpose: in fine blocks the quick changes of single chains hide the slow ones, which all
# chains share and which decide how uncertain the mean is.
MOST_BLOCKS = 3000
FEWEST_BLOCKS = 50


class Effective(NamedTuple):
    """Effective draws, of each parameter."""

    per_second: Floats
    error: Floats  # relative, one standard error

    @property
    def worst(self) -> int:
        """The parameter that has the fewest; the first if none is known."""
        known = np.isfinite(self.per_second)
        return int(np.nanargmin(self.per_second)) if known.any() else 0


def effective_draws(times: Floats, parameters: FloatTable, seconds: float) -> Effective:
    """Effective draws per second from all draws of the coldest rung; NaN if there are too few.

    :param times: of draws, in any order
    :param parameters: one row for each draw
    """
    columns = [
        _effective(column, seconds) for column in parameters[np.argsort(times, kind="stable")].T
    ]
    per_second, error = zip(*columns, strict=True)
    return Effective(np.array(per_second), np.array(error))


def _effective(series: Floats, seconds: float) -> tuple[float, float]:
    size = -(-series.size // MOST_BLOCKS)  # of a block
    blocks = series.size // size if size > 0 else 0
    variance = float(series.var()) if blocks > 0 else 0.0
    if blocks < FEWEST_BLOCKS or variance == 0.0 or seconds <= 0.0:
        return math.nan, math.nan
    means = series[: blocks * size].reshape(blocks, size).mean(axis=1)
    found = estimate_autocorrelation_time(means)
    variance_of_mean = float(means.var()) * found.value / blocks
    # Sokal's error of an autocorrelation time with so many lags.
    error = math.sqrt(2.0 * (2.0 * found.lags + 1.0) / blocks)
    return variance / variance_of_mean / seconds, error
