"""Rejection ABC: the reference sampler, and an honest rival where tolerances are wide."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, final

import numpy as np

from aptmc.arguments import named_clearly
from aptmc.checks import whole_number
from aptmc.compiled import Floats, FloatTable, Generator, compiled, pointer_to
from aptmc.errors import InputError, MoveFailed
from aptmc.global_generators import Seeding, left_alone
from aptmc.keys import REJECTION, Key, Streams, check_seed, open_streams, rewind
from aptmc.problem import Abc
from aptmc.problem.chain_state import value_column
from aptmc.processors import processors_available
from aptmc.targets import INTERPRETED, Target, at_hand

BLOCK = 10_000  # simulations between two looks at what has been found


@final
class Accepted(NamedTuple):
    """Independent draws from an ABC posterior."""

    names: tuple[str, ...]
    theta: FloatTable  # one row each
    distance: Floats
    simulations: int
    failures: int  # simulations that failed and were counted as misses
    work: float

    @property
    def rate(self) -> float:
        """The share of simulations that came within the tolerance."""
        return self.distance.size / self.simulations

    def series(self, name: str) -> Floats:
        """The draws of one parameter, by name."""
        return self.theta[:, self.names.index(name)]


def attempt_model(rng: Generator, tolerance: float, row: Floats) -> float:
    """Draw parameters from the prior, simulate, fill in the distance, and return the work."""
    raise NotImplementedError("a model of the signature, not to be called")


Attempt = Annotated[Callable[..., float], pointer_to(attempt_model)]


@named_clearly
@left_alone()
def rejection(
    problem: Abc,
    tolerance: float,
    *,
    simulations: int,
    seed: int,
    threads: int | None = None,
) -> Accepted:
    """Simulate from the prior so many times, and keep what lies within the tolerance.

    Simulation i has the random key i, so the result does not depend on the number of threads.
    Compiled problems release Python's lock and run on all processors; plain Python ones on one.

    >>> from scipy import stats
    >>> import aptmc
    >>> def simulated_distance(theta, rng, tolerance):
    ...     return abs(theta[0] + rng.standard_normal() - 3.0)
    >>> problem = aptmc.Abc.early(simulated_distance, aptmc.Prior(mean=stats.norm(0, 2)))
    >>> accepted = aptmc.rejection(problem, 0.5, simulations=2000, seed=1)
    >>> 0.03 < accepted.rate < 0.12
    True
    """
    if not getattr(problem, "has_simulator", False):
        raise InputError(f"rejection needs a simulator, an aptmc.Abc, got {problem!r}")
    simulations = whole_number("simulations", simulations)
    seed = check_seed(seed)
    if not isinstance(tolerance, int | float | np.number) or not tolerance >= 0.0:
        raise InputError(f"tolerance must be a number from 0 on, got {tolerance!r}")
    attempt = _attempt(problem, problem.target)
    if not problem.is_compiled:
        attempt = Seeding(seed).around(attempt, 0)
    simulate: Callable[..., int] = at_hand(problem.target.library(try_block))

    def block(first: int) -> tuple[FloatTable, Floats]:
        last = min(first + BLOCK, simulations)
        hits, totals = np.empty((last - first, problem.width)), np.zeros(TOTALS)
        value = value_column(problem.dimension)
        try:
            count = simulate(
                attempt, open_streams(seed), float(tolerance), first, last, value,
                problem.rejects_failures, hits, totals,
            )  # fmt: skip
        except MoveFailed as failure:
            key = Key(seed, 0, int(totals[CURRENT]), REJECTION)
            raise failure.located(None, key) from failure.__cause__
        except Exception:
            count = -1
        if count < 0:
            key = Key(seed, 0, int(totals[CURRENT]), REJECTION)
            raise _failure(problem, float(tolerance), key)
        return hits[:count].copy(), totals

    starts = range(0, simulations, BLOCK)
    workers = processors_available() if threads is None else whole_number("threads", threads)
    if problem.is_compiled and workers > 1:
        with ThreadPoolExecutor(workers) as executor:
            blocks = list(executor.map(block, starts))
    else:
        blocks = [block(first) for first in starts]
    states = np.concatenate([hits for hits, _ in blocks])
    sums = np.sum([totals for _, totals in blocks], axis=0)
    dimension = problem.dimension
    return Accepted(
        problem.labels,
        problem.constrain(states[:, :dimension]),
        states[:, value_column(dimension)],
        simulations,
        int(sums[FAILED]),
        float(sums[WORK_DONE]),
    )


# Places in the totals of a block.
WORK_DONE, FAILED, CURRENT, TOTALS = 0, 1, 2, 3


@compiled
def try_block(
    attempt: Attempt,
    streams: Streams,
    tolerance: float,
    first: int,
    last: int,
    value: int,
    rejects_failures: bool,
    hits: FloatTable,
    totals: Floats,
) -> int:
    """Attempts first, …, last - 1; gives the number of hits, or -1 if one failed."""
    count = 0
    row = np.empty(hits.shape[1])
    for number in range(first, last):
        totals[CURRENT] = number
        rewind(streams.dial, REJECTION, 0, number)
        totals[WORK_DONE] += attempt(streams.generator, tolerance, row)
        if row[value] <= tolerance and row[value] >= 0.0:
            hits[count] = row
            count += 1
        elif not row[value] >= 0.0:
            if not rejects_failures:
                return -1
            totals[FAILED] += 1.0
    return count


@lru_cache(maxsize=8)
def _attempt(problem: Abc, target: Target) -> Any:
    draw_from_prior = problem.reference.functions(target).draw
    simulate_into = problem.simulation(target)

    def attempt(rng: Any, tolerance: float, row: Floats) -> float:
        draw_from_prior(rng, row)
        return simulate_into(row, rng, tolerance)

    return at_hand(target.like(attempt_model, attempt))


def _failure(problem: Abc, tolerance: float, key: Key) -> MoveFailed:
    """Run an attempt once more, in plain Python, to say at which parameters it fails."""
    row = np.empty(problem.width)
    try:
        rng = key.generator()
        attempt = _attempt(problem, INTERPRETED)
        Seeding(key.seed).call(rng, attempt, rng, tolerance, row)
        problem.check(row)
    except MoveFailed as failure:
        return failure.located(None, key)
    return MoveFailed("a simulation failed, once,", problem.describe(row), None, key)
