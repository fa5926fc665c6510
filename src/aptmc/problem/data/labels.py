"""Labels: a simulation is compared with the data where the data have labels, not by place."""

from __future__ import annotations

from typing import Any

from aptmc.problem.data.containers import kind_of
from aptmc.problem.simulator import SimulationFailed


def at_labels(simulated: Any, observed: Any, words: str) -> Any:
    """What a simulation gives at the labels of the data, if both have labels; else all of it.

    :param words: what to call the data in a message
    """
    kinds = kind_of(simulated), kind_of(observed)
    if kinds == ("Series", "Series"):
        return _of_series(simulated, observed, words)
    if kinds == ("DataArray", "DataArray"):
        return _of_data_array(simulated, observed, words)
    return simulated


def _of_series(simulated: Any, observed: Any, words: str) -> Any:
    if simulated.index.equals(observed.index):
        return simulated
    for series, whose in ((simulated, "a simulation"), (observed, "the data")):
        if not series.index.is_unique:
            raise SimulationFailed(
                f"{words} has other labels in a simulation than as observed, and those of {whose} "
                "are not unique, so that they cannot be compared one by one,"
            )
    missing = observed.index.difference(simulated.index)
    if len(missing) > 0:
        raise SimulationFailed(_missing(words, "label", missing[0], simulated.index))
    return simulated.loc[observed.index]


def _of_data_array(simulated: Any, observed: Any, words: str) -> Any:
    if set(simulated.dims) != set(observed.dims):
        raise SimulationFailed(
            f"{words} has the dimensions {simulated.dims} in a simulation, {observed.dims} as "
            "observed,"
        )
    for dim in observed.dims:
        if dim not in observed.indexes or dim not in simulated.indexes:
            continue
        wanted, given = observed.indexes[dim], simulated.indexes[dim]
        if given.equals(wanted):
            continue
        missing = wanted.difference(given)
        if len(missing) > 0:
            raise SimulationFailed(_missing(words, str(dim), missing[0], given))
        simulated = simulated.sel({dim: wanted})
    return simulated.transpose(*observed.dims)


def _missing(words: str, what: str, first: object, given: Any) -> str:
    shown = ", ".join(map(str, given[:5])) + (", …" if len(given) > 5 else "")
    return f"{words} is not simulated at {what} {first}, only at {shown},"
