# %% [markdown]
# # A mixture with six modes
#
# *A likelihood; many modes; the evidence.*
#
# Measurements of three groups, of which nobody knows who belongs to which. The likelihood of the
# three means does not change if they change places, so that there are six modes, one for each
# labelling. A random walk finds one of them and stays there. Parallel tempering visits all six,
# and the posterior of each mean is the same, as it must be.

# %%
import numpy as np
from numba import njit
from scipy import stats

import aptmc
from aptmc import plots

rng = np.random.default_rng(1978)
DATA = np.array([-3.0, 0.0, 4.0])[rng.integers(3, size=150)] + 0.8 * rng.standard_normal(150)


@njit
def log_likelihood(theta):
    """Equal weights; theta holds three means and the log of the common standard deviation."""
    sd = np.exp(theta[3])
    total = 0.0
    for value in DATA:
        density = 0.0
        for component in range(3):
            density += np.exp(-0.5 * ((value - theta[component]) / sd) ** 2)
        total += np.log(density / 3 + 1e-300) - np.log(sd)
    return total


problem = aptmc.Tempered(
    log_likelihood,
    aptmc.Prior(
        mean=aptmc.iid(stats.norm(0, 5), 3),
        log_sd=stats.norm(0, 1),
    ),
)
run = aptmc.sample(problem, budget="60 s", keep="all", seed=1)
print(run.summary())

# %% [markdown]
# How often was each labelling visited? A sixth of the draws should have each order of the means.

# %%
means = np.column_stack([np.concatenate(run.series(f"mean[{place}]")) for place in range(3)])
orders, counts = np.unique(np.argsort(means, axis=1), axis=0, return_counts=True)
for order, count in zip(orders, counts, strict=True):
    print(f"order {order}: {count / len(means):.1%} of the draws")

# %%
plots.pairs(run, width=5.0).savefig("mixture.png")

# %% [markdown]
# With the draws of all rungs (`keep="all"`), down to the prior, there is also the log evidence,
# with its standard error: what one compares models by.

# %%
print(run.log_evidence())
