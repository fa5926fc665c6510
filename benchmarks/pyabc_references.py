"""The posteriors that runs of `benchmarks.pyabc_budgets` are held against.

    python -m benchmarks.pyabc_references

Two are known: a normal one, and one that is an integral over a line. The others are found by many
simulations, more than any run has: parameters from a normal twice as wide as what a pilot found,
with importance weights; of these the nearest, with the field's linear regression adjustment, which
takes most of what is left of the tolerance. The standard error of each mean is that of the weights.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from benchmarks.pyabc_cases import CASES, REFERENCES, Case
from benchmarks.pyabc_ours import problem_of

PILOT = 200_000  # simulations
SIMULATIONS, NEAREST = 1_000_000, 2_000
WIDER = 2.0  # than the pilot's variance
AT_ONCE = 10_000


def of_a_normal() -> tuple[Any, Any]:
    """Two means under a wide uniform prior, each seen once with standard deviation 0.5."""
    return np.array([1.0, -1.0]), np.array([0.25, 0.25])


def of_two_modes() -> tuple[Any, Any]:
    """Whether x is positive, and its absolute value, where x**2 was seen as 9 with error 0.5."""
    x = np.linspace(0.0, 10.0, 1_000_001)
    weights = np.exp(-((x**2 - 9.0) ** 2) / (2.0 * 0.5**2))
    weights /= weights.sum()
    mean = weights @ x
    return np.array([0.5, mean]), np.array([0.25, weights @ (x - mean) ** 2])


def simulated(case: Case) -> Callable[..., Any]:
    """Simulations for many parameters, compiled."""
    simulate, distance = case.simulate, case.distance

    @njit
    def many(thetas: Any, observed: Any, rng: Any) -> Any:
        found = np.empty((len(thetas), 1 + len(observed)))
        for i in range(len(thetas)):
            data = simulate(thetas[i], rng)
            found[i, 0] = distance(data, observed)
            found[i, 1:] = data
        return found

    compiled: Callable[..., Any] = many
    return compiled


def by_simulation(case: Case, simulations: int = SIMULATIONS) -> tuple[Any, Any]:
    """Means and variances of the parameters, adjusted; prints how exact they are."""
    pilot = aptmc.sample(
        problem_of(case), budget=PILOT, on=aptmc.VirtualTime(1), seed=1, progress=False
    )
    draws = np.column_stack([np.concatenate(pilot.series(name)) for name in case.parameters])
    normal = stats.multivariate_normal(draws.mean(axis=0), WIDER * np.cov(draws, rowvar=False))
    rng, many, observed = np.random.default_rng(1), simulated(case), np.array(case.observed)
    best = np.empty((0, 1 + draws.shape[1] + observed.size))
    for _ in range(simulations // AT_ONCE):
        thetas = normal.rvs(AT_ONCE, random_state=rng)
        thetas = thetas[((thetas > case.low) & (thetas < case.high)).all(axis=1)]
        new = many(thetas, observed, rng)
        rows = np.concatenate([best, np.column_stack([new[:, :1], thetas, new[:, 1:]])])
        best = rows[np.argsort(rows[:, 0])[:NEAREST]]
    tolerance = best[-1, 0]
    thetas, data = best[:, 1 : 1 + draws.shape[1]], best[:, 1 + draws.shape[1] :]
    weights = (1.0 - (best[:, 0] / tolerance) ** 2) / normal.pdf(thetas)
    design = np.column_stack([np.ones(len(data)), data - observed])
    root = np.sqrt(weights)[:, np.newaxis]
    slopes = np.linalg.lstsq(root * design, root * thetas, rcond=None)[0]
    adjusted = thetas - design[:, 1:] @ slopes[1:]
    means = weights @ adjusted / weights.sum()
    variances = weights @ (adjusted - means) ** 2 / weights.sum()
    effective = weights.sum() ** 2 / (weights**2).sum()
    before = weights @ thetas / weights.sum()
    print(f"{case.name}: pilot at {pilot.settings.ladder.levels[0]:.3g}, nearest within "
          f"{tolerance:.3g}, {effective:.0f} effective draws, means {means}, sd "
          f"{np.sqrt(variances)}, before the adjustment {before}", flush=True)  # fmt: skip
    return means, variances


def main() -> None:
    """Compute all of them, and keep them beside this file."""
    known = {"sleeping": of_a_normal, "two modes": of_two_modes}
    kept = {}
    for name, case in CASES.items():
        means, variances = known[name]() if name in known else by_simulation(case)
        kept[name] = {"means": means.tolist(), "variances": variances.tolist()}
    REFERENCES.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
