"""How ptemcee adapts a ladder while it samples: Vousden, Farr and Mandel (2016), section 2."""

from __future__ import annotations

import numpy as np

from aptmc.compiled import Floats


def adapted_betas(betas: Floats, ratios: Floats, time: int, *, lag: float, period: float) -> Floats:
    """Temperatures a little farther apart where neighbours swap often, and nearer where seldom.

    Gaps between temperatures grow or shrink by factors, more slowly the more time has passed; the
    coldest and the hottest stay.

    :param ratios: of neighbouring temperatures, how likely they swap
    :param time: in steps, so far
    :param lag: in steps, after which it is half as quick
    :param period: in steps, the time scale at the beginning

    >>> betas = np.array([1.0, 0.5, 0.0])
    >>> adapted_betas(betas, np.array([0.9, 0.1]), 0, lag=10_000, period=100).round(3)
    array([1.   , 0.498, 0.   ])
    """
    pace = lag / (time + lag) / period
    gaps = np.diff(1.0 / betas[:-1]) * np.exp(pace * (ratios[:-1] - ratios[1:]))
    inner = 1.0 / (1.0 / betas[0] + np.cumsum(gaps))
    # The hottest, where it is finite, is not reached from below by all this.
    inner = np.maximum(inner, betas[-1] * (1.0 + 1e-9)) if betas[-1] > 0.0 else inner
    return np.concatenate([betas[:1], inner, betas[-1:]])
