"""What this process samples, as functions of modules: pools of processes find them by name."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from experiments.comparison.densities import DENSITIES
from experiments.comparison.problem import Density, Floats
from experiments.comparison.simulators import SIMULATORS, Simulator

FORK = get_context("fork")


@dataclass
class Given:
    """What is sampled, and how often it was asked for by this process and those that it forked."""

    density: Density
    simulator: Simulator
    most: float = math.inf  # evaluations
    deadline: float = math.inf  # of the clock that all processes share
    _count: Any = field(default_factory=lambda: FORK.Value("q", 0))

    @property
    def evaluations(self) -> int:
        """Of the likelihood, or simulations."""
        return int(self._count.value)

    def count(self) -> None:
        """One more."""
        with self._count.get_lock():
            self._count.value += 1

    def is_over(self) -> bool:
        """Whether all is spent; asked now and then, by any process."""
        return self.evaluations >= self.most or time.monotonic() > self.deadline

    def forget(self) -> None:
        """What was computed before does not count."""
        self._count.value = 0


GIVEN = Given(DENSITIES["egg box"], SIMULATORS["g-and-k"])


def log_likelihood(theta: Any) -> float:
    """Of the density of this process."""
    GIVEN.count()
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


PILOT = 5_000


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
        return FORK.Pool(self.workers)

    def calls(self, pilot: Callable[[int], object]) -> int:
        """For libraries that know no time: as many calls as they make at the pace of a pilot.

        :param pilot: has the library make so many calls, its own work between them included
        """
        if self.counts:
            return self.evaluations
        began = time.perf_counter()
        pilot(PILOT)
        took = time.perf_counter() - began
        return int(PILOT * max(self.seconds - took, 0.0) / took)

    def begin(self, share: float = 1.0) -> None:
        """From now on all processes know when it is over, or when a share of the time is."""
        if self.counts:
            GIVEN.most = self.evaluations
        else:
            GIVEN.deadline = time.monotonic() + share * self.seconds

    def watch(self) -> Callable[[], bool]:
        """Asked now and then: is it over?"""
        self.begin()
        return GIVEN.is_over


class Answer(NamedTuple):
    """What a library gave."""

    draws: Floats  # one row each
    weights: Floats | None = None
    log_evidence: float | None = None
    evaluations: int | None = None  # None: those that this process counted
    note: str = ""
