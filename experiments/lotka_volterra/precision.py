"""How precise posterior means are, from their errors over independent runs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MEDIAN_OF_NORMAL = 0.6745  # of the absolute value of a standard normal variable
RESAMPLED = 600


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

    def gain_over(self, other: Precision, measure: str) -> str:
        """The ratio of the geometric means, with the middle two thirds of its distribution."""
        if other is self:
            return "1"
        rng = np.random.default_rng(1)
        ratios = np.sort(
            [
                _geometric(getattr(self._again(rng), measure))
                / _geometric(getattr(other._again(rng), measure))
                for _ in range(RESAMPLED)
            ]
        )
        low, high = ratios[RESAMPLED // 6], ratios[-RESAMPLED // 6]
        ratio = _geometric(getattr(self, measure)) / _geometric(getattr(other, measure))
        return f"{ratio:.2g} ({low:.2g} to {high:.2g})"

    def _again(self, rng: np.random.Generator) -> Precision:
        """The same number of runs, drawn from these."""
        runs = self.errors.shape[1]
        return Precision(self.errors[:, rng.integers(runs, size=runs)], self.events)


def _geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))
