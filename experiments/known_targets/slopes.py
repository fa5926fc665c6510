"""Targets where the gradient is known, and where a sampler that has nothing else is wrong.

`python -m experiments.known_targets.slopes`: two modes in 10 and in 50 dimensions, far from each
other, a mixture whose labels can be exchanged, and Neal's funnel, with what `kernel="auto"` means
and with each of the kernels that it may mean. In virtual time at equal work, in which a gradient
and a density count one each.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy import stats

import aptmc
from experiments.known_targets.densities import (
    FREEDOM,
    funnel_log_likelihood,
    funnel_prior,
    funnel_quantities,
)
from experiments.known_targets.measures import Measured, RunMeasure, measure_run
from experiments.known_targets.quantities import Floats, Quantity, mean_of, probability_of
from experiments.known_targets.target import PROCESSORS, Target

# --- two modes ------------------------------------------------------------------------------------

HALF_DISTANCE, SMALLER_WEIGHT, PRIOR_SD = 10.0, 0.3, 10.0


def two_modes(dimension: int) -> aptmc.Tempered:
    """0.3 N(-m, 1) + 0.7 N(m, 1) with m along the diagonal, 20 standard deviations apart."""
    place = HALF_DISTANCE / math.sqrt(dimension)
    odds = math.log(SMALLER_WEIGHT / (1.0 - SMALLER_WEIGHT))

    @njit(nogil=True)
    def log_likelihood(theta: Any) -> float:
        left, right = odds, 0.0
        for i in range(dimension):
            left -= 0.5 * (theta[i] + place) ** 2
            right -= 0.5 * (theta[i] - place) ** 2
        return float(max(left, right) + math.log1p(math.exp(-abs(left - right))))

    @njit(nogil=True)
    def slope(theta: Any) -> Any:
        log_odds = odds
        for i in range(dimension):
            log_odds -= 2.0 * place * theta[i]
        share = 1.0 / (1.0 + math.exp(min(-log_odds, 700.0)))
        return place * (1.0 - 2.0 * share) - theta

    prior = aptmc.Prior(x=aptmc.iid(stats.norm(0.0, PRIOR_SD), dimension))
    return aptmc.Tempered(log_likelihood, prior, gradient=slope)


def two_modes_quantities(dimension: int) -> tuple[Quantity, ...]:
    """A normal prior shrinks both modes alike and leaves their weights as they are."""
    shrinkage = PRIOR_SD**2 / (PRIOR_SD**2 + 1.0)
    place = shrinkage * HALF_DISTANCE / math.sqrt(dimension)

    def square_within(theta: Floats) -> Floats:
        centre = np.where(theta.sum(axis=1) > 0.0, place, -place)
        return np.asarray(((theta - centre[:, None]) ** 2).mean(axis=1))

    return (
        mean_of("x0", 0, (1.0 - 2.0 * SMALLER_WEIGHT) * place),
        Quantity("sd within a mode", square_within, math.sqrt(shrinkage), is_root=True),
        probability_of("larger mode", lambda theta: theta.sum(axis=1) > 0.0, 1.0 - SMALLER_WEIGHT),
    )


# --- a mixture whose labels can be exchanged ------------------------------------------------------

CENTRES, OF_EACH, MEANS_SD = (-3.0, 0.0, 4.0), 20, 5.0
DATA = np.concatenate(
    [centre + np.random.default_rng(5).standard_normal(OF_EACH) for centre in CENTRES]
)


@njit(nogil=True)
def density_of_labels(theta: Any, y: float) -> tuple[float, float]:
    """Half the squared distance to the nearest mean; the density, by that of this one alone."""
    nearest = np.inf
    for k in range(3):
        nearest = min(nearest, 0.5 * (y - theta[k]) ** 2)
    density = 0.0
    for k in range(3):
        density += math.exp(nearest - 0.5 * (y - theta[k]) ** 2)
    return nearest, density


@njit(nogil=True)
def labels_log_likelihood(theta: Any) -> float:
    """Three components of the same weight and of unit variance."""
    total = 0.0
    for y in DATA:
        nearest, density = density_of_labels(theta, y)
        total += math.log(density) - nearest
    return total


@njit(nogil=True)
def slope_of_labels(theta: Any) -> Any:
    """The distances of the data from each mean, by how probably they belong to it."""
    found = np.zeros(3)
    for y in DATA:
        nearest, density = density_of_labels(theta, y)
        for k in range(3):
            found[k] += math.exp(nearest - 0.5 * (y - theta[k]) ** 2) / density * (y - theta[k])
    return found


def labels() -> aptmc.Tempered:
    """Six modes, one for each order of the means."""
    prior = aptmc.Prior(mean=aptmc.iid(stats.norm(0.0, MEANS_SD), 3))
    return aptmc.Tempered(labels_log_likelihood, prior, gradient=slope_of_labels)


def is_in_order(order: tuple[int, ...], theta: Floats) -> npt.NDArray[np.bool_]:
    """Which draws have their means in an order: the smallest, the middle one and the largest."""
    return np.asarray((np.argsort(theta, axis=1) == order).all(axis=1))


def labels_quantities() -> tuple[Quantity, ...]:
    """All orders are equally probable; the means in their order, by quadrature far to all sides."""
    axes = [centre + np.linspace(-2.0, 2.0, 81) for centre in CENTRES]
    of_one = [np.exp(-0.5 * (DATA[:, None] - axis) ** 2) for axis in axes]
    log_density: Floats = np.zeros((1, 1, 1))
    for axis in np.ix_(*axes):
        log_density = log_density - 0.5 * (axis / MEANS_SD) ** 2
    for first, second, third in zip(*of_one, strict=True):
        log_density = log_density + np.log(np.add.outer(np.add.outer(first, second), third))
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    smallest = float(density.sum(axis=(1, 2)) @ axes[0])
    largest = float(density.sum(axis=(0, 1)) @ axes[2])
    orders = [
        probability_of(
            f"order {' '.join(map(str, order))}",
            partial(is_in_order, order),
            1.0 / 6.0,
        )
        for order in permutations(range(3))
    ]
    return (
        *orders,
        Quantity("smallest mean", lambda theta: theta.min(axis=1), smallest),
        Quantity("largest mean", lambda theta: theta.max(axis=1), largest),
    )


# --- a funnel -------------------------------------------------------------------------------------


@njit(nogil=True)
def slope_of_funnel(theta: Any) -> Any:
    """Of its density over that of the prior."""
    found = np.empty_like(theta)
    found[0] = 0.0
    for i in range(1, theta.size):
        by_width = theta[i] * math.exp(-theta[0])
        found[0] += 0.5 * (theta[i] * by_width - 1.0)
        found[i] = (FREEDOM + 1.0) * theta[i] / (FREEDOM + theta[i] ** 2) - by_width
    return found


def funnel() -> aptmc.Tempered:
    """Neal's, in ten dimensions."""
    return aptmc.Tempered(funnel_log_likelihood, funnel_prior(), gradient=slope_of_funnel)


