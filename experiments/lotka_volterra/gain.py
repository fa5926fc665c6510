"""What does the anytime schedule buy? All samplers do the same work; processors differ in number.

Two settings: the paper's twenty rungs down to a tolerance of 1, and a dozen down to 0.4, which the
paper could not afford.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import aptmc
from aptmc.models import lotka_volterra as model
from aptmc.schedule import DEADLINES_PER_SWEEP
from experiments.lotka_volterra.samplers import Sampler, mean_sweep


class Setting(NamedTuple):
    """A ladder, and how many chains on each rung keep so many processors busy.

    Few chains make more moves each. But at a deadline the chains that are being computed are left
    alone, so a pool needs more chains than processors: with many there are two for each of them.
    """

    settings: model.Settings
    few: dict[int, int]
    many: dict[int, int]

    @property
    def rungs(self) -> int:
        """Of the ladder."""
        return len(self.settings.tolerances)

    @property
    def tolerance(self) -> float:
        """The coldest, by which the setting goes on the command line."""
        return float(self.settings.tolerances[0])


def _harder() -> model.Settings:
    tolerances = 0.4 * (3.0 / 0.4) ** (np.arange(12) / 11)
    # The paper's variances grow about as the square of the tolerance: 0.008 at 1.
    return model.Settings(tolerances, np.outer(0.008 * tolerances**2, [1.0, 1e-2, 1.0]), upper=3.0)


HARDER = Setting(_harder(), few={4: 1, 16: 2, 64: 6}, many={4: 1, 16: 3, 64: 11})
PAPER = Setting(model.SEVERAL_PROCESSORS, few={4: 1, 16: 1, 64: 4}, many={4: 1, 16: 2, 64: 7})
SETTINGS = {setting.tolerance: setting for setting in (HARDER, PAPER)}

# Sweeps between two deadlines of which the user said nothing.
BY_DEFAULT = 1.0 / DEADLINES_PER_SWEEP

Pools = aptmc.Shared | aptmc.Partitioned

RULES: dict[str, type[aptmc.Rule]] = {
    "pairs": aptmc.Alternating,
    "rungs": aptmc.NeighbouringRungs,
    "rung parity": aptmc.RungParity,
    "reassignment": aptmc.Reassignment,
}


def sweep_time(setting: Setting, processors: int, pools: Pools, cap: int | None) -> float:
    """From a pilot run."""
    pilot = Sampler("pilot", setting.settings, processors, pools, aptmc.Anytime(1e5), cap=cap)
    return mean_sweep(pilot, 2e7 / processors)


def anytime(
    setting: Setting,
    rule: str,
    processors: int,
    pools: Pools,
    *,
    cap: int | None,
    stretch: float = 1.0,
) -> Sampler:
    """An anytime sampler whose deadlines are `stretch` sweeps apart."""
    every = stretch * sweep_time(setting, processors, pools, cap)
    kind = "partitioned" if isinstance(pools, aptmc.Partitioned) else "shared"
    name = f"anytime, {rule}, {kind}, {pools.chains_per_rung} per rung, {stretch:g} sweeps, "
    schedule = aptmc.Anytime(every, exchange=RULES[rule]())
    return Sampler(name + f"cap {cap}", setting.settings, processors, pools, schedule, cap=cap)


def synchronous(
    setting: Setting, rule: str, processors: int, chains: int, *, cap: int | None
) -> Sampler:
    """Classical parallel tempering: everybody waits for the slowest move."""
    name = f"synchronous, {rule}, {chains} per rung, cap {cap}"
    schedule = aptmc.Synchronous(exchange=RULES[rule]())
    return Sampler(name, setting.settings, processors, aptmc.Shared(chains), schedule, cap=cap)


def schedules(setting: Setting, cap: int | None) -> Iterator[Sampler]:
    """Waiting, partitioned and shared pools, on more and more processors."""
    for processors, few in setting.few.items():
        many = setting.many[processors]
        yield synchronous(setting, "rungs", processors, few, cap=cap)
        if many > few:
            yield synchronous(setting, "rungs", processors, many, cap=cap)
        yield synchronous(setting, "reassignment", processors, many, cap=cap)
        shared, partitioned = aptmc.Shared(many), aptmc.Partitioned(many)
        yield anytime(setting, "rungs", processors, partitioned, cap=cap)
        yield anytime(setting, "rungs", processors, shared, cap=cap)
        yield anytime(setting, "reassignment", processors, shared, cap=cap)
        for pools in (partitioned, shared):
            yield anytime(setting, "reassignment", processors, pools, cap=cap, stretch=BY_DEFAULT)


def variants(setting: Setting, cap: int | None) -> Iterator[Sampler]:
    """Rules, numbers of chains and deadlines, on four processors."""
    one, two, four = (aptmc.Shared(chains) for chains in (1, 2, 4))
    yield anytime(setting, "rungs", 4, one, cap=cap, stretch=0.25)
    yield anytime(setting, "pairs", 4, two, cap=cap)
    yield anytime(setting, "rung parity", 4, two, cap=cap)
    yield anytime(setting, "reassignment", 4, two, cap=cap)
    yield anytime(setting, "reassignment", 4, two, cap=cap, stretch=0.25)
    yield anytime(setting, "reassignment", 4, two, cap=cap, stretch=4.0)
    yield anytime(setting, "reassignment", 4, four, cap=cap)


def capped_samplers() -> list[Sampler]:
    """One sampler with races of different lengths, each with deadlines a sweep of its own apart."""
    caps = (1, 3, 10, 30, 100, 300, 1000, None)
    return [anytime(HARDER, "pairs", 4, aptmc.Shared(1), cap=cap) for cap in caps]


def default_sampler(setting: Setting) -> Sampler:
    """One simulation per step, one queue, reassignment."""
    return anytime(setting, "reassignment", 4, aptmc.Shared(1), cap=1)
