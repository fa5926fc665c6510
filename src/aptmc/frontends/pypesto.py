"""Problems of pyPESTO as problems to sample: `aptmc.from_pypesto`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

import numpy as np

from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.frontends.optional import library
from aptmc.problem import Prior, Tempered

CELLS = 2000  # of a parameter's range, in which its prior is looked at
ROOM = 2.0  # how much higher than at the ends of a cell it may be within


def from_pypesto(problem: Any) -> Tempered:
    """A problem of pyPESTO: the objective without priors is the likelihood.

    Priors are those of the problem, within its bounds; a parameter without one is uniform there.
    Parameters are those that are not fixed, on the scale on which pyPESTO has them. If the
    objective has a gradient, kernels follow it. Needs pyPESTO: `pip install 'aptmc[pypesto]'`.

    :param problem: a `pypesto.Problem` with finite bounds, from PEtab or by hand

    >>> import aptmc, pypesto  # doctest: +SKIP
    >>> objective = pypesto.Objective(fun=lambda x: 0.5 * (x[0] - 1) ** 2)  # doctest: +SKIP
    >>> aptmc.from_pypesto(pypesto.Problem(objective, lb=[-5], ub=[5])).names  # doctest: +SKIP
    ('x0',)
    """
    pypesto = library("pypesto", extra="pypesto", asked_by="from_pypesto")
    if not isinstance(problem, pypesto.Problem):
        raise InputError(f"from_pypesto needs a pypesto.Problem, got {problem!r}")
    names = [problem.x_names[place] for place in problem.x_free_indices]
    if not names:
        raise InputError("all parameters of the pyPESTO problem are fixed: free one of them")
    lower, upper = np.array(problem.lb, float), np.array(problem.ub, float)
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        open_ones = [
            name
            for name, low, high in zip(names, lower, upper, strict=True)
            if not (math.isfinite(low) and math.isfinite(high))
        ]
        raise InputError(
            f"{', '.join(open_ones)} has no finite bounds, within which chains could begin: give "
            "pypesto.Problem lb and ub"
        )
    likelihoods, densities = _apart(problem)
    marginals = [
        Marginal(low, high, densities.get(place, []))
        for low, high, place in zip(lower, upper, problem.x_free_indices, strict=True)
    ]
    shapes: dict[str, Any] = dict.fromkeys(names, ())
    prior = Prior.joint(Density(marginals), Draw(marginals), **shapes)
    has_gradient = all(one.has_grad for one in likelihoods)
    return Tempered(
        Likelihood(likelihoods),
        prior,
        gradient=Slopes(likelihoods) if has_gradient else None,
    )


def _apart(problem: Any) -> tuple[list[Any], dict[int, list[Callable[[float], float]]]]:
    """The objectives that are no priors, and by parameter the log densities that are.

    A problem of PEtab has its priors twice, by themselves and within its objective.
    """
    from pypesto.objective import NegLogParameterPriors

    parts = _flat(problem.objective)
    likelihoods = [part for part in parts if not isinstance(part, NegLogParameterPriors)]
    if not likelihoods:
        raise InputError("the pyPESTO problem has priors only, so there is no likelihood to temper")
    own = parts if problem.x_priors is None else _flat(problem.x_priors)
    densities: dict[int, list[Callable[[float], float]]] = {}
    for part in own:
        if isinstance(part, NegLogParameterPriors):
            for one in part.prior_list:
                densities.setdefault(int(one["index"]), []).append(one["density_fun"])
    return likelihoods, densities


def _flat(objective: Any) -> list[Any]:
    """What an objective is the sum of."""
    from pypesto.objective import AggregatedObjective

    if not isinstance(objective, AggregatedObjective):
        return [objective]
    return [inner for part in objective._objectives for inner in _flat(part)]


@final
class Marginal:
    """The prior of one parameter within its bounds: a density that is normalised, and draws.

    Draws come from steps above the density, of which as many are rejected as it takes.
    """

    def __init__(
        self, lower: float, upper: float, densities: list[Callable[[float], float]]
    ) -> None:
        self.lower, self.upper, self.densities = lower, upper, densities
        ends = np.linspace(lower, upper, CELLS + 1)
        heights = np.array([self._raw(place) for place in ends])
        if not (np.isfinite(heights).all() and heights.max() > 0.0):
            raise InputError(
                f"a prior of the pyPESTO problem has no finite density between {lower} and {upper}"
            )
        middles = np.array([self._raw(place) for place in 0.5 * (ends[1:] + ends[:-1])])
        width = (upper - lower) / CELLS
        simpson = (heights[:-1] + 4.0 * middles + heights[1:]) / 6.0
        self.log_total = math.log(float(simpson.sum()) * width)
        highest = np.maximum(np.maximum(heights[:-1], heights[1:]), middles)
        self.tops = ROOM * np.maximum(highest, 1e-12 * highest.max())
        self.steps = np.cumsum(self.tops) / self.tops.sum()

    def _raw(self, value: float) -> float:
        return math.exp(sum(float(density(value)) for density in self.densities))

    def log_density(self, value: float) -> float:
        """Normalised within the bounds."""
        if not self.lower <= value <= self.upper:
            return -math.inf
        return sum(float(density(value)) for density in self.densities) - self.log_total

    def draw(self, rng: np.random.Generator) -> float:
        """One draw."""
        width = (self.upper - self.lower) / CELLS
        while True:
            cell = min(int(np.searchsorted(self.steps, rng.random())), CELLS - 1)
            value = self.lower + (cell + rng.random()) * width
            height = self._raw(value)
            if height > self.tops[cell]:
                raise InputError(
                    f"a prior of the pyPESTO problem is too narrow for its bounds, {self.lower} "
                    f"and {self.upper}: give it narrower ones"
                )
            if rng.random() * self.tops[cell] < height:
                return float(value)


@final
class Density:
    """The log density of independent parameters."""

    def __init__(self, marginals: list[Marginal]) -> None:
        self.marginals = marginals

    def __call__(self, theta: Floats) -> float:
        """The sum of theirs."""
        pairs = zip(self.marginals, theta, strict=True)
        return sum(marginal.log_density(float(value)) for marginal, value in pairs)


@final
class Draw:
    """A draw of independent parameters."""

    def __init__(self, marginals: list[Marginal]) -> None:
        self.marginals = marginals

    def __call__(self, rng: np.random.Generator) -> Floats:
        """One after the other."""
        return np.array([marginal.draw(rng) for marginal in self.marginals])


@final
class Likelihood:
    """The log likelihood, from objectives that are to be minimised. Where they fail it is zero."""

    def __init__(self, objectives: list[Any]) -> None:
        self.objectives = objectives

    def __call__(self, theta: Floats) -> float:
        """Of the parameters that are free."""
        value = -sum(float(one(theta)) for one in self.objectives)
        return value if value < math.inf else -math.inf


@final
class Slopes:
    """The gradient of the log likelihood."""

    def __init__(self, objectives: list[Any]) -> None:
        self.objectives = objectives

    def __call__(self, theta: Floats) -> Floats:
        """By the parameters that are free."""
        found = [np.asarray(one(theta, sensi_orders=(1,)), float) for one in self.objectives]
        return np.asarray(np.nan_to_num(-np.sum(found, axis=0)))
