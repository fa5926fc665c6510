"""Effective draws per second, chains of the coldest rung taken together.

The same number as in summaries (`diagnostics/error_of_mean.py`), with an error of its own.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.diagnostics.error_of_mean import Timeline, spread_in_bins
from aptmc.diagnostics.states import states_in

FEWEST_DRAWS = 50


class Effective(NamedTuple):
    """Effective draws, of each parameter."""

    per_second: Floats
    error: Floats  # relative, one standard error

    @property
    def worst(self) -> int:
        """The parameter that has the fewest; the first if none is known."""
        known = np.isfinite(self.per_second)
        return int(np.nanargmin(self.per_second)) if known.any() else 0


def effective_draws(
    times: Floats, parameters: FloatTable, seconds: float, *, are_states: bool = True
) -> Effective:
    """Effective draws per second from all draws of the coldest rung; NaN if there are too few.

    :param times: of draws, in any order
    :param parameters: one row for each draw
    :param are_states: whether equal rows are draws of one state. Not so are hold times, and what a
        simulation of a run draws from the states of a pilot, which are few
    """
    states = states_in([column] for column in parameters.T) if are_states else None
    timeline = Timeline([times.size], [times], mixed=True, states=states)
    columns = [_effective(column, timeline, seconds) for column in parameters.T]
    per_second, error = zip(*columns, strict=True)
    return Effective(np.array(per_second), np.array(error))


def _effective(series: Floats, timeline: Timeline, seconds: float) -> tuple[float, float]:
    variance = float(series.var()) if timeline.bins > 0 else 0.0
    if timeline.draws < FEWEST_DRAWS or variance == 0.0 or seconds <= 0.0:
        return math.nan, math.nan
    deviations = series - series.mean()
    found = spread_in_bins(deviations, timeline)
    least = max(found.variance, timeline.least_variance(deviations))
    # Sokal's error of an autocorrelation time with so many lags.
    error = math.sqrt(2.0 * (2.0 * found.lags + 1.0) / found.bins)
    return variance / least / seconds, error
