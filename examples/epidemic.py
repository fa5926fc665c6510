# %% [markdown]
# # An epidemic in a boarding school
#
# *A simulator, compiled; data that one simulates to the end; what the posterior predicts.*
#
# Influenza in an English boarding school, 1978: of 763 boys, so many lay in bed on each of
# fourteen days (British Medical Journal, 4 March 1978). How fast did it spread, and how long did
# a boy lie in bed?
#
# The model is the stochastic SIR model, event by event: each pair of a healthy and an ill boy may
# infect, each ill boy may recover. Its likelihood has no closed form, but everybody can simulate
# it.

# %%
import numpy as np
from numba import njit
from scipy import stats

import aptmc
from aptmc import plots

IN_BED = np.array([3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4], dtype=float)
BOYS = 763


@njit
def simulate(theta, rng):
    """The number of boys in bed on each day, starting from the first day's three."""
    infection, recovery = theta[0], theta[1]
    days = IN_BED.size
    in_bed = np.zeros(days)
    susceptible, ill, time = BOYS - 3, 3, 0.0
    in_bed[0] = ill
    day = 1
    while day < days:
        infections = infection * susceptible * ill / BOYS
        total = infections + recovery * ill
        time += rng.standard_exponential() / total if total > 0.0 else days
        while day < days and time > day:
            in_bed[day] = ill
            day += 1
        if rng.random() * total < infections:
            susceptible -= 1
            ill += 1
        else:
            ill -= 1
    return in_bed


# %% [markdown]
# Counts vary about as their square roots do, so days with many boys in bed would drown the
# others: the distance is taken after square roots, which make the noise even.


# %%
@njit
def distance(simulated, observed):
    """Root mean square, after square roots: they make the noise of counts about even."""
    return np.sqrt(np.mean((np.sqrt(simulated) - np.sqrt(observed)) ** 2))


problem = aptmc.Abc(
    simulate,
    aptmc.Prior(infection=stats.uniform(0, 5), recovery=stats.uniform(0, 2)),
    observed=IN_BED,
    distance=distance,
    keep_simulated=True,
)
run = aptmc.sample(problem, budget="60 s", seed=1)
print(run.summary())

# %% [markdown]
# Draws of both rates give draws of whatever follows from them, such as how many others one ill
# boy infected at first.

# %%
infection, recovery = (np.concatenate(run.series(name)) for name in problem.names)
ratio = infection / recovery
low, high = np.quantile(ratio, [0.05, 0.95])
print(f"one ill boy infected {ratio.mean():.2f} others at first (90 %: {low:.2f} to {high:.2f})")

# %% [markdown]
# Each draw of `Abc` keeps its own simulation, so what the model predicts costs nothing more: half
# of the simulations lie in the dark band, nine tenths in the light one.

# %%
simulated = np.concatenate([draws.state[:, -IN_BED.size :] for draws in run.chains()])
with plots.figure(2.8, 5.0) as picture:
    panel = picture.subplots()
    days = np.arange(1, IN_BED.size + 1)
    for level in (0.05, 0.25):
        band = np.quantile(simulated, [level, 1 - level], axis=0)
        panel.fill_between(days, *band, color="#56B4E9", alpha=0.4, linewidth=0)
    panel.plot(days, IN_BED, "o", color="#333333", markersize=3, label="counted")
    panel.plot(days, np.median(simulated, axis=0), color="#0072B2", label="simulated")
    panel.set_xlabel("day")
    panel.set_ylabel("boys in bed")
    panel.legend()
picture.savefig("epidemic.png")
