"""The log likelihood of single observations, for draws that have been made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from aptmc.frontends.pymc_graphs import Graphs
from aptmc.problem.variables import Variable

if TYPE_CHECKING:
    from aptmc.frontends.model_problem import TemperedModel
    from aptmc.result.run import Run


@final
class Observations:
    """The observed variables of a model, whose likelihood is compiled when it is asked for."""

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs

    def with_log_likelihood(self, problem: TemperedModel, run: Run) -> Any:
        """The draws of a run, with a group that has the log likelihood of each observation."""
        import xarray

        observed, graph = self._graphs.of_observations()
        evaluate = self._graphs.code("values", graph).function
        known = {one.variable.name: one.variable for one in problem.data_groups["observed_data"]}
        variables = [known[variable.name] for variable in observed]
        draws = run.draws
        tree = draws.copy()
        length = draws["posterior"].sizes["draw"]
        size = sum(variable.size for variable in variables)
        chains = [chain.state[:length, : problem.dimension] for chain in run.chains()]
        found = np.empty((len(chains), length, size))
        for states, into in zip(chains, found, strict=True):
            for theta, numbers in zip(states, into, strict=True):
                evaluate(theta.copy(), numbers)
        coords = {dim: draws["posterior"].coords[dim] for dim in ("chain", "draw")}
        tree["log_likelihood"] = xarray.DataTree(_dataset(variables, found, coords))
        return tree


def _dataset(variables: list[Variable], found: Any, coords: dict[str, Any]) -> Any:
    import xarray

    arrays, start = {}, 0
    for variable in variables:
        values = found[..., start : start + variable.size]
        arrays[variable.name] = (
            ("chain", "draw", *variable.dims),
            values.reshape(*found.shape[:-1], *variable.shape),
        )
        coords |= {dim: list(places) for dim, places in variable.coords.items()}
        start += variable.size
    return xarray.Dataset(arrays, coords=coords)
