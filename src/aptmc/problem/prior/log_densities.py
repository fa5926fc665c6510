"""Log densities of one-dimensional distributions, compiled.

Every family is a standard form stretched by a scale and moved by a location. Several families of
`scipy.stats` share a form: a half-normal is a normal on another support, a chi-squared a gamma. A
marginal is therefore a family code and a row of numbers, in which `families` has put all that does
not depend on the point, so that nothing but the form itself is computed here.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from aptmc.compiled import (
    ConstantFloats,
    ConstantFloatTable,
    ConstantIntegers,
    Floats,
    compiled,
)
from aptmc.problem.prior.whole_numbers import FIRST_WHOLE, whole_form


class Family(IntEnum):
    """The forms that are known, as functions of z = (value - location) / scale."""

    FLAT = 0
    NORMAL = 1
    LAPLACE = 2
    LOGISTIC = 3
    STUDENT = 4
    POWER = 5
    GAMMA = 6
    INVERSE_GAMMA = 7
    WEIBULL = 8
    LOGNORMAL = 9
    BETA = 10
    TRIANGLE = 11


# The log odds of a share that is beta distributed: how the shares of a simplex are held. This and
# the codes of whole numbers are evaluated apart.
LOG_ODDS = 50

# The columns of a row of parameters. LOWER and UPPER bound z. FIRST and SECOND are what the form
# needs besides, and are described where it is coded.
LOCATION, SCALE, LOWER, UPPER, CONSTANT, FIRST, SECOND = range(7)

# Beyond this, 1 + ratio ** 2 equals ratio ** 2 in floating point, and the square may overflow.
_FAR = 1e10


@compiled
def _log_power(z: float, exponent: float) -> float:
    # 0 ** 0 is 1: an exponential is a gamma of shape 1, and its density at 0 is not 0.
    return 0.0 if exponent == 0.0 else exponent * math.log(z)


@compiled
def _form(z: float, family: int, first: float, second: float) -> float:
    """The log density of the standard form at z inside its support, up to its constant."""
    if family == Family.FLAT:
        return 0.0
    if family == Family.NORMAL:
        return -0.5 * z * z
    if family == Family.LAPLACE:
        return -abs(z)
    if family == Family.LOGISTIC:
        return -abs(z) - 2.0 * math.log1p(math.exp(-abs(z)))
    if family == Family.STUDENT:  # (1 + (second * z) ** 2) ** -first
        ratio = abs(second * z)
        return -first * (math.log1p(ratio * ratio) if ratio < _FAR else 2.0 * math.log(ratio))
    if family == Family.POWER:  # z ** first
        return _log_power(z, first)
    if family == Family.GAMMA:  # z ** first * exp(-z)
        return _log_power(z, first) - z
    if family == Family.INVERSE_GAMMA:  # z ** first * exp(-1 / z)
        return _log_power(z, first) - 1.0 / z
    if family == Family.WEIBULL:  # z ** first * exp(-(z ** second))
        return _log_power(z, first) - math.pow(z, second)
    if family == Family.LOGNORMAL:  # exp(-(second * log(z)) ** 2 / 2) / z
        log = math.log(z)
        ratio = second * log
        return -log - 0.5 * (ratio * ratio)
    if family == Family.BETA:  # z ** first * (1 - z) ** second
        upper = 0.0 if second == 0.0 else second * math.log1p(-z)
        return _log_power(z, first) + upper
    if family == Family.TRIANGLE:  # from 0 up to 1 at z = first, and down to 0 at z = 1
        if z < first:
            return math.log(z / first)
        return math.log((1.0 - z) / (1.0 - first)) if z > first else 0.0
    return -math.inf


@compiled
def _other_marginal(value: float, family: int, row: ConstantFloats) -> float:
    """The log density of log odds and whole numbers."""
    z = (value - row[LOCATION]) / row[SCALE]
    if family >= FIRST_WHOLE:
        z = np.floor(z)
    if not (row[LOWER] <= z <= row[UPPER]):
        return -math.inf
    first, second = row[FIRST], row[SECOND]
    if family >= FIRST_WHOLE:
        result: float = row[CONSTANT] + whole_form(z, family, first, second)
    else:  # share ** first * (1 - share) ** second
        beyond = math.log1p(math.exp(-abs(z)))
        result = row[CONSTANT] - first * (max(-z, 0.0) + beyond)
        result -= second * (max(z, 0.0) + beyond)
    return result if result < math.inf else -math.inf


@compiled
def log_marginal(value: float, family: int, row: ConstantFloats) -> float:
    """The log density of one dimension: finite, or minus infinity."""
    z = (value - row[LOCATION]) / row[SCALE]
    # Both bounds belong to the support and both are finite, so this also refuses NaN and infinity.
    if not (row[LOWER] <= z <= row[UPPER]):
        return -math.inf
    result: float = row[CONSTANT] + _form(z, family, row[FIRST], row[SECOND])
    # A density may be infinite at a border (a gamma with shape below 1, at 0). One point has no
    # mass, so excluding it leaves the distribution as it is, whereas a chain that started there
    # could never leave. The comparison also settles infinity - infinity, where the density is 0.
    return result if result < math.inf else -math.inf


@compiled
def log_density(
    theta: ConstantFloats, families: ConstantIntegers, parameters: ConstantFloatTable
) -> float:
    """The sum over dimensions of the log densities: finite, or minus infinity."""
    total = 0.0
    for dimension in range(theta.size):
        total += log_marginal(theta[dimension], families[dimension], parameters[dimension])
    return total


@compiled
def log_densities(
    points: ConstantFloatTable, families: ConstantIntegers, parameters: ConstantFloatTable
) -> Floats:
    """The log density at each row of `points`."""
    result = np.empty(points.shape[0])
    for point in range(result.size):
        result[point] = log_density(points[point], families, parameters)
    return result


# The same for all families. Apart, because more branches slow down the usual ones.


@compiled
def log_any_marginal(value: float, family: int, row: ConstantFloats) -> float:
    """The log density of one dimension, whatever its family."""
    if family >= LOG_ODDS:
        return _other_marginal(value, family, row)
    return log_marginal(value, family, row)


@compiled
def log_any_density(
    theta: ConstantFloats, families: ConstantIntegers, parameters: ConstantFloatTable
) -> float:
    """The sum over dimensions, whatever their families."""
    total = 0.0
    for dimension in range(theta.size):
        total += log_any_marginal(theta[dimension], families[dimension], parameters[dimension])
    return total


@compiled
def log_any_densities(
    points: ConstantFloatTable, families: ConstantIntegers, parameters: ConstantFloatTable
) -> Floats:
    """The log density at each row of `points`, whatever the families."""
    result = np.empty(points.shape[0])
    for point in range(result.size):
        result[point] = log_any_density(points[point], families, parameters)
    return result
