"""Errors of runs in units of what was reported for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import aptmc
from aptmc.diagnostics import effective_sample_size
from aptmc.diagnostics.error_of_mean import Timeline, spread_of_mean
from aptmc.diagnostics.states import states_in
from experiments.known_targets.quantities import Quantity
from experiments.known_targets.target import Target
from experiments.parallel import in_parallel
from experiments.reported_errors.settings import Setting

Floats = npt.NDArray[np.float64]
# A quantity of which the reference itself is less sure than so many reported errors says more about
# the reference: what that is off by is the same in all runs.
MOST_OF_TRUTH = 0.5


class Errors(NamedTuple):
    """Of one run: what some means are off by, and two estimates of that."""

    error: Floats
    reported: Floats
    by_chain: Floats  # where the autocorrelation of chains on their own is the estimate
    truth: Floats  # errors of the truths themselves
    is_parameter: npt.NDArray[np.bool_]  # whether the run's summary reports this error
    effective: float  # draws, of the quantity with the fewest
    is_right: bool = True  # whether it came down to the target of which the truth is known


class Calibration(NamedTuple):
    """Over runs: 1 is right."""

    reported: float  # root mean square of errors over reported ones, of the means of parameters
    error: float  # one standard error of that
    every: float  # the same of all quantities
    size: float  # root of the mean squared error over the mean squared reported error, of all
    by_chain: float  # the first, with the other estimate
    effective: float  # draws of a run, the median
    runs: int


def errors_of_setting(setting: Setting, seed: int) -> Errors:
    """Of the first parameter's mean in one run."""
    run = aptmc.sample(setting.problem, seed=seed, progress=False, **setting.settings)
    row = run.summary()["x"]
    alone = row.sd / math.sqrt(effective_sample_size(run.series("x"), mean=row.mean))
    off, mcse, chains = np.array([[row.mean - setting.mean], [row.mcse], [alone]])
    return Errors(off, mcse, chains, np.zeros(1), np.ones(1, bool), row.ess)


def errors_of_target(target: Target, budget: float, seed: int) -> Errors:
    """Of all quantities of a target, in a run with default settings."""
    run = target.sample(budget, seed)
    dimension, draws = run.settings.problem.dimension, run.chains()
    states, times = [each.state[:, :dimension] for each in draws], [each.time for each in draws]
    is_right = target.coldest is None or run.settings.ladder.levels[0] == target.coldest
    return errors_in(target.quantities, states, times)._replace(is_right=is_right)


def errors_in(
    quantities: Sequence[Quantity], states: Sequence[Floats], times: Sequence[Floats]
) -> Errors:
    """Of quantities in draws, by chain, as a summary reports them.

    Draws of a state count as one for each quantity, probabilities among them: all parameters tell
    which draws these are.
    """
    columns = range(states[0].shape[1])
    same = states_in([[chain[:, column] for chain in states] for column in columns])
    timeline = Timeline([len(chain) for chain in states], times, states=same)
    rows, effective = [], math.inf
    for quantity in quantities:
        series = [quantity.of(chain) for chain in states]
        every = np.concatenate(series)
        mean, deviation = every.mean(), every.std(ddof=1)
        spread = spread_of_mean([chain - mean for chain in series], timeline)
        truth, more = quantity.truth, quantity.error
        if quantity.is_root:  # the mean of squares, which is what runs average
            truth, more = truth**2, 2.0 * truth * more
        alone = deviation / math.sqrt(effective_sample_size(series, mean=mean))
        rows.append((mean - truth, math.sqrt(spread.variance), alone, more))
        effective = min(effective, deviation**2 / spread.variance)
    is_parameter = np.array([quantity.is_parameter for quantity in quantities])
    error, reported, by_chain, known = np.array(rows).T
    return Errors(error, reported, by_chain, known, is_parameter, effective)


def calibrated(runs: Sequence[Errors]) -> Calibration:
    """Over runs that came down to the right target; what a run errs in is not independent."""
    right = [run for run in runs if run.is_right]
    error, reported, by_chain, truth = (
        np.array([getattr(run, name) for run in right])
        for name in ("error", "reported", "by_chain", "truth")
    )
    is_known = truth[0] <= MOST_OF_TRUTH * np.median(reported, axis=0)
    is_mean = is_known & right[0].is_parameter
    ratios = error**2 / (reported**2 + truth**2)
    squares = ratios[:, is_mean].mean(axis=1)
    mean = math.sqrt(squares.mean())
    spread = float(squares.std(ddof=1)) / math.sqrt(squares.size)
    sizes = (error**2).mean(axis=0) / (reported**2 + truth**2).mean(axis=0)
    alone = (error**2 / (by_chain**2 + truth**2))[:, is_mean].mean()
    return Calibration(
        reported=mean,
        error=spread / (2.0 * mean),
        every=math.sqrt(ratios[:, is_known].mean()),
        size=math.sqrt(sizes[is_known].mean()),
        by_chain=math.sqrt(alone),
        effective=float(np.median([run.effective for run in right])),
        runs=len(right),
    )


def calibration(setting: Setting, runs: int) -> Calibration:
    """Of a setting."""
    seeds = range(1000, 1000 + runs)
    return calibrated(in_parallel(lambda seed: errors_of_setting(setting, seed), seeds))
