"""What every problem offers to kernels, exchanges and backends."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.problem.state import state_width


def density_model(theta: Floats) -> float:
    """A log density of the parameters."""
    raise NotImplementedError("a model of the signature, not to be called")


class Problem(ABC):
    """What is sampled: named parameters, and states that belong to them."""

    has_evidence = False  # a likelihood and a prior of its own, so that it has an evidence

    def __init__(
        self,
        names: tuple[str, ...],
        function_name: str,
        *,
        is_compiled: bool,
        kept_numbers: int = 0,
    ) -> None:
        self.names = names
        self.function_name = function_name  # what the user calls the function that is evaluated
        self.is_compiled = is_compiled
        self.width = state_width(len(names)) + kept_numbers
        # By kind of kernel, or by kinds, if it is made of several.
        self.compiled_moves: dict[tuple[type, ...], Callable[..., None]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but what was compiled: that belongs to this process."""
        return self.__dict__ | {"compiled_moves": {}}

    @property
    def dimension(self) -> int:
        """How many parameters there are."""
        return len(self.names)

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
        """The parameters of a state by name."""
        return dict(zip(self.names, state[: self.dimension].tolist(), strict=True))


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
