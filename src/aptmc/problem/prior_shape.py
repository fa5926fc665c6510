"""What the prior of each parameter looks like, in few numbers: for pictures, and for stores.

A store holds no functions, so that a prior cannot be evaluated from there. Some points of each
distribution function are enough to draw its density beside the posterior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.keys import WARMUP, Key
from aptmc.problem.base import Problem, is_problem
from aptmc.problem.prior.independent import Independent
from aptmc.problem.prior.prior import Prior

Array = npt.NDArray[np.float64]

# Closer together towards the ends, where a posterior may lie that the prior hardly expected.
LEVELS = np.concatenate(
    [
        [0.0, 1e-5, 1e-4, 1e-3, 5e-3],
        np.linspace(0.01, 0.99, 50),
        1.0 - 5e-3 * 0.2 ** np.arange(4),
        [1.0],
    ]
)
DRAWS = 1000
MOST_LABELS = 200  # of a prior with more numbers, the others are not described
OF_A_NORMAL = 1.349  # the distance of its quartiles, in standard deviations


class PriorShape(NamedTuple):
    """Some values of a parameter, increasing, and the prior's probability up to each."""

    values: tuple[float, ...]
    shares: tuple[float, ...]
    is_whole: bool = False

    def density(self, points: Array) -> Array:
        """The density at some points; of whole numbers, the probability of each.

        >>> uniform = PriorShape((0.0, 1.0, 2.0), (0.0, 0.5, 1.0))
        >>> uniform.density(np.array([-1.0, 0.5, 1.5, 3.0]))
        array([0. , 0.5, 0.5, 0. ])
        """
        if self.is_whole:
            return self._up_to(np.floor(points)) - self._up_to(np.floor(points) - 1.0)
        from scipy.interpolate import PchipInterpolator

        inside = (points >= self.values[0]) & (points <= self.values[-1])
        slope = PchipInterpolator(self.values, self.shares).derivative()(points)
        found: Array = np.where(inside, np.maximum(slope, 0.0), 0.0)
        return found

    def _up_to(self, points: Array) -> Array:
        """The probability of all values that are not larger, where it changes only at values."""
        shares = np.concatenate([[0.0], self.shares])
        found: Array = shares[np.searchsorted(self.values, points, "right")]
        return found

    def quantile(self, share: float) -> float:
        """The value up to which there is so much of the prior."""
        if self.is_whole:
            place = int(np.searchsorted(self.shares, share - 1e-9))
            return self.values[min(place, len(self.values) - 1)]
        return float(np.interp(share, self.shares, self.values))


def prior_shapes(problem: Any) -> Mapping[str, PriorShape]:
    """By label, what the prior looks like; empty, if there is none, or nobody knows.

    :param problem: a problem, or what a store says of one

    >>> from scipy import stats
    >>> import aptmc
    >>> problem = aptmc.Tempered(lambda theta: 0.0, aptmc.Prior(rate=stats.uniform(0, 3)))
    >>> round(prior_shapes(problem)["rate"].quantile(0.5), 3)
    1.5
    """
    if is_problem(problem):
        return _shapes_of(problem)
    stored: Mapping[str, Sequence[Any]] = getattr(problem, "prior_shapes", None) or {}
    return {
        label: PriorShape(tuple(values), tuple(shares), bool(is_whole))
        for label, (values, shares, is_whole) in stored.items()
    }


def to_notes(shapes: Mapping[str, PriorShape]) -> dict[str, Any]:
    """As a store can hold them."""
    return {
        label: [
            [float(f"{value:.6g}") for value in shape.values],
            [float(f"{share:.6g}") for share in shape.shares],
            shape.is_whole,
        ]
        for label, shape in shapes.items()
    }


@lru_cache(maxsize=8)
def draws_of_prior(problem: Problem) -> Array:
    """Some parameters, always the same, drawn from the reference of a problem."""
    assert problem.reference is not None
    return problem.constrain(problem.reference.draw(Key(0, 0, 0, WARMUP).generator(), DRAWS))


@lru_cache(maxsize=8)
def _shapes_of(problem: Problem) -> Mapping[str, PriorShape]:
    reference = problem.reference
    if reference is None:
        return {}
    labels = problem.labels[:MOST_LABELS]
    found: dict[str, PriorShape | None] = {}
    if isinstance(reference, Prior):
        for part in reference.parts:
            if isinstance(part, Independent):
                found |= _exact(part)
    if any(label not in found for label in labels):
        # What depends on other parameters has no distribution function that one could ask.
        drawn = draws_of_prior(problem)
        kinds = _whole_labels(problem)
        for place, label in enumerate(labels):
            if label not in found:
                found[label] = _of_draws(drawn[:, place], is_whole=label in kinds)
    return {label: shape for label in labels if (shape := found.get(label)) is not None}


def _whole_labels(problem: Problem) -> set[str]:
    return {label for one in problem.variables if one.kind == "whole" for label in one.labels}


def _exact(part: Independent) -> dict[str, PriorShape | None]:
    """From the distribution itself."""
    (variable,) = part.variables
    labels = variable.labels[:MOST_LABELS]
    levels = LEVELS.reshape(-1, *([1] * len(variable.shape)))
    is_whole = variable.kind == "whole"
    with np.errstate(all="ignore"):
        values = np.broadcast_to(part.distribution.ppf(levels), (LEVELS.size, *variable.shape))
        # Of whole numbers a quantile stands for more than its level.
        shares = np.broadcast_to(
            part.distribution.cdf(values) if is_whole else levels, values.shape
        )
    flat, known = values.reshape(LEVELS.size, -1), shares.reshape(LEVELS.size, -1)
    return {
        label: _sound(flat[:, place], known[:, place], is_whole=is_whole)
        for place, label in enumerate(labels)
    }


def _of_draws(draws: Array, *, is_whole: bool) -> PriorShape | None:
    """From draws, smoothed."""
    if not np.isfinite(draws).all():
        return None  # a parameter that is not always there
    if is_whole:
        values, counts = np.unique(draws, return_counts=True)
        return PriorShape(
            tuple(values.tolist()), tuple((np.cumsum(counts) / draws.size).tolist()), True
        )
    first, third = np.quantile(draws, [0.25, 0.75])
    width = 0.9 * min(draws.std(), (third - first) / OF_A_NORMAL) * draws.size**-0.2
    if not width > 0.0:
        return None
    from scipy.special import ndtr

    # Towards an end nothing is smoothed beyond the last draw: a density that begins there, such as
    # that of a standard deviation, is kept where it is by its mirror image.
    low, high = draws.min(), draws.max()
    values = np.unique(np.quantile(draws, np.linspace(0.0, 1.0, LEVELS.size)))

    def up_to(points: Array) -> Array:
        found: Array = (
            ndtr((points[:, None] - draws) / width)
            - ndtr((2.0 * low - points[:, None] - draws) / width)
            + 1.0
            - ndtr((2.0 * high - points[:, None] - draws) / width)
        ).mean(axis=1)
        return found

    shares = up_to(values)
    return _sound(values, (shares - shares[0]) / (shares[-1] - shares[0]), is_whole=False)


def _sound(values: Array, shares: Array, *, is_whole: bool) -> PriorShape | None:
    """Finite values that increase, with shares that do."""
    known = np.isfinite(values) & np.isfinite(shares)
    values, first = np.unique(values[known], return_index=True)
    shares = np.maximum.accumulate(shares[known][first]) if known.any() else values
    if values.size < (1 if is_whole else 3):
        return None
    return PriorShape(tuple(values.tolist()), tuple(shares.tolist()), is_whole)
