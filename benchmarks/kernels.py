"""Walk or slice? Kernels for densities beside the automatic one, in virtual time at equal work.

The measure of a run is how many independent draws would estimate a quantity as well, by the mean
squared error over many runs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import aptmc
from aptmc.warmup.powers import SHARE_OF_SLICES
from benchmarks.tuning import WARMUP_SHARE
from experiments.known_targets import densities
from experiments.known_targets.measures import Measured, measure_run
from experiments.known_targets.target import PROCESSORS, Target
from experiments.parallel import in_parallel

SHARES = (0.0, 0.05, SHARE_OF_SLICES, 0.4, 1.0)  # of slices among steps


def kernel_with(share: float, found: aptmc.Mixture) -> aptmc.kernels.Kernel:
    """What the warm-up has found, with other shares."""
    if share in (0.0, 1.0):
        return found.second if share else found.first
    return aptmc.Mixture(found.first, found.second, share)


def with_share(
    target: Target, tuned: list[aptmc.run.Settings], share: float, budget: float
) -> Callable[[int], aptmc.Run]:
    """Runs with the settings that several warm-ups found, in turn, but for the kernel."""

    def run(seed: int) -> aptmc.Run:
        settings = tuned[seed % len(tuned)]
        return aptmc.sample(
            target.problem,
            budget=budget,
            warmup=WARMUP_SHARE * budget,
            ladder=settings.ladder,
            kernel=kernel_with(share, settings.kernel),
            schedule=settings.schedule,
            pools=settings.pools,
            on=aptmc.VirtualTime(PROCESSORS),
            seed=seed,
        )

    return run


def print_row(target: Target, *, scale: float, runs: int) -> None:
    """One target, all shares: effective draws, and how far off the worst quantity is."""
    budget = scale * target.budget
    tuned = in_parallel(lambda seed: target.sample(budget, seed).settings, range(101, 105))
    cells = [target.name, str(runs)]
    for share in SHARES:
        run = with_share(target, tuned, share, budget)
        measures = in_parallel(
            lambda seed, run=run: measure_run(run(seed), target.quantities), range(1, runs + 1)
        )
        result = Measured(target, budget, measures, None)
        places = range(len(target.quantities))
        worth = np.exp(np.mean([np.log(result.effective_draws(place)) for place in places]))
        off_by = max(result.off_by(place) for place in places)
        cells.append(f"{worth:.0f} ({off_by:.1f} se)")
    print("| " + " | ".join(cells) + " |", flush=True)


def main(*, quick: bool) -> None:
    """Print a table."""
    print("## Kernels: effective draws of a run (and by how much the worst quantity is off)\n")
    names = ["walk alone", *(f"{share:g} slices" for share in SHARES[1:-1]), "slices alone"]
    print("| target | runs | " + " | ".join(names) + " |")
    print("| --- " * (2 + len(names)) + "|")
    for target in densities.TARGETS[:1] if quick else densities.TARGETS:
        print_row(target, scale=0.02 if quick else 0.3, runs=2 if quick else 16)
    print()
