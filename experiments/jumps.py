"""How wide should proposals from a mixture be, and how many? `python -m experiments.jumps`.

In virtual time, with the simulators beside pyABC, on ladders and mixtures that short runs have
found: independent runs of equal length tell by how much means differ from run to run, and so of how
many independent draws they are worth.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

import aptmc
from benchmarks.pyabc_cases import CASES, Case
from benchmarks.pyabc_virtual import problem_in_virtual_time

PROCESSORS = 2
PILOTS = 8  # each of which finds a ladder and a mixture of its own


class Choice(NamedTuple):
    """Of proposals."""

    variance: float  # over that of the posterior; 0: as it is chosen
    share: float  # of all proposals


CHOICES = (Choice(1.1, 0.75), Choice(1.1, 0.9), Choice(0, 0.75), Choice(0, 0.9), Choice(3.0, 0.9))
# Of each processor, in seconds that simulators sleep, or in simulations.
BUDGETS = {"two modes": 60.0, "sleeping": 60.0, "g-and-k": 10_000.0}


def usual_variance(case: Case) -> float:
    """As chosen."""
    return 1.0 + 2.0 / (1.0 + len(case.parameters))


def settings_of(case: Case, seed: int) -> aptmc.Run:
    """A short run."""
    problem, on = problem_in_virtual_time(case), aptmc.VirtualTime(PROCESSORS)
    return aptmc.sample(problem, budget=BUDGETS[case.name], on=on, seed=seed, progress=False)


def effective_draws(case: Case, pilots: Sequence[aptmc.Run], choice: Choice, runs: int) -> float:
    """The variance of each quantity over that of its mean from run to run, in the harmonic mean."""
    errors = []
    for pilot_number, pilot in enumerate(pilots):
        found, kernel = pilot.settings, pilot.settings.kernel
        assert isinstance(kernel, aptmc.OneHit)
        assert kernel.reference is not None
        wider = (choice.variance or usual_variance(case)) / usual_variance(case)
        reference = replace(kernel.reference, matrices=wider * kernel.reference.matrices)
        means, variances = [], []
        for seed in range(runs):
            run = aptmc.sample(
                found.problem,
                budget=BUDGETS[case.name],
                ladder=found.ladder,
                kernel=replace(kernel, reference=reference, jumps=choice.share),
                schedule=found.schedule,
                pools=found.pools,
                on=aptmc.VirtualTime(PROCESSORS),
                seed=runs * pilot_number + seed,
                progress=False,
            )
            draws = np.column_stack([np.concatenate(run.series(name)) for name in case.parameters])
            values = case.quantities(draws)
            means.append(values.mean(axis=0))
            variances.append(values.var(axis=0))
        errors.append(np.var(means, axis=0, ddof=1) / np.mean(variances, axis=0))
    return float(1.0 / np.mean(errors))


def main() -> None:
    """Print a row for each choice."""
    parser = argparse.ArgumentParser(prog="python -m experiments.jumps", description=__doc__)
    parser.add_argument("--runs", type=int, default=8, help="on each of 8 ladders (default: 8)")
    runs = parser.parse_args().runs
    print(f"| variance | share | {' | '.join(BUDGETS)} |")
    print("| --- " * (2 + len(BUDGETS)) + "|")
    pilots = {
        name: [settings_of(CASES[name], 1000 + seed) for seed in range(PILOTS)] for name in BUDGETS
    }
    for choice in CHOICES:
        found = [effective_draws(CASES[name], pilots[name], choice, runs) for name in BUDGETS]
        variance = f"{choice.variance:g}" if choice.variance else "as chosen"
        cells = " | ".join(f"{draws:.3g}" for draws in found)
        print(f"| {variance} | {choice.share:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
