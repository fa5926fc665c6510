"""Distributions of whole numbers, compiled.

A whole number k is held as a real number u in [k, k + 1) with the density of its probability, so
that u is uniform there given k. Any kernel that is exact for densities is so for whole numbers,
then, as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from aptmc.compiled import Generator, compiled

# Codes from here on mean whole numbers; below are the forms of `log_densities`.
FIRST_WHOLE = 100
LARGEST_WHOLE = 2.0**52  # beyond, there are no numbers between two whole ones


class WholeFamily(IntEnum):
    """The forms that are known. FIRST and SECOND of a row are named where they are used."""

    FLAT = FIRST_WHOLE
    POISSON = FIRST_WHOLE + 1
    BINOMIAL = FIRST_WHOLE + 2
    NEGATIVE_BINOMIAL = FIRST_WHOLE + 3
    GEOMETRIC = FIRST_WHOLE + 4


class WholeForm(NamedTuple):
    """A distribution of whole numbers at location 0."""

    family: WholeFamily
    constant: float = 0.0
    lower: float = 0.0
    upper: float = LARGEST_WHOLE
    first: float = 0.0
    second: float = 0.0


# By the name of the distribution, a function of its shape parameters under scipy's names for them.
WHOLE_FAMILIES: Mapping[str, Callable[..., WholeForm]] = {
    "randint": lambda low, high: WholeForm(
        WholeFamily.FLAT, -math.log(high - low), low, high - 1.0
    ),
    "poisson": lambda mu: WholeForm(WholeFamily.POISSON, -mu, first=mu),
    "binom": lambda n, p: WholeForm(
        WholeFamily.BINOMIAL, math.lgamma(n + 1.0), upper=n, first=n, second=p
    ),
    "bernoulli": lambda p: WHOLE_FAMILIES["binom"](1.0, p),
    "nbinom": lambda n, p: WholeForm(
        WholeFamily.NEGATIVE_BINOMIAL, n * math.log(p) - math.lgamma(n), first=n, second=p
    ),
    "geom": lambda p: WholeForm(WholeFamily.GEOMETRIC, math.log(p), 1.0, first=p),
}


@compiled
def _times_log(factor: float, x: float) -> float:
    # 0 times the logarithm of 0 is 0: what does not happen may be impossible.
    if factor == 0.0:
        return 0.0
    return factor * math.log(x) if x > 0.0 else -math.inf


@compiled
def whole_form(k: float, family: int, first: float, second: float) -> float:
    """The log probability of k inside the support, up to the constant of the row."""
    if family == WholeFamily.FLAT:
        return 0.0
    if family == WholeFamily.POISSON:  # first: the mean
        return _times_log(k, first) - math.lgamma(k + 1.0)
    if family == WholeFamily.BINOMIAL:  # first: how many; second: the chance of each
        ways = -math.lgamma(k + 1.0) - math.lgamma(first - k + 1.0)
        return ways + _times_log(k, second) + _times_log(first - k, 1.0 - second)
    if family == WholeFamily.NEGATIVE_BINOMIAL:  # first: successes; second: the chance of one
        ways = math.lgamma(k + first) - math.lgamma(k + 1.0)
        return ways + _times_log(k, 1.0 - second)
    if family == WholeFamily.GEOMETRIC:  # first: the chance of success
        return _times_log(k - 1.0, 1.0 - first)
    return -math.inf


@compiled
def draw_whole(
    rng: Generator, family: int, lower: float, upper: float, first: float, second: float
) -> float:
    """A number u of which the whole part is a draw."""
    k = math.nan
    if family == WholeFamily.FLAT:
        k = min(np.floor(lower + (upper - lower + 1.0) * rng.random()), upper)
    elif family == WholeFamily.POISSON:
        k = float(rng.poisson(first))
    elif family == WholeFamily.BINOMIAL:
        k = float(rng.binomial(int(first), second))
    elif family == WholeFamily.NEGATIVE_BINOMIAL:
        k = float(rng.negative_binomial(first, second))
    elif family == WholeFamily.GEOMETRIC:
        k = float(rng.geometric(first))
    u = k + rng.random()
    return u if np.floor(u) == k else k  # a sum may be rounded up


def whole_form_of(frozen: Any, shapes: Mapping[str, float]) -> WholeForm | None:
    """The form of a frozen distribution, or None where its family is unknown."""
    from scipy import stats

    name = frozen.dist.name
    if name not in WHOLE_FAMILIES or type(frozen.dist) is not type(getattr(stats, name)):
        return None
    return WHOLE_FAMILIES[name](**shapes)
