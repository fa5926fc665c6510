"""Draws in ArviZ's layout that are read from disk when their numbers are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aptmc.result.beyond import BEYOND, beyond, cut_note
from aptmc.result.sources import Source
from aptmc.result.tree import arrays_of, coords_of, dims_of, sources, with_data
from aptmc.store import Store

if TYPE_CHECKING:
    import xarray

    from aptmc.result.run import Run


def lazy_tree(
    run: Run,
    store: Store,
    chains: list[int],
    before: list[int],
    lengths: list[int],
    *,
    with_warmup: bool,
) -> xarray.DataTree:
    """The same, but each variable is read from disk only when its numbers are asked for.

    :param before: by chain, how many draws come before those that count
    :param lengths: by chain, how many count
    """
    import pandas
    import xarray
    from xarray.core import indexing

    length = min(lengths)

    class OnDisk(xarray.backends.BackendArray):
        """One variable of all chains, read when it is asked for.

        :param beyond: whether it is what the others have more than the shortest
        """

        def __init__(self, source: Source, kind: str, *, beyond: bool = False) -> None:
            self.source, self.beyond = source, beyond
            places = (sum(lengths) - length * len(lengths),) if beyond else (len(chains), length)
            self.shape = (*places, *source.shape)
            is_whole = source.variable is not None and source.variable.kind == "whole"
            self.dtype = np.dtype(np.int64 if is_whole else kind)

        def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
            return indexing.explicit_indexing_adapter(
                key, self.shape, indexing.IndexingSupport.BASIC, self._read
            )

        def _read(self, key: tuple[Any, ...]) -> Any:
            if self.beyond:
                rest = [self._counted(chain)[length:] for chain in range(len(chains))]
                return np.concatenate(rest)[key]
            which = np.arange(len(chains))[key[0]]
            columns = [self._counted(chain)[:length][key[1:]] for chain in np.atleast_1d(which)]
            return np.stack(columns) if which.ndim else columns[0]

        def _counted(self, chain: int) -> Any:
            column = store.column(self.source.column, self.source.place, chains[chain])
            first = before[chain]
            return self.source.shown(column[first : first + lengths[chain]])

    kinds = store.column_kinds()
    # A range takes no memory, however many draws there are.
    problem = run.settings.problem
    places, dims = coords_of(problem), dims_of(problem)
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
            attrs=cut_note(lengths),
        )
        for group, variables in sources(problem).items()
    }
    for group, variables in sources(problem).items() if max(lengths) > length else ():
        lazy = {
            name: indexing.LazilyIndexedArray(OnDisk(source, kinds[source.column], beyond=True))
            for name, source in variables.items()
        }
        datasets[BEYOND + group] = beyond(lazy, lengths, dims, places)
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
    tree = xarray.DataTree.from_dict({f"/{group}": data for group, data in datasets.items()})
    return with_data(tree, problem)
