"""A part that depends on earlier parts: a distribution for each of their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.in_words import in_words
from aptmc.problem.prior.arguments import argument_names, check_earlier
from aptmc.problem.prior.distributions import distribution_part
from aptmc.problem.prior.families import is_whole
from aptmc.problem.prior.frozen import is_univariate, written
from aptmc.problem.prior.given import Given
from aptmc.problem.prior.independent import Independent
from aptmc.problem.prior.part import Array, CompiledPart, Earlier, Part, Surroundings
from aptmc.problem.prior.traced import as_given
from aptmc.problem.variables import Variable


@final
@dataclass(frozen=True)
class Conditional(Part):
    """A variable whose distribution is a function of earlier variables.

    :param rule: a function of earlier variables, by name, that returns a frozen distribution
    """

    looks_back = True

    variables: tuple[Variable, ...]
    rule: Callable[..., Any]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        name: str,
        rule: Callable[..., Any],
        example: Mapping[str, Any],
        shape: tuple[int, ...] | None = None,
        dims: Any = (),
        coords: Any = (),
    ) -> Conditional:
        """Look at the distribution for some values of earlier variables to learn its shape.

        :param example: such values, by name
        """
        names = rule.names if isinstance(rule, Given) else argument_names(rule)
        check_earlier(name, names, example)
        if not names and not isinstance(rule, Given):
            raise InputError(
                f"the function for {name!r} depends on no earlier parameter: give its "
                "distribution itself, or name its arguments after earlier parameters"
            )
        values = {key: example[key] for key in names}
        with _blaming(name, values):
            (one,) = distribution_part(name, rule(**values), shape).variables
        if not isinstance(rule, Given):
            rule = as_given(rule, values) or rule
        return cls((Variable(name, one.shape, dims, dict(coords), one.kind),), rule, names)

    @override
    def tables(self) -> None:
        return None

    @property
    @override
    def is_compiled(self) -> bool:
        """If the rule is spelled as `given`, or can be read so, and can be compiled."""
        return isinstance(self.rule, Given) and self.rule.is_compiled

    @override
    def compiled(self, here: Surroundings) -> CompiledPart:
        assert isinstance(self.rule, Given)
        return self.rule.compiled(here, self.variables[0].shape)

    @override
    def support(self) -> tuple[Floats, Floats]:
        """Unknown, so without ends: it may depend on other variables."""
        return np.full(self.dimension, -math.inf), np.full(self.dimension, math.inf)

    @override
    def log_density(self, points: Array, earlier: Earlier) -> Array:
        """Computed for one point after the other: each has a distribution of its own."""
        found = np.empty(len(points))
        for row, point in enumerate(points):
            values = {name: _own(earlier[name][row]) for name in self.names}
            with _blaming(self.variables[0].name, values):
                found[row] = self._at(values).log_density(point[None], {})[0]
        return found

    @override
    def draw(self, rng: np.random.Generator, points: Array, earlier: Earlier) -> None:
        """Drawn for one point after the other: each has a distribution of its own."""
        for row in range(len(points)):
            values = {name: _own(earlier[name][row]) for name in self.names}
            with _blaming(self.variables[0].name, values):
                try:
                    self._at(values).draw(rng, points[row : row + 1], {})
                except ValueError:
                    self._checked(values)  # which says it better
                    raise

    def _at(self, values: Mapping[str, Any]) -> Part:
        """The part for some values of the earlier variables."""
        (variable,) = self.variables
        frozen = self.rule(**values)
        if is_univariate(frozen) and is_whole(frozen) == (variable.kind == "whole"):
            # Without the checks that were made once, which take longer than the density.
            return Independent(self.variables, frozen)
        found = self._checked(values)
        (one,) = found.variables
        if (one.shape, one.kind) != (variable.shape, variable.kind):
            raise InputError(
                f"it is one of {one.kind} numbers of shape {one.shape}, and elsewhere of "
                f"{variable.kind} ones of shape {variable.shape}: it must be the same everywhere"
            )
        return found

    def _checked(self, values: Mapping[str, Any]) -> Part:
        (variable,) = self.variables
        return distribution_part(variable.name, self.rule(**values), variable.shape)

    def __str__(self) -> str:
        (variable,) = self.variables
        text = str(self.rule) if isinstance(self.rule, Given) else f"<of {', '.join(self.names)}>"
        return written(variable, text, ())


@contextmanager
def _blaming(name: str, values: Mapping[str, Any]) -> Iterator[None]:
    """Say of an error for which values of earlier variables it came up."""
    try:
        yield
    except Exception as error:
        words = str(error) if isinstance(error, InputError) else f"{in_words(error)}"
        raise InputError(
            f"the distribution of {name!r} cannot be used: {words} at {_where(values)}"
        ) from error


def _where(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={np.asarray(value).tolist()!r}" for key, value in values.items())


def _own(value: Any) -> Any:
    """A copy that a user's function may change; one number is a plain one."""
    return float(value) if np.ndim(value) == 0 else np.array(value)
