"""The weight of a mode that takes twenty times as long, sampled after a descent in few sweeps.

    python -m benchmarks.modes_after_a_descent --runs 10000 --processes 16

In virtual time, so that no other program disturbs it; a run takes a tenth of a second. Both modes
have the same weight, and the mean is to be within 4 standard errors and within 0.01 of it. By
quarters of the draws that count, so that one sees what has not settled, and for the particles with
which descents ended.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import stats

import aptmc

PROCESSORS = 16
# A simulation takes 10.5 in the mean, and 40 chains are on 16 processors. Nearly half of the time
# is the descent's, and a tenth that of the rest of the warm-up.
BUDGET = 672.0
ERRORS, AWAY = 4.0, 0.01
QUARTERS = 4


@njit
def slow_on_the_right(theta: Any, rng: Any, tolerance: float) -> Any:
    """A square that was seen as 9; the distance, and the time."""
    work = 20.0 if theta[0] > 0.0 else 1.0
    return abs(theta[0] ** 2 + 0.5 * rng.standard_normal() - 9.0), work * rng.standard_exponential()


def problem() -> aptmc.Abc:
    """Two modes, at 3 and at -3."""
    return aptmc.Abc.early(
        slow_on_the_right, aptmc.Prior(x=stats.uniform(-10, 20)), counts_work=True
    )


class Found(NamedTuple):
    """Shares of the slow mode in one run."""

    of_draws: float
    by_quarter: tuple[float, ...]  # of the time that counts; nan: there was no draw
    of_particles: float  # with which the descent ended
    sweeps: float  # that count


def one(seed: int) -> Found:
    """One run with nothing set but the budget."""
    run = aptmc.sample(
        problem(), budget=BUDGET, on=aptmc.VirtualTime(PROCESSORS), seed=seed, progress=False
    )
    is_slow = np.concatenate([draws.state[:, 0] for draws in run.chains()]) > 0.0
    at = np.concatenate([draws.time for draws in run.chains()])
    part = (at - run.counted_from) / (run.elapsed - run.counted_from) * QUARTERS
    quarter = np.clip(part.astype(int), 0, QUARTERS - 1)
    shares = tuple(
        float(is_slow[quarter == each].mean()) if (quarter == each).any() else math.nan
        for each in range(QUARTERS)
    )
    warmup = np.asarray(run.draws.warmup_posterior["x"])
    first = np.asarray(run.draws.warmup_sample_stats["time"]) == 0.0
    sweeps = run.sweeps * (1.0 - run.counted_from / run.elapsed)
    return Found(float(is_slow.mean()), shares, float((warmup[first] > 0.0).mean()), sweeps)


def said(shares: Any) -> str:
    """A mean with its standard error."""
    known = np.asarray(shares)[np.isfinite(shares)]
    return f"{known.mean():.4f} ± {known.std(ddof=1) / math.sqrt(known.size):.4f}"


def report(found: Sequence[Found]) -> str:
    """What the runs show, and whether that is right."""
    shares = np.array([each.of_draws for each in found])
    error = shares.std(ddof=1) / math.sqrt(shares.size)
    off = shares.mean() - 0.5
    is_right = abs(off) < ERRORS * error and abs(off) < AWAY
    sweeps = np.mean([each.sweeps for each in found])
    lines = [
        f"{len(found)} runs of {sweeps:.1f} sweeps: {said(shares)}",
        f"off by {off:+.4f}, {off / error:+.1f} standard errors: "
        f"{'as it should be' if is_right else 'NOT as it should be'}",
        f"particles of the descents: {said([each.of_particles for each in found])}",
    ]
    lines += [
        f"quarter {place + 1}: {said([each.by_quarter[place] for each in found])}"
        for place in range(QUARTERS)
    ]
    return "\n".join(lines)


def main() -> None:
    """Many runs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.modes_after_a_descent")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="seed")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.runs)
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as several:
        print(report(list(several.map(one, seeds, chunksize=10))))


if __name__ == "__main__":
    main()
