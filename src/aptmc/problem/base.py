"""What every problem offers to kernels, exchanges and backends."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.compiled import Floats, Target
from aptmc.errors import InputError
from aptmc.problem.state import state_width

if TYPE_CHECKING:
    from aptmc.kernels.base import Kernel


def density_model(theta: Floats) -> float:
    """A log density of the parameters."""
    raise NotImplementedError("a model of the signature, not to be called")


class Problem(ABC):
    """What is sampled: named parameters, and states that belong to them."""

    has_evidence = False  # a likelihood and a prior of its own, so that it has an evidence
    has_density = False  # so that `evaluation` gives it
    has_simulator = False  # so that `simulation` gives it
    rejects_failures = False  # whether a simulation that fails counts as a miss
    needs_search = False  # whether first states are found by moves, not by `start`
    start_simulations = 0  # how many that search may take
    # Something to draw from: log_density(theta), draw(rng) and spread(rng), the standard deviations
    # before anything is known; and the level at which a rung is nothing but that.
    reference: Any = None
    reference_level: float | None = None

    def __init__(
        self,
        names: tuple[str, ...],
        function_name: str,
        *,
        target: Target,
        kept_numbers: int = 0,
    ) -> None:
        self.names = names
        self.function_name = function_name  # what the user calls the function that is evaluated
        self.target = target
        self.width = state_width(len(names)) + kept_numbers
        # By what of a kernel is in the code.
        self.compiled_moves: dict[Any, Callable[..., None]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but what was compiled: that belongs to this process."""
        return self.__dict__ | {"compiled_moves": {}}

    @property
    def is_compiled(self) -> bool:
        """Whether it is computed by machine code."""
        return self.target.is_compiled

    @property
    def dimension(self) -> int:
        """How many parameters there are."""
        return len(self.names)

    @property
    def support(self) -> tuple[Floats, Floats]:
        """Bounds beyond which there is nothing."""
        return np.full(self.dimension, -np.inf), np.full(self.dimension, np.inf)

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

    def evaluation(self, target: Target) -> Callable[[Floats], None]:
        """The function that evaluates a state, if there is a density: with careful errors in plain
        Python.
        """
        raise InputError(f"a problem of kind {type(self).__name__} has no density to evaluate")

    def simulation(self, target: Target) -> Callable[..., float]:
        """A function like `aptmc.problem.simulator.simulation_model`, if there is a simulator."""
        raise InputError(f"a problem of kind {type(self).__name__} has no simulator")

    def start(self, rng: np.random.Generator) -> Floats:
        """A full state for a chain to start from."""
        raise InputError(f"no way is known to start a problem of kind {type(self).__name__}")

    def default_kernel(self) -> Kernel:
        """What `kernel="auto"` means: a kernel that learns its settings in the warm-up."""
        from aptmc.kernels.default import default_kernel

        return default_kernel(self)

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
