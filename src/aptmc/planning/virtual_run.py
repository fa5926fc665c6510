"""A simulation: the real coordinator, in virtual time, with the pilot's moves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from aptmc.backends import VirtualTime
from aptmc.compiled import Integers
from aptmc.coordinator.state import moves_done
from aptmc.errors import InputError
from aptmc.kernels.base import STEPS
from aptmc.ladder import Ladder
from aptmc.planning.effective import Effective, effective_draws
from aptmc.planning.flow import flow
from aptmc.planning.pilot import Pilot
from aptmc.planning.surrogate import INDEX, PilotsMoves, Surrogate
from aptmc.pools import Pools
from aptmc.schedule import Schedule
from aptmc.session.build import build_session
from aptmc.settings import Settings
from aptmc.store import MemoryStore

FEWEST_SWEEPS = 8  # of a simulation
SWEEPS_TO_MIX = 1500  # of one that shows effective draws
FIRST_SHARE = 0.1  # of a simulation, in which all chains begin at once; left out of ESS


class Setting(NamedTuple):
    """A complete way to run: processors, rungs, pools, schedule and costs."""

    processors: int
    rungs: tuple[int, ...]  # of the pilot
    pools: Pools
    schedule: Schedule
    steps: Integers  # by rung of the pilot: its moves that make one move
    ahead: int
    latency: float
    cost: float


class Simulated(NamedTuple):
    """What a simulation of a run has shown."""

    utilisation: float
    moves_per_second: float
    load: float  # the share of time in which the coordinator is at work
    effective: Effective


def sub_ladder(ladder: Ladder, rungs: tuple[int, ...]) -> Ladder:
    """A ladder with only some of a ladder's rungs."""
    idle = frozenset(place for place, rung in enumerate(rungs) if rung in ladder.idle_rungs)
    return replace(ladder, levels=tuple(ladder.levels[rung] for rung in rungs), idle_rungs=idle)


def shared_setting(
    pilot: Pilot,
    processors: int,
    chains_per_rung: int,
    *,
    rungs: tuple[int, ...],
    deadlines: float,
    every: float | None,
    steps: Integers,
    ahead: int,
    latency: float,
    cost: float,
    exchange_cost: float,
) -> Setting:
    """All chains in one pool, with so many deadlines a sweep unless the time between is given.

    The coordinator's time for exchanges is shared out among completions: with D deadlines a sweep
    each chain takes part in D rounds for each of its moves.
    """
    movers = [rung for rung in rungs if rung in pilot.movers]
    moving = pilot.standing(chains_per_rung, movers)
    chains, all_chains = int(moving.sum()), int(pilot.standing(chains_per_rung, rungs).sum())
    occupied = (steps * pilot.mean_hold)[movers] + (0.0 if ahead > 0 else latency)
    per_move = 1.0 / flow(occupied, moving, processors).moves_per_second
    if every is not None:
        deadlines = chains * max(per_move, cost) / every
    total_cost = cost + exchange_cost * deadlines * all_chains / chains
    schedule = pilot.schedule
    if schedule.can_change_deadlines:
        every = chains * max(per_move, total_cost) / deadlines if every is None else every
        schedule = schedule.with_deadlines(every, follow=False)
    pools = pilot.shared(chains_per_rung)
    return Setting(processors, rungs, pools, schedule, steps, ahead, latency, total_cost)


def fewest_chains(processors: int, ahead: int) -> int:
    """How many moving chains keep processors busy and two waiting."""
    return (1 + ahead) * processors + 2


def check_setting(pilot: Pilot, setting: Setting) -> None:
    """Refuse what could not run, and say what could."""
    ladder = sub_ladder(pilot.ladder, setting.rungs)
    layout = setting.pools.layout(ladder, setting.processors)
    movers = int(layout.moves.sum())
    if not setting.schedule.never_waits:
        return
    needed = fewest_chains(setting.processors, setting.ahead)
    if movers < needed:
        moving_rungs = ladder.rungs - len(ladder.idle_rungs)
        per_rung = movers // moving_rungs
        raise InputError(
            f"{setting.processors} processors need at least {needed} moving chains, so that all "
            f"are busy and two wait to be exchanged, and {moving_rungs} rungs with "
            f"chains_per_rung={per_rung} have {movers}: use chains_per_rung="
            f"{-(-needed // moving_rungs)}, or fewer processors"
        )


def simulate(
    pilot: Pilot,
    surrogate: Surrogate,
    setting: Setting,
    *,
    completions: int,
    sweeps: int = FEWEST_SWEEPS,
    seed: int,
) -> Simulated:
    """Run a setting in virtual time for about so many completions, and so many sweeps at least.

    What a simulation tells is how moves are shared out among rungs, and how long processors stand
    idle for each. How long a rung's moves take is known better from the pilot itself.
    """
    ladder = sub_ladder(pilot.ladder, setting.rungs)
    chosen = list(setting.rungs)
    rows = surrogate.rows[chosen].copy()
    rows[:, STEPS] = setting.steps[chosen]
    backend = VirtualTime(
        setting.processors, latency=setting.latency, cost=setting.cost, ahead=setting.ahead
    )
    layout = setting.pools.layout(ladder, setting.processors)
    store = MemoryStore()
    settings = Settings(
        problem=surrogate.problem,
        ladder=ladder,
        kernel=PilotsMoves(rows),
        schedule=setting.schedule,
        pools=setting.pools,
        on=backend,
        seed=seed,
        budget=math.inf,
        log_events=False,
    )
    session = build_session(settings, store, layout=layout)
    rng = np.random.default_rng(seed)
    session.begin_from(surrogate.first_states(np.array(chosen)[layout.rung], rng))

    movers = int(layout.moves.sum())
    holds = (setting.steps * pilot.mean_hold)[chosen]
    mean_hold = float(holds[layout.rung[layout.moves]].mean())
    cycle = mean_hold + (0.0 if setting.ahead > 0 else setting.latency)
    seconds = max(completions, sweeps * movers) * max(cycle / setting.processors, setting.cost)
    usage = backend.run(session, seconds)
    if usage.failure is not None:
        raise usage.failure
    by_rung = moves_done(session.machine)
    done = float(by_rung.sum())
    hold = float(holds @ by_rung) / done
    idle = (setting.processors * usage.elapsed - float(usage.busy.sum())) / done
    if setting.ahead > 0:
        idle += pilot.pause
    moves_per_second = setting.processors / (hold + idle)
    if setting.cost > 0.0:
        moves_per_second = min(moves_per_second, 1.0 / setting.cost)

    start = FIRST_SHARE * seconds
    cold = np.flatnonzero(layout.rung == 0).tolist()
    draws = [one.between(start, np.inf) for one in store.chains(cold, session.problem.width)]
    times = np.concatenate([one.time for one in draws])
    index = np.concatenate([one.state[:, INDEX] for one in draws]).astype(np.int64)
    drawn = surrogate.parameters[index]
    effective = effective_draws(times, drawn, seconds - start, are_states=False)
    return Simulated(
        utilisation=moves_per_second * hold / setting.processors,
        moves_per_second=moves_per_second,
        load=moves_per_second * setting.cost,
        effective=effective._replace(
            per_second=effective.per_second * moves_per_second * usage.elapsed / done
        ),
    )
