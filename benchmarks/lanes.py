"""Lanes: predators and prey from a user's two functions, in the whole anytime race.

On a GPU if there is one, else on processors with fewer lanes. Times are those of whole runs of
`aptmc.sample`, exchanges and recording included; what comes before the first deadline is told
apart. The means of the parameters are compared with those from rejection at the same tolerance.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

import aptmc
from aptmc.compiled import Floats
from aptmc.models import stepwise_lotka_volterra

TOLERANCES = (1.0, 1.145, 1.31, 1.5, 1.84, 2.257, 3.362, 6.082)
VARIANCES = (0.008, 0.012, 0.019, 0.029, 0.039, 0.052, 0.092, 0.214)
LADDER = aptmc.Ladder.tolerances(TOLERANCES)
KERNEL = aptmc.OneHit(np.sqrt(np.outer(VARIANCES, [1.0, 1e-2, 1.0])))
# 3,778 hits of rejection from the uniform prior.
MEANS: Floats = np.array([0.9178, 0.00991, 1.0885])
ERRORS: Floats = np.array([0.185, 0.00464, 0.487]) / np.sqrt(3778)


class Measured(NamedTuple):
    """One run."""

    lanes: int
    ready: float  # seconds before the first deadline
    seconds: float
    events: float
    moves: float  # of each chain
    means: Floats
    errors: Floats

    @property
    def off(self) -> Floats:
        """How many standard errors the means are away from those of rejection."""
        return (self.means - MEANS) / np.hypot(self.errors, ERRORS)


def measured(on: Any, budget: float, *, every: int, thin: int, **options: Any) -> Measured:
    """One run, from the call of `aptmc.sample` to its result."""
    begun = time.perf_counter()
    run = aptmc.sample(
        stepwise_lotka_volterra.problem(),
        budget=budget,
        ladder=LADDER,
        kernel=KERNEL,
        schedule=options.pop("schedule", aptmc.Anytime(every=every)),
        on=on,
        thin=thin,
        progress=False,
        seed=1,
        **options,
    )
    whole = time.perf_counter() - begun
    draws = np.stack([np.stack(run.series(name)) for name in ("birth", "predation", "death")])
    by_lane = draws.mean(axis=2)
    errors = by_lane.std(axis=1, ddof=1) / np.sqrt(by_lane.shape[1])
    lanes = by_lane.shape[1] * len(TOLERANCES)
    moves = run.completions / (2 * lanes)
    return Measured(
        lanes, whole - run.elapsed, run.elapsed, float(run.statistics["work"].sum()), moves,
        by_lane.mean(axis=1), errors,
    )  # fmt: skip


def show(name: str, found: Measured) -> None:
    """A row of the table."""
    off = ", ".join(f"{one:+.1f}" for one in found.off)
    means = ", ".join(f"{mean:.4g}" for mean in found.means)
    print(
        f"| {name} | {found.lanes:,} | {found.ready:.1f} | {found.events / found.seconds:.2e} | "
        f"{found.moves:.0f} | {means} | {off} |",
        flush=True,
    )


def main(*, quick: bool) -> None:
    """Print the table."""
    on_gpu = aptmc.Lanes().device.is_gpu
    sizes = [1 << 14, 1 << 16, 1 << 18, 1 << 20] if on_gpu else [256]
    budget = 1.0 if quick else 10.0
    print(f"## Lanes, predators and prey, on {aptmc.Lanes(bits=32).device}\n")
    print("| run | lanes | s until ready | events per s | moves of a chain | means | off by |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for lanes in sizes[:1] if quick else sizes:
        for bits in (32, 64) if on_gpu and not quick else (32,):
            on = aptmc.Lanes(lanes, bits=bits, settle=0.4)
            show(f"{bits} bits", measured(on, budget, every=2000, thin=20))
    print()
