"""Which draws are of the same state.

A state that is left seldom is drawn again and again, and wherever exchanges carry it, its draws are
one draw and no more. Sums over time do not show that where one such state follows another, or where
many chains hold one each; draws that are equal do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from aptmc.compiled import Integers
from aptmc.diagnostics.autocorrelation import Floats

SEED = 0  # of the weights by which the parameters of a draw become one number


def states_in(parameters: Iterable[Sequence[Floats]]) -> Integers | None:
    """A number for each draw, the same for all draws of a state, one chain after the other.

    None if all states are different, or if their parameters are all whole numbers: a chain comes
    back to those.

    :param parameters: of each, its values by chain

    >>> states_in([[np.array([0.5, 0.5, 2.0]), np.array([0.5])]])
    array([0, 0, 1, 0])
    """
    weights = np.random.default_rng(SEED)
    total: Floats | None = None
    is_whole = True
    for chains in parameters:
        if not chains:
            return None
        values = np.nan_to_num(np.concatenate(list(chains)))
        is_whole = is_whole and bool((values == np.floor(values)).all())
        share = values * weights.normal()
        total = share if total is None else total + share
    if is_whole or total is None:
        return None
    states, numbers = np.unique(total, return_inverse=True)
    return None if states.size == total.size else numbers.astype(np.int64)
