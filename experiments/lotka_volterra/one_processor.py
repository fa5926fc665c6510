"""Section 5.3.1: standard ABC, parallel tempering and anytime parallel tempering, one processor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import aptmc
from aptmc.models import lotka_volterra as model
from experiments.lotka_volterra.measures import Measured, measure
from experiments.lotka_volterra.samplers import PARAMETERS, Sampler, median_sweep

BUDGET = 3e9  # events of one run
# IAT and summed ESS of nine runs of 28 hours.
PAPER = {
    "ABC": {"birth": (69.476, 7018.1), "predation": (122.73, 3973.0), "death": (150.74, 3234.6)},
    "PTMC-1": {"birth": (22.404, 7618.6), "predation": (35.381, 4824.2), "death": (50.035, 3411.3)},
    "APTMC-1": {
        "birth": (44.071, 7963.8),
        "predation": (69.803, 5028.0),
        "death": (98.929, 3547.7),
    },
}

STANDARD = Sampler(
    "ABC", model.STANDARD_ABC, 1, aptmc.Shared(), aptmc.Synchronous(), prior="exponential"
)
# The authors' program has 0.00025 for the second variance of its proposals, the paper 0.0025.
AS_PUBLISHED = replace(
    STANDARD,
    name="ABC, second variance 0.00025",
    settings=model.STANDARD_ABC._replace(variances=np.array([[0.25, 0.00025, 0.25]])),
)
PTMC = Sampler(
    "PTMC-1", model.ONE_PROCESSOR, 1, aptmc.Shared(), aptmc.Synchronous(), prior="exponential"
)


def anytime(pilot: float) -> Sampler:
    """APTMC-1, with the deadline that the paper takes: the median sweep of PTMC-1."""
    every = median_sweep(PTMC, pilot)
    schedule = aptmc.Anytime(every, exchange=aptmc.Alternating())
    return replace(PTMC, name="APTMC-1", schedule=schedule)


def measure_all(*, scale: float, runs: int) -> list[Measured]:
    """The three samplers for the same number of events, and ours with a capped race."""
    budget = scale * BUDGET
    aptmc_1 = anytime(0.1 * budget)
    capped = replace(aptmc_1, name="APTMC-1, cap 100", cap=100)
    return [
        measure(sampler, budget=budget, runs=runs)
        for sampler in (STANDARD, AS_PUBLISHED, PTMC, aptmc_1, capped)
    ]


def table(results: list[Measured]) -> str:
    """IAT and ESS beside the paper's, in Markdown."""
    lines = [
        "| sampler | parameter | mean | sd | IAT | IAT, paper | ESS per 10⁹ events "
        "| ESS over that of ABC | the same, paper |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    standard = results[0]
    for result in results:
        published = PAPER.get(result.sampler.name.removesuffix(", second variance 0.00025"))
        for name in PARAMETERS:
            mean, sd, ess = result.mean(name), result.sd(name), result.ess(name)
            cells = [
                result.sampler.name,
                name,
                f"{mean.value:.4g} ± {mean.error:.2g}",
                f"{sd.value:.4g} ± {sd.error:.2g}",
                f"{result.iat(name):.1f}",
                f"{published[name][0]:.1f}" if published else "-",
                f"{ess:.0f}",
                f"{ess / standard.ess(name):.2f}",
                f"{published[name][1] / PAPER['ABC'][name][1]:.2f}" if published else "-",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