TARGETS = (
    Target("two modes 10", partial(two_modes, 10), partial(two_modes_quantities, 10), budget=1e5),
    Target("two modes 50", partial(two_modes, 50), partial(two_modes_quantities, 50), budget=2e5),
    Target("labels", labels, labels_quantities, budget=5e4),
    Target("funnel", funnel, funnel_quantities, budget=2e5),
)
KERNELS: Mapping[str, Callable[[], aptmc.Kernel] | None] = {
    "automatic": None,
    "Nuts": aptmc.Nuts,
    "EllipticalSlice": aptmc.EllipticalSlice,
}


def sampled(target: Target, kernel: str, budget: float, seed: int) -> aptmc.Run:
    """One run."""
    make = KERNELS[kernel]
    return aptmc.sample(
        target.problem, budget=budget, seed=seed, on=aptmc.VirtualTime(PROCESSORS), progress=False,
        kernel="auto" if make is None else make(),
    )  # fmt: skip


def main() -> None:
    """Print a table."""
    names = {target.name: target for target in TARGETS}
    parser = argparse.ArgumentParser(
        prog="python -m experiments.known_targets.slopes", description=__doc__
    )
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(names)} (default: all)")
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS))
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--scale", type=float, default=1.0, help="of the lengths of runs")
    options = parser.parse_args()
    print("| target | kernel | moved by | rungs | round trips | quantity | off | effective draws |")
    print(f"|{' --- |' * 8}")
    for target in [names[name] for name in options.names or names]:
        for kernel in options.kernels:
            measures: list[RunMeasure] = []
            by: set[str] = set()
            for seed in range(1, options.runs + 1):
                run = sampled(target, kernel, options.scale * target.budget, seed)
                measures.append(measure_run(run, target.quantities))
                by.add(type(run.settings.kernel).__name__)
            of = Measured(target, options.scale * target.budget, measures, None)
            rungs = sorted({one.rungs for one in measures})
            trips = f"{np.mean([one.round_trips for one in measures]):,.0f}"
            for place, quantity in enumerate(target.quantities):
                cells = [
                    target.name, kernel, " or ".join(sorted(by)), " to ".join(map(str, rungs)),
                    trips, quantity.name, f"{of.off_by(place):.1f} se",
                    f"{of.effective_draws(place):,.0f}",
                ]  # fmt: skip
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
