"""Frozen distributions of `scipy.stats`: what they may be, and what they are called."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from aptmc.errors import InputError
from aptmc.problem.prior.families import is_whole, named_parameters
from aptmc.problem.variables import Variable


def is_univariate(distribution: Any) -> bool:
    """Whether it is a frozen distribution of single numbers, continuous or whole."""
    from scipy import stats

    kinds = stats.rv_continuous | stats.rv_discrete
    return isinstance(getattr(distribution, "dist", None), kinds)


def complete(distribution: Any) -> Any:
    """Frozen, if it is one of those that have no parameters: of a histogram, or of a table."""
    from scipy import stats

    is_table = isinstance(distribution, stats.rv_discrete) and hasattr(distribution, "xk")
    if is_table or isinstance(distribution, stats.rv_histogram):
        return distribution()
    return distribution


def refuse_unfrozen(name: str, distribution: Any) -> None:
    """A family of scipy without parameters is a common slip."""
    from scipy import stats

    family = getattr(distribution, "name", type(distribution).__name__.removesuffix("_gen"))
    is_family = isinstance(distribution, stats.rv_continuous | stats.rv_discrete)
    is_joint_family = type(distribution).__name__.endswith("_gen")
    if is_family or is_joint_family:
        raise InputError(
            f"the distribution of {name!r} has no parameters yet, got {family!r} itself: "
            "freeze it by calling it, as in stats.norm(0, 1)"
        )


def refuse(name: str, distribution: Any) -> InputError:
    """What to say of something that is no distribution."""
    from scipy import stats

    if isinstance(distribution, stats.gaussian_kde):
        return InputError(
            f"the distribution of {name!r} is a kernel density, which has no place among priors: "
            "use stats.rv_histogram(np.histogram(draws)), or a joint prior of your own, "
            "aptmc.Prior.joint(log_density, draw)"
        )
    return InputError(
        f"the distribution of {name!r} must be frozen by scipy.stats, got {distribution!r}: use "
        "for example stats.uniform(0, 3), aptmc.iid(stats.norm(0, 1), 25) for a vector, or a "
        "function of earlier parameters that returns a distribution"
    )


def parameter_arrays(name: str, frozen: Any) -> dict[str, Any]:
    """The parameters by scipy's names, each a number or an array, or a clear error."""
    found = {}
    for parameter, value in named_parameters(frozen).items():
        where = f"{parameter} in the distribution of {name!r}"
        values = np.asarray(value)
        if values.dtype.kind not in "biuf" or values.size == 0:
            raise InputError(
                f"{where} must be one number, got {value!r}: "
                "or an array of numbers, for a vector of parameters"
            )
        values = values.astype(np.float64)
        _check(where, parameter, values, whole=is_whole(frozen))
        found[parameter] = values
    lower, upper = frozen.support()
    # scipy answers (nan, nan) where a shape parameter is out of its range. A whole number may be
    # certain.
    valid = np.less_equal(lower, upper) if is_whole(frozen) else np.less(lower, upper)
    if not np.all(valid):
        raise InputError(
            f"the distribution of {name!r} is not valid, got {described(frozen)} with support "
            f"({lower}, {upper}): see the documentation of stats.{frozen.dist.name} for the range "
            "of its parameters"
        )
    return found


def _check(where: str, parameter: str, values: Any, *, whole: bool) -> None:
    """Refuse numbers that no distribution can have."""
    for number in values.ravel().tolist():
        if parameter == "scale" and not 0.0 < number < math.inf:
            raise InputError(
                f"{where} must be positive and finite, got {number!r}: "
                "scipy.stats takes (..., loc, scale), in this order"
            )
        # A shape may be infinite: the degrees of freedom of t, the bounds of truncnorm.
        if math.isnan(number) or (parameter == "loc" and math.isinf(number)):
            raise InputError(f"{where} must be a number, got {number!r}: use a finite one")
        if whole and parameter == "loc" and number != math.floor(number):
            raise InputError(f"{where} must be a whole number, got {number!r}")


def described(frozen: Any) -> str:
    """A univariate distribution as it is written, with rounded numbers."""
    given = [rounded(value) for value in frozen.args]
    given += [f"{key}={rounded(value)}" for key, value in frozen.kwds.items()]
    return f"{frozen.dist.name}({', '.join(given)})"


def in_short(given: Any) -> str:
    """Whatever was given in place of something else, with distributions as they are written.

    >>> from scipy import stats
    >>> in_short({"x": stats.norm(0, 2)}), in_short(3)
    ("{'x': norm(0, 2)}", '3')
    """
    if isinstance(given, Mapping):
        inside = (f"{name!r}: {in_short(one)}" for name, one in given.items())
        return "{" + ", ".join(inside) + "}"
    if isinstance(given, list | tuple):
        return f"[{', '.join(map(in_short, given))}]"
    return described(given) if is_univariate(given) else repr(given)


def rounded(value: Any) -> str:
    """A number or an array, in short."""
    values = np.asarray(value)
    if values.ndim == 0:
        return f"{value:.6g}" if values.dtype.kind in "biuf" else repr(value)
    if values.size > 6 or values.ndim > 1:
        return f"<{'x'.join(map(str, values.shape))} numbers>"
    return f"[{', '.join(f'{number:.6g}' for number in values.tolist())}]"


def written(variable: Variable, text: str, own: tuple[int, ...]) -> str:
    """An argument of `Prior`.

    :param own: the shape that the distribution has by itself
    """
    if variable.shape == own:
        return f"{variable.name}={text}"
    shape = variable.shape[0] if len(variable.shape) == 1 else variable.shape
    return f"{variable.name}=iid({text}, {shape})"
