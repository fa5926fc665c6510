"""Functions that have a translation: together they use all that has one."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

TABLE = np.array([[1.5, -2.0], [0.25, 8.0]])
COUNTS = np.array([3, 1, 4, 1, 5])
SIZE = 4


@njit
def arithmetic(x, n):
    return (x + 1) * 2 - n / 3 + n // 4 + n % 5 + x % 2.5 + x // 0.5 + x**3 + 2.0**n - (-x)


@njit
def whole_numbers(x, n):
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        if i > 20:
            break
        total += i * i - (i & 3) + (i << 1) - (i >> 1) + (i ^ 5) + (-i) // 3 + (-i) % 3
    for i in range(10, 0, -3):
        total -= i
    return total


@njit
def branches(x, n):
    if (x > 2.0 and n != 3) or not x > 0.0:
        y = 1.0 if n > 4 else x
    elif 0.0 < x <= 1.0:
        y = -x
    else:
        y = 7
    return y


@njit
def loops(x, n):
    steps, left = 0, x
    while left > 0.1 and steps < 50:
        left *= 0.5
        steps += 1
    return steps + left


@njit
def constants(x, n):
    i = n % 2
    last = TABLE.shape[0] + len(COUNTS) + COUNTS.size
    return TABLE[i, 1 - i] + COUNTS[n % 5] * math.pi + TABLE[1, 0] + COUNTS[-1] + last


@njit
def two_at_once(x, n):
    return x + n, n - 1


@njit
def with_default(x, factor=2.0):
    return factor * x


@njit
def calls(x, n):
    a, b = two_at_once(x, n)
    a, b = b, a
    return a - b + with_default(x) + with_default(x, 3.0) + with_default(factor=0.5, x=x)


@njit
def arrays(x, n):
    values = np.zeros(SIZE)
    weights = np.ones(3)
    weights[1] = x
    for i in range(SIZE):
        values[i] = x * i
    values[-1] += values[1]
    total = 0.0
    for i in range(len(values)):
        total += values[i] / (i + 1)
    return total + weights[0] * weights[1]


@njit
def known_functions(x, n):
    y = math.log(x) + math.exp(-x) + np.sqrt(x) + math.sin(x) + np.arctan2(x, 2.0) + math.erf(x)
    y += max(x, n, 2.0) - min(n, 3) + abs(-x) + abs(-n) + math.lgamma(x) + math.expm1(x)
    y += math.floor(x) + np.floor(x) + math.ceil(-x) + int(x) + float(n) + round(x)
    return y if not math.isnan(y) and np.isfinite(y) else -1.0


FUNCTIONS = [
    arithmetic, whole_numbers, branches, loops, constants, calls, arrays, known_functions,
]  # fmt: skip


def draws_in_order(theta, rng, state, tolerance):
    """Python draws from left to right; which of two C would draw first, nobody knows."""
    state[0] = rng.random() - 2.0 * rng.random()
    if rng.random() < 0.5 and rng.random() < 0.5:
        state[1] += 1.0
    state[2] = rng.standard_normal() if rng.random() < 0.3 else rng.integers(3, 9)
    while rng.random() < 0.5:
        state[3] += rng.poisson(2.0) + rng.binomial(10, 0.3)
    return rng.gamma(2.0, scale=0.5) + rng.uniform(1.0, 2.0) + rng.exponential() + rng.normal(1.0)
