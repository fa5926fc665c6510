"""What moves call of a model: its functions as the sampler wants them, for either target."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.problem.chain_state import log_prior_column, state_width, value_column
from aptmc.problem.density import evaluate_model
from aptmc.problem.prior.draws import ATTEMPTS
from aptmc.targets import Target

NOWHERE = f"the prior of the model gave no draw of finite density in {ATTEMPTS} attempts"


class ModelFunction(Protocol):
    """A function of a model that travels to other processes."""

    @property
    def function(self) -> Any:
        """To be called from Python and from compiled code."""
        ...

    def __call__(self, *arguments: Any) -> None:
        """The same from Python."""
        ...


def evaluation(dimension: int, density: Any, target: Target) -> Callable[[Floats], None]:
    """Evaluates a row of a state: log prior and log likelihood; what is no number is nowhere."""
    value, log_prior = value_column(dimension), log_prior_column(dimension)

    def evaluate(row: Floats) -> None:
        found = np.empty(2)
        density(row[:dimension].copy(), found)
        is_nowhere = math.isnan(found[0]) or found[0] == -math.inf
        row[log_prior] = -math.inf if is_nowhere else found[0]
        row[value] = -math.inf if is_nowhere or math.isnan(found[1]) else found[1]

    return target.within(evaluate_model, evaluate)


def evaluation_of_whole(dimension: int, density: Any, target: Target) -> Callable[[Floats], None]:
    """The same of a density that is not known in parts."""
    value, log_prior = value_column(dimension), log_prior_column(dimension)

    def evaluate(row: Floats) -> None:
        found = np.empty(1)
        density(row[:dimension].copy(), found)
        row[value] = -math.inf if math.isnan(found[0]) else found[0]
        row[log_prior] = 0.0

    return target.within(evaluate_model, evaluate)


def finishing(dimension: int, size: int, show: Any, target: Target) -> Callable[..., None]:
    """Writes what users see behind the rest of a state."""
    start = state_width(dimension)

    def finish(rng: Any, row: Floats) -> None:
        show(rng, row[:dimension].copy(), row[start : start + size])

    return target.helper(finish)


def drawing(dimension: int, density: Any, draw_once: Any) -> Callable[..., None]:
    """Draws from a prior, again where its density is zero."""

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
        raise InputError(NOWHERE)

    return draw
