# %% [markdown]
# # Predators and prey
#
# *A simulator that stops early; moves whose cost varies a thousandfold; the processors at work.*
#
# The paper's own example: rabbits are born, foxes eat rabbits and multiply, foxes die, each event
# at random. From the numbers of rabbits at ten times alone, what are the three rates?
#
# Where foxes die out, rabbits explode, and a simulation takes a hundred thousand events; elsewhere
# it takes a few hundred. `Abc.early` hands the simulator its tolerance, so that it ends as soon as
# it is too far off. Costs still vary widely, and this is what deadlines are for: nobody waits for
# the slowest.
#
# Four processors are simulated here: in *virtual time* each event of a simulation takes one unit,
# so that the run is the same on every machine. Without `on=` it would take all the processors that
# you have, and a budget in seconds.

# %%
import aptmc
from aptmc import plots
from aptmc.models import lotka_volterra

problem = aptmc.Abc.early(
    lotka_volterra.simulated_distance,  # of theta, rng and tolerance, compiled
    lotka_volterra.prior_exponential(),
    counts_work=True,  # it also says how many events it has simulated
)
run = aptmc.sample(
    problem,
    budget=60_000_000,
    ladder=aptmc.Ladder.tolerances([1.0, 1.3, 1.6, 1.9, 2.8, 24.0]),
    on=aptmc.VirtualTime(workers=4),
    log_events=True,
    seed=1,
)
print(run.summary())

# %% [markdown]
# With `log_events=True` the run knows who computed what when. A box is a move, coloured by its
# rung; its length is the time that it took. White would be idle time.

# %%
plots.timeline(run).savefig("processors.png")
print(f"{run.utilisation:.0%} of processor time was spent inside moves")

# %% [markdown]
# The posterior beside the prior, grey; where that cannot be seen, it is much wider. How fast
# foxes eat and how fast they die can hardly be told apart: only their ratio shows in the numbers
# of rabbits.

# %%
plots.marginals(run).savefig("marginals.png")
plots.pairs(run, width=5.0).savefig("predators_and_prey.png")
