"""The samplers of section 5.1, with the paper's settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import aptmc
from aptmc.models import gamma_mixture

POWERS = (0, 1, 2, 3)
RUNGS = 8
STEP = 0.5  # standard deviation of the random walk


@dataclass(frozen=True)
class Sampler:
    """One of the paper's algorithms."""

    name: str
    ladder: aptmc.Ladder
    pools: aptmc.Shared | aptmc.Paired
    processors: int

    def run(
        self,
        power: int,
        *,
        budget: float,
        seed: int,
        every: float = 5.0,
        corrected: bool = True,
        warmup_share: float = 0.05,
    ) -> aptmc.Run:
        """Sample the mixture for so much virtual time, with hold times of mean x ** power."""
        schedule: aptmc.Anytime | aptmc.Uncorrected | aptmc.Synchronous
        if self.ladder.rungs == 1:
            schedule = aptmc.Synchronous()
        else:
            kind = aptmc.Anytime if corrected else aptmc.Uncorrected
            schedule = kind(every, exchange=aptmc.Alternating())  # as in the paper
        return aptmc.sample(
            problem(),
            budget=budget,
            warmup=warmup_share * budget,
            ladder=self.ladder,
            kernel=aptmc.RandomWalk(STEP),
            schedule=schedule,
            pools=self.pools,
            on=aptmc.VirtualTime(self.processors, hold_time(power)),
            seed=seed,
        )


LADDER = aptmc.Ladder.powers(RUNGS)
MCMC = Sampler("MCMC", aptmc.Ladder.powers([1.0]), aptmc.Shared(), 1)
APTMC_1 = Sampler("APTMC-1", LADDER, aptmc.Shared(), 1)
# The paper's worst case: no local moves on the cold chain, so all that it holds was swapped in.
APTMC_1_FED = Sampler("APTMC-1", LADDER.without_local_moves(0), aptmc.Shared(), 1)
APTMC_W = Sampler("APTMC-W", LADDER, aptmc.Paired(), RUNGS)
# Not in the paper: one queue for three processors.
SHARED_3 = Sampler("shared pool of 3", LADDER, aptmc.Shared(), 3)


# Kept, so that each is compiled once.
@cache
def problem() -> aptmc.Power:
    """The mixture, with chains that start at independent draws from it."""
    return gamma_mixture.problem(lambda rng: float(gamma_mixture.draw(rng, 1)[0]))


hold_time = cache(gamma_mixture.hold_time)
