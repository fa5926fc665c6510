"""Problems that models in other languages are: what chains hold, and what users see of it.

Chains hold the model's own unconstrained coordinates. What users see of them, constrained
parameters and all that is computed from them, is written behind the state at the end of each move.
So stores hold it, and whoever opens one needs no model.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from aptmc.compiled import Floats, FloatTable
from aptmc.errors import InputError
from aptmc.problem.base import density_model
from aptmc.problem.chain_state import log_prior_column, state_width, value_column
from aptmc.problem.density import START_ATTEMPTS, DensityProblem, evaluate_model
from aptmc.problem.prior.draws import ATTEMPTS
from aptmc.problem.reference import Reference, ReferenceFunctions
from aptmc.problem.variables import Labelled, Variable
from aptmc.problem.weights import power_log_weight
from aptmc.targets import NUMBA, Target

# By problem: who knows the likelihood of its single observations. That needs the model itself,
# which stays in the process that made the problem.
OBSERVATIONS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

_NOWHERE = f"the prior of the model gave no draw of finite density in {ATTEMPTS} attempts"


class ModelFunction(Protocol):
    """A function of a model that travels to other processes."""

    @property
    def function(self) -> Any:
        """To be called from Python and from compiled code."""
        ...

    def __call__(self, *arguments: Any) -> None:
        """The same from Python."""
        ...


@final
@dataclass(frozen=True, eq=False)
class Shown:
    """What users see of the coordinates of a model.

    :param coordinates: what chains hold, real numbers
    :param variables: what users see: parameters first, then what is computed from them
    :param show: (rng, theta, found) writes the numbers of all of them; a generator is given for
        those that are drawn
    :param parameters: how many of the variables are parameters
    """

    coordinates: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    show: ModelFunction
    parameters: int

    @property
    def size(self) -> int:
        """How many numbers users see."""
        return sum(variable.size for variable in self.variables)


class ModelProblem(DensityProblem):
    """A density of a model's coordinates, in a language of its own.

    :param gradient: (theta, weight, found) writes the gradient of the rung that weighs the value so
    """

    ladder_kind = "powers"

    def __init__(
        self,
        shown: Shown,
        density: ModelFunction,
        gradient: ModelFunction | None,
        *,
        function_name: str,
        start_attempts: int = START_ATTEMPTS,
        notes: Sequence[str] = (),
        data_groups: Mapping[str, tuple[Labelled, ...]] | None = None,
    ) -> None:
        self.shown = shown
        self.density = density
        self.slopes = gradient
        super().__init__(
            shown.variables,
            function_name,
            target=NUMBA,
            start_attempts=start_attempts,
            kept_numbers=shown.size,
            coordinates=shown.coordinates,
            shown_by=_Showing(shown),
        )
        self.gradient = gradient
        self.notes = tuple(notes)
        self.data_groups = data_groups or {}

    @override
    def __getstate__(self) -> dict[str, Any]:
        """What other processes need: no data that are only shown, and nothing of the language."""
        return {**super().__getstate__(), "data_groups": {}}

    def __repr__(self) -> str:
        """Its parameters and what is said of it."""
        parameters = self.variables[: self.shown.parameters]
        names = ", ".join(variable.name for variable in parameters)
        return "\n  ".join([f"<aptmc.{type(self).__name__} of {names}>", *self.notes])

    @override
    def log_weight(self) -> Callable[[float, float], float]:
        """Exchanges look at the value, weighed by beta."""
        return power_log_weight

    @override
    def rung_gradient(self, target: Target) -> Callable[..., None] | None:
        """Of prior and likelihood at once, which share most of their work."""
        return None if self.slopes is None else self.slopes.function

    @override
    def finishing(self, target: Target) -> Callable[[Any, Floats], None]:
        """What users see, behind the rest of the state."""
        return _finishing(self.dimension, self.shown.size, self.shown.show.function, target)

    @override
    def describe(self, state: Floats) -> dict[str, float]:
        """The parameters by label, without what is computed from them."""
        variables = self.variables[: self.shown.parameters]
        values = self.constrain(state[: self.dimension].copy()).tolist()
        labels = [label for variable in variables for label in variable.labels]
        return dict(zip(labels, values, strict=False))

    @abstractmethod
    def evaluation(self, target: Target) -> Callable[[Floats], None]:
        """The function that evaluates a state."""


@final
class TemperedModel(ModelProblem):
    """A model whose prior and likelihood are known apart: prior * likelihood ** beta.

    :param density: (theta, found) writes log prior and log likelihood
    :param draw: (rng, found) writes a draw of the prior, as coordinates; None: nobody can draw from
        it, and the chains at power 0 are moved as all others
    :param start: without draws of the prior, draws coordinates to start from
    """

    value_name = "log_likelihood"
    has_evidence = True

    def __init__(
        self,
        shown: Shown,
        density: ModelFunction,
        gradient: ModelFunction | None,
        draw: ModelFunction | None,
        start: Callable[[np.random.Generator], Floats] | None = None,
        **others: Any,
    ) -> None:
        super().__init__(shown, density, gradient, function_name="log_likelihood", **others)
        self._prior = None if draw is None else ModelPrior(self.dimension, density, draw)
        self._start = start
        self.reference_level = None if draw is None else 0.0

    @property
    @override
    def reference(self) -> ModelPrior | None:
        """The model's prior, if one can draw from it."""
        return self._prior

    @property
    def prior(self) -> ModelPrior:
        """The same, where there is one."""
        if self._prior is None:
            raise InputError("the prior of this model cannot be drawn from")
        return self._prior

    @override
    def check_levels(self, levels: tuple[float, ...]) -> None:
        """Any powers will do; power 0 is the prior."""

    @override
    def evaluation(self, target: Target) -> Callable[[Floats], None]:
        """Both densities. As in the languages' own samplers, NaN is nowhere."""
        return _evaluation(self.dimension, self.density.function, target)

    @override
    def draw_start(self, rng: np.random.Generator) -> Floats:
        return self.prior.draw(rng) if self._start is None else self._start(rng)

    def with_log_likelihood(self, run: Any) -> Any:
        """The draws of a run with a group `log_likelihood`: of each single observation.

        :param run: of this problem, in the process in which it was made of a model
        """
        if self not in OBSERVATIONS:
            raise InputError(
                "the likelihood of single observations needs a model of PyMC or NumPyro: make the "
                "problem again, with aptmc.from_pymc(model) or aptmc.from_numpyro(model, ...), and "
                "give that one the run; in Stan compute it in generated quantities"
            )
        return OBSERVATIONS[self].with_log_likelihood(self, run)


