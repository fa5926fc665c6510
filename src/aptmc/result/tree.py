"""Draws in ArviZ's layout: (chain, draw), in groups. From a store on disk they are read lazily."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aptmc.problem.state import value_column
from aptmc.record.columns import STATISTICS
from aptmc.store import Draws, Store

if TYPE_CHECKING:
    import xarray

    from aptmc.result.run import Run


class Source(NamedTuple):
    """Where a variable is found in the draws: a column, and a place in it if it is the state."""

    column: str
    place: int | None = None


def sources(run: Run) -> dict[str, dict[str, Source]]:
    """Which columns of the draws make the variables of each group."""
    problem = run.settings.problem
    value = value_column(problem.dimension)
    statistics = {problem.value_name: Source("state", value)}
    statistics |= {name: Source(name) for name in STATISTICS}
    parameters = {name: Source("state", place) for place, name in enumerate(problem.names)}
    return {"posterior": parameters, "sample_stats": statistics}


def eager_tree(run: Run, *, with_warmup: bool) -> xarray.DataTree:
    """All draws of the coldest rung; chains are cut to the shortest's length."""
    from arviz_base import from_dict

    groups = _arrays(run, "", warmup=False)
    if with_warmup:
        groups |= _arrays(run, "warmup_", warmup=True)
    with warnings.catch_warnings():
        # A short run may have fewer draws than chains; the dimensions are right all the same.
        warnings.filterwarnings("ignore", "Found chain dimension to be longer", UserWarning)
        return from_dict(groups, save_warmup=True)


def _arrays(run: Run, prefix: str, *, warmup: bool) -> dict[str, dict[str, np.ndarray]]:
    chains = run.chains(warmup=warmup)
    length = min(draws.time.size for draws in chains)
    return {
        prefix + group: {
            name: np.stack([values_of(draws, source)[:length] for draws in chains])
            for name, source in variables.items()
        }
        for group, variables in sources(run).items()
    }


def values_of(draws: Draws, source: Source) -> Any:
    """The values of one variable in some draws."""
    column = getattr(draws, source.column)
    return column if source.place is None else column[:, source.place]


def lazy_tree(
    run: Run, store: Store, chains: list[int], length: int, *, with_warmup: bool
) -> xarray.DataTree:
    """The same, but each variable is read from disk only when its numbers are asked for."""
    import pandas
    import xarray
    from xarray.core import indexing

    class OnDisk(xarray.backends.BackendArray):
        """One variable of all chains, read when it is asked for."""

        def __init__(self, source: Source, kind: str) -> None:
            self.source, self.shape, self.dtype = source, (len(chains), length), np.dtype(kind)

        def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
            return indexing.explicit_indexing_adapter(
                key, self.shape, indexing.IndexingSupport.BASIC, self._read
            )

        def _read(self, key: tuple[Any, ...]) -> Any:
            which = np.arange(len(chains))[key[0]]
            columns = [
                store.column(*self.source, chains[chain])[:length][key[1]]
                for chain in np.atleast_1d(which)
            ]
            return np.stack(columns) if which.ndim else columns[0]

    kinds = store.column_kinds()
    # A range takes no memory, however many draws there are.
    coordinates = {"chain": np.arange(len(chains)), "draw": pandas.RangeIndex(length)}
    datasets = {
        group: xarray.Dataset(
            {
                name: (
                    ("chain", "draw"),
                    indexing.LazilyIndexedArray(OnDisk(source, kinds[source.column])),
                )
                for name, source in variables.items()
            },
            coords=coordinates,
        )
        for group, variables in sources(run).items()
    }
    if with_warmup:  # which is in memory
        for group, arrays in _arrays(run, "warmup_", warmup=True).items():
            datasets[group] = xarray.Dataset(
                {name: (("chain", "draw"), values) for name, values in arrays.items()},
                coords={"chain": [0], "draw": np.arange(next(iter(arrays.values())).shape[1])},
            )
    return xarray.DataTree.from_dict({f"/{group}": data for group, data in datasets.items()})
