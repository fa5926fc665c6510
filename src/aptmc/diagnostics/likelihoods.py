"""The log likelihoods of a rung's draws, cut into blocks that are the same parts of the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.diagnostics.autocorrelation import Floats, Series, effective_sample_size
from aptmc.errors import InputError

# More blocks make an error less noisy, longer ones make it less flattering.
BLOCKS = 20


class RungLikelihoods(NamedTuple):
    """One rung's log likelihoods, chain after chain."""

    values: Floats
    block: npt.NDArray[np.int64]  # of each draw: which part of the run it belongs to
    effective_draws: float

    def by_block(self, influence: Floats) -> Floats:
        """Of each block: what its draws add to a mean, such that the blocks' mean is that mean."""
        sums = np.bincount(self.block, influence, BLOCKS)
        return np.asarray(sums * BLOCKS / self.values.size)


def likelihoods_of(series: Series, power: float) -> RungLikelihoods:
    """Those of a rung, from one series or one for each of its chains, or a clear error."""
    several = isinstance(series, Sequence) and len(series) > 0 and np.ndim(series[0]) > 0
    table = series if several else np.atleast_2d(np.asarray(series, np.float64))
    chains = [np.asarray(chain, np.float64) for chain in table]  # type: ignore[union-attr]
    values = np.concatenate([*chains, np.empty(0)])
    lengths = [chain.size for chain in chains if chain.size > 0]
    if min(lengths, default=0) < BLOCKS:
        raise InputError(
            f"the rung with power {power:g} has a chain of {min(lengths, default=0)} draws, and "
            f"{BLOCKS} are needed: run for longer"
        )
    allowed = np.isfinite(values) | ((values == -math.inf) & (power == 0.0))
    if not allowed.all():
        raise InputError(
            f"the rung with power {power:g} has a log likelihood of {values[~allowed][0]}: "
            "it must be finite, or -inf at power 0"
        )
    finite = values[values > -math.inf]
    if finite.size == 0:
        raise InputError(
            f"none of {values.size} draws from the prior has a likelihood above 0, so the "
            "evidence may be anything: run for longer, or use a prior nearer to the data"
        )
    lowest = finite.min()
    effective = effective_sample_size([np.maximum(chain, lowest) for chain in chains])
    block = np.concatenate([np.arange(length) * BLOCKS // length for length in lengths])
    return RungLikelihoods(values, block, effective)
