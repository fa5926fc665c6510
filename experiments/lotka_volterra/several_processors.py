"""Section 5.3.2: twenty rungs on one processor and on four, with and without waiting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import aptmc
from aptmc.models import lotka_volterra as model
from experiments.lotka_volterra.measures import Measured, measure
from experiments.lotka_volterra.samplers import PARAMETERS, Sampler, mean_sweep, median_sweep

BUDGET = 1e9  # events of one run on each processor
WORKERS = 4
# IAT and summed ESS of four runs of 24 hours.
PAPER = {
    "PTMC-1": {"birth": (39.535, 269.89), "predation": (72.908, 146.35), "death": (82.464, 129.39)},
    "APTMC-1": {
        "birth": (72.475, 362.62),
        "predation": (88.446, 297.14),
        "death": (138.56, 189.68),
    },
    "PTMC-W": {"birth": (48.621, 266.7), "predation": (67.395, 192.4), "death": (87.635, 147.97)},
    "APTMC-W": {"birth": (39.898, 1452.5), "predation": (72.79, 796.14), "death": (101.57, 570.57)},
}
PAPER_DRAWS = {"PTMC-1": 2667.5, "PTMC-W": 3241.8, "APTMC-1": 6570.3, "APTMC-W": 14488.0}

PTMC_1 = Sampler("PTMC-1", model.SEVERAL_PROCESSORS, 1, aptmc.Shared(), aptmc.Synchronous())
# Five local moves, one pair within the worker, five more, one pair between workers.
PTMC_W = Sampler(
    "PTMC-W",
    model.SEVERAL_PROCESSORS,
    WORKERS,
    aptmc.Partitioned(),
    aptmc.Synchronous(moves=2, exchange=aptmc.BetweenPools(), within=aptmc.OneRandomPair()),
)


def samplers(pilot: float) -> list[Sampler]:
    """The paper's four, with its deadlines: medians of the synchronous samplers' sweeps."""
    alone, together = median_sweep(PTMC_1, pilot), median_sweep(PTMC_W, pilot)
    schedule = aptmc.Anytime(alone, exchange=aptmc.Alternating())
    aptmc_1 = replace(PTMC_1, name="APTMC-1", schedule=schedule)
    schedule = aptmc.Anytime(together, exchange=aptmc.BetweenPools(), within=aptmc.OneRandomPair())
    aptmc_w = replace(PTMC_W, name="APTMC-W", schedule=schedule)
    return [PTMC_1, aptmc_1, PTMC_W, aptmc_w]


def ours(pilot: float) -> Sampler:
    """What we would run: one shared queue, reassignment, one simulation per step.

    With a deadline in each sweep: more of them would fill the memory with draws of all rungs.
    """
    sampler = Sampler(
        "shared, reassignment, cap 1",
        model.SEVERAL_PROCESSORS,
        WORKERS,
        aptmc.Shared(),
        aptmc.Anytime(1e5, exchange=aptmc.Reassignment()),
        cap=1,
    )
    sweep = mean_sweep(sampler, pilot)
    return replace(sampler, schedule=aptmc.Anytime(sweep, exchange=aptmc.Reassignment()))


def measure_all(*, scale: float, runs: int) -> list[Measured]:
    """All of them, for the same number of events on each processor."""
    budget = scale * BUDGET
    chosen = [*samplers(pilot=max(0.2 * budget, 2e8)), ours(pilot=2e7)]
    return [measure(sampler, budget=budget, runs=runs, keep="all") for sampler in chosen]


def table(results: list[Measured]) -> str:
    """IAT, ESS and idle time beside the paper's, in Markdown."""
    lines = [
        "| sampler | idle | draws of the cold chain | IAT | IAT, paper "
        "| ESS per 10⁹ events of elapsed time | ESS over that of PTMC-1 | the same, paper |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]

    def elapsed_ess(result: Measured, name: str) -> float:
        return result.ess(name) * result.sampler.processors

    for result in results:
        published = PAPER.get(result.sampler.name)
        iat = [f"{result.iat(name):.0f}" for name in PARAMETERS]
        ess = [elapsed_ess(result, name) for name in PARAMETERS]
        gain = [
            value / elapsed_ess(results[0], name)
            for value, name in zip(ess, PARAMETERS, strict=True)
        ]
        draws = np.mean([run.draws for run in result.runs])
        cells = [
            result.sampler.name,
            f"{result.idle.value:.0%}",
            f"{draws:.0f}",
            " / ".join(iat),
            " / ".join(f"{published[name][0]:.0f}" for name in PARAMETERS) if published else "-",
            " / ".join(f"{value:.0f}" for value in ess),
            " / ".join(f"{value:.2f}" for value in gain),
            " / ".join(
                f"{published[name][1] / PAPER['PTMC-1'][name][1]:.2f}" for name in PARAMETERS
            )
            if published
            else "-",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draws_table(results: list[Measured]) -> str:
    """Draws of each chain (the paper's last table), in Markdown."""
    names = [result.sampler.name for result in results]
    lines = [
        "| rung | tolerance | " + " | ".join(names) + " |",
        "| --- | --- |" + " --- |" * len(names),
    ]
    for rung, tolerance in enumerate(model.SEVERAL_PROCESSORS.tolerances):
        counts = [np.mean([run.draws_by_rung[rung] for run in result.runs]) for result in results]
        cells = " | ".join(f"{count:.0f}" for count in counts)
        lines.append(f"| {rung} | {tolerance:g} | {cells} |")
    return "\n".join(lines)
