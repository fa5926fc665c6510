"""Stable sorting, for compiled code: numba's own takes two seconds to compile."""

from __future__ import annotations

import numpy as np

from aptmc.compiled import Floats, Integers, compiled


@compiled
def stable_order(values: Floats) -> Integers:
    """The places of the values, smallest value first; equal ones stay in order. No value is NaN.

    >>> stable_order(np.array([2.0, 1.0, 2.0, 0.5])).tolist()
    [3, 1, 0, 2]
    """
    size = values.shape[0]
    order, merged = np.arange(size), np.empty(size, np.int64)
    width = 1  # of stretches that are in order; two neighbours are merged at a time
    while width < size:
        for start in range(0, size, 2 * width):
            left, right = start, start + width
            middle, end = right, right + width
            if end > size:
                end = size
            for place in range(start, end):
                takes_left = left < middle
                if takes_left and right < end:
                    takes_left = values[order[left]] <= values[order[right]]
                if takes_left:
                    merged[place] = order[left]
                    left += 1
                else:
                    merged[place] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order