@final
class PowerModel(ModelProblem):
    """A model whose whole density is tempered, density ** beta, for its parts are not known apart.

    :param density: (theta, found) writes the log density
    :param start: draws coordinates to start from
    """

    value_name = "log_density"

    def __init__(
        self,
        shown: Shown,
        density: ModelFunction,
        gradient: ModelFunction | None,
        start: Callable[[np.random.Generator], Floats],
        **others: Any,
    ) -> None:
        super().__init__(shown, density, gradient, function_name="log_density", **others)
        self._start = start

    @property
    @override
    def reference(self) -> None:
        """None: nothing is known but the density."""
        return None

    @override
    def check_levels(self, levels: tuple[float, ...]) -> None:
        """A density to the power 0 is flat, and no chain could sample it."""
        if levels[-1] == 0.0:
            raise InputError(
                f"the whole density of this model is tempered, and density ** 0 is flat, got "
                f"powers {list(levels)}: end the ladder above 0"
            )

    @override
    def evaluation(self, target: Target) -> Callable[[Floats], None]:
        """The density; there is no prior."""
        return _evaluation_of_whole(self.dimension, self.density.function, target)

    @override
    def draw_start(self, rng: np.random.Generator) -> Floats:
        return self._start(rng)


@final
@dataclass(frozen=True, eq=False)
class ModelPrior(Reference):
    """The prior of a model, in its coordinates."""

    size: int
    density: ModelFunction
    drawing: ModelFunction

    is_compiled = True

    @property
    @override
    def support(self) -> tuple[Floats, Floats]:
        """Coordinates are not constrained."""
        return np.full(self.size, -np.inf), np.full(self.size, np.inf)

    @override
    def log_density(self, theta: npt.ArrayLike) -> Any:
        """The log density at some coordinates, along the last axis."""
        points = np.array(theta, dtype=np.float64, order="C")
        density, found = self.density.function, np.empty(2)
        values = []
        for row in points.reshape(-1, self.size):
            density(row, found)
            values.append(-math.inf if math.isnan(found[0]) else found[0])
        return values[0] if points.ndim == 1 else np.reshape(values, points.shape[:-1])

    @override
    def draw(self, rng: np.random.Generator, size: int | None = None) -> Floats | FloatTable:
        """One draw of the coordinates, or `size` of them."""
        draws = np.empty((1 if size is None else size, self.size))
        draw = _drawing(self.size, self.density.function, self.drawing.function)
        for row in draws:
            draw(rng, row)
        return draws[0] if size is None else draws

    @override
    def functions(self, target: Target) -> ReferenceFunctions:
        """Log density and draw for kernels."""
        density = self.density.function

        def log_density_at(theta: Floats) -> float:
            found = np.empty(2)
            density(theta, found)
            return -math.inf if math.isnan(found[0]) else found[0]

        draw = _drawing(self.size, density, self.drawing.function)
        return ReferenceFunctions(target.like(density_model, log_density_at), target.helper(draw))


