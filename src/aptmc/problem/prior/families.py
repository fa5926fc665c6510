"""Which frozen distributions of `scipy.stats` have a compiled density, and how they are encoded.

`scipy` is imported where it is needed only: it takes most of a second, which whoever has a frozen
distribution in hand has paid already, and `import aptmc` should not pay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from aptmc.compiled import Floats
from aptmc.problem.prior.log_densities import Family
from aptmc.problem.prior.whole_numbers import whole_form_of

_LARGEST = float(np.finfo(np.float64).max)
_LOG_TWO = math.log(2.0)
_LOG_PI = math.log(math.pi)
_LOG_ROOT_TWO_PI = 0.5 * (_LOG_TWO + _LOG_PI)


class Encoded(NamedTuple):
    """A marginal as compiled code reads it."""

    family: int
    row: Floats


class _Standard(NamedTuple):
    """A distribution at location 0 and scale 1, written as a form of `log_densities`."""

    family: Family
    constant: float
    lower: float = -math.inf
    upper: float = math.inf
    first: float = 0.0
    second: float = 0.0
    # The scale of the form when the distribution has scale 1.
    stretch: float = 1.0


def _student(df: float) -> _Standard:
    from scipy import special

    if df == math.inf:
        return _FAMILIES["norm"]()
    # poch(a, 1/2) is gamma(a + 1/2) / gamma(a), and exact where both are large.
    constant = float(np.log(special.poch(0.5 * df, 0.5))) - 0.5 * (math.log(df) + _LOG_PI)
    return _Standard(Family.STUDENT, constant, first=0.5 * (df + 1.0), second=1.0 / math.sqrt(df))


def _truncated_normal(a: float, b: float) -> _Standard:
    from scipy import stats

    # The mass between a and b is delicate far out in a tail. scipy has it right: read it off there,
    # where the density is largest.
    peak = min(max(0.0, a), b)
    constant = float(stats.truncnorm.logpdf(peak, a, b)) + 0.5 * peak * peak
    return _Standard(Family.NORMAL, constant, a, b)


# By the name of the distribution, a function of its shape parameters under scipy's names for them.
_FAMILIES: Mapping[str, Callable[..., _Standard]] = {
    "uniform": lambda: _Standard(Family.FLAT, 0.0, 0.0, 1.0),
    "norm": lambda: _Standard(Family.NORMAL, -_LOG_ROOT_TWO_PI),
    "halfnorm": lambda: _Standard(Family.NORMAL, _LOG_TWO - _LOG_ROOT_TWO_PI, 0.0),
    "truncnorm": _truncated_normal,
    "laplace": lambda: _Standard(Family.LAPLACE, -_LOG_TWO),
    "expon": lambda: _Standard(Family.LAPLACE, 0.0, 0.0),
    "logistic": lambda: _Standard(Family.LOGISTIC, 0.0),
    "t": _student,
    "cauchy": lambda: _Standard(Family.STUDENT, -_LOG_PI, first=1.0, second=1.0),
    "halfcauchy": lambda: _Standard(Family.STUDENT, _LOG_TWO - _LOG_PI, 0.0, first=1.0, second=1.0),
    "loguniform": lambda a, b: _Standard(
        Family.POWER, -float(np.log(math.log(b) - math.log(a))), a, b, first=-1.0
    ),
    "pareto": lambda b: _Standard(Family.POWER, math.log(b), 1.0, first=-b - 1.0),
    "gamma": lambda a: _Standard(Family.GAMMA, -_log_gamma(a), 0.0, first=a - 1.0),
    "chi2": lambda df: _FAMILIES["gamma"](0.5 * df)._replace(stretch=2.0),
    "invgamma": lambda a: _Standard(Family.INVERSE_GAMMA, -_log_gamma(a), 0.0, first=-a - 1.0),
    "weibull_min": lambda c: _Standard(Family.WEIBULL, math.log(c), 0.0, first=c - 1.0, second=c),
    "rayleigh": lambda: _FAMILIES["weibull_min"](2.0)._replace(stretch=math.sqrt(2.0)),
    "lognorm": lambda s: _Standard(
        Family.LOGNORMAL, -math.log(s) - _LOG_ROOT_TWO_PI, 0.0, second=1.0 / s
    ),
    "beta": lambda a, b: _Standard(
        Family.BETA, -_log_beta(a, b), 0.0, 1.0, first=a - 1.0, second=b - 1.0
    ),
    "triang": lambda c: _Standard(Family.TRIANGLE, _LOG_TWO, 0.0, 1.0, first=c),
}
_ALIASES = {"reciprocal": "loguniform"}


def known_families() -> tuple[str, ...]:
    """The distributions of `scipy.stats` whose densities are compiled.

    >>> "gamma" in known_families()
    True
    """
    return tuple(sorted([*_FAMILIES, *_ALIASES]))


def named_parameters(frozen: Any) -> dict[str, Any]:
    """What a distribution was frozen with: shapes, location and scale, by name.

    >>> from scipy import stats
    >>> named_parameters(stats.gamma(2, scale=3))
    {'a': 2, 'loc': 0.0, 'scale': 3}
    """
    shapes = frozen.dist.shapes.split(",") if frozen.dist.shapes else []
    names = [*(shape.strip() for shape in shapes), "loc"]
    if not is_whole(frozen):
        names.append("scale")
    # Not strict: the last ones may have been left out, or given by name.
    by_position = dict(zip(names, frozen.args, strict=False))
    given = {"loc": 0.0, "scale": 1.0} | by_position | frozen.kwds
    return {name: given[name] for name in names}


def encode(frozen: Any) -> Encoded | None:
    """A valid frozen distribution as compiled code reads it, or None where its family is unknown.

    >>> from scipy import stats
    >>> encode(stats.uniform(0, 3)).family == Family.FLAT
    True
    >>> encode(stats.gumbel_r(0, 3)) is None
    True
    """
    return encode_parameters(frozen, named_parameters(frozen))


def encode_parameters(frozen: Any, given: Mapping[str, Any]) -> Encoded | None:
    """The same with other parameters, one number each, by scipy's names for them."""
    from scipy import stats

    shapes = {key: float(value) for key, value in given.items()}
    if is_whole(frozen):
        return _encode_whole(frozen, shapes)
    name = _ALIASES.get(frozen.dist.name, frozen.dist.name)
    # The name alone is not enough: anyone may call a distribution of their own "norm".
    if name not in _FAMILIES or type(frozen.dist) is not type(getattr(stats, name)):
        return None
    location, scale = shapes.pop("loc"), shapes.pop("scale")
    # Parameters out of all proportion overflow quietly: whoever builds a prior looks at the row.
    with np.errstate(all="ignore"):
        standard = _FAMILIES[name](**shapes)
    row = np.array(  # in the order of the columns of `log_densities`
        [
            location,
            scale * standard.stretch,
            max(standard.lower, -_LARGEST),
            min(standard.upper, _LARGEST),
            standard.constant - math.log(scale) - math.log(standard.stretch),
            standard.first,
            standard.second,
        ]
    )
    return Encoded(int(standard.family), row)


def is_whole(frozen: Any) -> bool:
    """Whether a frozen distribution is one of whole numbers."""
    from scipy import stats

    return isinstance(frozen.dist, stats.rv_discrete)


def _encode_whole(frozen: Any, shapes: dict[str, float]) -> Encoded | None:
    location = shapes.pop("loc")
    with np.errstate(all="ignore"):
        form = whole_form_of(frozen, shapes)
    if form is None:
        return None
    row = np.array([location, 1.0, form.lower, form.upper, form.constant, form.first, form.second])
    return Encoded(int(form.family), row)


def _log_gamma(shape: float) -> float:
    from scipy import special

    return float(special.gammaln(shape))


def _log_beta(a: float, b: float) -> float:
    from scipy import special

    return float(special.betaln(a, b))
