"""What problems with a density have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, final

import numpy as np
from numba.core.errors import NumbaError
from typing_extensions import override

from aptmc.compiled import Floats, compiler_words
from aptmc.errors import InputError, MoveFailed, noted_parameters
from aptmc.in_words import hint, in_words
from aptmc.keys import PILOT, Key
from aptmc.problem.base import Problem, check_function
from aptmc.problem.chain_state import log_prior_column, value_column
from aptmc.problem.gradient import gradient_function, refuse_steps
from aptmc.problem.masked import has_masked
from aptmc.problem.variables import Variable
from aptmc.targets import INTERPRETED, Target, at_hand

START_ATTEMPTS = 1000  # of one order; a run has several


def evaluate_model(row: Floats) -> None:
    """Fill in the value and the log prior density of the state whose parameters are in `row`."""
    raise NotImplementedError("a model of the signature, not to be called")


class DensityProblem(Problem):
    """A problem whose states are evaluated by a log density or log likelihood."""

    has_density = True
    start_remedy = "give a start (or a prior) where {} is finite"  # where none is found
    _as_given: Problem  # of one with a fitted reference
    _twin: DensityProblem | None = None  # the same with a fitted reference

    def __init__(
        self,
        variables: Sequence[Variable],
        function_name: str,
        *,
        target: Target,
        start_attempts: int = START_ATTEMPTS,
        gradient: Callable[[Floats], Any] | None = None,
        **kept: Any,
    ) -> None:
        super().__init__(variables, function_name, target=target, **kept)
        self.start_attempts = start_attempts
        self.gradient = gradient  # a user's own, by the parameters
        if gradient is not None:
            check_function(gradient, "gradient")
            refuse_steps(self.parametrisation)

    @property
    @override
    def as_given(self) -> Problem:
        """The problem before it had a fitted reference."""
        return self.__dict__.get("_as_given", self)  # type: ignore[no-any-return]

    @final
    @override
    def with_fitted_reference(self) -> Problem:
        """The same, whose states are brought to a reference and keep their log prior density.

        There is always an evidence then: the reference is a distribution.
        """
        if self.reference_is_fitted:
            return self
        if self.parametrisation.is_kept:
            raise InputError(
                f"a reference cannot be learnt for {type(self).__name__} yet, whose states keep "
                "what users see: leave the prior as the reference"
            )
        if self._twin is None:  # made once, so that its moves are compiled once
            twin = copy(self)
            twin._as_given = self
            twin.width = self.width + 1
            twin.reference_is_fitted = twin.has_evidence = True
            twin.reference_level = 0.0
            self._twin = twin
        return self._twin

    @override
    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_twin": None}

    @abstractmethod
    def evaluation(self, target: Target) -> Callable[[Floats], None]:
        """The function that evaluates a state: compiled, or plain Python with careful errors."""

    @final
    def gradient_function(self, target: Target) -> Callable[..., Any]:
        """The gradient of what is evaluated, for kernels: checked when it is first called.

        It writes to its second argument, one number for each coordinate.
        """
        if self.gradient is None:
            raise InputError(
                f"this problem has no gradient: give one, {type(self).__name__}(..., "
                "gradient=function of theta)"
            )
        return gradient_function(self.gradient, self.parametrisation, target)

    @override
    def first_fault(self) -> str | None:
        from aptmc.problem.first_look import SEED, outside_of_arrays

        if not self.target.is_compiled:
            return None
        theta = self.draw_start(Key(SEED, 0, 0, PILOT).generator())
        function = getattr(self, self.value_name, None)
        given, where = self.constrain(theta), self.describe(theta)
        return outside_of_arrays(self.function_name, function, given, where)

    @abstractmethod
    def draw_start(self, rng: np.random.Generator) -> Floats:
        """Parameters at which a chain may start."""

    @override
    def start(self, rng: np.random.Generator) -> Floats:
        evaluate, finish = at_hand(self.evaluation(INTERPRETED)), self.finishing(INTERPRETED)
        row = np.empty(self.width)
        for _ in range(self.start_attempts):
            row[: self.dimension] = self.draw_start(rng)
            evaluate(row)
            self.check(row)
            if self.is_possible(row):
                if finish is not None:
                    finish(rng, row)
                break
        return row

    @override
    def is_possible(self, row: Floats) -> bool:
        value, log_prior = value_column(self.dimension), log_prior_column(self.dimension)
        return bool(row[value] > -math.inf and row[log_prior] > -math.inf)

    @override
    def no_start(self, tries: int, last: Floats) -> InputError:
        words = "1 try" if tries == 1 else f"{tries} tries"
        return InputError(
            f"no start of positive density was found in {words}; the last was "
            f"{self.describe(last)}: {self.start_remedy.format(self.function_name)}"
        )

    def check(self, row: Floats) -> None:
        """Refuse values that no density can have."""
        value = row[value_column(self.dimension)]
        if not value < math.inf:
            raise MoveFailed(
                f"{self.function_name} returned {value}, must be a number or -inf,",
                self.describe(row),
            )
        if not row[log_prior_column(self.dimension)] < math.inf:
            raise MoveFailed("the prior density is infinite", self.describe(row))


def checked_call(
    function: Callable[[Floats], Any], name: str, theta: Floats, parameters: Mapping[str, float]
) -> float:
    """Call a user's function, and say what it was given if it raises or returns no number."""
    try:
        # A copy, so that a function which changes its argument does no harm.
        value = function(theta.copy())
    except NumbaError as error:
        raise MoveFailed(
            f"{name} cannot be compiled for theta, an array of floats: {compiler_words(error)}; "
            "mend it, or leave out @njit to have it called from Python,",
            parameters,
        ) from error
    except Exception as error:
        raise MoveFailed(f"{name} raised {in_words(error)}{hint(error)}", parameters) from error
    except BaseException as error:
        noted_parameters(error, parameters)
        raise
    return single_number(value, name, parameters)


def single_number(value: Any, name: str, parameters: Mapping[str, float]) -> float:
    """What a user's function returned, if it is one number."""
    try:
        number = np.asarray(value)
    except ValueError:  # ragged
        number = np.empty(0, dtype=object)
    if number.dtype.kind not in "iufb" or has_masked(value):
        raise MoveFailed(f"{name} returned {value!r}, must be a single number,", parameters)
    if number.ndim != 0:
        remedy = "; theta is an array, also of one parameter: use theta[0]" * (number.size == 1)
        raise MoveFailed(
            f"{name} returned an array of shape {number.shape}, must be a single number{remedy},",
            parameters,
        )
    return float(number)
