"""Draws against reference numbers."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from arviz_stats.base.array import array_stats

from experiments.posteriordb.posteriors import Posterior

STATISTICS: Any = array_stats


class Result(NamedTuple):
    """How far draws are from the reference, at worst of all parameters."""

    mean_error: float  # in standard errors of both
    sd_error: float
    r_hat: float
    effective: float  # draws


def judged(found: dict[str, Any], posterior: Posterior) -> Result:
    """Arrays by name, of shape (chain, draw, ...), against the reference."""
    means, sds, hats, effective = [], [], [], []
    for label, (mean, mean_error, sd, sd_error) in posterior.reference.items():
        name, place = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", label).groups()  # type: ignore[union-attr]
        values = np.asarray(found[name], float)
        values = values if place is None else values[..., int(place) - 1]
        size, of_squares = _effective(values), _effective((values - values.mean()) ** 2)
        own_sd = values.std(ddof=1)
        means.append(abs(values.mean() - mean) / np.hypot(own_sd / np.sqrt(size), mean_error))
        squares = (values - values.mean()) ** 2
        of_sd = squares.std() / np.sqrt(of_squares) / (2 * own_sd)
        sds.append(abs(own_sd - sd) / np.hypot(of_sd, sd_error))
        hats.append(_r_hat(values))
        effective.append(size)
    return Result(float(max(means)), float(max(sds)), max(hats), min(effective))


def _effective(values: Any) -> float:
    return float(STATISTICS.ess(values, chain_axis=0, draw_axis=1, method="mean"))


def _r_hat(values: Any) -> float:
    """Of halves of chains, of which a single one has two."""
    if len(values) == 1:
        values = values[:, : values.shape[1] // 2 * 2].reshape(2, -1)
    return float(STATISTICS.rhat(values, chain_axis=0, draw_axis=1))
