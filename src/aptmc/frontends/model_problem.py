"""Problems that models in other languages are: what chains hold, and what users see of it.

Chains hold the model's own unconstrained coordinates. What users see of them, constrained
parameters and all that is computed from them, is written behind the state at the end of each move.
So stores hold it, and whoever opens one needs no model.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final
from weakref import WeakKeyDictionary

import numpy as np
from typing_extensions import override

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.frontends.model_functions import (
    ModelFunction,
    evaluation,
    evaluation_of_whole,
    finishing,
)
from aptmc.frontends.model_prior import ModelPrior
from aptmc.problem.density import START_ATTEMPTS, DensityProblem
from aptmc.problem.variables import Labelled, Variable
from aptmc.problem.weights import power_log_weight
from aptmc.targets import NUMBA, Target

# By problem: who knows the likelihood of its single observations. That needs the model itself,
# which stays in the process that made the problem.
OBSERVATIONS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
# Draws of the prior, at none of which the likelihood of data that are no numbers is one.
ATTEMPTS = 20


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

    @property
    @override
    def is_written_out(self) -> bool:
        drawing = getattr(self.reference, "drawing", None)
        parts = [self.density, self.slopes, drawing]
        return all(getattr(one, "is_written_out", False) for one in parts if one is not None)

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
        return None if self.slopes is None else target.of_model(self.slopes)

    @override
    def finishing(self, target: Target) -> Callable[[Any, Floats], None]:
        """What users see, behind the rest of the state."""
        return finishing(self.dimension, self.shown.size, self.shown.show.function, target)

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
        return evaluation(self.dimension, target.of_model(self.density), target)

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
        return evaluation_of_whole(self.dimension, target.of_model(self.density), target)

    @override
    def draw_start(self, rng: np.random.Generator) -> Floats:
        return self._start(rng)


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


def check_observations(problem: TemperedModel) -> None:
    """Refuse data that are no numbers, unless the model knows what to do with them."""
    broken = [
        data.variable.name
        for data in problem.data_groups.get("observed_data", ())
        if not np.isfinite(data.values).all()
    ]
    if not broken:
        return
    rng, found = np.random.default_rng(0), np.empty(2)
    for _ in range(ATTEMPTS):
        problem.density(problem.prior.draw(rng), found)
        if np.isfinite(found[1]):
            return
    raise InputError(
        f"{', '.join(broken)} has observations that are not finite numbers, and so is the "
        "likelihood: leave them out, or mask them"
    )
