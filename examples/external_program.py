"""A simulator that is another program: here a queue in awk, as it could be R, Julia or Fortran.

Everything random must come from the generator that aptmc hands over, or the run cannot be computed
again: so the program gets its seed from there. It runs in worker processes, one at a time in each.

    python examples/external_program.py
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from scipy import stats

import aptmc
from aptmc import plots

PROGRAM = Path(__file__).with_name("queue.awk")
CUSTOMERS = 500
OBSERVED = np.array([2.35, 0.29])  # mean wait, and share of customers who did not wait
BUDGET = "30 s"


def simulate(theta, rng):
    """Run the program once."""
    seed = int(rng.integers(2**31))
    settings = {"seed": seed, "arrivals": theta[0], "services": theta[1], "n": CUSTOMERS}
    arguments = [part for name, value in settings.items() for part in ("-v", f"{name}={value}")]
    command = ["awk", *arguments, "-f", str(PROGRAM)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    return np.array([float(word) for word in answer.stdout.split()])


def distance(simulated, observed):
    """The waits on a logarithmic scale, the shares as they are."""
    wait = abs(np.log((simulated[0] + 0.01) / (observed[0] + 0.01)))
    return wait + 2.0 * abs(simulated[1] - observed[1])


problem = aptmc.Abc(
    simulate,
    aptmc.Prior(arrivals=stats.uniform(0.1, 1.9), services=stats.uniform(0.1, 1.9)),
    observed=OBSERVED,
    distance=distance,
)


def main() -> None:
    """Sample, and show which rates could have given such waits."""
    run = aptmc.sample(problem, budget=BUDGET, seed=1)
    print(run.summary())
    plots.pairs(run).savefig("queue.png")
    print("the picture is queue.png")


if __name__ == "__main__":
    main()
