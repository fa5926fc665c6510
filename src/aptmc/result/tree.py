"""Draws in ArviZ's layout: (chain, draw), in groups."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.compiled import Floats
from aptmc.problem import Problem, Variable
from aptmc.result.beyond import BEYOND, beyond, cut_note
from aptmc.result.sources import Source, parameters, statistics, values_of
from aptmc.store import Draws

if TYPE_CHECKING:
    import xarray

    from aptmc.result.run import Run

Groups = dict[str, dict[str, np.ndarray]]


def sources(problem: Problem) -> dict[str, dict[str, Source]]:
    """Which columns of the draws make the variables of each group."""
    return {"posterior": parameters(problem), "sample_stats": statistics(problem)}


def dims_of(problem: Problem) -> dict[str, list[str]]:
    """By variable, the names of its own dimensions."""
    variables = problem.variables
    return {variable.name: list(variable.dims) for variable in variables if variable.dims}


def coords_of(problem: Problem) -> dict[str, list[Any]]:
    """By dimension of a variable, what its places are called."""
    return _places(problem.variables)


def _places(variables: Iterable[Variable]) -> dict[str, list[Any]]:
    return {
        dim: list(variable.coords.get(dim, range(length)))
        for variable in variables
        for dim, length in zip(variable.dims, variable.shape, strict=True)
    }


def eager_tree(run: Run, *, with_warmup: bool) -> xarray.DataTree:
    """All draws of the coldest rung; what chains have beyond the shortest is a group of its own."""
    problem, chains = run.settings.problem, run.chains()
    groups = arrays_of(problem, chains)
    if with_warmup:
        groups |= arrays_of(problem, run.chains(warmup=True), "warmup_")
    return with_the_rest(with_data(as_tree(problem, groups), problem), problem, chains)


def with_data(tree: xarray.DataTree, problem: Problem) -> xarray.DataTree:
    """The same with the data that belong to the problem, each kind a group of its own."""
    import xarray

    for group, data in problem.data_groups.items():
        variables = [one.variable for one in data]
        tree[group] = xarray.DataTree(
            xarray.Dataset(
                {one.variable.name: (one.variable.dims, one.values) for one in data},
                coords=_places(variables),
            )
        )
    return tree


def with_the_rest(
    tree: xarray.DataTree, problem: Problem, chains: list[Draws], **more: Sequence[Floats]
) -> xarray.DataTree:
    """The same with what chains have beyond the shortest, if they differ in length.

    :param more: by name, further statistics of the draws, an array for each chain
    """
    import xarray

    lengths = [draws.time.size for draws in chains]
    length = min(lengths)
    for group, variables in sources(problem).items():
        tree[group].attrs.update(cut_note(lengths))
        if max(lengths) > length:
            rest = {
                name: np.concatenate([values_of(draws, source)[length:] for draws in chains])
                for name, source in variables.items()
            }
            if group == "sample_stats":
                rest |= {
                    name: np.concatenate([chain[length:] for chain in values])
                    for name, values in more.items()
                }
            found = beyond(rest, lengths, dims_of(problem), coords_of(problem))
            tree[BEYOND + group] = xarray.DataTree(found)
    return tree


def as_tree(problem: Problem, groups: Groups) -> xarray.DataTree:
    """Arrays by group and variable, in ArviZ's layout."""
    from arviz_base import from_dict

    with warnings.catch_warnings():
        # A short run may have fewer draws than chains; the dimensions are right all the same.
        warnings.filterwarnings("ignore", "Found chain dimension to be longer", UserWarning)
        return from_dict(groups, save_warmup=True, dims=dims_of(problem), coords=coords_of(problem))


def arrays_of(problem: Problem, chains: list[Draws], prefix: str = "") -> Groups:
    """By group and variable, the draws of all chains, cut to the shortest's length."""
    length = min(draws.time.size for draws in chains)
    return {
        prefix + group: {
            name: np.stack([values_of(draws, source)[:length] for draws in chains])
            for name, source in variables.items()
        }
        for group, variables in sources(problem).items()
    }
