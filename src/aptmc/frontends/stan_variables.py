"""The names of Stan's numbers, as variables with shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aptmc.compiled import Integers
from aptmc.problem.variables import Variable


def variables_of(names: Sequence[str]) -> tuple[tuple[Variable, ...], Integers]:
    """The variables of names like `beta.2.1`, and for each of their numbers its place among these.

    Stan counts from 1, with the first index fastest; numpy has the last one fastest.

    >>> variables, order = variables_of(["a", "b.1.1", "b.2.1", "b.1.2", "b.2.2"])
    >>> [(one.name, one.shape) for one in variables]
    [('a', ()), ('b', (2, 2))]
    >>> order.tolist()
    [0, 1, 3, 2, 4]
    """
    places: dict[str, dict[tuple[int, ...], int]] = {}
    for place, name in enumerate(names):
        base, *indices = name.replace(":", "_").split(".")
        numbers = [index for index in indices if index.isdigit()]
        words = [index for index in indices if not index.isdigit()]  # real and imag
        key = "_".join([base, *words])
        places.setdefault(key, {})[tuple(int(index) - 1 for index in numbers)] = place
    variables, order = [], []
    for name, found in places.items():
        keys = np.array(list(found), dtype=np.int64).reshape(len(found), -1)
        full = tuple(int(length) for length in keys.max(axis=0) + 1) if keys.size else ()
        # A triangle of numbers, say, is shown as they come.
        shape = full if int(np.prod(full)) == len(found) else (len(found),)
        variables.append(Variable(name, shape))
        order += [place for _, place in sorted(found.items())]
    return tuple(variables), np.array(order, dtype=np.int64)
