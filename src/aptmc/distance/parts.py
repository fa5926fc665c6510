"""A distance for each part of data with names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from aptmc.arguments import named_clearly
from aptmc.errors import InputError
from aptmc.problem.data.by_part import ByPart


@named_clearly
def by_part(
    distances: Mapping[str, Any],
    *,
    weights: Mapping[str, float] | None = None,
    order: float = 1.0,
) -> ByPart:
    """One distance for each part of the data, put together.

    The whole is (sum (weight * distance) ** order) ** (1 / order) over the parts. A plain Python
    function is given its part as simulator and data have it, a compiled one (all of
    `aptmc.distance`) an array. A part may have parts, and so may its distance.

    :param distances: by the name of a part
    :param weights: by name, what a distance is multiplied by; 1 if nothing is said
    :param order: from 1 on. 1 adds the distances up, infinity takes the largest

    >>> import aptmc
    >>> from scipy import stats
    >>> problem = aptmc.Abc(
    ...     lambda theta, rng: {"first": theta[0] + rng.random(3), "peak": theta[0]},
    ...     aptmc.Prior(level=stats.norm(0, 1)),
    ...     observed={"first": [1.0, 2.0, 1.5], "peak": 2.0},
    ...     distance=by_part(
    ...         {"first": aptmc.distance.p_norm(2), "peak": lambda s, o: abs(s - o)},
    ...         weights={"peak": 3.0},
    ...         order=math.inf,
    ...     ),
    ... )
    >>> problem
    Abc(<lambda>, Prior(level=norm(0, 1)), observed={'first': (3,), 'peak': ()},
      distance=by_part({'first': p_norm(2), 'peak': <lambda>}))
      the data have the parts first (3 numbers), peak (1 number)
    """
    if not isinstance(distances, Mapping) or not distances:
        raise InputError(f"distances must be a dictionary of distances by name, got {distances!r}")
    number = np.asarray(order)
    if number.ndim != 0 or number.dtype.kind not in "iuf" or not number >= 1.0:
        raise InputError(f"order must be a number from 1 on, got {order!r}: 1 adds distances up")
    given = dict(weights or {})
    for name, weight in given.items():
        if name not in distances:
            raise InputError(
                f"there is a weight for {name!r} but no distance: there are "
                f"{', '.join(map(repr, distances))}"
            )
        if not isinstance(weight, int | float | np.number) or not 0.0 < weight < math.inf:
            raise InputError(
                f"the weight of {name!r} must be a positive number, got {weight!r}: leave out the "
                "distance of what should not count"
            )
    return ByPart(dict(distances), given, float(number))
