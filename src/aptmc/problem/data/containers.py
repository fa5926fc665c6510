"""What data come in: dictionaries, tables, series, lists.

pandas and xarray are known here only if whoever gives such data has imported them: nothing of
theirs can be met before.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

# By module, the classes of data that have names or labels.
KNOWN = {"pandas": ("DataFrame", "Series", "Index"), "xarray": ("Dataset", "DataArray")}
LABELLED = ("Series", "DataArray")  # one array with labels
TABLES = (*LABELLED, "DataFrame")  # what can be one array, if names are left out


def kind_of(value: object) -> str | None:
    """The name of the class of pandas or xarray that something belongs to, if it does."""
    for module, names in KNOWN.items():
        loaded = sys.modules.get(module)
        for name in names if loaded is not None else ():
            known = getattr(loaded, name, None)
            if known is not None and isinstance(value, known):
                return name
    return None


def has_names(value: object) -> bool:
    """Whether it is more than an array of numbers: has names, labels, or arrays of several shapes.

    >>> has_names({"prey": [1.0, 2.0]}), has_names([[1.0, 2.0], [3.0]]), has_names([1.0, 2.0])
    (True, True, False)
    """
    return kind_of(value) is not None or isinstance(value, Mapping) or is_several(value)


def is_several(value: object) -> bool:
    """Whether it is a list of data sets that do not fit into one array."""
    if not isinstance(value, list | tuple) or len(value) == 0:
        return False
    if isinstance(value[0], int | float | np.generic):  # numbers, which may be very many
        return False
    if any(has_names(one) for one in value):
        return True
    if not all(isinstance(one, list | tuple | np.ndarray) for one in value):
        return False
    # Shapes of lists may be ragged on their own.
    return len({_shape(one) for one in value}) > 1


def _shape(value: Any) -> object:
    try:
        return np.shape(value)
    except ValueError:
        return id(value)


def parts_in(value: Any) -> dict[Any, Any] | None:
    """The parts of something by their keys, or None if it has none.

    Places are the keys of a list, which is always a list of parts here.
    """
    kind = kind_of(value)
    if kind == "DataFrame":
        return {column: value[column] for column in value.columns}
    if kind == "Dataset":
        return dict(value.data_vars)
    if kind is None and isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return None


def without_labels(value: Any) -> Any:
    """The numbers of a series, also of those kinds of pandas that numpy does not know."""
    if kind_of(value) == "Series" and value.dtype.kind in "iufb":
        return value.to_numpy(dtype=np.float64, na_value=np.nan)
    return value


def called(value: object) -> str:
    """What to call it in a message."""
    kind = kind_of(value)
    if kind is not None:
        return f"a {kind}"
    if isinstance(value, Mapping):
        return "a dictionary"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return f"a {type(value).__name__}"


def content_of(value: Any) -> list[Any] | None:
    """Names, labels and numbers of something of pandas or xarray, without what it remembers.

    They keep results of look-ups inside themselves, so that two equal ones need not look so.
    """
    kind = kind_of(value)
    if kind == "DataFrame":
        columns = [value.iloc[:, place].to_numpy() for place in range(value.shape[1])]
        return [kind, value.columns, value.index, columns]
    if kind == "Series":
        return [kind, value.name, value.index, value.to_numpy()]
    if kind == "Index":
        return [kind, list(value.names), value.to_numpy()]
    if kind == "DataArray":
        return [kind, value.name, value.dims, value.to_numpy(), _coordinates(value)]
    if kind == "Dataset":
        return [kind, {name: value[name] for name in value.data_vars}, _coordinates(value)]
    return None


def _coordinates(value: Any) -> list[Any]:
    return [[name, one.dims, one.to_numpy()] for name, one in value.coords.items()]
