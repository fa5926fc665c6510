"""How the coordinates that a chain holds become the parameters that users see."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from aptmc.compiled import (
    ConstantFloats,
    ConstantIntegerTable,
    Floats,
    FloatTable,
    IntegerTable,
    compiled,
)
from aptmc.errors import InputError
from aptmc.problem.variables import Variable
from aptmc.targets import Target, from_python

# The columns of a plan, which has a row for each variable.
KIND, COORDINATE, PARAMETER, SIZE = range(4)
REAL, WHOLE, SIMPLEX = range(3)
KINDS = {"real": REAL, "whole": WHOLE, "simplex": SIMPLEX}


class Place(NamedTuple):
    """Where a variable begins among the coordinates and among the parameters."""

    coordinate: int
    parameter: int


@compiled
def constrain_into(theta: ConstantFloats, plan: ConstantIntegerTable, parameters: Floats) -> None:
    """Write the parameters that belong to some coordinates."""
    for row in range(plan.shape[0]):
        start, target, size = plan[row, COORDINATE], plan[row, PARAMETER], plan[row, SIZE]
        if plan[row, KIND] == SIMPLEX:
            # Sticks are broken off one after the other, each a share of what is left. At zero all
            # shares are equal.
            left = 1.0
            for i in range(size - 1):
                odds = theta[start + i] - math.log(size - 1.0 - i)
                share = 1.0 / (1.0 + math.exp(-odds)) if odds > -700.0 else 0.0
                rest = 1.0 / (1.0 + math.exp(odds)) if odds < 700.0 else 0.0
                parameters[target + i] = left * share
                left *= rest
            parameters[target + size - 1] = left
        else:
            for i in range(size):
                value = theta[start + i]
                parameters[target + i] = np.floor(value) if plan[row, KIND] == WHOLE else value


@compiled
def constrain_rows(points: FloatTable, plan: ConstantIntegerTable, parameters: FloatTable) -> None:
    """The parameters at each row of coordinates, as `constrain_into` finds those of one."""
    for row in range(points.shape[0]):
        constrain_into(points[row], plan, parameters[row])


@final
class Parametrisation:
    """The variables of a problem, and which of its coordinates belong to which.

    >>> shares = Parametrisation([Variable("rate"), Variable("share", (3,), kind="simplex")])
    >>> shares.names
    ('rate', 'share[0]', 'share[1]')
    >>> shares.labels
    ('rate', 'share[0]', 'share[1]', 'share[2]')
    >>> shares.constrain([2.0, 0.0, 0.0]).round(3)
    array([2.   , 0.333, 0.333, 0.333])

    A model in another language knows itself what it makes of coordinates. States then keep that,
    behind all else, so that draws can be read without the model.

    :param coordinates: those of such a model, if they are not held as the variables' kinds say
    :param shown_by: a function that writes the parameters at some coordinates, as `draw_shown` of
        `aptmc.frontends.model_problem`; None: it is not at hand, as for a stored run
    """

    def __init__(
        self,
        variables: Sequence[Variable],
        coordinates: Sequence[Variable] | None = None,
        shown_by: Callable[[Floats, Floats], None] | None = None,
    ) -> None:
        self.variables = tuple(variables)
        self.coordinates = None if coordinates is None else tuple(coordinates)
        self.labels = tuple(label for variable in self.variables for label in variable.labels)
        self.names = tuple(
            label
            for variable in (self.variables if self.coordinates is None else self.coordinates)
            for label in variable.labels[: variable.held]
        )
        for names in (self.labels, self.names):
            twice = [name for name, count in Counter(names).items() if count > 1]
            if twice:
                raise InputError(f"every parameter needs a name of its own, got {twice[0]!r} twice")
        self._check_dims()
        self.is_kept = self.coordinates is not None  # whether states keep the parameters
        self._shown_by = shown_by
        self.is_identity = not self.is_kept and all(one.kind == "real" for one in self.variables)

    @property
    def dimension(self) -> int:
        """How many coordinates there are."""
        return len(self.names)

    @property
    def size(self) -> int:
        """How many numbers users see."""
        return len(self.labels)

    @cached_property
    def places(self) -> dict[str, Place]:
        """By the name of a variable: where it begins."""
        found, coordinate, parameter = {}, 0, 0
        for variable in self.variables:
            found[variable.name] = Place(coordinate, parameter)
            coordinate += variable.held
            parameter += variable.size
        return found

    @cached_property
    def plan(self) -> IntegerTable:
        """What `constrain_into` goes by."""
        rows = [
            (KINDS[variable.kind], *self.places[variable.name], variable.size)
            for variable in self.variables
        ]
        return np.array(rows, dtype=np.int64).reshape(-1, 4)

    def constrain(self, theta: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The parameters at some coordinates, along the last axis; the same array if they are."""
        points = np.asarray(theta, dtype=np.float64)
        if points.ndim == 0 or points.shape[-1] != self.dimension:
            raise InputError(
                f"theta must have {self.dimension} coordinates along its last axis, for "
                f"{', '.join(self.names)}, got an array of shape {points.shape}"
            )
        if self.is_identity:
            return points
        shown = np.empty((math.prod(points.shape[:-1]), self.size))
        rows = np.array(points, order="C").reshape(-1, self.dimension)
        if not self.is_kept:
            from_python(constrain_rows, shown.size)(rows, self.plan, shown)
        elif self._shown_by is not None:
            for row, into in zip(rows, shown, strict=True):
                self._shown_by(row, into)
        else:
            raise InputError(
                "only the model itself knows which parameters belong to some coordinates: open "
                "the run with it, aptmc.open(store, problem)"
            )
        return shown.reshape(*points.shape[:-1], self.size)

    def arrays(self, theta: npt.ArrayLike) -> dict[str, npt.NDArray[np.float64]]:
        """By the name of a variable, its values in its own shape, after any leading axes."""
        return self.split(self.constrain(theta))

    def split(self, parameters: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[np.float64]]:
        """By the name of a variable, its values in its own shape, from all parameters."""
        found = {}
        for variable in self.variables:
            start = self.places[variable.name].parameter
            values = parameters[..., start : start + variable.size]
            found[variable.name] = values.reshape((*parameters.shape[:-1], *variable.shape))
        return found

    def describe(self, theta: Floats) -> dict[str, float]:
        """Parameters by label, for messages."""
        return dict(zip(self.labels, self.constrain(theta).tolist(), strict=True))

    def of_coordinates(self, function: Callable[..., Any], target: Target) -> Callable[..., Any]:
        """A function whose first argument is the parameters, as one of the coordinates."""
        if self.is_identity:
            return function
        plan, size = self.plan, self.size
        constrain = constrain_into if target.is_compiled else from_python(constrain_into)

        def at_coordinates(theta: Any, *others: Any) -> Any:
            parameters = np.empty(size)
            constrain(theta, plan, parameters)
            return function(parameters, *others)

        return target.helper(at_coordinates)

    def _check_dims(self) -> None:
        """Where two variables share a dimension, they must agree on it."""
        seen: dict[str, tuple[int, Any]] = {}
        for variable in self.variables:
            for dim, length in zip(variable.dims, variable.shape, strict=True):
                mine = (length, variable.coords.get(dim))
                if seen.setdefault(dim, mine) != mine:
                    raise InputError(
                        f"the dimension {dim!r} of {variable.name!r} has {length} places "
                        f"{mine[1] or ''} and another variable says {seen[dim]}: use another name"
                    )
                if dim in {other.name for other in self.variables}:
                    raise InputError(
                        f"a dimension cannot be named {dim!r}, as a parameter is: use another name"
                    )
