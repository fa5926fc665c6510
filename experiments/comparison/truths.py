"""What is known of the densities, by quadrature or importance sampling.

    python -m experiments.comparison.truths

writes `truths.json`. Published values of the evidence stand in `PUBLISHED`; a test compares.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import optimize, special, stats

from experiments.comparison import densities as given
from experiments.comparison.densities import DENSITIES
from experiments.comparison.problem import TRUTHS, Density, Floats

PUBLISHED = {"egg box": 235.856, "shells 2": -1.75, "shells 10": -14.59, "coin": -11.8794}
IMPORTANCE_DRAWS = 400_000


class Weighted:
    """Sums over points with weights, a part at a time."""

    def __init__(self, density: Density) -> None:
        """Nothing yet."""
        self._density = density
        self._shift, self._sums = -math.inf, np.zeros(0)

    def add(self, theta: Floats, log_weights: Floats) -> None:
        """More points."""
        values = np.asarray(self._density.quantities(theta), dtype=float)
        columns = np.column_stack([np.ones(len(values)), values, values**2])
        shift = max(self._shift, float(log_weights.max()))
        old = self._sums * math.exp(self._shift - shift) if self._sums.size else 0.0
        self._sums, self._shift = old + np.exp(log_weights - shift) @ columns, shift

    def known(self) -> dict[str, Any]:
        """Means and variances, and the logarithm of the sum of all weights."""
        total, *rest = self._sums
        means, squares = np.split(np.array(rest) / total, 2)
        return {
            "means": means.tolist(),
            "variances": (squares - means**2).tolist(),
            "log_evidence": self._shift + math.log(total),
        }


def log_joint(density: Density, theta: Floats) -> Floats:
    """Prior times likelihood at many points."""
    return np.array([density.log_posterior(point) for point in theta])


def middles(low: float, high: float, count: int) -> Floats:
    """Of equal parts of an interval."""
    return low + (high - low) * (np.arange(count) + 0.5) / count


def on_a_grid(density: Density, *axes: Floats) -> dict[str, Any]:
    """By the midpoint rule; one slice along the first axis at a time."""
    sums = Weighted(density)
    cell = sum(math.log(axis[1] - axis[0]) for axis in axes)
    rest = np.stack(np.meshgrid(*axes[1:], indexing="ij"), axis=-1).reshape(-1, len(axes) - 1)
    for first in axes[0]:
        theta = np.column_stack([np.full(len(rest), first), rest])
        sums.add(theta, log_joint(density, theta) + cell)
    return sums.known()


def coin() -> dict[str, Any]:
    """The product in place of the second: the ridge is then straight."""
    density = DENSITIES["coin"]
    sums = Weighted(density)
    width = 0.5 / math.sqrt(given.TOSSES)
    products = middles(0.5 - 8.0 * width, 0.5 + 8.0 * width, 400)
    for product in products:
        # Evenly in the logarithm of the first, along which the density is constant.
        logs = middles(math.log(product), 0.0, 2000)
        theta = np.column_stack([np.exp(logs), product / np.exp(logs)])
        cell = math.log((products[1] - products[0]) * (logs[1] - logs[0]))
        sums.add(theta, log_joint(density, theta) + cell)
    return sums.known()


def shells(density: Density) -> dict[str, Any]:
    """Both shells lie inside the box, and far from each other: a radius and an angle are enough."""
    dimension = density.dimension
    radii = middles(given.RADIUS - 1.2, given.RADIUS + 1.2, 4001)
    radial = np.exp(-0.5 * ((radii - given.RADIUS) / given.WIDTH) ** 2) * radii ** (dimension - 1)
    total = float(radial.sum())
    along = float(radial @ radii**2) / total / dimension
    radius = float(radial @ radii) / total
    surface = (
        math.log(2.0) + 0.5 * dimension * math.log(math.pi) - float(special.gammaln(dimension / 2))
    )
    log_integral = math.log(total * (radii[1] - radii[0])) + surface + given.HEIGHT
    return {
        "means": [0.5, 0.0, 0.0, radius],
        "variances": [0.25, along, along, float(radial @ radii**2) / total - radius**2],
        "log_evidence": math.log(2.0) + log_integral - dimension * math.log(2.0 * given.BOX),
    }


def spike() -> dict[str, Any]:
    """Two normal distributions, which the box does not cut."""
    mean = 0.5 * given.SPIKE_PLACE
    square = 0.5 * (given.SPIKE_PLACE**2 + given.SPIKE_SD**2) + 0.5
    return {
        "means": [0.5, mean],
        "variances": [0.25, square - mean**2],
        "log_evidence": -given.SLAB_DIMENSION * math.log(2.0 * given.SLAB_BOX),
    }


def logistic() -> dict[str, Any]:
    """By importance sampling from Student's distribution around the mode."""
    density = DENSITIES["logistic"]
    factors, outcomes, sd = given.FACTORS, given.OUTCOMES, given.PRIOR_SD

    def log_posterior(theta: Floats) -> Any:
        odds = theta @ factors.T
        prior = stats.norm(0.0, sd).logpdf(theta).sum(axis=-1)
        return odds @ outcomes - np.logaddexp(0.0, odds).sum(axis=-1) + prior

    start = np.zeros(density.dimension)
    mode = optimize.minimize(lambda theta: -float(log_posterior(theta)), start).x
    chances = 1.0 / (1.0 + np.exp(-factors @ mode))
    precision = factors.T @ (factors * (chances * (1.0 - chances))[:, None])
    precision += np.eye(density.dimension) / sd**2
    proposal = stats.multivariate_t(
        mode, np.linalg.inv(precision), 30.0, seed=np.random.default_rng(2)
    )
    sums = Weighted(density)
    for _ in range(10):
        theta = proposal.rvs(IMPORTANCE_DRAWS // 10)
        sums.add(theta, log_posterior(theta) - proposal.logpdf(theta) - math.log(IMPORTANCE_DRAWS))
    return sums.known()


def schools(means: int = 1801, spreads: int = 4000) -> dict[str, Any]:
    """Over mean and spread; what is asked of a school has a closed form given these."""
    mean = middles(-40.0, 50.0, means)[:, None]
    root = middles(0.0, 10.0, spreads)
    spread = root**3  # dense where the posterior is, and far into the tail
    log_weights = stats.norm(0.0, given.SCALE).logpdf(mean)
    log_weights = log_weights + stats.halfcauchy(0.0, given.SCALE).logpdf(spread)
    for effect, error in zip(given.EFFECTS, given.ERRORS, strict=True):
        log_weights = log_weights + stats.norm(mean, np.hypot(error, spread)).logpdf(effect)
    cell = (mean[1, 0] - mean[0, 0]) * (root[1] - root[0])
    log_weights = log_weights + np.log(3.0 * root**2 * cell)
    shift = float(log_weights.max())
    weights = np.exp(log_weights - shift)
    total = float(weights.sum())
    weights /= total
    error = given.ERRORS[0] ** 2
    share = spread**2 / (spread**2 + error)
    first = mean + share * (given.EFFECTS[0] - mean)
    values = (mean, np.minimum(spread, 20.0), (spread < 1.0).astype(float), first)
    extra = (0.0, 0.0, 0.0, share * error)  # the variance within
    found = [float((weights * value).sum()) for value in values]
    squares = [
        float((weights * (value**2 + more)).sum())
        for value, more in zip(values, extra, strict=True)
    ]
    return {
        "means": found,
        "variances": [square - m**2 for square, m in zip(squares, found, strict=True)],
        "log_evidence": shift + math.log(total),
    }


def known() -> Iterator[tuple[str, dict[str, Any]]]:
    """Of each density, in turn."""
    box = middles(0.0, given.SIDE, 1500)
    yield "egg box", on_a_grid(DENSITIES["egg box"], box, box)
    for name in ("shells 2", "shells 10"):
        yield name, shells(DENSITIES[name])
    yield "coin", coin()
    line = middles(-6.0, 6.0, 240)
    yield "labels", on_a_grid(DENSITIES["labels"], line, line, middles(0.0, 1.0, 100))
    yield "spike and slab", spike()
    yield "logistic", logistic()
    yield "schools", schools()


def main() -> None:
    """Compute and write them."""
    found = dict(known())
    TRUTHS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, truth in found.items():
        print(f"{name}: log evidence {truth['log_evidence']:.4f}, published {PUBLISHED.get(name)}")


if __name__ == "__main__":
    main()
