"""Rows of parameters that are computed on the way, from those of earlier variables; compiled.

`families` writes the row of a distribution once, with scipy at hand. Where a scale or a shape
depends on other parameters, the row is written anew at each point, here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aptmc.compiled import Floats, compiled
from aptmc.problem.prior.log_densities import (
    CONSTANT,
    FIRST,
    LOCATION,
    LOWER,
    SCALE,
    SECOND,
    UPPER,
    Family,
)
from aptmc.problem.prior.whole_numbers import LARGEST_WHOLE, WholeFamily

_LARGEST = float(np.finfo(np.float64).max)
_LOG_TWO = math.log(2.0)
_LOG_PI = math.log(math.pi)
_LOG_ROOT_TWO_PI = 0.5 * (_LOG_TWO + _LOG_PI)
INVALID = -1
# Compiled code keeps a variable of one type: the codes as plain numbers.
_BETA = int(Family.BETA)
_FLAT = int(Family.FLAT)
_GAMMA = int(Family.GAMMA)
_INVERSE_GAMMA = int(Family.INVERSE_GAMMA)
_LAPLACE = int(Family.LAPLACE)
_LOGISTIC = int(Family.LOGISTIC)
_LOGNORMAL = int(Family.LOGNORMAL)
_NORMAL = int(Family.NORMAL)
_POWER = int(Family.POWER)
_STUDENT = int(Family.STUDENT)
_WEIBULL = int(Family.WEIBULL)
_WHOLE_BINOMIAL = int(WholeFamily.BINOMIAL)
_WHOLE_FLAT = int(WholeFamily.FLAT)
_WHOLE_GEOMETRIC = int(WholeFamily.GEOMETRIC)
_WHOLE_NEGATIVE_BINOMIAL = int(WholeFamily.NEGATIVE_BINOMIAL)
_WHOLE_POISSON = int(WholeFamily.POISSON)

# By the name of the distribution in scipy.stats: a code, and its shape parameters.
CODES = {
    "uniform": 0, "norm": 1, "halfnorm": 2, "laplace": 3, "expon": 4, "logistic": 5, "t": 6,
    "cauchy": 7, "halfcauchy": 8, "gamma": 9, "chi2": 10, "invgamma": 11, "weibull_min": 12,
    "rayleigh": 13, "lognorm": 14, "beta": 15, "pareto": 16, "loguniform": 17,
    "poisson": 30, "binom": 31, "bernoulli": 32, "nbinom": 33, "geom": 34, "randint": 35,
}  # fmt: skip
ROW_LENGTH = 7


@compiled
def _fill_whole(code: int, first: float, second: float, row: Floats) -> int:
    row[LOWER], row[UPPER] = 0.0, LARGEST_WHOLE
    row[FIRST], row[SECOND] = first, second
    if code == 30 and 0.0 <= first < LARGEST_WHOLE:
        row[CONSTANT] = -first
        return _WHOLE_POISSON
    if code == 31 and 0.0 <= second <= 1.0 and 0.0 <= first < LARGEST_WHOLE:
        if first != np.floor(first):
            return INVALID
        row[UPPER], row[CONSTANT] = first, math.lgamma(first + 1.0)
        return _WHOLE_BINOMIAL
    if code == 32 and 0.0 <= first <= 1.0:
        row[FIRST], row[SECOND], row[UPPER] = 1.0, first, 1.0
        return _WHOLE_BINOMIAL
    if code == 33 and 0.0 < first < LARGEST_WHOLE and 0.0 < second <= 1.0:
        row[CONSTANT] = first * math.log(second) - math.lgamma(first)
        return _WHOLE_NEGATIVE_BINOMIAL
    if code == 34 and 0.0 < first <= 1.0:
        row[LOWER], row[CONSTANT] = 1.0, math.log(first)
        return _WHOLE_GEOMETRIC
    if code == 35 and first < second and first == np.floor(first) and second == np.floor(second):
        row[LOWER], row[UPPER] = first, second - 1.0
        row[CONSTANT] = -math.log(second - first)
        return _WHOLE_FLAT
    return INVALID


@compiled
def fill_row(
    code: int, first: float, second: float, location: float, scale: float, row: Floats
) -> int:
    """Write the row of a distribution, and give its family; INVALID if there is none such."""
    if not (0.0 < scale < math.inf and -math.inf < location < math.inf):
        return INVALID
    row[LOCATION], row[SCALE] = location, scale
    row[LOWER], row[UPPER], row[CONSTANT] = -_LARGEST, _LARGEST, 0.0
    row[FIRST], row[SECOND] = 0.0, 0.0
    if code >= 30:
        return _fill_whole(code, first, second, row)
    stretch = 1.0
    family = INVALID
    if code == 0:
        family = _FLAT
        row[LOWER], row[UPPER] = 0.0, 1.0
    elif code == 1 or code == 2:
        family = _NORMAL
        row[CONSTANT] = -_LOG_ROOT_TWO_PI
    elif code == 3 or code == 4:
        family = _LAPLACE
        row[CONSTANT] = -_LOG_TWO
    elif code == 5:
        family = _LOGISTIC
    elif code == 6 and first > 0.0:
        family = _STUDENT
        row[CONSTANT] = math.lgamma(0.5 * first + 0.5) - math.lgamma(0.5 * first)
        row[CONSTANT] -= 0.5 * (math.log(first) + _LOG_PI)
        row[FIRST], row[SECOND] = 0.5 * (first + 1.0), 1.0 / math.sqrt(first)
    elif code == 7 or code == 8:
        family = _STUDENT
        row[CONSTANT] = -_LOG_PI
        row[FIRST], row[SECOND] = 1.0, 1.0
    elif code == 9 and first > 0.0:
        family = _GAMMA
        row[LOWER], row[CONSTANT], row[FIRST] = 0.0, -math.lgamma(first), first - 1.0
    elif code == 10 and first > 0.0:
        family = _GAMMA
        half = 0.5 * first
        row[LOWER], row[CONSTANT], row[FIRST] = 0.0, -math.lgamma(half), half - 1.0
        stretch = 2.0
    elif code == 11 and first > 0.0:
        family = _INVERSE_GAMMA
        row[LOWER], row[CONSTANT], row[FIRST] = 0.0, -math.lgamma(first), -first - 1.0
    elif code == 12 and first > 0.0:
        family = _WEIBULL
        row[LOWER], row[CONSTANT] = 0.0, math.log(first)
        row[FIRST], row[SECOND] = first - 1.0, first
    elif code == 13:
        family = _WEIBULL
        row[LOWER], row[CONSTANT], row[FIRST], row[SECOND] = 0.0, _LOG_TWO, 1.0, 2.0
        stretch = math.sqrt(2.0)
    elif code == 14 and first > 0.0:
        family = _LOGNORMAL
        row[LOWER], row[CONSTANT] = 0.0, -math.log(first) - _LOG_ROOT_TWO_PI
        row[SECOND] = 1.0 / first
    elif code == 15 and first > 0.0 and second > 0.0:
        family = _BETA
        row[LOWER], row[UPPER] = 0.0, 1.0
        row[CONSTANT] = math.lgamma(first + second) - math.lgamma(first) - math.lgamma(second)
        row[FIRST], row[SECOND] = first - 1.0, second - 1.0
    elif code == 16 and first > 0.0:
        family = _POWER
        row[LOWER], row[CONSTANT], row[FIRST] = 1.0, math.log(first), -first - 1.0
    elif code == 17 and 0.0 < first < second < math.inf:
        family = _POWER
        row[LOWER], row[UPPER], row[FIRST] = first, second, -1.0
        row[CONSTANT] = -math.log(math.log(second) - math.log(first))
    if code == 2 or code == 4 or code == 8:  # the positive halves
        row[LOWER] = 0.0
        row[CONSTANT] += _LOG_TWO
    row[SCALE] = scale * stretch
    row[CONSTANT] -= math.log(scale) + math.log(stretch)
    return family if -math.inf < row[CONSTANT] < math.inf else INVALID


def code_of(family: Any) -> int | None:
    """The code of a family of scipy.stats, or None if its rows cannot be computed on the way."""
    from scipy import stats

    known = family.name in CODES and type(family) is type(getattr(stats, family.name))
    return CODES[family.name] if known else None
