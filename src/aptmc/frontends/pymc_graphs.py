"""A model of PyMC taken apart: prior and likelihood as graphs of one vector of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from aptmc.frontends.machine_code import MachineCode
from aptmc.frontends.pymc_variables import bounds_of
from aptmc.frontends.pytensor_numba import machine_code
from aptmc.problem.variables import Variable


def graphs_of(model: Any) -> Graphs:
    """The graphs of a model with the data that it has now."""
    order = [variable.name for variable in model.free_RVs]
    return Graphs(_frozen(model), order, bool(model.check_bounds))


def _frozen(model: Any) -> Any:
    """A copy with the data that it has now, and without `initval`, for PyMC copies none with it.

    Chains begin with draws from the prior.
    """
    from pymc.model.transform.optimization import freeze_dims_and_data

    own = dict(model.rvs_to_initial_values)
    try:
        model.rvs_to_initial_values.update(dict.fromkeys(own))
        return freeze_dims_and_data(model)
    finally:
        model.rvs_to_initial_values.update(own)


@final
class Graphs:
    """What is computed from the vector `theta` of all value variables, one after the other."""

    def __init__(self, model: Any, order: Sequence[str], check_bounds: bool) -> None:
        import pytensor.tensor as pt

        self.model = model
        self.check_bounds = check_bounds
        self.free = [model[name] for name in order]
        values = [model.rvs_to_values[variable] for variable in self.free]
        first = model.initial_point(random_seed=0)
        self.shapes = {one.name: np.shape(first[one.name]) for one in values}
        sizes = [int(np.prod(shape)) for shape in self.shapes.values()]
        self.dimension = sum(sizes)
        self.theta = pt.vector("theta", shape=(self.dimension,), dtype="float64")
        self._pieces: dict[Any, Any] = {}
        # Whole numbers within their bounds, beyond which they could be no index.
        self._bounded: dict[Any, Any] = {}
        start = 0
        for random, variable, size in zip(self.free, values, sizes, strict=True):
            piece = self.theta[start : start + size].reshape(self.shapes[variable.name])
            # A whole number k is held as any number in [k, k + 1).
            is_real = variable.dtype.startswith("float")
            whole = (piece if is_real else pt.floor(piece)).astype(variable.dtype)
            self._pieces[variable] = whole
            bounds = bounds_of(random)
            if bounds is not None:
                self._bounded[variable] = pt.clip(whole, *bounds).astype(variable.dtype)
            start += size

    def code(self, kind: str, output: Any) -> MachineCode:
        """A graph as a function for compiled code."""
        import pytensor.tensor as pt

        inputs = {"weighted": [self.theta, self._weight]}.get(kind, [self.theta])
        return machine_code(
            kind, inputs, pt.cast(output, "float64"), check_bounds=self.check_bounds
        )

    @property
    def densities(self) -> Any:
        """Log prior and log likelihood."""
        import pytensor.tensor as pt

        return pt.stack([self._log_prior, self._log_likelihood])

    @property
    def gradient(self) -> Any:
        """Of the log prior plus a weight times the log likelihood."""
        import pytensor.tensor as pt

        total = self._log_prior + self._weight * self._log_likelihood
        return pt.grad(total, self.theta, disconnected_inputs="ignore")

    def shown(self, variables: Sequence[Variable]) -> Any:
        """All numbers of some variables as users see them, one after the other."""
        import pytensor.tensor as pt

        wanted = [self.model[variable.name] for variable in variables]
        found = self._of_theta(self.model.replace_rvs_by_values(wanted))
        return pt.concatenate([pt.cast(one, "float64").ravel() for one in found])

    def of_observations(self) -> Any:
        """The log likelihood of each single observation, one variable after the other."""
        import pytensor.tensor as pt

        return pt.concatenate([pt.cast(one, "float64").ravel() for one in self._single_terms])

    def shapes_of_observations(self) -> list[tuple[str, tuple[int, ...]]]:
        """By observed variable, how many single observations it has, in which shape."""
        names = [variable.name for variable in self.model.observed_RVs]
        return [
            (name, self._shape(one)) for name, one in zip(names, self._single_terms, strict=True)
        ]

    @cached_property
    def _single_terms(self) -> list[Any]:
        observed = list(self.model.observed_RVs)
        if not observed:
            return []
        return self._of_theta(self.model.logp(vars=observed, jacobian=False, sum=False))

    def _shape(self, term: Any) -> tuple[int, ...]:
        if None not in term.type.shape:
            return tuple(term.type.shape)
        return tuple(np.shape(term.eval({self.theta: np.zeros(self.dimension)})))

    @cached_property
    def _weight(self) -> Any:
        import pytensor.tensor as pt

        return pt.scalar("weight", dtype="float64")

    @cached_property
    def _log_prior(self) -> Any:
        terms = self.model.logp(vars=self.free, jacobian=True, sum=False)
        if not self._bounded:
            return self._sum(terms)
        import pytensor.tensor as pt

        values = [self.model.rvs_to_values[variable] for variable in self.free]
        own = [self._sum([term], own=value) for term, value in zip(terms, values, strict=True)]
        return pt.add(*own) if len(own) > 1 else own[0]

    @cached_property
    def _log_likelihood(self) -> Any:
        terms = []
        if self.model.observed_RVs:
            observed = self.model.observed_RVs
            terms += self.model.logp(vars=observed, jacobian=False, sum=False)
        if self.model.potentials:
            terms += self.model.replace_rvs_by_values(self.model.potentials)
        return self._sum(terms)

    def _sum(self, terms: Sequence[Any], own: Any = None) -> Any:
        import pytensor.tensor as pt

        sums = [pt.cast(one, "float64").sum() for one in self._of_theta(terms, own)]
        return pt.add(*sums) if len(sums) > 1 else sums[0]

    def _of_theta(self, outputs: Sequence[Any], own: Any = None) -> list[Any]:
        """The same with coordinates in place of variables, and numbers in place of shared ones.

        A variable that has bounds stays within them, so that others can be indexed by it. Only its
        own prior, `own`, sees where it is, and is zero beyond.
        """
        import pytensor.tensor as pt
        from pytensor.compile.sharedvalue import SharedVariable
        from pytensor.graph.replace import clone_replace
        from pytensor.graph.traversal import ancestors

        numbers = {
            one: pt.constant(one.get_value(), dtype=one.dtype)
            for one in ancestors(list(outputs))
            if isinstance(one, SharedVariable) and hasattr(one.type, "numpy_dtype")
        }
        bounded = {one: piece for one, piece in self._bounded.items() if one is not own}
        given = {**self._pieces, **bounded, **numbers}
        found = clone_replace(list(outputs), given, rebuild_strict=False)
        return list(found)
