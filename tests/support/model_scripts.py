"""Scripts with models of other languages, as users write them: no guard, and the model in them.

Each says what can be compared with the same code elsewhere: what makes the model itself, and what
a run's draws look like. How far a run comes is a matter of the clock.
"""

PYMC = """
import warnings
warnings.simplefilter("ignore")  # of ArviZ, which PyMC loads
import numpy as np, pymc as pm
import aptmc

with pm.Model() as model:
    mean = pm.Normal("mean", 0, 3)
    pm.Normal("y", mean, 1, observed=np.array([2.0, 4.0]))

problem = aptmc.from_pymc(model)
"""

NUMPYRO = """
import numpy as np, numpyro, numpyro.distributions as dist
import aptmc

numpyro.enable_x64()

def model(y):
    mean = numpyro.sample("mean", dist.Normal(0, 3))
    numpyro.sample("y", dist.Normal(mean, 1), obs=y)

problem = aptmc.from_numpyro(model, np.array([2.0, 4.0]))
"""

SAMPLED = """
from distributed import Client, LocalCluster

def done(on):
    return aptmc.sample(
        problem, budget="400 moves", seed=1, progress=False,
        ladder=aptmc.Ladder.powers([1.0, 0.0]), kernel=aptmc.RandomWalk(1.5), on=on,
    )

runs = [done(aptmc.Processes(2)), done(aptmc.InProcess())]
own = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
with LocalCluster(**own) as cluster, Client(cluster) as client:
    runs.append(done(aptmc.Dask(client)))
kind = runs[-1].draws["posterior"]["mean"].dtype
print(all(run.completions >= 300 for run in runs), kind, problem.fingerprint()["density"])
"""

SCRIPTS = {"pymc": PYMC + SAMPLED, "numpyro": NUMPYRO + SAMPLED}


def check_lines(lines: list[str]) -> None:
    """What either of them must have printed."""
    (line,) = lines
    is_sampled, kind, fingerprint = line.split()
    assert is_sampled == "True"
    assert kind == "float64"
    assert fingerprint
