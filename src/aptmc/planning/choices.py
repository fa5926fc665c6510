"""Ways to run: what a warm-up would choose, and what else is worth a try."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from aptmc.exchange import NeighbouringRungs, Rule
from aptmc.planning.pilot import Pilot
from aptmc.planning.virtual_run import fewest_chains
from aptmc.schedule import DEADLINES_PER_SWEEP

CHAINS_PER_PROCESSOR = (1.25, 3.0)  # tried beside 2, which the warm-up takes
DEADLINES = (4.0, 64.0)  # a sweep, tried beside 16, which the warm-up takes
FEWEST_TO_THIN = 5  # rungs


class Choice(NamedTuple):
    """The part of a way to run that the search may change."""

    chains_per_rung: int
    rungs: tuple[int, ...]
    deadlines: float  # a sweep
    exchange: Rule | None


class PlanRequest(NamedTuple):
    """What the caller of `plan` has fixed; the rest is measured or found."""

    latency: float | None = None
    cost: float | None = None
    chains_per_rung: int | None = None
    every: float | None = None
    ahead: int | None = None
    group: bool = True
    effort: int = 50_000  # completions of one simulation
    seed: int = 0


Change = Callable[[Choice], Choice | None]


def usual(pilot: Pilot, request: PlanRequest, processors: int) -> Choice:
    """What a warm-up would choose, or what the request says."""
    per_rung = request.chains_per_rung
    if per_rung is None:
        in_flight = (1 + (request.ahead or 0)) * processors
        chains = max(2 * processors + 2, in_flight + max(processors, 2))
        per_rung = math.ceil(chains / len(pilot.movers))
    return Choice(per_rung, tuple(range(pilot.ladder.rungs)), DEADLINES_PER_SWEEP, None)


def changes(pilot: Pilot, request: PlanRequest, processors: int) -> Iterator[Change]:
    """Changes of a choice that are worth a try, one after the other."""
    if pilot.ladder.kind == "powers":
        yield _by_rungs
    if request.chains_per_rung is None:
        for ratio in CHAINS_PER_PROCESSOR:
            chains = max(ratio * processors, fewest_chains(processors, request.ahead or 0))
            yield partial(_changed, chains_per_rung=math.ceil(chains / len(pilot.movers)))
    if request.every is None:
        for deadlines in DEADLINES:
            yield partial(_changed, deadlines=deadlines)
    if request.chains_per_rung is None and not pilot.ladder.idle_rungs:
        yield _with_fewer_rungs


def _changed(choice: Choice, **parts: Any) -> Choice:
    return choice._replace(**parts)


def _by_rungs(choice: Choice) -> Choice | None:
    """Several chains on a rung are neighbours, and to swap them is of no use."""
    return None if choice.chains_per_rung == 1 else choice._replace(exchange=NeighbouringRungs())


def _with_fewer_rungs(choice: Choice) -> Choice | None:
    """Every second rung, both ends kept, with as many chains in all."""
    rungs = choice.rungs
    if len(rungs) < FEWEST_TO_THIN:
        return None
    fewer = tuple(sorted({*rungs[::2], rungs[-1]}))
    per_rung = math.ceil(choice.chains_per_rung * len(rungs) / len(fewer))
    return choice._replace(rungs=fewer, chains_per_rung=per_rung)
