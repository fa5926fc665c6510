"""Estimates from independent runs, with standard errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Estimate(NamedTuple):
    """A mean over independent runs, with its standard error."""

    value: float
    error: float

    def errors_from(self, truth: float) -> float:
        """Distance from the truth in standard errors."""
        return abs(self.value - truth) / self.error


def estimate(values: Iterable[float]) -> Estimate:
    """The mean of independent values."""
    array = np.array(list(values))
    return Estimate(float(array.mean()), float(array.std(ddof=1) / np.sqrt(array.size)))
