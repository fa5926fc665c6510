"""What is compared with the truth: means, standard deviations and probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.estimates import Estimate, estimate

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Quantity:
    """The mean of a function of the parameters, or its root, which makes it a standard deviation.

    A standard deviation is measured about the true mean, so that short runs do not bias it.
    """

    name: str
    of: Callable[[Floats], Floats]  # draws, one row each; gives one number for each
    truth: float
    error: float = 0.0  # of the truth, where it was estimated
    is_root: bool = False
    # Of the function under the target; None: the runs say. Those that never come to the tail of a
    # heavy one find it too small.
    variance: float | None = None

    def off_by(self, found: Estimate) -> float:
        """Standard errors between what was found and the truth."""
        error = math.hypot(found.error, self.error)
        return abs(found.value - self.truth) / error if error > 0.0 else math.inf


class Sums(NamedTuple):
    """What a run says of one quantity."""

    mean: float  # of the function over the draws
    square: float  # of its square

    @classmethod
    def over(cls, values: Floats) -> Sums:
        """Of one run's draws."""
        return cls(float(values.mean()), float((values**2).mean()))


def found(quantity: Quantity, runs: Sequence[Sums]) -> Estimate:
    """The estimate of independent runs, with its standard error."""
    mean = estimate(run.mean for run in runs)
    if not quantity.is_root:
        return mean
    root = math.sqrt(mean.value)
    return Estimate(root, mean.error / (2.0 * root))


def effective_draws(quantity: Quantity, runs: Sequence[Sums], variance: float) -> float:
    """So many independent draws would do as well as a run, by the mean squared error over runs.

    :param variance: of the function under the target
    """
    truth = quantity.truth**2 if quantity.is_root else quantity.truth
    error = quantity.error * (2.0 * quantity.truth if quantity.is_root else 1.0)
    squared_error = float(np.mean([(run.mean - truth) ** 2 for run in runs]))
    # What the truth itself is off by is no fault of the runs.
    return variance / max(squared_error - error**2, 1e-300)


def mean_of(
    name: str, column: int, truth: float, error: float = 0.0, variance: float | None = None
) -> Quantity:
    """A parameter's mean."""
    return Quantity(f"mean {name}", lambda theta: theta[:, column], truth, error, variance=variance)


def sd_of(
    name: str,
    column: int,
    mean: float,
    truth: float,
    error: float = 0.0,
    variance: float | None = None,
) -> Quantity:
    """A parameter's standard deviation.

    :param variance: of the squares of its distance from the mean
    """

    def square(theta: Floats) -> Floats:
        return np.asarray((theta[:, column] - mean) ** 2)

    return Quantity(f"sd {name}", square, truth, error, is_root=True, variance=variance)


def probability_of(
    name: str, is_inside: Callable[[Floats], npt.NDArray[np.bool_]], truth: float
) -> Quantity:
    """The probability of a set."""
    variance = truth * (1.0 - truth)
    return Quantity(name, lambda theta: is_inside(theta).astype(float), truth, variance=variance)
