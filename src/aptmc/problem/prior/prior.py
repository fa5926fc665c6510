"""The prior: independent marginals, one per named parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from aptmc.checks import parameter_name
from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.errors import InputError
from aptmc.problem.prior import log_densities
from aptmc.problem.prior.draws import ATTEMPTS, draw_priors
from aptmc.problem.prior.families import Encoded, encode, known_families, named_parameters

SPREAD_DRAWS = 1000


@final
@dataclass(frozen=True, init=False, repr=False, eq=False)
class Prior:
    """Independent parameters, each with a continuous distribution frozen by `scipy.stats`.

    >>> from scipy import stats
    >>> prior = Prior(rate=stats.gamma(2, scale=0.5), shift=stats.norm(0, 1))
    >>> prior
    Prior(rate=gamma(2, scale=0.5), shift=norm(0, 1))
    >>> prior.names
    ('rate', 'shift')
    >>> prior.dimension
    2

    The well-known families are compiled; any other one works, only slower.

    >>> prior.is_compiled
    True
    >>> Prior(level=stats.gumbel_r(0, 1)).is_compiled
    False
    """

    names: tuple[str, ...]
    marginals: tuple[Any, ...]
    _tables: tuple[Integers, FloatTable] | None

    def __init__(self, /, **marginals: Any) -> None:
        """Name the parameters, in the order in which a point lists them."""
        if not marginals:
            raise InputError(
                "a prior needs at least one parameter, got none: "
                "name each with its distribution, as in Prior(rate=stats.uniform(0, 3))"
            )
        for name, marginal in marginals.items():
            parameter_name(name)
            _check_is_frozen(name, marginal)
            _check_parameters(name, marginal)
        encoded = [_encode(name, marginal) for name, marginal in marginals.items()]
        known = [marginal for marginal in encoded if marginal is not None]
        tables = None
        if len(known) == len(encoded):
            families = np.array([marginal.family for marginal in known], dtype=np.int64)
            tables = families, np.array([marginal.row for marginal in known])
        object.__setattr__(self, "names", tuple(marginals))
        object.__setattr__(self, "marginals", tuple(marginals.values()))
        object.__setattr__(self, "_tables", tables)

    @property
    def dimension(self) -> int:
        """The number of parameters."""
        return len(self.names)

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code can evaluate this prior, from `families` and `parameters`."""
        return self._tables is not None

    @property
    def families(self) -> Integers:
        """One family code per parameter, as `densities.log_density` takes them (a copy)."""
        return self._compiled_tables()[0].copy()

    @property
    def parameters(self) -> FloatTable:
        """One row of numbers per parameter, as `densities.log_density` takes them (a copy)."""
        return self._compiled_tables()[1].copy()

    @property
    def support(self) -> tuple[Floats, Floats]:
        """The ends of the support, lower and upper, of every parameter.

        >>> from scipy import stats
        >>> Prior(rate=stats.uniform(0, 3), shift=stats.norm(0, 1)).support
        (array([  0., -inf]), array([ 3., inf]))
        """
        ends = np.array([marginal.support() for marginal in self.marginals], dtype=np.float64)
        return ends[:, 0].copy(), ends[:, 1].copy()

    def log_density(self, theta: npt.ArrayLike) -> Any:
        """The log density at one point, or at every point of an array of shape (..., dimension).

        It is finite, or minus infinity; the latter also where a marginal's density is infinite (a
        gamma with shape below 1, at 0): such a point has no mass.

        >>> from scipy import stats
        >>> prior = Prior(rate=stats.uniform(0, 4), shift=stats.expon())
        >>> prior.log_density([1.0, 0.0])
        -1.3862943611198906
        >>> prior.log_density([[1.0, 0.0], [1.0, 2.0], [5.0, 0.0]])
        array([-1.38629436, -3.38629436,        -inf])
        """
        points = self._points(theta)
        if self._tables is None:
            return self._log_density_by_scipy(points)
        families, parameters = self._tables
        if points.ndim == 1:
            return log_densities.log_density(points, families, parameters)
        flat = log_densities.log_densities(points.reshape(-1, self.dimension), families, parameters)
        return flat.reshape(points.shape[:-1])

    def spread(self, rng: np.random.Generator) -> Floats:
        """About the standard deviation of each parameter, from draws."""
        # Heavy tails have no variance; quartiles they have.
        low, high = np.quantile(self.draw(rng, SPREAD_DRAWS), [0.25, 0.75], axis=0)
        return np.asarray(np.maximum((high - low) / 1.349, 1e-300))

    def draw(self, rng: np.random.Generator, size: int | None = None) -> Floats | FloatTable:
        """One draw, of shape (dimension,), or `size` of them, of shape (size, dimension).

        The log density of a draw is always finite: where a distribution is so wide or so narrow
        that a draw is rounded to a point without density, such as infinity, it is drawn again.
        The families that are compiled are drawn by compiled code (see `draws`), the others by
        scipy.

        >>> from scipy import stats
        >>> prior = Prior(rate=stats.uniform(0, 3), shift=stats.norm(0, 1))
        >>> prior.draw(np.random.default_rng(1)).shape
        (2,)
        >>> prior.draw(np.random.default_rng(1), size=10).shape
        (10, 2)
        """
        if not isinstance(rng, np.random.Generator):
            raise InputError(
                f"rng must be a numpy Generator, got {rng!r}: use np.random.default_rng(seed)"
            )
        if size is not None and (not isinstance(size, int | np.integer) or size < 0):
            raise InputError(f"size must be a non-negative integer or None, got {size!r}")
        draws = np.empty((1 if size is None else int(size), self.dimension))
        if self._tables is None:
            self._draw_by_scipy(rng, draws)
        else:
            try:
                draw_priors(rng, *self._tables, draws)
            except InputError as error:
                raise InputError(f"{self!r}: {error}") from None
        return draws[0] if size is None else draws

    def __repr__(self) -> str:
        """The call that made it, with rounded numbers."""
        parts = [
            f"{name}={_describe(marginal)}"
            for name, marginal in zip(self.names, self.marginals, strict=True)
        ]
        return f"Prior({', '.join(parts)})"

    def _compiled_tables(self) -> tuple[Integers, FloatTable]:
        if self._tables is None:
            raise InputError(
                f"{self!r} cannot be evaluated by compiled code: ask is_compiled first, "
                f"or use these families only: {', '.join(known_families())}"
            )
        return self._tables

    def _points(self, theta: npt.ArrayLike) -> npt.NDArray[np.float64]:
        try:
            # Always a copy, because compiled code refuses read-only arrays.
            points = np.array(theta, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise InputError(f"theta must be an array of numbers, got {theta!r}") from error
        if points.ndim == 0 or points.shape[-1] != len(self.names):
            raise InputError(
                f"theta must have one number for each of {', '.join(self.names)} along its last "
                f"axis, got an array of shape {points.shape}: "
                f"use shape ({self.dimension},) or (..., {self.dimension})"
            )
        return points

    def _log_density_by_scipy(self, points: npt.NDArray[np.float64]) -> Any:
        total = np.zeros(points.shape[:-1])
        # scipy computes with infinities at borders; the result is put right below.
        with np.errstate(all="ignore"):
            for dimension, marginal in enumerate(self.marginals):
                value = marginal.logpdf(points[..., dimension])
                # The rule of `densities`: NaN and plus infinity are points without density.
                total += np.where(value < math.inf, value, -math.inf)
        return float(total) if points.ndim == 1 else total

    def _draw_by_scipy(self, rng: np.random.Generator, draws: FloatTable) -> None:
        wanting = np.arange(len(draws))
        for _ in range(ATTEMPTS):
            for dimension, marginal in enumerate(self.marginals):
                draws[wanting, dimension] = marginal.rvs(size=wanting.size, random_state=rng)
            wanting = wanting[np.isneginf(self._log_density_by_scipy(draws[wanting]))]
            if wanting.size == 0:
                return
        raise InputError(
            f"{self!r} drew no point of finite log density in {ATTEMPTS} attempts, the last was "
            f"{draws[wanting[0]]}: choose distributions that floating-point numbers can hold"
        )


def _check_is_frozen(name: str, marginal: Any) -> None:
    from scipy import stats  # slow to import, and loaded already where the marginal is right

    distribution = getattr(marginal, "dist", None)
    if isinstance(distribution, stats.rv_continuous):
        return
    if isinstance(marginal, stats.rv_continuous):
        raise InputError(
            f"the distribution of {name!r} has no parameters yet, got {marginal.name!r} itself: "
            "freeze it by calling it, as in stats.norm(0, 1)"
        )
    if isinstance(marginal, stats.rv_discrete) or isinstance(distribution, stats.rv_discrete):
        raise InputError(
            f"the distribution of {name!r} must be continuous, got the discrete "
            f"{(distribution or marginal).name!r}: use a continuous one, as in stats.uniform(0, 3)"
        )
    raise InputError(
        f"the distribution of {name!r} must be a one-dimensional continuous distribution frozen by "
        f"scipy.stats, got {marginal!r}: use for example stats.uniform(0, 3)"
    )


def _check_parameters(name: str, frozen: Any) -> None:
    for parameter, value in named_parameters(frozen).items():
        where = f"{parameter} in the distribution of {name!r}"
        if np.ndim(value) > 0 or np.asarray(value).dtype.kind not in "biuf":
            raise InputError(
                f"{where} must be one number, got {value!r}: "
                "give each parameter a name and a distribution of its own"
            )
        number = float(value)
        if parameter == "scale" and not 0.0 < number < math.inf:
            raise InputError(
                f"{where} must be positive and finite, got {number!r}: "
                "scipy.stats takes (..., loc, scale), in this order"
            )
        # A shape may be infinite: the degrees of freedom of t, the bounds of truncnorm.
        if math.isnan(number) or (parameter == "loc" and math.isinf(number)):
            raise InputError(f"{where} must be a number, got {number!r}: use a finite one")
    lower, upper = frozen.support()
    # scipy answers (nan, nan) where a shape parameter is out of its range.
    if not lower < upper:
        raise InputError(
            f"the distribution of {name!r} is not valid, got {_describe(frozen)} with support "
            f"({lower}, {upper}): see the documentation of stats.{frozen.dist.name} for the range "
            "of its parameters"
        )


def _encode(name: str, frozen: Any) -> Encoded | None:
    encoded = encode(frozen)
    if encoded is not None and not np.isfinite(encoded.row).all():
        raise InputError(
            f"the density of {name!r} cannot be computed in floating point, "
            f"got {_describe(frozen)}: use less extreme parameters"
        )
    return encoded


def _describe(frozen: Any) -> str:
    given = [f"{value:.6g}" for value in frozen.args]
    given += [f"{key}={value:.6g}" for key, value in frozen.kwds.items()]
    return f"{frozen.dist.name}({', '.join(given)})"
