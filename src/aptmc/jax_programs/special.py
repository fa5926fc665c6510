"""Functions of single numbers that neither Python nor numba has."""

from __future__ import annotations

import math

import numba
import numpy as np

from aptmc.compiled import compiled


@compiled
def digamma(x: float) -> float:
    """The derivative of the log of the gamma function."""
    if x <= 0.0 and x == math.floor(x):
        return math.nan
    if x < 0.5:
        return digamma_above(1.0 - x) - math.pi / math.tan(math.pi * x)
    return digamma_above(x)


@compiled
def digamma_above(x: float) -> float:
    """The same for positive numbers: by recurrence, then by the asymptotic series."""
    total = 0.0
    while x < 10.0:
        total -= 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    series = r * (
        1.0 / 12
        - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * 691.0 / 32760))))
    )
    return total + math.log(x) - 0.5 / x - series


@compiled
def inverse_erf(y: float) -> float:
    """The x with erf(x) = y: a rational start (Giles 2010), and Newton's steps."""
    if not -1.0 < y < 1.0:
        if abs(y) == 1.0:
            return y * math.inf
        return math.nan
    w = -math.log1p(-y * y)
    if w < 5.0:
        w -= 2.5
        p = 2.81022636e-08
        p = 3.43273939e-07 + p * w
        p = -3.5233877e-06 + p * w
        p = -4.39150654e-06 + p * w
        p = 0.00021858087 + p * w
        p = -0.00125372503 + p * w
        p = -0.00417768164 + p * w
        p = 0.246640727 + p * w
        p = 1.50140941 + p * w
    else:
        w = math.sqrt(w) - 3.0
        p = -0.000200214257
        p = 0.000100950558 + p * w
        p = 0.00134934322 + p * w
        p = -0.00367342844 + p * w
        p = 0.00573950773 + p * w
        p = -0.0076224613 + p * w
        p = 0.00943887047 + p * w
        p = 1.00167406 + p * w
        p = 2.83297682 + p * w
    x = p * y
    for _ in range(2):
        if abs(x) < 1.0:
            error = math.erf(x) - y
        elif x > 0.0:  # what is left of one is known to more places
            error = (1.0 - y) - math.erfc(x)
        else:
            error = math.erfc(-x) - (1.0 + y)
        slope = 2.0 / math.sqrt(math.pi) * math.exp(-x * x)
        if slope > 0.0:
            step = error / slope
            x -= step / (1.0 + x * step)
    return x


@numba.njit
def larger(a, b):  # type: ignore[no-untyped-def]
    """The larger of two, or the one that is no number."""
    return a if (a > b or a != a) else b


@numba.njit
def smaller(a, b):  # type: ignore[no-untyped-def]
    """The smaller of two, or the one that is no number."""
    return a if (a < b or a != a) else b


@compiled
def sign(x: float) -> float:
    """-1, 0 or 1."""
    if x > 0.0:
        return 1.0
    if x < 0.0:
        return -1.0
    return x


@numba.njit
def rotated(x, by):  # type: ignore[no-untyped-def]
    """32 bits, turned to the left."""
    return np.uint32(np.uint32(x << np.uint32(by)) | np.uint32(x >> np.uint32(32 - by)))


@numba.njit
def threefry(k0, k1, x0, x1):  # type: ignore[no-untyped-def]
    """Threefry with 20 rounds (Salmon et al. 2011): two words, made of two others by a key."""
    k2 = np.uint32(np.uint32(k0 ^ k1) ^ np.uint32(0x1BD11BDA))
    a, b = np.uint32(x0 + k0), np.uint32(x1 + k1)
    keys = (k0, k1, k2)
    for group in range(5):
        turns = (13, 15, 26, 6) if group % 2 == 0 else (17, 29, 16, 24)
        for turn in turns:
            a = np.uint32(a + b)
            b = rotated(b, turn)
            b = np.uint32(a ^ b)
        a = np.uint32(a + keys[(group + 1) % 3])
        b = np.uint32(np.uint32(b + keys[(group + 2) % 3]) + np.uint32(group + 1))
    return a, b


@numba.njit
def bits_f8(x):  # type: ignore[no-untyped-def]
    """64 bits as a number."""
    return np.uint64(x).view(np.float64)


@numba.njit
def bits_f4(x):  # type: ignore[no-untyped-def]
    """32 bits as a number."""
    return np.uint32(x).view(np.float32)


@numba.njit
def bits_u8(x):  # type: ignore[no-untyped-def]
    """A number's 64 bits."""
    return np.float64(x).view(np.uint64)


@numba.njit
def bits_u4(x):  # type: ignore[no-untyped-def]
    """A number's 32 bits."""
    return np.float32(x).view(np.uint32)


# By the names under which a function that was written finds them.
SPECIAL = {
    "digamma": digamma,
    "inverse_erf": inverse_erf,
    "larger": larger,
    "smaller": smaller,
    "sign": sign,
    "threefry": threefry,
    "bits_f8": bits_f8,
    "bits_f4": bits_f4,
    "bits_u8": bits_u8,
    "bits_u4": bits_u4,
}
