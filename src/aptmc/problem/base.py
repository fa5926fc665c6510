"""What every problem offers to kernels, exchanges and backends."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard, final

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.problem.chain_state import state_width
from aptmc.problem.fingerprint import fingerprint
from aptmc.problem.parametrisation import Parametrisation
from aptmc.problem.reference import Reference
from aptmc.problem.variables import Labelled, Variable
from aptmc.targets import Target

if TYPE_CHECKING:
    from aptmc.kernels.base import Kernel


def density_model(theta: Floats) -> float:
    """A log density of the parameters."""
    raise NotImplementedError("a model of the signature, not to be called")


class Problem(ABC):
    """What is sampled: named parameters, and states that belong to them."""

    is_stored = False  # all that is left of one in a store, which cannot be computed with
    has_evidence = False  # a likelihood and a prior of its own, so that it has an evidence
    has_density = False  # so that `evaluation` gives it
    has_simulator = False  # so that `simulation` gives it
    rejects_failures = False  # whether a simulation that fails counts as a miss
    needs_search = False  # whether first states are found by moves, not by `start`
    start_simulations = 0  # how many that search may take
    can_stop_early = False  # whether a simulation is told the tolerance that it must not exceed
    reference_level: float | None = None  # at which a rung is nothing but the reference
    reference_is_fitted = False  # in the warm-up, in place of the prior or where there is none
    notes: tuple[str, ...] = ()  # what users should know about how it was made from what they gave
    data_groups: Mapping[str, tuple[Labelled, ...]] = MappingProxyType({})  # shown beside draws

    def __init__(
        self,
        variables: Sequence[Variable],
        function_name: str,
        *,
        target: Target,
        kept_numbers: int = 0,
        coordinates: Sequence[Variable] | None = None,
        shown_by: Callable[[Floats, Floats], None] | None = None,
    ) -> None:
        self.parametrisation = Parametrisation(variables, coordinates, shown_by)
        self.names = self.parametrisation.names  # one for each coordinate
        self.function_name = function_name  # what the user calls the function that is evaluated
        self.target = target
        self.width = state_width(len(self.names)) + kept_numbers
        # By what of a kernel is in the code.
        self.compiled_moves: dict[Any, Callable[..., None]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but what was compiled: that belongs to this process."""
        return self.__dict__ | {"compiled_moves": {}}

    @property
    def is_written_out(self) -> bool:
        """Whether it is a model in a language of its own whose source is at hand, for lanes."""
        return False

    @property
    def its_function(self) -> str:
        """The function that is evaluated, as one speaks of it to the user who gave it."""
        name = "simulator" if self.has_simulator else self.function_name.replace("_", " ")
        return f"your {name}"

    @property
    def is_compiled(self) -> bool:
        """Whether it is computed by machine code."""
        return self.target.is_compiled

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
    def support(self) -> tuple[Floats, Floats]:
        """Bounds of the coordinates beyond which there is nothing: the reference's, if any."""
        if self.reference is not None:
            return self.reference.support
        return np.full(self.dimension, -np.inf), np.full(self.dimension, np.inf)

    @property
    @abstractmethod
    def reference(self) -> Reference | None:
        """The distribution at the far end of the ladder that one can draw from, if there is any."""

    @property
    def kept_data(self) -> Floats | None:
        """The data that the simulation in each state is compared with, if it is kept there."""
        return None

    @final
    def constrain(self, theta: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The parameters at some coordinates, along the last axis."""
        return self.parametrisation.constrain(theta)

    @final
    def of_coordinates(self, function: Callable[..., Any], target: Target) -> Callable[..., Any]:
        """A user's function, whose first argument is the parameters, as one of coordinates."""
        return self.parametrisation.of_coordinates(function, target)

    @final
    def fingerprint(self) -> dict[str, str]:
        """A checksum for each part of the problem, by name: has it changed since it was stored?"""
        return fingerprint(self.as_given)

    @property
    def as_given(self) -> Problem:
        """The problem as the user gave it."""
        return self

    def with_fitted_reference(self) -> Problem:
        """The same with another reference, which a ladder brings along."""
        raise InputError(
            f"a problem of kind {type(self).__name__} has no density, so no reference can be "
            'learned for it: leave out reference="learned"'
        )

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

    def finishing(self, target: Target) -> Callable[[Any, Floats], None] | None:
        """A function of a generator and a state that writes what the state keeps for users.

        It is called at the end of each move. None, the default: there is nothing to be written.
        """
        return None

    def rung_gradient(self, target: Target) -> Callable[..., None] | None:
        """A function (theta, weight, slopes) that writes the gradient of a rung's log density.

        The weight is that of the value. None, the default: it is put together from the gradients of
        value and reference.
        """
        return None

    start_attempts: int = 1
    """How often `start` tries; with one try all starts are the same."""

    def start(self, rng: np.random.Generator) -> Floats:
        """A full state for a chain to start from; the last that was tried, if none is possible."""
        raise InputError(f"no way is known to start a problem of kind {type(self).__name__}")

    def is_possible(self, row: Floats) -> bool:
        """Whether a full state has a positive density, so that a chain may start from it."""
        return True

    def no_start(self, tries: int, last: Floats) -> InputError:
        """What is said where no start is possible.

        :param last: the last that was tried
        """
        raise NotImplementedError("every start is possible")

    def first_fault(self) -> str | None:
        """What a first look at the user's functions shows to be wrong, in words.

        It is taken aside, and nobody waits long for it.
        """
        return None

    def repeats_itself(self) -> bool:
        """Whether a simulator gives the same data again, whatever random numbers it is given."""
        return False

    def default_kernel(self) -> Kernel:
        """What `kernel="auto"` means: a kernel that learns its settings in the warm-up."""
        from aptmc.kernels.default import default_kernel

        return default_kernel(self)

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
        raise InputError(
            f"{name} must be a function, called as {name}({arguments}), got {function!r}"
        )
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
