"""How precise posterior means are, from their errors over independent runs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MEDIAN_OF_NORMAL = 0.6745  # of the absolute value of a standard normal variable
RESAMPLED = 600


class Range(NamedTuple):
    """A number, and the middle two thirds of its bootstrap distribution."""

    low: float
    value: float
    high: float


class Precision:
    """How many independent draws would give posterior means as precise as those of some runs.

    `errors[parameter, run]` are in posterior standard deviations. Unlike an autocorrelation time,
    they cannot be flattered by swapping the same states to and fro.
    """

    def __init__(self, errors: npt.NDArray[np.float64], events: float) -> None:
        self.errors, self.events = errors, events

    @property
    def by_mean(self) -> list[float]:
        """From the mean squared error, in which one run that went astray counts for much."""
        return list(1.0 / np.mean(self.errors**2, axis=1) / self.events)

    @property
    def by_median(self) -> list[float]:
        """From the median error: what most runs are like."""
        typical = np.median(np.abs(self.errors), axis=1) / MEDIAN_OF_NORMAL
        return list(1.0 / typical**2 / self.events)

    def typical(self, measure: str) -> Range:
        """The geometric mean over the parameters."""
        rng = np.random.default_rng(1)
        again = [_geometric(getattr(self._again(rng), measure)) for _ in range(RESAMPLED)]
        return _range(_geometric(getattr(self, measure)), again)

    def gain_over(self, other: Precision, measure: str) -> str:
        """The ratio of the geometric means, in words."""
        if other is self:
            return "1"
        rng = np.random.default_rng(1)
        again = [
            _geometric(getattr(self._again(rng), measure))
            / _geometric(getattr(other._again(rng), measure))
            for _ in range(RESAMPLED)
        ]
        ratio = _geometric(getattr(self, measure)) / _geometric(getattr(other, measure))
        gain = _range(ratio, again)
        return f"{_short(gain.value)} ({_short(gain.low)} to {_short(gain.high)})"

    def _again(self, rng: np.random.Generator) -> Precision:
        """The same number of runs, drawn from these."""
        runs = self.errors.shape[1]
        return Precision(self.errors[:, rng.integers(runs, size=runs)], self.events)


def _range(value: float, again: list[float]) -> Range:
    ordered = np.sort(again)
    return Range(float(ordered[RESAMPLED // 6]), value, float(ordered[-RESAMPLED // 6]))


def _geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def _short(value: float) -> str:
    """Two digits that mean something, and no powers of ten."""
    return f"{float(f'{value:.2g}'):g}"
