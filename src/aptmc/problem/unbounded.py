"""Coordinates with bounds, on the whole real line: for kernels that follow gradients.

What has one bound is held as the log of its distance from it, what has two as log odds. Densities
there have a further factor, how much longer an interval is on the other side: its Jacobian.
"""

from __future__ import annotations

import math

import numpy as np

from aptmc.compiled import Flags, Floats, FloatTable, compiled


@compiled
def to_line(value: float, lower: float, upper: float) -> float:
    """The place on the line of a value between its bounds."""
    if lower == -math.inf and upper == math.inf:
        return value
    if upper == math.inf:
        return math.log(value - lower)
    if lower == -math.inf:
        return -math.log(upper - value)
    return math.log(value - lower) - math.log(upper - value)


@compiled
def from_line(place: float, lower: float, upper: float) -> float:
    """The value at a place on the line."""
    if lower == -math.inf and upper == math.inf:
        return place
    if upper == math.inf:
        return lower + math.exp(place)
    if lower == -math.inf:
        return upper - math.exp(-place)
    if place > 0.0:
        return upper - (upper - lower) * (math.exp(-place) / (1.0 + math.exp(-place)))
    return lower + (upper - lower) * (math.exp(place) / (1.0 + math.exp(place)))


@compiled
def log_slope(place: float, lower: float, upper: float) -> float:
    """The log of how fast the value changes at a place."""
    if lower == -math.inf and upper == math.inf:
        return 0.0
    if upper == math.inf:
        return place
    if lower == -math.inf:
        return -place
    return math.log(upper - lower) - abs(place) - 2.0 * math.log1p(math.exp(-abs(place)))


@compiled
def slope_of_log_slope(place: float, lower: float, upper: float) -> float:
    """How fast that changes."""
    if lower == -math.inf and upper == math.inf:
        return 0.0
    if upper == math.inf:
        return 1.0
    if lower == -math.inf:
        return -1.0
    return -math.tanh(0.5 * place)


def rows_on_line(theta: FloatTable, lower: Floats, upper: Floats) -> FloatTable:
    """The places of many points, one row each; of those that are on a bound there is none."""
    places, inside = places_on_line(theta, lower, upper)
    return places[inside]


def places_on_line(theta: FloatTable, lower: Floats, upper: Floats) -> tuple[FloatTable, Flags]:
    """The same for all of them, and which are within their bounds."""
    places = theta.copy()
    below, above = np.isfinite(lower), np.isfinite(upper)
    with np.errstate(all="ignore"):
        for column in np.flatnonzero(below | above):
            values = theta[:, column]
            place = np.zeros(len(theta))
            if below[column]:
                place = place + np.log(values - lower[column])
            if above[column]:
                place = place - np.log(upper[column] - values)
            places[:, column] = place
    return places, np.asarray(np.isfinite(places).all(axis=1))
