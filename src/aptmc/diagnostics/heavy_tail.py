"""What the greatest values that were seen say of greater ones that were not.

A mean over states that were held for very different lengths stands and falls with the longest
stays, and a run that came to none of these knows nothing of its error. Their distribution tells
some of it: the greatest values follow a generalised Pareto distribution, as importance weights do
(Vehtari, Simpson, Gelman, Yao and Gabry, Pareto smoothed importance sampling, 2024).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MOST_IN_TAIL = 0.2  # of all values
TAIL_PER_ROOT = 3.0  # values of the tail for each of the root of their number
FEWEST = 5  # values, of which a tail can be told
RUNS = 10  # of this length, whose tails count as one
HEAVIEST = 1.0  # a shape, from where on there would be no mean


def sum_of_squares(values: Floats) -> float:
    """Of values that are not negative, as runs of this length find it on the average.

    The values of the tail are replaced by quantiles of the distribution that fits them, of as many
    values as ten such runs have. The sum is never less than that of what was seen.

    >>> even = np.linspace(0.0, 1.0, 1000)
    >>> bool(np.isclose(sum_of_squares(even), (even**2).sum(), rtol=0.02))
    True
    """
    seen = float((values**2).sum())
    count = int(min(MOST_IN_TAIL * values.size, TAIL_PER_ROOT * math.sqrt(values.size)))
    if count < FEWEST:
        return seen
    top = np.sort(np.partition(values, -count - 1)[-count - 1 :])
    start, beyond = top[0], top[1:] - top[0]
    if not beyond[place_of_quartile(count)] > 0.0:  # many are the same
        return seen
    shape, scale = generalised_pareto(beyond)
    shape = min(shape, HEAVIEST)
    places = (np.arange(RUNS * count) + 0.5) / (RUNS * count)
    tail = start - scale * np.expm1(-shape * np.log1p(-places)) / -shape
    rest = seen - float((top[1:] ** 2).sum())
    return max(rest + float((tail**2).sum()) / RUNS, seen)


def generalised_pareto(sorted_values: Floats) -> tuple[float, float]:
    """Shape and scale of the distribution that fits positive values (Zhang and Stephens, 2009)."""
    size = sorted_values.size
    grid = 30 + math.isqrt(size)
    quartile = sorted_values[place_of_quartile(size)]
    rates = 1.0 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))
    rates = 1.0 / sorted_values[-1] + rates / (3.0 * quartile)
    shapes = np.log1p(-rates[:, None] * sorted_values).mean(axis=1)
    likelihoods = size * (np.log(-rates / shapes) - shapes - 1.0)
    weights = np.exp(likelihoods - likelihoods.max())
    rate = float((rates * weights).sum() / weights.sum())
    shape = float(np.log1p(-rate * sorted_values).mean())
    return shape, -shape / rate


def place_of_quartile(size: int) -> int:
    """Of so many values in order, where the first quartile is."""
    return int(size / 4 + 0.5) - 1
