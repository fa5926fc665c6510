"""What simulators draw, made of uniform numbers alone: the same source for numba and for C.

The names and arguments are those of numpy's generator. All give one number at a time.
"""

from __future__ import annotations

import math
from typing import Any

from aptmc.backends.lanes.elementary import cosine_of_turn, logarithm

FEW = 10.0  # up to this mean, counts are drawn one by one


def standard_exponential(rng: Any) -> Any:
    """Waiting time with mean 1."""
    return -logarithm(rng.random())


def exponential(rng: Any, scale: float = 1.0) -> Any:
    """Waiting time with this mean."""
    return -scale * logarithm(rng.random())


def standard_normal(rng: Any) -> Any:
    """By Box and Muller, of whose two numbers one is used: to keep the other takes memory."""
    radius = math.sqrt(-2.0 * logarithm(rng.random()))
    return radius * cosine_of_turn(rng.random())


def normal(rng: Any, loc: float = 0.0, scale: float = 1.0) -> Any:
    """A normal number."""
    return loc + scale * rng.standard_normal()


def uniform(rng: Any, low: float = 0.0, high: float = 1.0) -> Any:
    """A number between two others."""
    return low + (high - low) * rng.random()


def integers(rng: Any, low: int, high: int) -> Any:
    """A whole number from `low` on and below `high`."""
    return min(low + int((high - low) * rng.random()), high - 1)


def standard_gamma(rng: Any, shape: float) -> Any:
    """By Marsaglia and Tsang (2000); a shape below 1 is raised by one first."""
    raised = shape + 1.0 if shape < 1.0 else shape * 1.0
    d = raised - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = rng.standard_normal()
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = rng.random()
            if logarithm(u) < 0.5 * x * x + d - d * v + d * math.log(v):
                break
    if shape < 1.0:
        return d * v * math.exp(logarithm(rng.random()) / shape)
    return d * v


def gamma(rng: Any, shape: float, scale: float = 1.0) -> Any:
    """A gamma distributed number."""
    return scale * rng.standard_gamma(shape)


def poisson(rng: Any, lam: float) -> Any:
    """Few are counted; many are drawn by Hörmann's transformed rejection (PTRS, 1993)."""
    if lam < FEW:
        count = 0
        left = lam + logarithm(rng.random())
        while left > 0.0:
            count += 1
            left += logarithm(rng.random())
        return count
    root, log_lam = math.sqrt(lam), math.log(lam)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    top = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = rng.random() - 0.5
        v = rng.random()
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= top:
            return k
        if k >= 0 and (us >= 0.013 or v <= us):
            bound = math.log(v) + math.log(inverse) - math.log(a / (us * us) + b)
            if bound <= k * log_lam - lam - math.lgamma(k + 1.0):
                return k


def binomial(rng: Any, n: int, p: float) -> Any:
    """Few are counted by waiting times; many are drawn by Hörmann's BTRS (1993)."""
    rare = min(p, 1.0 - p)
    count = 0
    if rare > 0.0 and n * rare < FEW:
        # The times until the next success are geometric.
        log_miss = math.log1p(-rare)
        place = math.floor(logarithm(rng.random()) / log_miss) + 1
        while place <= n:
            count += 1
            place += math.floor(logarithm(rng.random()) / log_miss) + 1
    elif rare > 0.0:
        spread = math.sqrt(n * rare * (1.0 - rare))
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * rare
        c = n * rare + 0.5
        v_r = 0.92 - 4.2 / b
        alpha = (2.83 + 5.1 / b) * spread
        log_odds = math.log(rare / (1.0 - rare))
        m = math.floor((n + 1) * rare)
        h = math.lgamma(m + 1.0) + math.lgamma(n - m + 1.0)
        while True:
            u = rng.random() - 0.5
            v = rng.random()
            us = 0.5 - abs(u)
            k = math.floor((2.0 * a / us + b) * u + c)
            if us >= 0.07 and v <= v_r:
                count = k
                break
            if 0 <= k <= n:
                v = math.log(v * alpha / (a / (us * us) + b))
                known = h - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
                if v <= known + (k - m) * log_odds:
                    count = k
                    break
    return n - count if p > 0.5 else count


DRAWS = {
    draw.__name__: draw
    for draw in (
        standard_exponential, exponential, standard_normal, normal, uniform, integers,
        standard_gamma, gamma, poisson, binomial,
    )
}  # fmt: skip
