"""The GARCH model by importance sampling: `python -m experiments.posteriordb.garch_truth`.

Four parameters are few enough for that, and its draws are independent, which tells how far the
reference draws themselves are off.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import stats

from experiments.posteriordb.posteriors import posterior

NAMES = ("mu", "alpha0", "alpha1", "beta1")
SIZE, ROUNDS = 150_000, 3


def log_density(points: Any, y: Any, first: float) -> Any:
    """Of rows of parameters; flat priors, within the bounds of the program of Stan."""
    mu, alpha0, alpha1, beta1 = points.T
    within = (alpha0 > 0) & (alpha1 > 0) & (beta1 > 0) & (alpha1 + beta1 < 1)
    alpha0, alpha1, beta1 = (np.where(within, one, 0.5) for one in (alpha0, alpha1, beta1))
    variance = np.full(len(points), first**2)
    logs = -0.5 * np.log(variance) - 0.5 * (y[0] - mu) ** 2 / variance
    for before, value in pairwise(y):
        variance = alpha0 + alpha1 * (before - mu) ** 2 + beta1 * variance
        logs += -0.5 * np.log(variance) - 0.5 * (value - mu) ** 2 / variance
    return np.where(within, logs, -np.inf)


def main() -> None:
    """Means and standard deviations with their errors, beside those of the reference draws."""
    one = posterior("garch")
    rng = np.random.default_rng(1)
    mean = np.array([one.reference[name][0] for name in NAMES])
    spread = np.diag([one.reference[name][2] ** 2 for name in NAMES])
    for _ in range(ROUNDS):  # each with the mean and the spread that the last one found
        proposal = stats.multivariate_t(mean, 1.3 * spread, df=6, seed=rng)
        points = proposal.rvs(SIZE)
        logs = log_density(points, one.data["y"], one.data["sigma1"]) - proposal.logpdf(points)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        mean = weights @ points
        spread = ((points - mean).T * weights) @ (points - mean)
    for place, name in enumerate(NAMES):
        away = (points[:, place] - mean[place]) ** 2
        sd = np.sqrt(spread[place, place])
        error = np.sqrt((weights**2 * away).sum())
        error_of_sd = np.sqrt((weights**2 * (away - sd**2) ** 2).sum()) / (2 * sd)
        theirs = one.reference[name]
        print(
            f"{name:7} mean {mean[place]:.4f} ± {error:.4f}, reference {theirs[0]:.4f} ± "
            f"{theirs[1]:.4f}; sd {sd:.4f} ± {error_of_sd:.4f}, reference {theirs[2]:.4f} ± "
            f"{theirs[3]:.4f}"
        )


if __name__ == "__main__":
    main()
