"""Walk or slice? Densities with other shares of slices, in virtual time at equal work.

The measure of a run is how many independent draws would estimate a quantity as well, by the mean
squared error over many runs; beside it, by how many standard errors their mean is off.
"""

from __future__ import annotations

from unittest import mock

import aptmc
from aptmc.kernels.default import SHARE_OF_SLICES, default_kernel
from aptmc.problem import Problem
from experiments.known_targets import densities
from experiments.known_targets.measures import Measured, measure
from experiments.known_targets.target import Target

SHARES = (0.0, 0.1, SHARE_OF_SLICES, 1.0)  # of slices among steps
SCALE, RUNS = 0.3, 16


def with_share(target: Target, share: float, *, scale: float, runs: int) -> Measured:
    """Runs whose automatic kernel has another share of slices, from the warm-up on."""

    def kernel(problem: Problem) -> aptmc.Kernel:
        usual = default_kernel(problem)
        assert isinstance(usual, aptmc.Mixture)
        if share in (0.0, 1.0):
            return usual.second if share else usual.first
        return aptmc.Mixture(usual.first, usual.second, share)

    with mock.patch.object(Problem, "default_kernel", kernel):
        return measure(target, scale=scale, runs=runs, walks=False)


def main(*, quick: bool) -> None:
    """Print a table."""
    print("## Kernels: effective draws of a run (standard errors off)\n")
    names = ["walk alone", *(f"{share:g} slices" for share in SHARES[1:-1]), "slices alone"]
    print("| target | quantity | " + " | ".join(names) + " |")
    print("| --- " * (2 + len(names)) + "|")
    for target in densities.TARGETS[:1] if quick else densities.TARGETS:
        scale, runs = (0.02, 2) if quick else (SCALE, RUNS)
        results = [with_share(target, share, scale=scale, runs=runs) for share in SHARES]
        for place, quantity in enumerate(target.quantities):
            if quantity.name.startswith("mode "):
                continue
            cells = [
                f"{result.effective_draws(place):,.0f} ({result.off_by(place):.1f})"
                for result in results
            ]
            print("| " + " | ".join([target.name, quantity.name, *cells]) + " |", flush=True)
    print()
