"""The prior: named parameters, independent or not, one part after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, final

import numpy as np
import numpy.typing as npt

from aptmc.checks import parameter_name
from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.errors import InputError
from aptmc.problem.parametrisation import Parametrisation
from aptmc.problem.prior import log_densities
from aptmc.problem.prior.composition import composed_functions
from aptmc.problem.prior.draws import draw_prior, draw_priors
from aptmc.problem.prior.evaluation import (
    draw_by_parts,
    log_density_by_parts,
    plain_functions,
    table_functions,
)
from aptmc.problem.prior.families import known_families
from aptmc.problem.prior.frozen import in_short
from aptmc.problem.prior.joint import Joint, joint_part
from aptmc.problem.prior.make_part import make_part
from aptmc.problem.prior.part import Part, Tables
from aptmc.problem.reference import Reference, ReferenceFunctions
from aptmc.problem.variables import Shape, Variable
from aptmc.targets import INTERPRETED, NUMBA, Target, from_python, from_python_once

# Draws by which parts that depend on earlier ones are tried, when they are named.
TRIED = 32


@final
@dataclass(frozen=True, init=False, repr=False, eq=False)
class Prior(Reference):
    """Named parameters, each with a distribution frozen by `scipy.stats`.

    >>> from scipy import stats
    >>> prior = Prior(rate=stats.gamma(2, scale=0.5), shift=stats.norm(0, 1))
    >>> prior
    Prior(rate=gamma(2, scale=0.5), shift=norm(0, 1))
    >>> prior.names
    ('rate', 'shift')
    >>> prior.dimension
    2

    A parameter may be a vector (a distribution with arrays as parameters, or `aptmc.iid`), have a
    multivariate normal, t or Dirichlet distribution, be a whole number, or depend on earlier
    parameters: by a function of them that returns a distribution, or by `aptmc.given`.

    >>> import aptmc
    >>> Prior(sd=stats.halfnorm(scale=1), beta=aptmc.iid(lambda sd: stats.norm(0, sd), 2)).names
    ('sd', 'beta[0]', 'beta[1]')

    The well-known families are compiled; any other one works, only slower.

    >>> prior.is_compiled
    True
    >>> Prior(level=stats.gumbel_r(0, 1)).is_compiled
    False

    Chains hold *coordinates*, real numbers: a whole number k as any number in [k, k + 1), K shares
    as K - 1 log odds. Densities and draws are those of coordinates, and `constrain` gives the
    parameters. Where there are neither whole numbers nor shares both are the same.
    """

    parts: tuple[Part, ...]

    def __init__(self, /, *unnamed: Any, **marginals: Any) -> None:
        """Name the parameters, in the order in which a point lists them."""
        if unnamed:
            raise InputError(_without_names(unnamed))
        if not marginals:
            raise InputError(
                "a prior needs at least one parameter, got none: "
                "name each with its distribution, as in Prior(rate=stats.uniform(0, 3))"
            )
        parts: tuple[Part, ...] = ()
        for name, marginal in marginals.items():
            parameter_name(name)
            parts = (*parts, make_part(name, marginal, partial(_example, parts)))
        object.__setattr__(self, "parts", parts)
        _ = self.parametrisation  # so that errors come now
        if any(part.looks_back for part in parts):
            # Compiled code has no errors: where a distribution is not valid its density is 0, which
            # would change the prior without a word.
            few = np.empty((TRIED, self.dimension))
            draw_by_parts(parts, self.parametrisation, np.random.default_rng(0), few)

    @classmethod
    def joint(
        cls,
        log_density: Callable[..., Any],
        draw: Callable[..., Any],
        /,
        **shapes: Shape,
    ) -> Prior:
        """A prior from two functions, for parameters that no distribution of scipy describes.

        :param log_density: log_density(theta) gives the log density, normalised if an evidence is
            wanted; theta is an array, the parameters one after the other
        :param draw: draw(rng) gives an array like theta, drawn from the same distribution
        :param shapes: by name, the shape of each parameter: () for one number, 3 for a vector

        Compiled if both are numba functions.

        >>> def log_density(theta):  # somewhere on the half disc
        ...     return np.log(2 / np.pi) if theta @ theta <= 1 and theta[1] >= 0 else -np.inf
        >>> def draw(rng):
        ...     angle, radius = np.pi * rng.random(), np.sqrt(rng.random())
        ...     return [radius * np.cos(angle), radius * np.sin(angle)]
        >>> Prior.joint(log_density, draw, x=(), y=())
        Prior.joint(log_density, draw, x=(), y=())
        """
        return cls._of((joint_part(log_density, draw, shapes),))

    @classmethod
    def _of(cls, parts: tuple[Part, ...]) -> Prior:
        prior = cls.__new__(cls)
        object.__setattr__(prior, "parts", parts)
        _ = prior.parametrisation
        return prior

    def labelled(self, **dimensions: Mapping[str, Sequence[Any] | None]) -> Prior:
        """The same prior with names for the dimensions of its parameters, and for their places.

        >>> from scipy import stats
        >>> prior = Prior(share=stats.dirichlet([1, 1, 1]))
        >>> prior.labelled(share={"party": ["red", "green", "blue"]}).labels
        ('share[red]', 'share[green]', 'share[blue]')
        """
        for name in dimensions:
            if name not in self.parametrisation.places:
                known = ", ".join(self.parametrisation.places)
                raise InputError(f"there is no parameter {name!r}: there are {known}")

        def named(variable: Variable) -> Variable:
            said = dimensions.get(variable.name)
            if said is None:
                return variable
            places = {dim: tuple(names) for dim, names in said.items() if names is not None}
            return replace(variable, dims=tuple(said), coords=places)

        return self._of(
            tuple(part.with_variables(tuple(map(named, part.variables))) for part in self.parts)
        )

    def __getstate__(self) -> dict[str, Any]:
        """The parts: what was compiled belongs to this process."""
        return {"parts": self.parts}

    @cached_property
    def parametrisation(self) -> Parametrisation:
        """How coordinates become parameters."""
        return Parametrisation([one for part in self.parts for one in part.variables])

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The parameters, with names and shapes."""
        return self.parametrisation.variables

    @property
    def names(self) -> tuple[str, ...]:
        """One for each coordinate: those of the parameters, `beta[3]` for a place of a vector."""
        return self.parametrisation.names

    @property
    def labels(self) -> tuple[str, ...]:
        """One for each number that users see. A simplex has one more of them than coordinates."""
        return self.parametrisation.labels

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return self.parametrisation.dimension

    @property
    def marginals(self) -> tuple[Any, ...]:
        """The distributions, as they were given, where all parameters are independent numbers."""
        found = [getattr(part, "distribution", None) for part in self.parts]
        if any(marginal is None for marginal in found):
            raise InputError(f"{self!r} is not made of independent numbers: look at its parts")
        return tuple(found)

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code can evaluate this prior and draw from it."""
        return all(part.is_compiled for part in self.parts)

    @property
    def families(self) -> Integers:
        """One family code per coordinate, as `log_densities.log_density` takes them (a copy)."""
        return self._compiled_tables().families.copy()

    @property
    def parameters(self) -> FloatTable:
        """One row of numbers per coordinate, as `log_densities.log_density` takes them (a copy)."""
        return self._compiled_tables().parameters.copy()

    @property
    def support(self) -> tuple[Floats, Floats]:
        """The ends of the support, lower and upper, of every coordinate.

        They are infinite where they depend on other parameters.

        >>> from scipy import stats
        >>> Prior(rate=stats.uniform(0, 3), shift=stats.norm(0, 1)).support
        (array([  0., -inf]), array([ 3., inf]))
        """
        ends = [part.support() for part in self.parts]
        return np.concatenate([one for one, _ in ends]), np.concatenate([one for _, one in ends])

    def constrain(self, theta: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The parameters at some coordinates, along the last axis.

        >>> from scipy import stats
        >>> Prior(count=stats.poisson(3), rate=stats.gamma(2)).constrain([4.7, 0.2])
        array([4. , 0.2])
        """
        return self.parametrisation.constrain(theta)

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
        if self._tables is None or points.ndim > 1 or not self._tables.are_usual:
            rows = points.reshape(-1, self.dimension)
            if self._tables is not None:
                many = (
                    log_densities.log_densities
                    if self._tables.are_usual
                    else log_densities.log_any_densities
                )
                found = from_python(many, rows.size)(rows, *self._tables)
            elif self.is_compiled:
                log_density = self._composed_for(rows.size).log_density
                found = np.array([log_density(row) for row in rows])
            else:
                found = log_density_by_parts(self.parts, self.parametrisation, rows)
            return float(found[0]) if points.ndim == 1 else found.reshape(points.shape[:-1])
        return from_python(log_densities.log_density)(points, *self._tables)

    def draw(self, rng: np.random.Generator, size: int | None = None) -> Floats | FloatTable:
        """One draw, of shape (dimension,), or `size` of them, of shape (size, dimension).

        The log density of a draw is always finite: where a distribution is so wide or so narrow
        that a draw is rounded to a point without density, such as infinity, it is drawn again.
        What can be compiled is drawn by compiled code (see `draws`), the rest by scipy.

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
        try:
            if self._tables is not None:
                from_python_once(draw_priors, draws.size)(rng, *self._tables, draws)
            elif self.is_compiled:
                draw = self._composed_for(draws.size).draw
                for row in draws:
                    draw(rng, row)
            else:
                draw_by_parts(self.parts, self.parametrisation, rng, draws)
        except InputError as error:
            raise InputError(f"{self!r}: {error}") from None
        return draws[0] if size is None else draws

    def functions(self, target: Target) -> ReferenceFunctions:
        """Log density and draw for kernels."""
        if self._tables is not None:
            return table_functions(self._tables, target)
        is_compiled = target.is_compiled and self.is_compiled
        return self._composed if is_compiled else plain_functions(self)

    def __repr__(self) -> str:
        """The call that made it, with rounded numbers."""
        is_joint = len(self.parts) == 1 and isinstance(self.parts[0], Joint)
        return f"Prior{'.joint' if is_joint else ''}({', '.join(map(str, self.parts))})"

    @cached_property
    def _tables(self) -> Tables | None:
        """Of all coordinates, if they are independent and of known families."""
        found = [part.tables() for part in self.parts]
        known = [tables for tables in found if tables is not None]
        if len(known) < len(found):
            return None
        return Tables(
            np.concatenate([tables.families for tables in known]),
            np.concatenate([tables.parameters for tables in known]),
        )

    @cached_property
    def _composed(self) -> ReferenceFunctions:
        return composed_functions(self.parts, self.parametrisation, NUMBA)

    @cached_property
    def _composed_source(self) -> ReferenceFunctions:
        return composed_functions(self.parts, self.parametrisation, INTERPRETED)

    def _composed_for(self, numbers: int) -> ReferenceFunctions:
        """To be called from Python: compiled, unless all that these call had to be, too."""
        is_compiled = from_python(draw_prior, numbers) is draw_prior
        return self._composed if is_compiled else self._composed_source

    def _compiled_tables(self) -> Tables:
        if self._tables is None:
            raise InputError(
                f"{self!r} cannot be evaluated by compiled code alone: ask is_compiled first, "
                f"or use independent parameters of these families only: "
                f"{', '.join(known_families())}"
            )
        return self._tables

    def _points(self, theta: npt.ArrayLike) -> npt.NDArray[np.float64]:
        try:
            # Always a copy, because compiled code refuses read-only arrays.
            points = np.array(theta, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise InputError(f"theta must be an array of numbers, got {theta!r}") from error
        if points.ndim == 0 or points.shape[-1] != self.dimension:
            raise InputError(
                f"theta must have one number for each of {', '.join(self.names)} along its last "
                f"axis, got an array of shape {points.shape}: "
                f"use shape ({self.dimension},) or (..., {self.dimension})"
            )
        return points


def _example(parts: tuple[Part, ...]) -> dict[str, Any]:
    """Some values of the parameters of these parts, by name."""
    if not parts:
        return {}
    prior = Prior._of(parts)
    drawn = np.empty((1, prior.dimension))
    draw_by_parts(prior.parts, prior.parametrisation, np.random.default_rng(0), drawn)
    values = prior.parametrisation.arrays(drawn[0])
    return {name: float(value) if value.ndim == 0 else value for name, value in values.items()}


def _without_names(given: tuple[Any, ...]) -> str:
    """What to say of distributions that were given without names."""
    first = given[0]
    words = in_short(first)
    if isinstance(first, Mapping):
        remedy = "put two stars before a dictionary, Prior(**marginals)"
    elif isinstance(first, list | tuple):
        remedy = "name each, as in Prior(rate=stats.gamma(2), shift=stats.norm(0, 1))"
    else:
        remedy = "name it, as in Prior(rate=stats.uniform(0, 3))"
    return f"the parameters of a prior have names, got {words} without one: {remedy}"


def checked_prior(prior: Any) -> Prior:
    """A prior, or what to do with something that is none."""
    if isinstance(prior, Prior):
        return prior
    remedy = "write aptmc.Prior(rate=stats.uniform(0, 3)), say"
    if isinstance(prior, Mapping):
        remedy = "put it between the brackets of one, with two stars, aptmc.Prior(**marginals)"
    raise InputError(f"prior must be an aptmc.Prior, got {in_short(prior)}: {remedy}")
