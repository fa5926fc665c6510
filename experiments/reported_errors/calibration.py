"""Errors of runs in units of what was reported for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import aptmc
from aptmc.diagnostics import effective_sample_size, summarise
from experiments.known_targets.target import Target
from experiments.parallel import in_parallel
from experiments.reported_errors.settings import Setting

Floats = npt.NDArray[np.float64]


class Scores(NamedTuple):
    """Of one run: errors of some means, in units of two estimates of them."""

    reported: Floats
    by_chain: Floats  # where the autocorrelation of chains on their own is the estimate
    effective: float  # draws, of the quantity with the fewest
    is_right: bool = True  # whether it came down to the target of which the truth is known


class Calibration(NamedTuple):
    """Root mean squares over runs: 1 is right."""

    reported: float
    by_chain: float
    error: float  # of the first, one standard error
    effective: float  # draws of a run, the median
    runs: int


def scores_of_setting(setting: Setting, seed: int) -> Scores:
    """Of the first parameter's mean in one run."""
    run = aptmc.sample(setting.problem, seed=seed, progress=False, **setting.settings)
    row = run.summary()["x"]
    alone = row.sd / math.sqrt(effective_sample_size(run.series("x"), mean=row.mean))
    error = np.array([row.mean - setting.mean])
    return Scores(error / row.mcse, error / alone, row.ess)


def scores_of_target(target: Target, budget: float, seed: int) -> Scores:
    """Of all quantities of a target, in a run with default settings."""
    run = target.sample(budget, seed)
    chains, times = run.chains(), [draws.time for draws in run.chains()]
    dimension = run.settings.problem.dimension
    reported, by_chain, effective = [], [], math.inf
    for quantity in target.quantities:
        series = [quantity.of(draws.state[:, :dimension]) for draws in chains]
        row = summarise({"x": series}, elapsed=1.0, times=times)["x"]
        truth, more = quantity.truth, quantity.error
        if quantity.is_root:  # the mean of squares, which is what runs average
            truth, more = truth**2, 2.0 * truth * more
        alone = row.sd / math.sqrt(effective_sample_size(series, mean=row.mean))
        reported.append((row.mean - truth) / math.hypot(row.mcse, more))
        by_chain.append((row.mean - truth) / math.hypot(alone, more))
        effective = min(effective, row.ess)
    is_right = target.coldest is None or run.settings.ladder.levels[0] == target.coldest
    return Scores(np.array(reported), np.array(by_chain), effective, is_right)


def calibrated(runs: Sequence[Scores]) -> Calibration:
    """Over runs that came down to the right target; what a run errs in is not independent."""
    right = [run for run in runs if run.is_right]
    squares = np.array([np.mean(run.reported**2) for run in right])
    reported = math.sqrt(squares.mean())
    by_chain = math.sqrt(np.mean([np.mean(run.by_chain**2) for run in right]))
    error = float(squares.std(ddof=1)) / math.sqrt(squares.size) / (2.0 * reported)
    effective = float(np.median([run.effective for run in right]))
    return Calibration(reported, by_chain, error, effective, squares.size)


def calibration(setting: Setting, runs: int) -> Calibration:
    """Of a setting."""
    seeds = range(1000, 1000 + runs)
    return calibrated(in_parallel(lambda seed: scores_of_setting(setting, seed), seeds))


def calibration_of_target(target: Target, scale: float, runs: int) -> Calibration:
    """Of a target with known answers, sampled with defaults."""
    budget, seeds = scale * target.budget, range(1, 1 + runs)
    return calibrated(in_parallel(lambda seed: scores_of_target(target, budget, seed), seeds))
