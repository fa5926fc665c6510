"""The samplers of section 5.3, and ours, in virtual time: one Gillespie event is one unit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

import aptmc
from aptmc.models import lotka_volterra as model

PARAMETERS = ("birth", "predation", "death")


@dataclass(frozen=True)
class Sampler:
    """A named way to sample the model."""

    name: str
    settings: model.Settings
    processors: int
    pools: aptmc.Shared | aptmc.Partitioned
    schedule: aptmc.Anytime | aptmc.Synchronous
    prior: str = "uniform"
    cap: int | None = None

    def run(
        self, budget: float, seed: int, *, keep: str = "coldest", warmup_share: float = 0.05
    ) -> aptmc.Run:
        """Sample for so many events on each processor."""
        return aptmc.sample(
            problem(self.prior),
            budget=budget,
            warmup=warmup_share * budget,
            ladder=aptmc.Ladder.tolerances(self.settings.tolerances),
            kernel=aptmc.OneHit(
                self.settings.standard_deviations,
                truncate=(0.0, self.settings.upper),
                cap=self.cap,
            ),
            schedule=self.schedule,
            pools=self.pools,
            on=aptmc.VirtualTime(self.processors),
            keep=keep,  # type: ignore[arg-type]
            seed=seed,
        )


@cache
def problem(prior: str) -> aptmc.Abc:
    """The model with one of the paper's priors, compiled once."""
    marginals = model.prior_uniform() if prior == "uniform" else model.prior_exponential()
    return aptmc.Abc.early(model.simulated_distance, marginals, counts_work=True)


def barrier_times(run: aptmc.Run) -> npt.NDArray[np.float64]:
    """When all chains had waited for each other, if they did."""
    if not isinstance(run.settings.schedule, aptmc.Synchronous):
        return np.empty(0)
    moves = run.settings.schedule.moves
    times = [
        draws.time[~draws.exchanged][moves - 1 :: moves]
        for rung in range(run.settings.ladder.rungs)
        for draws in run.chains(rung)
    ]
    barriers = min(len(one) for one in times)
    return np.asarray(np.max([one[:barriers] for one in times], axis=0))


def mean_sweep(sampler: Sampler, budget: float, seed: int = 0) -> float:
    """The time in which so many moves are completed as there are chains."""
    run = sampler.run(budget, seed)
    chains = len(sampler.settings.tolerances) * sampler.pools.chains_per_rung
    return run.elapsed * chains / max(run.completions, 1)


def median_sweep(sampler: Sampler, budget: float, seed: int = 0) -> float:
    """The median time between the barriers of a synchronous sampler (section 3.4)."""
    run = sampler.run(budget, seed, keep="all", warmup_share=0.0)
    return float(np.median(np.diff(barrier_times(run), prepend=0.0)))
