"""The densities' priors, as this library takes them."""

from __future__ import annotations

from scipy import stats

import aptmc
from experiments.comparison import densities as given


def prior_of(name: str) -> aptmc.Prior:
    """Of a density, by its name."""
    return PRIORS[name]()


def _box(low: float, high: float, dimension: int) -> aptmc.Prior:
    return aptmc.Prior(x=aptmc.iid(stats.uniform(low, high - low), dimension))


PRIORS = {
    "egg box": lambda: _box(0.0, given.SIDE, 2),
    "shells 2": lambda: _box(-given.BOX, given.BOX, 2),
    "shells 10": lambda: _box(-given.BOX, given.BOX, 10),
    "coin": lambda: _box(0.0, 1.0, 2),
    "labels": lambda: aptmc.Prior(
        mean1=stats.norm(0, given.MEAN_SD),
        mean2=stats.norm(0, given.MEAN_SD),
        weight=stats.uniform(0, 1),
    ),
    "spike and slab": lambda: _box(-given.SLAB_BOX, given.SLAB_BOX, given.SLAB_DIMENSION),
    "logistic": lambda: aptmc.Prior(
        beta=aptmc.iid(stats.norm(0, given.PRIOR_SD), given.COEFFICIENTS)
    ),
    "schools": lambda: aptmc.Prior(
        mean=stats.norm(0, given.SCALE),
        spread=stats.halfcauchy(0, given.SCALE),
        school=aptmc.iid(lambda mean, spread: stats.norm(mean, spread), 8),
    ),
}