@final
class _Showing:
    """What users see at some coordinates, called from Python; travels as what it is made of."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown

    def __call__(self, theta: Floats, found: Floats) -> None:
        # What a model draws for each state is drawn here with a generator of no importance.
        self.shown.show.function(np.random.default_rng(0), theta.copy(), found)


def compile_now(problem: ModelProblem) -> None:
    """Compile what moves will need, so that what cannot be compiled is said before any work."""
    for made in (problem.density, problem.shown.show, problem.slopes):
        if made is not None:
            _ = made.function


# --- functions for either target ------------------------------------------------------------------


def _evaluation(dimension: int, density: Any, target: Target) -> Callable[[Floats], None]:
    value, log_prior = value_column(dimension), log_prior_column(dimension)

    def evaluate(row: Floats) -> None:
        found = np.empty(2)
        density(row[:dimension].copy(), found)
        is_nowhere = math.isnan(found[0]) or found[0] == -math.inf
        row[log_prior] = -math.inf if is_nowhere else found[0]
        row[value] = -math.inf if is_nowhere or math.isnan(found[1]) else found[1]

    return target.like(evaluate_model, evaluate)


def _evaluation_of_whole(dimension: int, density: Any, target: Target) -> Callable[[Floats], None]:
    value, log_prior = value_column(dimension), log_prior_column(dimension)

    def evaluate(row: Floats) -> None:
        found = np.empty(1)
        density(row[:dimension].copy(), found)
        row[value] = -math.inf if math.isnan(found[0]) else found[0]
        row[log_prior] = 0.0

    return target.like(evaluate_model, evaluate)


def _finishing(dimension: int, size: int, show: Any, target: Target) -> Callable[..., None]:
    start = state_width(dimension)

    def finish(rng: Any, row: Floats) -> None:
        show(rng, row[:dimension].copy(), row[start : start + size])

    return target.helper(finish)


def _drawing(dimension: int, density: Any, draw_once: Any) -> Callable[..., None]:
    def draw(rng: Any, row: Any) -> None:
        found = np.empty(2)
        theta = np.empty(dimension)
        for _ in range(ATTEMPTS):
            draw_once(rng, theta)
            density(theta, found)
            if found[0] > -math.inf:
                for place in range(dimension):
                    row[place] = theta[place]
                return
        raise InputError(_NOWHERE)

    return draw
