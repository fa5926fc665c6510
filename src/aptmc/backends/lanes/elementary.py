"""The logarithm and the cosine that draws are made of: sums and products alone.

Those of the system's library would do, but every library has its own last bits, and none computes
several at once as it does one. These give the same bits wherever numbers have 64 of them: compiled
by numba, as C, and as C for several lanes at once. They are those of Sun's fdlibm, without its
branches: the logarithm is off by less than one unit in the last place, the cosine by less than two.
"""

from __future__ import annotations

import math

import numpy as np

from aptmc.compiled import compiled
from aptmc.jax_programs.special import bits_f8, bits_u8

# What makes the exponent's part of a number's bits change at the root of a half.
_FROM_ROOT = np.uint64(0x00095F6200000000)
_ROOT = np.uint64(0x3FE6A09E00000000)
_FRACTION, _PLACES = np.uint64(0x000FFFFFFFFFFFFF), np.uint64(52)
# A whole number below 2**52 added to the bits of 2**52 is added to the number.
_HUGE_BITS, _HUGE, _BIAS = np.uint64(0x4330000000000000), 4503599627370496.0, 1023.0
_HALF_PI = 0.5 * math.pi
_LOG_TWO_HIGH, _LOG_TWO_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10

_L1, _L2, _L3 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01
_L4, _L5, _L6 = 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01
_L7 = 1.479819860511658591e-01

_S1, _S2, _S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
_S4, _S5, _S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10

_C1, _C2, _C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
_C4, _C5, _C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@compiled
def logarithm(x: float) -> float:
    """The natural logarithm of a positive number that is not subnormal."""
    bits = bits_u8(x) + _FROM_ROOT
    exponent = bits_f8((bits >> _PLACES) + _HUGE_BITS) - (_HUGE + _BIAS)
    # From the root of a half to that of two, less 1.
    f = bits_f8((bits & _FRACTION) + _ROOT) - 1.0
    half_square = 0.5 * f * f
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (_L2 + w * (_L4 + w * _L6))
    odd = z * (_L1 + w * (_L3 + w * (_L5 + w * _L7)))
    rest = s * (half_square + (odd + even)) + exponent * _LOG_TWO_LOW
    return rest - half_square + f + exponent * _LOG_TWO_HIGH  # type: ignore[no-any-return]


@compiled
def cosine_of_turn(turn: float) -> float:
    """The cosine of 2 pi times a number between 0 and 1."""
    quarters = np.floor(4.0 * turn + 0.5)
    x = (4.0 * turn - quarters) * _HALF_PI  # at most an eighth of a turn away
    z = x * x
    w = z * z
    sine = x + z * x * (_S1 + z * (_S2 + z * (_S3 + z * _S4) + z * w * (_S5 + z * _S6)))
    half = 0.5 * z
    near = 1.0 - half
    series = z * (_C1 + z * (_C2 + z * _C3)) + w * w * (_C4 + z * (_C5 + z * _C6))
    cosine = near + (((1.0 - near) - half) + z * series)
    value = sine if quarters == 1.0 or quarters == 3.0 else cosine
    return -value if quarters == 1.0 or quarters == 2.0 else value  # type: ignore[no-any-return]
