"""Where the variables of a run are found among its draws."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.errors import InputError
from aptmc.problem import Problem
from aptmc.problem.chain_state import kept_column, state_width, value_column
from aptmc.problem.parametrisation import Parametrisation
from aptmc.problem.variables import Variable
from aptmc.record.columns import STATISTICS
from aptmc.store import Draws


class Source(NamedTuple):
    """A column of the draws, and a place in it if it is the state.

    Where a variable is more than one number of the state as it is, it says what to make of them.
    """

    column: str
    place: int | slice | None = None
    variable: Variable | None = None
    label: int | None = None  # one of the numbers of the variable, if only that is wanted
    brought: bool = False  # a value that was brought to a fitted reference
    is_kept: bool = False  # whether the state has them as users see them

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one draw; that of a single number is empty."""
        return () if self.variable is None or self.label is not None else self.variable.shape

    def shown(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What users see, from what a chain holds: one row for each draw."""
        if self.brought:  # the log of target over reference, of the reference, and of the prior
            with np.errstate(invalid="ignore"):
                shown = values[:, 0] + values[:, 1] - values[:, 2]
            return np.asarray(np.where(values[:, 0] == -np.inf, -np.inf, shown))
        if self.variable is None:
            return values
        is_kept = self.is_kept
        parameters = values if is_kept else Parametrisation([self.variable]).constrain(values)
        if self.label is not None:
            return parameters[:, self.label]
        if self.variable.kind == "whole":
            parameters = parameters.astype(np.int64)
        return parameters.reshape(len(values), *self.variable.shape)


def parameters(problem: Problem) -> dict[str, Source]:
    """By the name of each variable, where its values are."""
    is_kept = problem.parametrisation.is_kept
    found, start = {}, state_width(problem.dimension) if is_kept else 0
    for variable in problem.variables:
        end = start + (variable.size if is_kept else variable.held)
        if variable.shape or variable.kind != "real":
            place = slice(start, end)
            found[variable.name] = Source("state", place, variable, is_kept=is_kept)
        else:
            found[variable.name] = Source("state", start)
        start = end
    return found


def statistics(problem: Problem) -> dict[str, Source]:
    """What else is known of each draw."""
    found = {problem.value_name: value_source(problem)}
    return found | {name: Source(name) for name in STATISTICS}


def value_source(problem: Problem) -> Source:
    """The log likelihood, log density or distance."""
    value = value_column(problem.dimension)
    if problem.reference_is_fitted:
        return Source("state", slice(value, kept_column(problem.dimension) + 1), brought=True)
    return Source("state", value)


def labelled(problem: Problem) -> dict[str, Source]:
    """By label, every single number of the parameters."""
    found = {}
    for variable, source in zip(problem.variables, parameters(problem).values(), strict=True):
        for number, label in enumerate(variable.labels):
            is_plain = source.variable is None
            found[label] = source if is_plain else source._replace(label=number)
    return found


def source_of(problem: Problem, name: str) -> Source:
    """A variable, or one of its numbers by its label."""
    known = labelled(problem)
    found = known.get(name) or parameters(problem).get(name)
    if found is None:
        raise InputError(f"there is no parameter {name!r}: there are {', '.join(known)}")
    return found


def values_of(draws: Draws, source: Source) -> Any:
    """One variable of some draws."""
    column = getattr(draws, source.column)
    return source.shown(column if source.place is None else column[:, source.place])
