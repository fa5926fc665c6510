# %% [markdown]
# # An expensive likelihood
#
# *A likelihood that solves a differential equation: how long that takes depends on the parameters.*
#
# Van der Pol's oscillator, measured with noise. Its differential equation is solved for every
# likelihood; the stiffer it is, the smaller are the solver's steps, and the longer does it take.
# Other samplers that work in parallel wait at each swap for the stiffest chain. And whoever stops
# chains by the clock, and takes what is there, finds too many stiff ones: deadlines that leave
# chains in flight alone are exact.

# %%
import numpy as np
from scipy import stats
from scipy.integrate import odeint

import aptmc
from aptmc import plots

TIMES = np.linspace(0.0, 12.0, 25)
NOISE = 0.3


def solution(stiffness, period):
    """What the oscillator does, from a state of rest that is a little disturbed."""

    def change(state, time):
        position, speed = state
        return [speed, (stiffness * (1.0 - position**2) * speed - position) / period**2]

    return odeint(change, [0.5, 0.0], TIMES, rtol=1e-6, atol=1e-8)[:, 0]


MEASURED = solution(3.0, 0.8) + NOISE * np.random.default_rng(7).standard_normal(TIMES.size)


def log_likelihood(theta):
    """Normal noise around the solution."""
    misfit = np.sum(((MEASURED - solution(*theta)) / NOISE) ** 2)
    return -0.5 * misfit if np.isfinite(misfit) else -np.inf  # the solver may give up


problem = aptmc.Tempered(
    log_likelihood,
    aptmc.Prior(stiffness=stats.uniform(0.1, 9.9), period=stats.uniform(0.3, 1.7)),
)
run = aptmc.sample(problem, budget="2 min", store="oscillator.zarr", log_events=True, seed=1)
print(run.summary())

# %% [markdown]
# How long moves took, by rung. Warm rungs roam the whole prior, stiff oscillators included.

# %%
plots.hold_times(run, width=4.0).savefig("hold_times.png")

# %% [markdown]
# The run is on disk: look at it while it goes on (`aptmc watch oscillator.zarr`), and go on
# another day (`aptmc.resume`). The curves below are of fifty draws of the posterior.

# %%
stored = aptmc.open("oscillator.zarr")
stiffness, period = (np.concatenate(stored.series(name)) for name in problem.names)
with plots.figure(2.8, 5.0) as picture:
    panel = picture.subplots()
    for place in np.linspace(0, stiffness.size - 1, 50).astype(int):
        curve = solution(stiffness[place], period[place])
        panel.plot(TIMES, curve, color="#56B4E9", alpha=0.15)
    panel.plot(TIMES, MEASURED, "o", color="#333333", markersize=3)
    panel.set_xlabel("time")
    panel.set_ylabel("position")
picture.savefig("expensive_likelihood.png")
