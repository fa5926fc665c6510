# %% [markdown]
# # A cluster
#
# *Dask, with workers that come and go; the same run continued on this machine.*
#
# Any engine that takes a function and gives a future will do: [MPI, Dask, Ray, an executor of
# `concurrent.futures`](../engines.md). Here Dask starts two workers on this machine; on a cluster
# only the line that makes the client changes, to `SLURMCluster(…)` of dask-jobqueue, say, or to
# the address of a scheduler.

# %%
import numpy as np
from distributed import Client
from scipy import stats

import aptmc
from aptmc import plots

client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)

# %% [markdown]
# A simulator in plain Python, whose cost depends on the parameter: a walk until it leaves an
# interval. Known are how long it took ten times.

# %%
OBSERVED = np.array([57.0, 91.0, 33.0, 142.0, 75.0, 48.0, 110.0, 64.0, 29.0, 83.0])


def simulate(theta, rng):
    """Steps until a walk with some drift is ten away from its beginning, ten times."""
    drift, noise = theta
    steps = np.empty(OBSERVED.size)
    for walk in range(OBSERVED.size):
        place, step = 0.0, 0
        while abs(place) < 10.0 and step < 1000:
            place += drift + noise * rng.standard_normal()
            step += 1
        steps[walk] = step
    return steps


def summary(steps):
    """Where the logs of the times are, and how much they vary."""
    logs = np.log(steps)
    return np.array([logs.mean(), logs.std()])


problem = aptmc.Abc(
    simulate,
    aptmc.Prior(drift=stats.uniform(0, 1), noise=stats.uniform(0.1, 2)),
    observed=OBSERVED,
    summary=summary,
    distance=aptmc.distance.p_norm(2),
)
run = aptmc.sample(problem, budget="60 s", on=aptmc.Dask(client), store="cluster.zarr", seed=1)
print(run.summary())
client.close()

# %% [markdown]
# A worker that dies is replaced by the others, and its move is computed again with the same
# random key: nothing is lost, and nothing is biased. When the time on the cluster is spent, the
# run goes on wherever you are.

# %%
run = aptmc.resume("cluster.zarr", problem, budget="15 s", on=aptmc.Processes(2))
print(run.stopped, f"{run.simulations} simulations")
plots.pairs(run, width=5.0).savefig("cluster.png")
