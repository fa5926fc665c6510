"""Virtual time in which processors die, hold moves ahead and group steps: rightly, or wrongly.

A small backend around the real coordinator. It looks at the waiting chains now and then, far enough
apart that looks are as good as independent. By DESIGN.md's facts 2 and 3 whoever waits then is an
independent draw from its own target; every planted error below breaks that.

The target is the two-speed normal of `tests.support.targets`: at every rung both halves are equally
likely, and what has to do with the right half takes ten times as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np
from scipy import stats

import aptmc
from aptmc.compiled import (
    Floats,
    FloatTable,
    Generator,
    compiled,
    copy_numbers,
    pointer_to,
)
from aptmc.coordinator.state import Coordinator, Functions
from aptmc.coordinator.transitions import catch_up, complete, take_next
from aptmc.exchange.rule import ChoosePairs
from aptmc.exchange.swap import LogWeight
from aptmc.keys import HOLD, MOVE, Streams, rewind
from aptmc.problem.chain_state import Move
from aptmc.record.event_log import EventLog
from aptmc.record.record import NOBODY, Record
from aptmc.schedule import AfterCompletion, NextDeadline
from tests.support.sessions import make_session
from tests.support.statistical import FALSE_ALARM, follows

LADDER = aptmc.Ladder.powers([1.0, 0.6, 0.35, 0.2])

# What becomes of the move of a processor that dies. The last two are errors.
SAME_KEY, FRESH_KEY, GIVEN_UP = 0, 1, 2
# When the steps that make a move are enough. The last two are errors: a time has passed, and the
# step under way is finished first, or left.
BY_COUNT, BY_TIME, BY_TIME_AT_ONCE = 0, 1, 2

FRESH = 1_000_000_000  # beyond all moves: numbers of keys that no other move has


class Rules(NamedTuple):
    """How moves are ordered, lost and grouped."""

    processors: int = 2
    death_rate: float = 0.0
    when_lost: int = SAME_KEY
    ahead: int = 0  # moves that wait at each processor
    queued_may_swap: bool = False  # an error: what waits there is exchanged all the same
    enough: int = BY_COUNT
    steps: int = 1
    unit: float = 0.0  # the time that is enough


def step_time_model(start: Floats, outcome: Floats, rng: Generator) -> float:
    """How long a step from one state to another takes."""
    raise NotImplementedError("a model of the signature, not to be called")


StepTime = Annotated[Callable[..., float], pointer_to(step_time_model)]


@compiled
def TIME_BY_OUTCOME(start: Floats, outcome: Floats, rng: Generator) -> float:  # noqa: N802
    """What comes of the step decides how long it takes."""
    return (10.0 if outcome[0] > 0.0 else 1.0) * (0.9 + 0.2 * rng.random())


@compiled
def TIME_BY_START(start: Floats, outcome: Floats, rng: Generator) -> float:  # noqa: N802
    """Where the step starts decides, and outcome and time are independent given that."""
    return rng.exponential(10.0 if start[0] > 0.0 else 1.0)


@compiled
def first_of(times: Floats) -> int:
    """Where the earliest of these is: numba's own way takes much longer to compile."""
    place = 0
    for other in range(1, times.shape[0]):
        if times[other] < times[place]:
            place = other
    return place


@compiled
def compute_move(
    chain: int,
    number: int,
    start: Floats,
    rules: Rules,
    machine: Coordinator,
    streams: Streams,
    move: Move,
    tuning: FloatTable,
    step_time: StepTime,
    outcome: Floats,
    info: Floats,
) -> float:
    """Compute the steps of one move; gives the time that they take."""
    rung = machine.chains[chain]["rung"]
    rewind(streams.dial, MOVE, chain, number)
    before = np.empty(start.shape[0])
    copy_numbers(start, outcome)
    elapsed, steps = 0.0, 0
    while (steps < rules.steps) if rules.enough == BY_COUNT else (elapsed < rules.unit):
        copy_numbers(outcome, before)
        move(machine.level[rung], tuning[rung], before, streams.generator, outcome, info)
        elapsed += step_time(before, outcome, streams.generator)
        steps += 1
    if rules.enough == BY_TIME_AT_ONCE:
        copy_numbers(before, outcome)
        elapsed = rules.unit
    return elapsed


