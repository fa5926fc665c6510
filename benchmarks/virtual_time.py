"""Completions per second of the compiled loop in virtual time, on the paper's gamma mixture.

Kernel, hold times, coordinator, exchanges and recording are all in the figures; one core.
"""

from __future__ import annotations

import time

import aptmc
from aptmc.models import gamma_mixture

PROBLEM = gamma_mixture.problem()
HOLD = {power: gamma_mixture.hold_time(power) for power in range(4)}
NEVER = 1e300


def timed(
    chains: int, processors: int, pools: aptmc.Shared | aptmc.Paired, power: int, *,
    every: float, budget: float,
) -> tuple[float, aptmc.Run]:  # fmt: skip
    """Seconds that one run takes, once everything is compiled, and the run."""

    def run(budget: float) -> aptmc.Run:
        return aptmc.sample(
            PROBLEM,
            budget=budget,
            ladder=aptmc.Ladder.powers(chains),
            kernel=aptmc.RandomWalk(0.5),
            schedule=aptmc.Anytime(every=every),
            pools=pools,
            on=aptmc.VirtualTime(processors, HOLD[power]),
            seed=1,
        )

    run(1.0)
    start = time.perf_counter()
    result = run(budget)
    return time.perf_counter() - start, result


def main(*, quick: bool) -> None:
    """Print two tables: by cost of a move, and by number of chains."""
    share = 0.01 if quick else 1.0
    print("## The paper's two samplers, 8 rungs, a deadline every 5 units\n")
    print("| sampler | p | completions | exchange rounds | completions per second |")
    print("| --- | --- | --- | --- | --- |")
    for name, processors, pools in (("APTMC-1", 1, aptmc.Shared()), ("APTMC-W", 8, aptmc.Paired())):
        for power, budget in ((0, 3e6), (1, 3e6), (2, 1e7), (3, 2e7)):
            seconds, run = timed(
                8, processors, pools, power, every=5.0, budget=share * budget / processors
            )
            rounds = int(share * budget / processors // 5.0)
            rate = run.completions / seconds
            print(f"| {name} | {power} | {run.completions} | {rounds} | {rate:,.0f} |")
    print("\n## Growth with the number of chains, one processor, p = 0\n")
    print("| chains | microseconds per completion | microseconds per exchange round | per pair |")
    print("| --- | --- | --- | --- |")
    for chains in (8, 64, 512):
        budget = share * 2e6
        alone, _ = timed(chains, 1, aptmc.Shared(), 0, every=NEVER, budget=budget)
        # As many pairs for each number of chains: the rounds are rarer where they are larger.
        every = chains / 8.0
        both, _ = timed(chains, 1, aptmc.Shared(), 0, every=every, budget=budget)
        per_round = (both - alone) / (budget / every) * 1e6
        pairs = (chains - 1) / 2
        print(
            f"| {chains} | {alone / budget * 1e6:.2f} | {per_round:.2f} | {per_round / pairs:.3f} |"
        )
    print()
