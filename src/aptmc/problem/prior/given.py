"""Distributions whose parameters depend on earlier variables, in a form that can be compiled."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from aptmc.arguments import named_clearly
from aptmc.compiled import is_compiled
from aptmc.errors import InputError
from aptmc.problem.prior.arguments import argument_names
from aptmc.problem.prior.draws import draw_marginal
from aptmc.problem.prior.filling import filler
from aptmc.problem.prior.frozen import rounded
from aptmc.problem.prior.log_densities import log_any_marginal
from aptmc.problem.prior.part import CompiledPart, Surroundings, as_compiled
from aptmc.problem.prior.rows import INVALID, ROW_LENGTH, code_of, fill_row
from aptmc.targets import is_compiled_for_user


@final
@dataclass(frozen=True)
class Given:
    """A family of scipy.stats with the parameters that it is to be frozen with, as `given` says."""

    family: Any
    parameters: Mapping[str, Any]  # all of them, by scipy's names: shapes, loc, scale

    @property
    def names(self) -> tuple[str, ...]:
        """The earlier variables that it looks at."""
        found: dict[str, None] = {}
        for value in self.parameters.values():
            if isinstance(value, str):
                found[value] = None
            elif callable(value):
                found |= dict.fromkeys(argument_names(value))
        return tuple(found)

    @property
    def is_compiled(self) -> bool:
        """If the family is a known one and all functions are numba functions."""
        functions = [value for value in self.parameters.values() if callable(value)]
        return code_of(self.family) is not None and all(map(is_compiled, functions))

    def __call__(self, **earlier: Any) -> Any:
        """The frozen distribution for some values of the earlier variables."""
        values = {}
        for key, value in self.parameters.items():
            if isinstance(value, str):
                values[key] = earlier[value]
            elif callable(value):
                # What was plain waits for no compiler.
                plain = value.py_func if is_compiled_for_user(value) else value
                values[key] = plain(*(earlier[name] for name in argument_names(value)))
            else:
                values[key] = value if np.ndim(value) else float(value)
        return self.family(**values)

    def compiled(self, here: Surroundings, shape: tuple[int, ...]) -> CompiledPart:
        """Write each number's row of parameters, then evaluate it or draw."""
        size, start, code = math.prod(shape), here.coordinate, code_of(self.family)
        assert code is not None
        shapes = [key for key in self.parameters if key not in ("loc", "scale")]
        keys = [*shapes, *["no shape"] * (2 - len(shapes)), "loc", "scale"]
        defaults = [0.0, 0.0, 0.0, 1.0]
        wanted = [
            self.parameters.get(key, default) for key, default in zip(keys, defaults, strict=True)
        ]
        fill = filler(wanted, shape, here)

        def log_density_at(theta: Any, parameters: Any) -> float:
            values, row = np.empty((4, size)), np.empty(ROW_LENGTH)
            fill(parameters, values)
            total = 0.0
            for i in range(size):
                family = fill_row(code, values[0, i], values[1, i], values[2, i], values[3, i], row)
                if family == INVALID:
                    return -math.inf
                total += log_any_marginal(theta[start + i], family, row)
            return total

        def draw(rng: Any, theta: Any, parameters: Any) -> None:
            values, row = np.empty((4, size)), np.empty(ROW_LENGTH)
            fill(parameters, values)
            for i in range(size):
                family = fill_row(code, values[0, i], values[1, i], values[2, i], values[3, i], row)
                theta[start + i] = math.nan
                if family != INVALID:
                    theta[start + i] = draw_marginal(rng, family, row)

        return CompiledPart(as_compiled(log_density_at), as_compiled(draw))

    def __str__(self) -> str:
        words = []
        for key, value in self.parameters.items():
            if callable(value):
                words.append(f"{key}=<of {', '.join(argument_names(value))}>")
            else:
                shown = repr(value) if isinstance(value, str) else rounded(value)
                words.append(f"{key}={shown}")
        return f"given({self.family.name}, {', '.join(words)})"


@named_clearly
def given(family: Any, *arguments: Any, **named: Any) -> Given:
    """A distribution whose parameters depend on earlier ones: the spelling that is compiled.

    `given(stats.norm, 0, scale="sd")` is what `stats.norm(0, scale=sd)` would be if `sd` were a
    number. Each argument is a number or an array; the name of an earlier parameter; or a function
    of earlier parameters, by the names of its arguments. Compiled if the functions are numba
    functions and the family is one of the usual ones. A function that returns a frozen
    distribution, `lambda sd: stats.norm(0, sd)`, says the same and more, and is compiled where
    the same can be read off it.

    >>> from scipy import stats
    >>> import aptmc
    >>> prior = aptmc.Prior(sd=stats.halfnorm(scale=1), effect=aptmc.given(stats.norm, 0, "sd"))
    >>> prior.is_compiled
    True
    >>> round(float(prior.log_density([2.0, 0.0]) - stats.halfnorm(scale=1).logpdf(2.0)), 6)
    -1.612086
    """
    from scipy import stats

    if not isinstance(family, stats.rv_continuous | stats.rv_discrete):
        raise InputError(
            f"given needs a family of scipy.stats that is not frozen, got {family!r}: "
            'as in given(stats.norm, 0, scale="sd")'
        )
    shapes = [shape.strip() for shape in family.shapes.split(",")] if family.shapes else []
    names = [*shapes, "loc"]
    if isinstance(family, stats.rv_continuous):
        names.append("scale")
    found = dict(zip(names, arguments, strict=False))
    unknown = [name for name in named if name not in names or name in found]
    missing = [name for name in shapes if name not in {**found, **named}]
    if len(arguments) > len(names) or unknown or missing:
        raise InputError(
            f"stats.{family.name} is frozen with {', '.join(names)}, each once, got "
            f"{len(arguments)} without a name and {', '.join(named) or 'none'} by name: give "
            f"{', '.join(shapes) or 'loc and scale'}, as for stats.{family.name}(...)"
        )
    found |= named
    parameters = {name: found.get(name, 1.0 if name == "scale" else 0.0) for name in names}
    for name, value in parameters.items():
        if not isinstance(value, str) and not callable(value):
            array = np.asarray(value)
            if array.dtype.kind not in "biuf":
                raise InputError(
                    f"{name} of given(stats.{family.name}, ...) must be a number, the name of an "
                    f"earlier parameter or a function of earlier ones, got {value!r}"
                )
            parameters[name] = array.astype(np.float64)
    return Given(family, parameters)
