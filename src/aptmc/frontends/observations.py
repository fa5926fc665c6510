"""The log likelihood of single observations, for draws that have been made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aptmc.errors import InputError
from aptmc.problem.variables import Variable

if TYPE_CHECKING:
    from aptmc.frontends.model_functions import ModelFunction
    from aptmc.frontends.model_problem import TemperedModel
    from aptmc.result.run import Run


@final
class Observations:
    """What a model observes, whose likelihood is compiled when it is asked for.

    :param variables: of the numbers that the likelihood of each observed variable has
    :param made: gives a function (theta, found) that writes the numbers of all of them
    """

    def __init__(self, variables: Sequence[Variable], made: Callable[[], ModelFunction]) -> None:
        self._variables, self._made = tuple(variables), made

    def with_log_likelihood(self, problem: TemperedModel, run: Run) -> Any:
        """The draws of a run, with a group that has the log likelihood of each observation."""
        import xarray

        if not self._variables:
            raise InputError(
                "the model has no observations, whose likelihood could be told apart: potentials "
                "and factors are one number each"
            )
        evaluate = self._made().function
        draws = run.draws
        tree = draws.copy()
        length = draws["posterior"].sizes["draw"]
        size = sum(variable.size for variable in self._variables)
        chains = [chain.state[:length, : problem.dimension] for chain in run.chains()]
        found = np.empty((len(chains), length, size))
        for states, into in zip(chains, found, strict=True):
            for theta, numbers in zip(states, into, strict=True):
                evaluate(theta.copy(), numbers)
        coords = {dim: draws["posterior"].coords[dim] for dim in ("chain", "draw")}
        tree["log_likelihood"] = xarray.DataTree(_dataset(self._variables, found, coords))
        return tree


def single_terms(data: Variable, shape: tuple[int, ...]) -> Variable:
    """The log likelihoods of some data, which have no dimension within an observation."""
    if data.shape[: len(shape)] != shape:
        return Variable(data.name, shape)
    dims = data.dims[: len(shape)]
    coords = {dim: places for dim, places in data.coords.items() if dim in dims}
    return Variable(data.name, shape, dims, coords)


def _dataset(variables: Sequence[Variable], found: Any, coords: dict[str, Any]) -> Any:
    import xarray

    arrays, start = {}, 0
    for variable in variables:
        values = found[..., start : start + variable.size]
        arrays[variable.name] = (
            ("chain", "draw", *variable.dims),
            values.reshape(*found.shape[:-1], *variable.shape),
        )
        numbered = zip(variable.dims, map(np.arange, variable.shape), strict=True)
        coords = {**dict(numbered), **coords}  # names of places, if they have some
        coords |= {dim: list(places) for dim, places in variable.coords.items()}
        start += variable.size
    return xarray.Dataset(arrays, coords=coords)
