# %% [markdown]
# # Another program as the simulator
#
# *A simulator that is not Python: here awk, as it could be R, Julia or Fortran.*
#
# A queue: customers arrive at random, one is served at a time. Known are the mean wait and the
# share of customers who did not wait. At what rates do customers come, and are they served?
#
# Everything random must come from the generator that aptmc hands over, or the run cannot be
# computed again: so the program gets its seed from there. It runs in worker processes, one at a
# time in each.

# %%
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy import stats

import aptmc
from aptmc import plots

PROGRAM = Path(tempfile.mkdtemp(), "queue.awk")
PROGRAM.write_text(r"""
BEGIN {
    srand(seed)
    wait = 0; total = 0; none = 0
    for (customer = 1; customer <= n; customer++) {
        total += wait
        if (wait == 0) none++
        service = -log(1 - rand()) / services
        gap = -log(1 - rand()) / arrivals
        wait = wait + service - gap
        if (wait < 0) wait = 0
    }
    printf "%.10g %.10g\n", total / n, none / n
}
""")

CUSTOMERS = 500
OBSERVED = np.array([2.35, 0.29])  # mean wait, and share of customers who did not wait


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
# The wait within some fifteen percent. Without a ladder, the tolerance is as small as the budget
# allows, and draws are few.
ladder = aptmc.Ladder.auto(coldest=0.15)
run = aptmc.sample(problem, budget="2 min", ladder=ladder, seed=1)
print(run.summary())

# %% [markdown]
# A queue is long if customers come nearly as fast as they are served: the share of those who did
# not wait says how nearly, and the mean wait in which unit of time.

# %%
plots.pairs(run, width=5.0).savefig("external_program.png")