@compiled
def look_at_waiting(
    looks: FloatTable,
    gap: float,
    rules: Rules,
    machine: Coordinator,
    record: Record,
    log: EventLog,
    streams: Streams,
    choose_pairs: ChoosePairs,
    choose_pairs_within: ChoosePairs,
    next_deadline: NextDeadline,
    after_completion: AfterCompletion,
    log_weight: LogWeight,
    move: Move,
    tuning: FloatTable,
    step_time: StepTime,
) -> None:
    """Run, and fill `looks`: by look and chain, the parameter of those that wait; others NaN."""
    functions = Functions(
        choose_pairs, choose_pairs_within, next_deadline, after_completion, log_weight
    )
    processors, places, width = rules.processors, 1 + rules.ahead, machine.states.shape[1]
    # By processor and place: the first is being computed, the others wait there.
    held = np.empty((processors, places), np.int64)
    needed = np.zeros((processors, places))
    outcomes = np.empty((processors, places, width))
    infos = np.zeros((processors, places, record.totals.shape[1]))
    finish, death = np.empty(processors), np.empty(processors)
    lives = np.zeros(processors, np.int64)
    now, look, lost = 0.0, 0, 0
    for processor in range(processors):
        finish[processor] = death[processor] = math.inf
        for place in range(places):
            held[processor, place] = NOBODY
        if rules.death_rate > 0.0:
            rewind(streams.dial, HOLD, processor, 0)
            death[processor] = streams.generator.exponential(1.0 / rules.death_rate)
    # Who takes a move, for which place: everyone at the start, later whoever has just finished.
    first, last, first_place = 0, processors, 0

    while look < looks.shape[0]:
        for place in range(first_place, places):
            for processor in range(first, last):
                chain = take_next(machine, 0, processor, now, log)
                needed[processor, place] = compute_move(
                    chain, machine.chains[chain]["moves"],
                    machine.states[machine.chains[chain]["replica"]],
                    rules, machine, streams, move, tuning, step_time,
                    outcomes[processor, place], infos[processor, place],
                )  # fmt: skip
                held[processor, place] = chain
                if place == 0:
                    finish[processor] = now + needed[processor, 0]
                elif rules.queued_may_swap:
                    machine.chains[chain]["waiting"] = True
        first = last = 0

        finishes, dies = first_of(finish), first_of(death)
        now = min(finish[finishes], death[dies])
        while look < looks.shape[0] and gap * (look + 1) < now:
            catch_up(machine, gap * (look + 1), record, streams, functions)
            for chain in range(machine.chains.shape[0]):
                mine = machine.chains[chain]
                state = machine.states[mine["replica"]]
                looks[look, chain] = state[0] if mine["waiting"] else math.nan
            look += 1

        if death[dies] < finish[finishes]:
            processor = dies
            chain = held[processor, 0]
            start = machine.states[machine.chains[chain]["replica"]]
            lives[processor] += 1
            lost += 1
            rewind(streams.dial, HOLD, processor, lives[processor])
            death[processor] = now + streams.generator.exponential(1.0 / rules.death_rate)
            if rules.when_lost == FRESH_KEY:
                needed[processor, 0] = compute_move(
                    chain, FRESH + lost, start,
                    rules, machine, streams, move, tuning, step_time,
                    outcomes[processor, 0], infos[processor, 0],
                )  # fmt: skip
            finish[processor] = now + needed[processor, 0]
            if rules.when_lost == GIVEN_UP:
                copy_numbers(start, outcomes[processor, 0])
                finish[processor] = now
            continue

        processor = finishes
        complete(
            machine, held[processor, 0], outcomes[processor, 0], infos[processor, 0],
            math.nan, math.nan, now, record, log, streams, functions,
        )  # fmt: skip
        for place in range(rules.ahead):
            held[processor, place] = held[processor, place + 1]
            needed[processor, place] = needed[processor, place + 1]
            copy_numbers(outcomes[processor, place + 1], outcomes[processor, place])
            copy_numbers(infos[processor, place + 1], infos[processor, place])
            if place == 0:
                machine.chains[held[processor, 0]]["waiting"] = False
                finish[processor] = now + needed[processor, 0]
        first, last, first_place = processor, processor + 1, rules.ahead


def waiting_states(rules, step_time, *, looks, gap, chains_per_rung=1, every=2.0, seed=1):
    """What waiting chains hold, in one list of looks for each rung."""
    session, _ = make_session(
        aptmc.Anytime(every, exchange=aptmc.RungParity()),
        ladder=LADDER,
        pools=aptmc.Shared(chains_per_rung),
        processors=rules.processors,
        seed=seed,
        kernel=aptmc.RandomWalk(2.0),
    )
    session.record.wanted[:] = False  # looks are enough
    machine = session.machine
    seen = np.empty((looks, machine.rung.size))
    look_at_waiting(
        seen, gap, rules, machine, session.record, session.log, session.streams,
        *session.functions, session.mover.move, session.tuning, step_time,
    )  # fmt: skip
    return [seen[:, machine.rung == rung] for rung in range(LADDER.rungs)]


def values_of(looks):
    """The states that were seen, of all chains of a rung."""
    return looks[~np.isnan(looks)]


def slow_share_errors(held):
    """By how many standard errors the slow half is seen too often at all rungs taken together."""
    is_slow = np.concatenate([values_of(looks) for looks in held]) > 0.0
    return (is_slow.mean() - 0.5) / (0.5 / math.sqrt(is_slow.size))


def in_law(held):
    """Whether what waiting chains hold follows their targets, rung by rung."""
    for beta, looks in zip(LADDER.levels, held, strict=True):
        values = values_of(looks)
        right = int((values > 0.0).sum())
        if stats.binomtest(right, values.size, 0.5).pvalue < FALSE_ALARM:
            return False
        if not follows(values, stats.norm(0.0, beta**-0.5).cdf):
            return False
    return True
