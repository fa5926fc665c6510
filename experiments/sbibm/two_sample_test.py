"""The classifier two-sample test of the benchmark: run as a script in the other environment.

`python two_sample_test.py FILE`: the file has `reference`, `support` and, by name, draws to be told
from the reference. Prints how often a classifier tells them: 0.5 is as good as can be.

A network with two layers of ten units for each dimension, accuracy over five folds, draws scaled by
mean and deviation of the reference, as Lueckmann et al. (2021) have it. With each set of draws goes
one from a kernel density of them, on the real line, whose width is found by cross-validation.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

SEED, FOLDS, MOST_ITERATIONS = 1, 5, 10_000
MOST_CENTRES = 1000
WIDTHS = np.geomspace(0.01, 2.0, 16)


def accuracy(reference: Any, draws: Any) -> float:
    """The share of draws of which the classifier knows where they are from."""
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.neural_network import MLPClassifier

    centre, spread = reference.mean(axis=0), reference.std(axis=0, ddof=1)
    both = (np.concatenate([reference, draws]) - centre) / spread
    origin = np.repeat([0.0, 1.0], [len(reference), len(draws)])
    units = 10 * reference.shape[1]
    network = MLPClassifier(
        hidden_layer_sizes=(units, units), max_iter=MOST_ITERATIONS, random_state=SEED
    )
    folds = KFold(FOLDS, shuffle=True, random_state=SEED)
    return float(cross_val_score(network, both, origin, cv=folds, scoring="accuracy").mean())


def smoothed(draws: Any, support: Any) -> Any:
    """As many draws from a kernel density of some."""
    from sklearn.model_selection import GridSearchCV, KFold
    from sklearn.neighbors import KernelDensity

    rng = np.random.default_rng(SEED)
    real = to_real_line(draws, *support)
    spread = real.std(axis=0)
    spread[spread == 0.0] = 1.0
    centres = real / spread
    some = centres[rng.permutation(len(centres))[:MOST_CENTRES]]
    # The same state in both parts would tell that a width of zero is best.
    distinct = rng.permutation(np.unique(some, axis=0))
    folds = KFold(min(10, len(distinct)))
    search = GridSearchCV(KernelDensity(), {"bandwidth": WIDTHS}, cv=folds).fit(distinct)
    width = search.best_params_["bandwidth"]
    chosen = centres[rng.integers(len(centres), size=len(draws))]
    return from_real_line((chosen + width * rng.standard_normal(chosen.shape)) * spread, *support)


def to_real_line(draws: Any, lower: Any, upper: Any) -> Any:
    """Between two bounds by the logit, above one by the logarithm."""
    real = np.array(draws, np.float64)
    for i, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if np.isfinite(low) and np.isfinite(high):
            share = np.clip((real[:, i] - low) / (high - low), 1e-9, 1.0 - 1e-9)
            real[:, i] = np.log(share / (1.0 - share))
        elif np.isfinite(low):
            real[:, i] = np.log(np.maximum(real[:, i] - low, 1e-300))
    return real


def from_real_line(real: Any, lower: Any, upper: Any) -> Any:
    """Back again."""
    draws = np.array(real, np.float64)
    for i, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if np.isfinite(low) and np.isfinite(high):
            draws[:, i] = low + (high - low) / (1.0 + np.exp(-draws[:, i]))
        elif np.isfinite(low):
            draws[:, i] = low + np.exp(draws[:, i])
    return draws


def main() -> None:
    """Compare all sets of draws of a file."""
    file = np.load(sys.argv[1])
    found = {}
    for name in file.files:
        if name not in ("reference", "support"):
            found[name] = accuracy(file["reference"], file[name])
            density = smoothed(file[name], file["support"])
            found[f"{name}, smoothed"] = accuracy(file["reference"], density)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
