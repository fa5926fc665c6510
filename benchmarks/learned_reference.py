"""Is a learned reference worth it? Rungs, round trips and effective draws beside the prior's.

In virtual time, at equal work counted in evaluations. Effective draws are by the mean squared error
over the runs, as everywhere (the geometric mean over the quantities of a target).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

import aptmc
from aptmc.kernels import Students
from experiments.known_targets import densities, eight_schools
from experiments.known_targets.measures import Measured, RunMeasure, measure_run
from experiments.known_targets.target import PROCESSORS, Target
from experiments.parallel import in_parallel

TARGETS = {target.name: target for target in (*densities.TARGETS, *eight_schools.TARGETS)}
# By name, the share of the full length: long enough for some round trips in a warm-up on the prior.
SCALES = {"coin": 0.5, "eight schools": 0.3, "two modes": 1.0}
RUNS = 6


class Found(NamedTuple):
    """One run, and whether a reference was fitted."""

    measure: RunMeasure
    is_fitted: bool


def sampled(target: Target, reference: str, budget: float, seed: int) -> Found:
    """A run with one reference or the other, all else automatic."""
    learned = aptmc.Ladder.auto(reference="learned")
    run = aptmc.sample(
        target.problem,
        budget=budget,
        ladder=learned if reference == "learned" else aptmc.Ladder.auto(),
        on=aptmc.VirtualTime(PROCESSORS),
        seed=seed,
    )
    is_fitted = isinstance(run.settings.ladder.reference, Students)
    return Found(measure_run(run, target.quantities), is_fitted)


def row(target: Target, reference: str, budget: float, runs: int) -> str:
    """What one reference is worth, in Markdown."""
    seeds = range(1, runs + 1)
    found = in_parallel(partial(sampled, target, reference, budget), seeds)
    measured = Measured(target, budget, [one.measure for one in found], None)
    places = range(len(target.quantities))
    worths = [measured.effective_draws(place) for place in places]
    rungs = sorted({one.measure.rungs for one in found})
    trips = np.mean([one.measure.round_trips for one in found])
    rates = np.nanmedian(np.concatenate([one.measure.swap_rates for one in found]))
    cells = [
        target.name,
        reference + (f" ({sum(one.is_fitted for one in found)})" if reference == "learned" else ""),
        f"{rungs[0]}" if len(rungs) == 1 else f"{rungs[0]} to {rungs[-1]}",
        f"{rates:.2f}",
        f"{trips:,.0f}",
        f"{np.exp(np.mean(np.log(worths))):,.0f}",
        f"{min(worths):,.0f}",
        f"{max(measured.off_by(place) for place in places):.1f} se",
    ]
    return "| " + " | ".join(cells) + " |"


def main(*, quick: bool) -> None:
    """Print a table."""
    runs = 2 if quick else RUNS
    print(f"## A learned reference beside the prior: {runs} runs of each\n")
    heads = "target | reference | rungs | swap rate | round trips | effective draws | fewest | off"
    print(f"| {heads} |")
    print("| --- " * (heads.count("|") + 1) + "|")
    for name, scale in {"coin": 0.02}.items() if quick else SCALES.items():
        for reference in ("prior", "learned"):
            target = TARGETS[name]
            print(row(target, reference, scale * target.budget, runs), flush=True)
    print()
