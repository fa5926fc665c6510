"""What several independent runs of a sampler say of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import aptmc
from aptmc.diagnostics import autocorrelation, integrated_autocorrelation_time
from experiments.estimates import Estimate, estimate
from experiments.lotka_volterra.samplers import PARAMETERS, Sampler
from experiments.parallel import in_parallel

Floats = npt.NDArray[np.float64]


class RunMeasure(NamedTuple):
    """One run."""

    series: dict[str, list[Floats]]  # of each parameter: the cold chains
    draws: int
    idle: float
    round_trips: int
    completions: int
    draws_by_rung: Floats  # means over the chains of a rung; empty if only rung 0 was kept


class Measured(NamedTuple):
    """Several independent runs of one sampler, each `budget` events on every processor."""

    sampler: Sampler
    budget: float
    runs: list[RunMeasure]

    def _chains(self, name: str) -> list[Floats]:
        return [chain for run in self.runs for chain in run.series[name]]

    def mean(self, name: str) -> Estimate:
        """Posterior mean, over runs."""
        return estimate(float(np.concatenate(run.series[name]).mean()) for run in self.runs)

    def sd(self, name: str) -> Estimate:
        """Posterior standard deviation, over runs."""
        return estimate(float(np.concatenate(run.series[name]).std()) for run in self.runs)

    def grand_mean(self, name: str) -> float:
        """Over all draws of all runs."""
        return float(np.concatenate(self._chains(name)).mean())

    def iat(self, name: str) -> float:
        """As the paper has it: the autocorrelation is averaged over the runs first."""
        return integrated_autocorrelation_time(self._chains(name), mean=self.grand_mean(name))

    def ess(self, name: str) -> float:
        """Summed over the runs, per 10^9 events of processor time."""
        draws = sum(chain.size for chain in self._chains(name))
        events = self.budget * self.sampler.processors * len(self.runs)
        return draws / self.iat(name) / events * 1e9

    def acf(self, name: str, lags: int) -> Floats:
        """The mean autocorrelation of the cold chains."""
        return autocorrelation(self._chains(name), lags, mean=self.grand_mean(name))

    @property
    def idle(self) -> Estimate:
        """Share of processor time."""
        return estimate(run.idle for run in self.runs)


def measure(
    sampler: Sampler,
    *,
    budget: float,
    runs: int,
    keep: str = "coldest",
    seed: int = 1,
    warmup_share: float = 0.05,
    report: Callable[[aptmc.Run], None] | None = None,
) -> Measured:
    """Independent runs, seeds one after the other."""

    def one(seed: int) -> RunMeasure:
        run = sampler.run(budget, seed, keep=keep, warmup_share=warmup_share)
        if report is not None:
            report(run)
        rungs = range(len(sampler.settings.tolerances)) if keep == "all" else range(0)
        return RunMeasure(
            {name: run.series(name) for name in PARAMETERS},
            sum(draws.time.size for draws in run.chains()),
            1.0 - run.utilisation,
            run.round_trips,
            run.completions,
            np.array([np.mean([d.time.size for d in run.chains(rung)]) for rung in rungs]),
        )

    return Measured(sampler, budget, in_parallel(one, range(seed, seed + runs)))
