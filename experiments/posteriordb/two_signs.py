"""A hierarchical model with two modes, and its true posterior by quadrature.

Groups have effects theta ~ N(mu, tau), of which only the size was measured, y ~ N(|theta|, error).
That all effects are negative explains the data as well as that all are positive, and the prior of
mu leans to the positive side: the weights are nearly 2 : 1, and nothing leads from one to the
other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

DATA: dict[str, Any] = {
    "J": 6,
    "y": [2.6, 3.1, 3.9, 2.2, 3.3, 2.9],
    "error": [0.5, 0.4, 0.6, 0.5, 0.3, 0.5],
}
MEAN, WIDTH, SPREAD = 1.0, 3.0, 1.0  # mu ~ N(MEAN, WIDTH), tau ~ |N(0, SPREAD)|


def truth(points: int = 500) -> dict[str, list[float]]:
    """Mean, 0, standard deviation, 0 of each parameter; effects are summed out by hand."""
    mu = np.linspace(-8, 8, points)[:, None]
    tau = ((np.arange(points) + 0.5) / points * 6)[None, :]
    logs = stats.norm(MEAN, WIDTH).logpdf(mu) + stats.norm(0, SPREAD).logpdf(tau)
    groups = [_summed_out(mu, tau, *group) for group in zip(DATA["y"], DATA["error"], strict=True)]
    logs = logs + sum(np.log(total) for total, _, _ in groups)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()

    def moments(first: Any, second: Any) -> list[float]:
        mean = float((weights * first).sum())
        return [mean, 0.0, float(np.sqrt((weights * second).sum() - mean**2)), 0.0]

    found = {"mu": moments(mu, mu**2), "tau": moments(tau, tau**2)}
    for place, (_, first, second) in enumerate(groups, start=1):
        found[f"theta[{place}]"] = moments(first, second)
    return found


def _summed_out(mu: Any, tau: Any, y: float, error: float) -> tuple[Any, Any, Any]:
    """The density of a measurement given mu and tau, and the first two moments of its effect.

    For each sign the effect is normal, cut off at zero.
    """
    variance = 1 / (1 / tau**2 + 1 / error**2)
    width = np.sqrt(variance)
    total, first, second = 0.0, 0.0, 0.0
    for sign in (1.0, -1.0):
        # In the direction of this sign, where the effect is positive.
        centre = variance * (sign * mu / tau**2 + y / error**2)
        weight = stats.norm(sign * mu, np.hypot(tau, error)).pdf(y) * stats.norm.sf(-centre / width)
        hazard = np.exp(stats.norm.logpdf(centre / width) - stats.norm.logsf(-centre / width))
        mean = centre + width * hazard
        square = variance + centre * mean
        total = total + weight
        first = first + sign * weight * mean
        second = second + weight * square
    return total, first / total, second / total
