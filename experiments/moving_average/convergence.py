"""All tolerances in one run, beside rejection and the exact posteriors at each tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import aptmc
from aptmc.models import moving_average as model
from experiments.estimates import Estimate, estimate
from experiments.parallel import in_parallel

PARAMETERS = ("theta1", "theta2")
PROCESSORS = 2
WARMUP_SHARE = 0.02


@dataclass(frozen=True)
class Case:
    """What is compared, and how closely. One simulation takes one unit of virtual time."""

    title: str
    simulated_distance: Callable[..., float]
    tolerances: tuple[float, ...]
    steps: tuple[float, ...]  # standard deviations of the proposals
    every: float  # between deadlines: about one sweep of the chains
    budget: float  # simulations on each processor in one run
    rejections: int  # simulations for each of the wider tolerances
    moments: Callable[[Sequence[float]], list[model.Moments]]
    likelihood: Callable[[], model.Moments]


VALUES = Case(
    "Three values, compared one by one",
    model.short_simulated_distance,
    tolerances=(0.2, 0.3, 0.5, 0.8, 1.2, 2.0),
    steps=(0.5, 0.5, 0.5, 0.6, 0.7, 0.8),
    every=200.0,
    budget=1e7,
    rejections=10_000_000,
    moments=lambda tolerances: [model.moments_given_values(tolerance) for tolerance in tolerances],
    likelihood=model.moments_given_values,
)
AUTOCOVARIANCES = Case(
    "A hundred values, compared by their autocovariances at lags 1 and 2",
    model.simulated_distance,
    tolerances=(0.02, 0.05, 0.1, 0.2, 0.4, 0.8),
    steps=(0.2, 0.2, 0.2, 0.25, 0.3, 0.4),
    every=50.0,
    budget=1e6,
    rejections=2_000_000,
    moments=model.moments_given_autocovariances,
    likelihood=model.posterior_moments,
)


class Spread(NamedTuple):
    """Mean and standard deviation of one parameter."""

    mean: Estimate
    sd: Estimate


class Measured(NamedTuple):
    """What was found for one case: by tolerance, then by parameter."""

    case: Case
    sampled: list[list[Spread]]
    rejected: list[list[Spread] | None]  # none where hits are rare
    exact: list[model.Moments]
    limit: model.Moments
    likelihood: model.Moments


@cache
def problem(case: Case) -> aptmc.Abc:
    """Compiled once."""
    return aptmc.Abc.early(case.simulated_distance, model.prior())


def sample(case: Case, *, budget: float, runs: int, seed: int = 1) -> list[list[Spread]]:
    """Independent runs. Each rung is one tolerance, so each run has them all."""

    def one(seed: int) -> Any:
        run = aptmc.sample(
            problem(case),
            budget=budget,
            warmup=WARMUP_SHARE * budget,
            ladder=aptmc.Ladder.tolerances(case.tolerances),
            kernel=aptmc.OneHit(case.steps, cap=100),
            schedule=aptmc.Anytime(case.every, exchange=aptmc.Reassignment()),
            on=aptmc.VirtualTime(PROCESSORS),
            keep="all",
            seed=seed,
        )
        draws = [
            np.concatenate([chain.state[:, :2] for chain in run.chains(rung)])
            for rung in range(len(case.tolerances))
        ]
        return [(theta.mean(axis=0), theta.var(axis=0)) for theta in draws]

    # Run, tolerance, mean or variance, parameter.
    moments = np.array(in_parallel(one, range(seed, seed + runs)))
    return [
        [_spread(moments[:, rung, 0, i], moments[:, rung, 1, i]) for i in range(len(PARAMETERS))]
        for rung in range(len(case.tolerances))
    ]


def _spread(means: Any, variances: Any) -> Spread:
    """Of independent runs. A run's variance is too small by that of its mean: add it back."""
    squares = (means - np.mean(means)) ** 2 * means.size / (means.size - 1)
    mean, variance = estimate(means), estimate(variances + squares)
    sd = math.sqrt(variance.value)
    return Spread(mean, Estimate(sd, variance.error / (2.0 * sd)))


def reject(case: Case, tolerance: float, *, simulations: int, seed: int = 1) -> list[Spread]:
    """The same by rejection; hits are independent."""
    theta = aptmc.rejection(problem(case), tolerance, simulations=simulations, seed=seed).theta
    return [_spread(column, np.zeros_like(column)) for column in theta.T]


def measure(case: Case, *, scale: float, runs: int) -> Measured:
    """Sampling at all tolerances, rejection at the wider half."""
    middle = len(case.tolerances) // 2
    simulations = max(20_000, round(scale * case.rejections))
    wide = [reject(case, e, simulations=simulations) for e in case.tolerances[middle:]]
    *exact, limit = case.moments([*case.tolerances, 0.0])
    sampled = sample(case, budget=scale * case.budget, runs=runs)
    return Measured(case, sampled, [None] * middle + wide, exact, limit, case.likelihood())


def table(measured: Measured) -> str:
    """Means and standard deviations beside the exact ones, in Markdown."""
    lines = [
        "| parameter | tolerance | mean: exact | anytime | off by | rejection | off by "
        "| sd: exact | anytime | off by | rejection | off by |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for i, name in enumerate(PARAMETERS):
        for rung in reversed(range(len(measured.exact))):
            sampled, rejected = measured.sampled[rung][i], measured.rejected[rung]
            cells = [name, f"{measured.case.tolerances[rung]:g}"]
            for place, exact in enumerate(_mean_and_sd(measured.exact[rung], i)):
                cells.append(f"{exact:.4f}")
                for spread in (sampled, rejected[i] if rejected else None):
                    cells += _comparison(spread[place], exact) if spread else ["-", "-"]
            lines.append("| " + " | ".join(cells) + " |")
        # The smallest tolerance once more, beside what it should come close to.
        limits = {"limit: 0": measured.limit, "likelihood": measured.likelihood}
        if np.array_equal(measured.limit.mean, measured.likelihood.mean):
            limits = {"limit: 0, likelihood": measured.limit}
        for label, moments in limits.items():
            cells = [name, label]
            for place, exact in enumerate(_mean_and_sd(moments, i)):
                coldest = measured.sampled[0][i][place]
                cells += [f"{exact:.4f}", *_comparison(coldest, exact), "-", "-"]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _mean_and_sd(moments: model.Moments, parameter: int) -> tuple[float, float]:
    variance = float(moments.covariance[parameter, parameter])
    return float(moments.mean[parameter]), math.sqrt(variance)


def _comparison(value: Estimate, exact: float) -> list[str]:
    return [f"{value.value:.4f} ± {value.error:.4f}", f"{value.errors_from(exact):.1f} se"]
