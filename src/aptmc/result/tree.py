"""Draws in ArviZ's layout: (chain, draw), in groups. From a store on disk they are read lazily."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.problem import Problem
from aptmc.result.sources import Source, parameters, statistics, values_of
from aptmc.store import Draws, Store

if TYPE_CHECKING:
    import xarray

    from aptmc.result.run import Run

Groups = dict[str, dict[str, np.ndarray]]


def sources(problem: Problem) -> dict[str, dict[str, Source]]:
    """Which columns of the draws make the variables of each group."""
    return {"posterior": parameters(problem), "sample_stats": statistics(problem)}


def _dims(problem: Problem) -> dict[str, list[str]]:
    """By variable, the names of its own dimensions."""
    variables = problem.variables
    return {variable.name: list(variable.dims) for variable in variables if variable.dims}


def _coords(problem: Problem) -> dict[str, list[Any]]:
    """By dimension of a variable, what its places are called."""
    return {
        dim: list(variable.coords.get(dim, range(length)))
        for variable in problem.variables
        for dim, length in zip(variable.dims, variable.shape, strict=True)
    }


def eager_tree(run: Run, *, with_warmup: bool) -> xarray.DataTree:
    """All draws of the coldest rung; chains are cut to the shortest's length."""
    problem = run.settings.problem
    groups = arrays_of(problem, run.chains())
    if with_warmup:
        groups |= arrays_of(problem, run.chains(warmup=True), "warmup_")
    return as_tree(problem, groups)


def as_tree(problem: Problem, groups: Groups) -> xarray.DataTree:
    """Arrays by group and variable, in ArviZ's layout."""
    from arviz_base import from_dict

    with warnings.catch_warnings():
        # A short run may have fewer draws than chains; the dimensions are right all the same.
        warnings.filterwarnings("ignore", "Found chain dimension to be longer", UserWarning)
        return from_dict(groups, save_warmup=True, dims=_dims(problem), coords=_coords(problem))


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


def lazy_tree(
    run: Run,
    store: Store,
    chains: list[int],
    before: list[int],
    length: int,
    *,
    with_warmup: bool,
) -> xarray.DataTree:
    """The same, but each variable is read from disk only when its numbers are asked for.

    :param before: by chain, how many draws come before those that count
    """
    import pandas
    import xarray
    from xarray.core import indexing

    class OnDisk(xarray.backends.BackendArray):
        """One variable of all chains, read when it is asked for."""

        def __init__(self, source: Source, kind: str) -> None:
            self.source, self.shape = source, (len(chains), length, *source.shape)
            is_whole = source.variable is not None and source.variable.kind == "whole"
            self.dtype = np.dtype(np.int64 if is_whole else kind)

        def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
            return indexing.explicit_indexing_adapter(
                key, self.shape, indexing.IndexingSupport.BASIC, self._read
            )

        def _read(self, key: tuple[Any, ...]) -> Any:
            which = np.arange(len(chains))[key[0]]
            column, place = self.source.column, self.source.place
            columns = []
            for chain in np.atleast_1d(which):
                counted = store.column(column, place, chains[chain])[before[chain] :][:length]
                columns.append(self.source.shown(counted)[key[1:]])
            return np.stack(columns) if which.ndim else columns[0]

    kinds = store.column_kinds()
    # A range takes no memory, however many draws there are.
    problem = run.settings.problem
    places, dims = _coords(problem), _dims(problem)
    coordinates = {"chain": np.arange(len(chains)), "draw": pandas.RangeIndex(length)}

    def coordinates_of(group: str) -> dict[str, Any]:
        return coordinates | (places if group == "posterior" else {})

    datasets = {
        group: xarray.Dataset(
            {
                name: (
                    ("chain", "draw", *dims.get(name, ())),
                    indexing.LazilyIndexedArray(OnDisk(source, kinds[source.column])),
                )
                for name, source in variables.items()
            },
            coords=coordinates_of(group),
        )
        for group, variables in sources(problem).items()
    }
    if with_warmup:  # which is in memory
        kept = arrays_of(problem, run.chains(warmup=True), "warmup_")
        for group, arrays in kept.items():
            count = next(iter(arrays.values())).shape[1]
            datasets[group] = xarray.Dataset(
                {
                    name: (("chain", "draw", *dims.get(name, ())), values)
                    for name, values in arrays.items()
                },
                coords={"chain": [0], "draw": np.arange(count)}
                | (places if group == "warmup_posterior" else {}),
            )
    return xarray.DataTree.from_dict({f"/{group}": data for group, data in datasets.items()})
