"""The parameters of each number of a variable, from those that stand before it.

Which number goes where is known when the prior is made, so nothing is spread over a shape in
compiled code but what a user's function returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aptmc.compiled import (
    ConstantFloatTable,
    ConstantIntegerTable,
    Floats,
    FloatTable,
    Integers,
    compiled,
)
from aptmc.problem.prior.arguments import argument_names, getter
from aptmc.problem.prior.part import Surroundings, as_compiled

CONSTANT = -1  # the place of what is no parameter


def filler(wanted: Sequence[Any], shape: tuple[int, ...], here: Surroundings) -> Any:
    """A function for compiled callers that writes rows of values, one number for each place.

    :param wanted: by row, a number or an array, the name of an earlier variable, or a function of
        such
    """
    places = np.full((len(wanted), math.prod(shape)), CONSTANT)
    constants = np.zeros(places.shape)
    for row, value in enumerate(wanted):
        if isinstance(value, str):
            places[row] = np.broadcast_to(_places_of(value, here), shape).ravel()
        elif not callable(value):
            constants[row] = np.broadcast_to(value, shape).ravel()

    def fill(parameters: Any, values: Any) -> None:
        take(parameters, places, constants, values)

    fill = as_compiled(fill)
    for row, value in enumerate(wanted):
        if callable(value):
            fill = _then(fill, _applied(value, here), row, shape)
    return fill


def _places_of(name: str, here: Surroundings) -> Integers:
    """Where the numbers of a variable stand among all parameters, in its own shape."""
    start = here.whole.places[name].parameter
    variable = next(one for one in here.whole.variables if one.name == name)
    return np.arange(start, start + variable.size).reshape(variable.shape)


def _then(before: Any, source: Callable[..., Any], row: int, shape: tuple[int, ...]) -> Any:
    def both(parameters: Any, values: Any) -> None:
        before(parameters, values)
        values[row].reshape(shape)[...] = source(parameters)

    return as_compiled(both)


def _applied(function: Callable[..., Any], here: Surroundings) -> Callable[..., Any]:
    """A user's function of earlier variables, as one of all parameters."""
    arguments = as_compiled(lambda parameters: ())
    for name in argument_names(function):
        arguments = _longer(arguments, getter(name, here))
    everything = arguments
    return as_compiled(lambda parameters: function(*everything(parameters)))  # type: ignore[no-any-return]


def _longer(before: Callable[..., Any], last: Callable[..., Any]) -> Any:
    return as_compiled(lambda parameters: (*before(parameters), last(parameters)))


@compiled
def take(
    parameters: Floats,
    places: ConstantIntegerTable,
    constants: ConstantFloatTable,
    values: FloatTable,
) -> None:
    """Write each value: one of the parameters, or a constant."""
    for row in range(values.shape[0]):
        for number in range(values.shape[1]):
            place = places[row, number]
            if place == CONSTANT:
                values[row, number] = constants[row, number]
            else:
                values[row, number] = parameters[place]
