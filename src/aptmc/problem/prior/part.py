"""A part of a prior: some variables, given those before them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats, FloatTable, Integers
from aptmc.problem.parametrisation import Parametrisation
from aptmc.problem.prior.log_densities import LOG_ODDS
from aptmc.problem.variables import Variable
from aptmc.targets import NUMBA

Array = npt.NDArray[np.float64]
# By name, the values of the variables that stand before, one row for each point.
Earlier = Mapping[str, Array]


class Tables(NamedTuple):
    """Independent coordinates of known families, as `log_densities` and `draws` take them."""

    families: Integers
    parameters: FloatTable

    @property
    def are_usual(self) -> bool:
        """Whether there are neither whole numbers nor log odds, which take longer to tell apart."""
        return bool((self.families < LOG_ODDS).all())


class Surroundings(NamedTuple):
    """Where a part stands in its prior."""

    whole: Parametrisation
    coordinate: int
    parameter: int


class CompiledPart(NamedTuple):
    """Functions for compiled callers, who have made room for all coordinates and parameters."""

    log_density: Callable[..., float]  # of coordinates and parameters
    draw: Callable[..., None]  # with a generator, into the coordinates; the parameters are earlier


class Part(ABC):
    """Some variables of a prior: their density and draws, given the variables before them.

    Final parts are frozen dataclasses with a field `variables`.
    """

    variables: tuple[Variable, ...]
    looks_back = False  # whether it depends on earlier parts

    @property
    def dimension(self) -> int:
        """How many coordinates it has."""
        return sum(variable.held for variable in self.variables)

    def with_variables(self, variables: tuple[Variable, ...]) -> Self:
        """The same with other names of dimensions and places."""
        return replace(self, variables=variables)  # type: ignore[type-var]

    @abstractmethod
    def tables(self) -> Tables | None:
        """What compiled code reads, if the coordinates are independent and of known families."""

    @property
    @abstractmethod
    def is_compiled(self) -> bool:
        """Whether compiled code can evaluate it and draw from it."""

    @abstractmethod
    def compiled(self, here: Surroundings) -> CompiledPart:
        """Its functions for compiled callers."""

    @abstractmethod
    def support(self) -> tuple[Floats, Floats]:
        """The ends of the support of each coordinate; infinite where they depend on others."""

    @abstractmethod
    def log_density(self, points: Array, earlier: Earlier) -> Array:
        """The log density at each row of coordinates, in plain Python."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, points: Array, earlier: Earlier) -> None:
        """Fill each row with a draw, in plain Python."""

    @abstractmethod
    def __str__(self) -> str:
        """How it was written in the call of `Prior`, in short."""


def as_compiled(function: Callable[..., Any]) -> Any:
    """Compile for compiled callers, with whatever types they use."""
    return NUMBA.helper(function)
