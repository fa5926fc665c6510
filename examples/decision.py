# %% [markdown]
# # A decision that cannot wait
#
# *A set of exact draws every few seconds, from a run that goes on.*
#
# A lake takes up a pollutant, which bacteria break down; it was measured nine times. Every few
# seconds somebody must say whether to close the inlet. Whoever looks at a run at such a moment
# finds chains in flight more often where a simulation takes long. Those that *wait* are
# [exact draws, and independent of each other](../snapshots.md), and that is what `snapshot()`
# gives. There is one rung, so nothing is exchanged: K + 1 chains on a processor, of which K wait.
# This is plain Anytime Monte Carlo (Murray, Singh, Jacob and Lee 2016).

# %%
from contextlib import suppress

import numpy as np
from scipy import stats

import aptmc
from aptmc import plots

DAYS = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5])
MEASURED = np.array([0.93, 1.67, 2.15, 2.61, 2.77, 3.06, 3.12, 3.29, 3.27])
NOISE = 0.1


def levels(load, decay, days):
    """What is in the water; the faster it decays, the smaller are the steps in time."""
    step = 0.01 / (1.0 + 10.0 * decay)
    found, level, now = [], 0.0, 0.0
    for day in days:
        while now < day:
            level += step * (load - decay * level)
            now += step
        found.append(level)
    return np.array(found)


def log_likelihood(theta):
    """Normal noise around the level."""
    return -0.5 * np.sum(((MEASURED - levels(*theta, DAYS)) / NOISE) ** 2)


problem = aptmc.Tempered(
    log_likelihood,
    aptmc.Prior(load=stats.uniform(0.2, 4.8), decay=stats.uniform(0.05, 1.95)),
)

# %% [markdown]
# To close the inlet costs 1; to leave it open costs 8 if the level comes above 3.6 in the end,
# where load and decay are in balance. Of thirty-two chains each of
# two processors has one or two: the move that it computes, and one that is queued. Others wait.

# %%
CLOSED, HARM, LIMIT = 1.0, 8.0, 3.6
EVERY, ENOUGH = 10.0, 100  # seconds; moves of a chain
sets = []
with aptmc.start(
    problem,
    budget="60 s",
    ladder=[1],
    pools=aptmc.Shared(32),
    kernel=aptmc.RandomWalk({"load": 0.12, "decay": 0.05}),
    on=aptmc.Processes(2),
    seed=1,
) as handle:
    for look in range(6):
        with suppress(TimeoutError):
            handle.wait(EVERY)
        seen = handle.inspect().run
        if not seen.is_settled or seen.sweeps < ENOUGH:
            print("no draws yet: chains have not forgotten where they began")
            continue
        draws = handle.snapshot()
        final = (draws["load"] / draws["decay"]).values
        sets.append(final)
        harm = HARM * np.mean(final > LIMIT)
        decision = "close" if harm > CLOSED else "leave it open"
        print(f"look {look + 1}: {final.size} draws; open costs {harm:.1f}: {decision}")
    run = handle.wait()

# %% [markdown]
# Each set is exact by itself, and two that are an autocorrelation time apart are independent. All
# draws of the run, those between two looks among them, know more:

# %%
print(run.summary())
load, decay = (np.concatenate(run.series(name)) for name in problem.names)
print(f"chance of harm: {np.mean(load / decay > LIMIT):.3f}")

# %%
with plots.figure(2.4, 5.0) as picture:
    panel = picture.subplots()
    for look, final in enumerate(sets, 1):
        panel.plot(np.full(final.size, look), final, "o", color="#0072B2", alpha=0.5, markersize=3)
    panel.axhline(LIMIT, color="#D55E00", linewidth=1)
    panel.set_xticks(range(1, 1 + len(sets)))
    panel.set_xlabel("look")
    panel.set_ylabel("level in the end")
picture.savefig("decision.png")
