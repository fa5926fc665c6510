"""Draws from one-dimensional distributions, compiled.

Every family is drawn as the standard form that `log_densities` describes, then stretched and moved.
Only generator methods are used that numba computes as numpy does, so compiled code and plain Python
get the same numbers from the same generator. (numba's `beta` is not one of them.)
"""

from __future__ import annotations

import math
from collections.abc import Callable

from aptmc.compiled import (
    ConstantFloats,
    ConstantFloatTable,
    ConstantIntegers,
    Floats,
    FloatTable,
    Generator,
    Integers,
    compiled,
)
from aptmc.errors import InputError
from aptmc.problem.prior.log_densities import (
    FIRST,
    LOCATION,
    LOG_ODDS,
    LOWER,
    SCALE,
    SECOND,
    UPPER,
    Family,
    log_any_marginal,
    log_marginal,
)
from aptmc.problem.prior.whole_numbers import draw_whole

# How often one number is drawn before the distribution is given up.
ATTEMPTS = 1000
_NOWHERE = (
    f"the prior drew no point of finite log density in {ATTEMPTS} attempts: "
    "choose distributions that floating-point numbers can hold"
)

# Families up to this one are drawn without a gamma.
LAST_SIMPLE = Family.LAPLACE

_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_LARGEST_EXPONENT = 709.0


@compiled
def _log(x: float) -> float:
    # Plain Python raises an error at 0.
    return math.log(x) if x > 0.0 else -math.inf


@compiled
def _exp(x: float) -> float:
    # Plain Python raises an error where the result overflows.
    return math.exp(x) if x < _LARGEST_EXPONENT else math.inf


@compiled
def _log_of_gamma(rng: Generator, shape: float) -> float:
    """The logarithm of a gamma draw, which for a small shape is often below any positive number."""
    if shape >= 1.0:
        return _log(rng.standard_gamma(shape))
    if not shape > 0.0:
        return -math.inf
    # A gamma of shape a is one of shape a + 1 times U ** (1 / a), and -log U is exponential.
    return _log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape


@compiled
def _normal_above(rng: Generator, lower: float, upper: float) -> float:
    """A normal between 0 <= lower and upper: Robert (1995), with the exponential cut at upper.

    At least six proposals in ten are accepted, however far out in the tail.
    """
    twice_rate = lower + math.sqrt(lower * lower + 4.0)
    rate, excess = 0.5 * twice_rate, 2.0 / twice_rate  # the excess of the rate over lower
    cut = math.expm1(-rate * (upper - lower))
    while True:
        step = -math.log1p(cut * rng.random()) / rate
        if rng.random() < math.exp(-0.5 * (step - excess) * (step - excess)):
            return lower + step


@compiled
def _normal(rng: Generator, lower: float, upper: float) -> float:
    """A normal between lower and upper. At least four proposals in ten are accepted."""
    if lower >= 0.0:
        return _normal_above(rng, lower, upper)
    if upper <= 0.0:
        return -_normal_above(rng, -upper, -lower)
    if upper - lower > _ROOT_TWO_PI:
        while True:
            z = rng.standard_normal()
            if lower <= z <= upper:
                return z
    while True:
        z = lower + (upper - lower) * rng.random()
        if rng.random() < math.exp(-0.5 * z * z):
            return z


@compiled
def _power(rng: Generator, exponent: float, lower: float, upper: float) -> float:
    if exponent == -1.0:
        start, end = _log(lower), _log(upper)
        return _exp(start + (end - start) * rng.random())
    return lower * _exp(rng.standard_exponential() / (-1.0 - exponent))


@compiled
def _triangle(rng: Generator, mode: float) -> float:
    level = rng.random()
    if level < mode:
        return math.sqrt(level * mode)
    return 1.0 - math.sqrt((1.0 - level) * (1.0 - mode))


@compiled
def _simple_form(rng: Generator, family: int, lower: float, upper: float) -> float:
    """A draw of the standard form, not always between the bounds: see `draw_simple_marginal`."""
    if family == Family.FLAT:
        return lower + (upper - lower) * rng.random()
    if family == Family.NORMAL:
        return _normal(rng, lower, upper)
    return rng.standard_exponential() - rng.standard_exponential()


@compiled
def _form(
    rng: Generator, family: int, lower: float, upper: float, first: float, second: float
) -> float:
    """The same for the families that take longer to compile."""
    if family == Family.LOGISTIC:
        return _log(rng.standard_exponential()) - _log(rng.standard_exponential())
    if family == Family.STUDENT:
        shape = 0.5 / (second * second)  # half the degrees of freedom
        return rng.standard_normal() * _exp(0.5 * (_log(shape) - _log_of_gamma(rng, shape)))
    if family == Family.POWER:
        return _power(rng, first, lower, upper)
    if family == Family.GAMMA:
        return _exp(_log_of_gamma(rng, first + 1.0))
    if family == Family.INVERSE_GAMMA:
        return _exp(-_log_of_gamma(rng, -1.0 - first))
    if family == Family.WEIBULL:
        return _exp(_log(rng.standard_exponential()) / second)
    if family == Family.LOGNORMAL:
        return _exp(rng.standard_normal() / second)
    if family == Family.BETA:
        log_odds = _log_of_gamma(rng, first + 1.0) - _log_of_gamma(rng, second + 1.0)
        return 1.0 / (1.0 + _exp(-log_odds))
    if family == Family.TRIANGLE:
        return _triangle(rng, first)
    return math.nan


