"""Which kernel? Densities moved in several ways, in virtual time at equal work.

The measure of a run is how many independent draws would estimate a quantity as well, by the mean
squared error over many runs; beside it, by how many standard errors their mean is off. Of the
smooth targets, with tens of quantities alike, the means over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from unittest import mock

import numpy as np

import aptmc
from aptmc.problem import Problem
from experiments.known_targets import densities, smooth
from experiments.known_targets.measures import Measured, measure
from experiments.known_targets.target import Target

WALK, LINES = aptmc.RandomWalk("auto", spread=1.0), aptmc.Slice("auto")
KERNELS: Mapping[str, aptmc.Kernel] = {
    "walk": WALK,
    "slices": LINES,
    "walk and slices": aptmc.Mixture(WALK, LINES, 0.2),
    "ellipses, one component": aptmc.EllipticalSlice(components=1),
    "ellipses": aptmc.EllipticalSlice(),
    "ellipses, walk and slices": aptmc.Mixture(
        aptmc.EllipticalSlice(), aptmc.Mixture(WALK, LINES, 0.2), 0.3
    ),
}
SCALE, RUNS, RUNS_OF_SMOOTH = 0.3, 16, 4


def with_kernel(target: Target, kernel: aptmc.Kernel, *, scale: float, runs: int) -> Measured:
    """Runs with another automatic kernel."""
    with mock.patch.object(Problem, "default_kernel", return_value=kernel):
        return measure(target, scale=scale, runs=runs, walks=False)


def main(*, quick: bool) -> None:
    """Print a table."""
    print("## Kernels: effective draws of a run (standard errors off)\n")
    print("| target | quantity | " + " | ".join(KERNELS) + " |")
    print("| --- " * (2 + len(KERNELS)) + "|")
    for target in densities.TARGETS[:1] if quick else densities.TARGETS:
        scale, runs = (0.02, 2) if quick else (SCALE, RUNS)
        results = [with_kernel(target, one, scale=scale, runs=runs) for one in KERNELS.values()]
        for place, quantity in enumerate(target.quantities):
            if quantity.name.startswith("mode "):
                continue
            cells = [
                f"{result.effective_draws(place):,.0f} ({result.off_by(place):.1f})"
                for result in results
            ]
            print("| " + " | ".join([target.name, quantity.name, *cells]) + " |", flush=True)
    for target in [] if quick else smooth.TARGETS:
        cells = []
        for kernel in KERNELS.values():
            result = with_kernel(target, kernel, scale=1.0, runs=RUNS_OF_SMOOTH)
            places = range(len(target.quantities))
            # The mean of mean squared errors, each in variances.
            inverse = np.mean([1.0 / result.effective_draws(place) for place in places])
            cells.append(f"{1.0 / inverse:,.0f}")
        print("| " + " | ".join([target.name, "all", *cells]) + " |", flush=True)
    print()
