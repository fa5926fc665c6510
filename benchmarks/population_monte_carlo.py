"""The algorithm of pyABC's defaults, compiled, for `benchmarks.pyabc_virtual`.

pyABC has no virtual time, and a run of it takes as long as its budget, so that ten runs are many;
with ten, a number of effective draws is known to a third. This is what it computes, written anew: a
population of 100 from the prior within the median of 100 distances, then again and again 100 hits
of the weighted population moved by a normal with its covariance times the square of Silverman's
factor, within the weighted median of the distances. Nobody idles here, and what a generation has
not completed when the budget is spent does not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from benchmarks.pyabc_cases import Case

POPULATION = 100


class Generation(NamedTuple):
    """One that was complete."""

    tolerance: float
    means: Any  # of the quantities of interest
    spent: float  # until then, in all


def compiled_generations(case: Case, simulate: Callable[..., Any]) -> Callable[..., Any]:
    """A function that collects hits: it gives parameters, distances and what they have cost.

    :param simulate: from parameters and a generator to a distance and its cost
    """
    low, high = np.array(case.low), np.array(case.high)

    @njit
    def hits(
        rng: Any, tolerance: float, population: Any, weights: Any, factor: Any, budget: float
    ) -> Any:
        found, distances = np.empty((POPULATION, low.size)), np.empty(POPULATION)
        count, cost = 0, 0.0
        up_to = np.cumsum(weights)
        while count < POPULATION and cost < budget:
            if weights.size == 0:
                theta = low + (high - low) * rng.random(low.size)
            else:
                chosen = np.searchsorted(up_to, rng.random() * up_to[-1])
                step = factor @ rng.standard_normal(low.size)
                theta = population[min(chosen, weights.size - 1)] + step
                if (theta < low).any() or (theta > high).any():
                    continue
            distance, took = simulate(theta, rng)
            cost += took
            if distance <= tolerance:
                found[count], distances[count] = theta, distance
                count += 1
        return found[:count], distances[:count], cost

    compiled: Callable[..., Any] = hits
    return compiled


def last_generation(case: Case, hits: Any, budget: float, seed: int) -> Generation | None:
    """Of one run; None if there was none.

    :param hits: of `compiled_generations`
    """
    last = None
    for generation in generations(case, hits, budget, seed):
        last = generation
    return last


def generations(case: Case, hits: Any, budget: float, seed: int) -> Iterator[Generation]:
    """Those of one run that are complete before its budget is spent."""
    rng, dimension = np.random.default_rng(seed), len(case.low)
    nobody, nothing, factor = np.empty((0, dimension)), np.empty(0), np.eye(dimension)
    population, weights, left = nobody, nothing, budget
    tolerance = case.first_tolerance
    if tolerance is None:
        _, distances, cost = hits(rng, math.inf, nobody, nothing, factor, math.inf)
        tolerance, left = float(np.median(distances)), left - cost
    while True:
        if weights.size > 0:
            effective = 1.0 / (weights**2).sum()
            width = (4.0 / effective / (dimension + 2.0)) ** (1.0 / (dimension + 4.0))
            covariance = np.atleast_2d(np.cov(population, rowvar=False, aweights=weights))
            factor = width * np.linalg.cholesky(covariance)
        found, distances, cost = hits(rng, tolerance, population, weights, factor, left)
        left -= cost
        if len(found) < POPULATION or left < 0.0:
            return
        weights = weights_of(found, population, weights, factor)
        population = found
        yield Generation(tolerance, weights @ case.quantities(population), budget - left)
        tolerance = weighted_median(distances, weights)


def weights_of(found: Any, population: Any, weights: Any, factor: Any) -> Any:
    """The uniform prior over the density of the proposals."""
    if weights.size == 0:
        return np.full(len(found), 1.0 / len(found))
    away = np.linalg.solve(
        factor, (found[:, None, :] - population[None]).reshape(-1, len(factor)).T
    )
    densities = np.exp(-0.5 * (away**2).sum(axis=0)).reshape(len(found), -1) @ weights
    return (1.0 / densities) / (1.0 / densities).sum()


def weighted_median(values: Any, weights: Any) -> float:
    """The smallest value with half of the weight at or below it."""
    order = np.argsort(values)
    half = np.searchsorted(np.cumsum(weights[order]), 0.5 * weights.sum())
    return float(values[order][min(half, values.size - 1)])
