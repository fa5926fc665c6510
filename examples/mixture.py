"""A mixture of three normal distributions: a likelihood with six modes, one for each labelling.

A random walk finds one of them and stays there. Parallel tempering visits all six, so that the
posterior of each component's mean is the same, as it must be.

    python examples/mixture.py
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from aptmc import plots

COMPONENTS = 3
TRUE_MEANS = np.array([-3.0, 0.0, 4.0])
BUDGET = "30 s"

_rng = np.random.default_rng(1978)
DATA = TRUE_MEANS[_rng.integers(COMPONENTS, size=150)] + 0.8 * _rng.standard_normal(150)


@njit
def log_likelihood(theta):
    """Equal weights; theta holds three means and the log of the common standard deviation."""
    sd = np.exp(theta[COMPONENTS])
    total = 0.0
    for value in DATA:
        density = 0.0
        for component in range(COMPONENTS):
            density += np.exp(-0.5 * ((value - theta[component]) / sd) ** 2)
        total += np.log(density / COMPONENTS + 1e-300) - np.log(sd)
    return total


problem = aptmc.Tempered(
    log_likelihood,
    aptmc.Prior(
        first=stats.norm(0, 5),
        second=stats.norm(0, 5),
        third=stats.norm(0, 5),
        log_sd=stats.norm(0, 1),
    ),
)


def main() -> None:
    """Sample, and see how often each labelling was visited."""
    run = aptmc.sample(problem, budget=BUDGET, seed=1)
    print(run.summary())
    means = np.column_stack(
        [np.concatenate(run.series(name)) for name in ("first", "second", "third")]
    )
    labels, counts = np.unique(np.argsort(means, axis=1), axis=0, return_counts=True)
    for label, count in zip(labels, counts, strict=True):
        print(f"order {label + 1}: {count / len(means):.1%} of the draws (a sixth would be 16.7 %)")
    plots.pairs(run).savefig("mixture.png")
    print("the picture is mixture.png")


if __name__ == "__main__":
    main()
