"""Influenza in an English boarding school, 1978: how fast did it spread, and how long did it last?

763 boys; each day the number in bed was counted (British Medical Journal, 4 March 1978). The model
is the stochastic SIR model, simulated event by event. Nobody has its likelihood in closed form, but
everybody can simulate it.

    python examples/epidemic.py
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from aptmc import plots

IN_BED = np.array([3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4], dtype=float)
BOYS = 763
BUDGET = "40 s"


@njit
def simulate_sir(theta, rng):
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


@njit
def distance(simulated, observed):
    """Root mean square, after square roots: they make the noise of counts about even."""
    return np.sqrt(np.mean((np.sqrt(simulated) - np.sqrt(observed)) ** 2))


problem = aptmc.Abc(
    simulate_sir,
    aptmc.Prior(infection=stats.uniform(0, 5), recovery=stats.uniform(0, 2)),
    observed=IN_BED,
    distance=distance,
    keep_simulated=True,
)


def main() -> None:
    """Sample, and draw what the epidemic may have been like."""
    run = aptmc.sample(problem, budget=BUDGET, seed=1)
    print(run.summary())
    infection, recovery = (np.concatenate(run.series(name)) for name in run.settings.problem.names)
    ratio = infection / recovery
    low, high = np.quantile(ratio, [0.05, 0.95])
    print(
        f"one ill boy infected {ratio.mean():.2f} others at first (90 %: {low:.2f} to {high:.2f})"
    )
    simulated = np.concatenate([draws.state[:, -IN_BED.size :] for draws in run.chains()])
    with plots.figure(2.6, 4.5) as picture:
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
    print("the picture is epidemic.png")


if __name__ == "__main__":
    main()
