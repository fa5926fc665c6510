"""The density of this process, as functions of modules: pools of processes find them by name."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from experiments.comparison.densities import DENSITIES
from experiments.comparison.problem import Density, Floats


@dataclass
class Given:
    """What is sampled, and how often the likelihood was asked for by this process."""

    density: Density
    evaluations: int = 0


GIVEN = Given(DENSITIES["egg box"])


def log_likelihood(theta: Any) -> float:
    """Of the density of this process."""
    GIVEN.evaluations += 1
    return GIVEN.density.log_likelihood(np.asarray(theta))


def log_prior(theta: Any) -> float:
    """Of the density of this process."""
    return GIVEN.density.log_prior(np.asarray(theta))


def log_posterior(theta: Any) -> float:
    """Of the density of this process, up to its evidence."""
    prior = log_prior(theta)
    return prior + log_likelihood(theta) if math.isfinite(prior) else -math.inf


def from_cube(cube: Any) -> Any:
    """A draw from its prior."""
    return GIVEN.density.from_cube(np.asarray(cube))


PILOT = 1000


class Limits(NamedTuple):
    """How much may be done: evaluations by one process, or seconds of several."""

    evaluations: int
    seconds: float
    workers: int

    @property
    def counts(self) -> bool:
        """Whether it is evaluations that are equal."""
        return self.evaluations > 0

    def pool(self) -> AbstractContextManager[Any]:
        """Of processes, if there are to be several."""
        if self.counts or self.workers == 1:
            return nullcontext(None)
        return get_context("fork").Pool(self.workers)

    def calls(self, function: Callable[[Any], float]) -> int:
        """For libraries that know no time: as many calls as a bare loop makes in these seconds."""
        points = GIVEN.density.draw_prior(np.random.default_rng(0), PILOT)
        began = time.perf_counter()
        for point in points:
            function(point)
        return int(self.workers * self.seconds * PILOT / (time.perf_counter() - began))

    def watch(self) -> Callable[[], bool]:
        """Asked now and then: is it over?"""
        end = time.monotonic() + self.seconds
        if self.counts:
            return lambda: self.evaluations <= GIVEN.evaluations
        return lambda: time.monotonic() > end


class Answer(NamedTuple):
    """What a library gave."""

    draws: Floats  # one row each
    weights: Floats | None = None
    log_evidence: float | None = None
    evaluations: int | None = None  # None: those that this process counted
    note: str = ""
