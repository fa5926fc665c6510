"""The density of the two autocovariances, from their characteristic function."""

from __future__ import annotations

import numpy as np
from numba import njit

from aptmc.compiled import Floats, FloatTable
from aptmc.models.moving_average.series import LENGTH, SUMMARIES


@njit(nogil=True, error_model="numpy")
def inverse_transform(
    thetas: FloatTable, directions: FloatTable, radii: Floats, weights: FloatTable
) -> FloatTable:
    """The density of the autocovariances at the observed ones, up to a constant.

    For each theta, one number for each row of weights of the radii.
    """
    heights = np.zeros((len(thetas), len(weights)))
    for i in range(len(thetas)):
        for direction in directions:
            form = _quadratic_form(thetas[i], direction)
            observed = direction[0] * SUMMARIES[0] + direction[1] * SUMMARIES[1]
            for j in range(radii.size):
                radius = radii[j]
                turned = np.exp(-1j * radius * observed) * _characteristic(form, radius)
                for k in range(len(weights)):
                    heights[i, k] += weights[k, j] * turned.real
    return heights


@njit(nogil=True)
def _quadratic_form(theta: Floats, direction: Floats) -> FloatTable:
    """A sum of the two autocovariances as a symmetric form in the noise, by its lower bands."""
    weights = (theta[1], theta[0], 1.0)
    form = np.zeros((LENGTH + 2, 5))
    for lag in range(1, 3):
        for t in range(lag, LENGTH):
            for a in range(3):
                for b in range(3):
                    row, column = t + a, t - lag + b
                    product = direction[lag - 1] * weights[a] * weights[b] / LENGTH
                    if row == column:
                        form[row, 0] += product
                    else:
                        form[max(row, column), abs(row - column)] += 0.5 * product
    return form


@njit(nogil=True, error_model="numpy")
def _characteristic(form: FloatTable, radius: float) -> complex:
    """E exp(i r e'Fe) = det(1 - 2irF) ** (-1/2) for standard normal e, by a banded LDL'.

    The real part of the matrix is positive definite, so no pivots are exchanged, and the root is
    the product of the pivots' principal roots.
    """
    rows, width = form.shape
    lower = np.zeros((rows, width), np.complex128)
    inverse = np.zeros(rows, np.complex128)
    result = 1.0 + 0.0j
    scaled = np.zeros(width, np.complex128)  # this row of L, times the pivots
    for i in range(rows):
        pivot = 1.0 - 2.0j * radius * form[i, 0]
        for back in range(min(width - 1, i), 0, -1):
            j = i - back
            entry = -2.0j * radius * form[i, back]
            for further in range(min(width - 1, i), back, -1):
                entry -= scaled[further] * lower[j, further - back]
            scaled[back] = entry
            lower[i, back] = entry * inverse[j]
            pivot -= entry * lower[i, back]
        inverse[i] = 1.0 / pivot
        result *= np.sqrt(inverse[i])
    return result