@compiled
def draw_simple_marginal(rng: Generator, family: int, row: ConstantFloats) -> float:
    """A number with a density, or NaN if none was found; uniform, normal or exponential."""
    # Numbers of Python's own overflow without a warning.
    location, scale = float(row[LOCATION]), float(row[SCALE])
    lower, upper = float(row[LOWER]), float(row[UPPER])
    for _ in range(ATTEMPTS):
        z = _simple_form(rng, family, lower, upper)
        # On the positive half a symmetric form is folded; the others are positive there already.
        value = location + scale * (abs(z) if lower >= 0.0 else z)
        # Drawing again what lies outside the bounds gives the form between them.
        if log_marginal(value, family, row) > -math.inf:
            return value
    return math.nan


@compiled
def draw_usual_marginal(rng: Generator, family: int, row: ConstantFloats) -> float:
    """The same for what is no whole number and no log odds. To compile it takes twice as long."""
    if family <= LAST_SIMPLE:
        return draw_simple_marginal(rng, family, row)
    location, scale = float(row[LOCATION]), float(row[SCALE])
    lower, upper = float(row[LOWER]), float(row[UPPER])
    first, second = float(row[FIRST]), float(row[SECOND])
    for _ in range(ATTEMPTS):
        z = _form(rng, family, lower, upper, first, second)
        value = location + scale * (abs(z) if lower >= 0.0 else z)
        if log_marginal(value, family, row) > -math.inf:
            return value
    return math.nan


@compiled
def draw_marginal(rng: Generator, family: int, row: ConstantFloats) -> float:
    """The same for any family. To compile it takes twice as long."""
    if family < LOG_ODDS:
        return draw_usual_marginal(rng, family, row)
    location, scale = float(row[LOCATION]), float(row[SCALE])
    lower, upper = float(row[LOWER]), float(row[UPPER])
    first, second = float(row[FIRST]), float(row[SECOND])
    for _ in range(ATTEMPTS):
        if family == LOG_ODDS:
            z = _log_of_gamma(rng, first) - _log_of_gamma(rng, second)
        else:
            z = draw_whole(rng, family, lower, upper, first, second)
        value = location + scale * (abs(z) if lower >= 0.0 else z)
        if log_any_marginal(value, family, row) > -math.inf:
            return value
    return math.nan


@compiled
def draw_simple_prior(
    rng: Generator, families: ConstantIntegers, parameters: ConstantFloatTable, theta: Floats
) -> None:
    """As `draw_prior`, of parameters that are all simple. It is compiled in half of the time."""
    for dimension in range(theta.size):
        theta[dimension] = draw_simple_marginal(rng, families[dimension], parameters[dimension])
        if math.isnan(theta[dimension]):
            raise InputError(_NOWHERE)


@compiled
def draw_usual_prior(
    rng: Generator, families: ConstantIntegers, parameters: ConstantFloatTable, theta: Floats
) -> None:
    """As `draw_prior`, of parameters none of which is a whole number."""
    for dimension in range(theta.size):
        theta[dimension] = draw_usual_marginal(rng, families[dimension], parameters[dimension])
        if math.isnan(theta[dimension]):
            raise InputError(_NOWHERE)


@compiled
def draw_prior(
    rng: Generator, families: ConstantIntegers, parameters: ConstantFloatTable, theta: Floats
) -> None:
    """Fill `theta` with one draw, whose log density is finite.

    What is rounded to a point without density, such as infinity, is drawn again; an `InputError` is
    raised if that does not help.

    >>> import numpy as np
    >>> from scipy import stats
    >>> from aptmc.problem.prior.prior import Prior
    >>> prior = Prior(rate=stats.gamma(2), share=stats.uniform(0, 1))
    >>> theta = np.empty(prior.dimension)
    >>> draw_prior(np.random.default_rng(1), prior.families, prior.parameters, theta)
    >>> bool(np.isfinite(prior.log_density(theta)))
    True
    """
    for dimension in range(theta.size):
        theta[dimension] = draw_marginal(rng, families[dimension], parameters[dimension])
        if math.isnan(theta[dimension]):
            raise InputError(_NOWHERE)


@compiled
def draw_priors(
    rng: Generator, families: ConstantIntegers, parameters: ConstantFloatTable, points: FloatTable
) -> None:
    """Fill every row of `points` with a draw, one after the other."""
    for point in range(points.shape[0]):
        draw_prior(rng, families, parameters, points[point])


def draws_of(families: Integers) -> Callable[..., None]:
    """The one of the three that knows these families and takes least time to compile."""
    largest = families.max(initial=0)
    if largest <= LAST_SIMPLE:
        return draw_simple_prior
    return draw_usual_prior if largest < LOG_ODDS else draw_prior
