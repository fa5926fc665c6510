"""What every problem offers to kernels, exchanges and backends."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard, final

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.problem.fingerprint import fingerprint
from aptmc.problem.parametrisation import Parametrisation
from aptmc.problem.reference import Reference
from aptmc.problem.state import state_width
from aptmc.problem.variables import Variable


def density_model(theta: Floats) -> float:
    """A log density of the parameters."""
    raise NotImplementedError("a model of the signature, not to be called")


class Problem(ABC):
    """What is sampled: named parameters, and states that belong to them."""

    is_stored = False  # all that is left of one in a store, which cannot be computed with
    has_simulator = False
    has_evidence = False  # a likelihood and a prior of its own, so that it has an evidence

    def __init__(
        self,
        variables: Sequence[Variable],
        function_name: str,
        *,
        is_compiled: bool,
        kept_numbers: int = 0,
    ) -> None:
        self.parametrisation = Parametrisation(variables)
        self.names = self.parametrisation.names  # one for each coordinate
        self.function_name = function_name  # what the user calls the function that is evaluated
        self.is_compiled = is_compiled
        self.width = state_width(len(self.names)) + kept_numbers
        # By kind of kernel, or by kinds, if it is made of several.
        self.compiled_moves: dict[tuple[type, ...], Callable[..., None]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but what was compiled: that belongs to this process."""
        return self.__dict__ | {"compiled_moves": {}}

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The parameters, with names, shapes and the names of their dimensions and places."""
        return self.parametrisation.variables

    @property
    def labels(self) -> tuple[str, ...]:
        """One for each number that users see: `beta[3]` for a place of a vector."""
        return self.parametrisation.labels

    @property
    def dimension(self) -> int:
        """How many coordinates a chain holds."""
        return len(self.names)

    @property
    @abstractmethod
    def reference(self) -> Reference | None:
        """The distribution at the far end of the ladder that one can draw from, if there is any."""

    @final
    def constrain(self, theta: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The parameters at some coordinates, along the last axis."""
        return self.parametrisation.constrain(theta)

    @final
    def of_coordinates(self, function: Callable[..., Any], *, compiled: bool) -> Callable[..., Any]:
        """A user's function, whose first argument is the parameters, as one of coordinates."""
        return self.parametrisation.of_coordinates(function, compiled=compiled)

    @final
    def fingerprint(self) -> dict[str, str]:
        """A checksum for each part of the problem, by name: has it changed since it was stored?"""
        return fingerprint(self)

    @property
    @abstractmethod
    def value_name(self) -> str:
        """What the value that exchanges look at is called in the draws."""

    @property
    @abstractmethod
    def ladder_kind(self) -> str:
        """The kind of ladder that this problem stands on: "powers" or "tolerances"."""

    @abstractmethod
    def check_levels(self, levels: tuple[float, ...]) -> None:
        """Refuse levels at which this problem cannot be sampled."""

    @abstractmethod
    def log_weight(self) -> Callable[[float, float], float]:
        """The compiled function of a rung's level and a state's value that exchanges use."""

    @abstractmethod
    def check(self, row: Floats) -> None:
        """Raise MoveFailed if the value of a state is one that it cannot have."""

    def describe(self, state: Floats) -> dict[str, float]:
        """The parameters of a state by label."""
        theta = state[: self.dimension]
        if self.parametrisation.is_identity:
            return dict(zip(self.names, theta.tolist(), strict=True))
        return self.parametrisation.describe(theta)


def is_problem(value: object) -> TypeGuard[Problem]:
    """Whether this is a problem, and not only what a store says of one."""
    return isinstance(value, Problem)


def check_function(function: object, name: str, arguments: str = "theta") -> None:
    """Refuse what cannot be called, or not with the arguments that it will be given.

    :param arguments: their names, with commas between
    """
    if not callable(function):
        raise InputError(f"{name} must be a function of the parameters, got {function!r}")
    try:
        signature = inspect.signature(getattr(function, "py_func", function))
    except (TypeError, ValueError):  # of some functions in C nobody knows
        return
    try:
        signature.bind(*arguments.split(", "))
    except TypeError:
        raise InputError(
            f"{name} is called as {name}({arguments}), but yours takes {signature}: write it as "
            f"def {name}({arguments})"
        ) from None
