"""The authors' one-processor program: a hold time that reaches past a deadline ends there.

The published code (see the paper's repository) updates the chain in flight right after the exchange
at which its hold time was cut. This is not the algorithm of the paper, but it explains the paper's
IAT for p >= 1. It is a small backend of its own around the same coordinator.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import aptmc
from aptmc.backends.virtual.event_loop import Hold, hold_model
from aptmc.compiled import FloatTable, compiled, compiled_like
from aptmc.coordinator.state import Coordinator, Functions
from aptmc.coordinator.transitions import complete, take_next
from aptmc.exchange.rule import ChoosePairs
from aptmc.exchange.swap import LogWeight
from aptmc.keys import HOLD, MOVE, Streams, rewind
from aptmc.problem.chain_state import Move
from aptmc.record.event_log import EventLog
from aptmc.record.record import Record
from aptmc.schedule import AfterCompletion, NextDeadline
from aptmc.session.build import build_session
from aptmc.settings import Settings
from aptmc.store import MemoryStore
from experiments.gamma_mixture.samplers import LADDER, STEP, hold_time, problem


@compiled
def run_cutting_holds(
    start: float,
    until: float,
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
    hold: Hold,
) -> float:
    """One processor, until a time or a full record; gives the time of the last completion."""
    functions = Functions(
        choose_pairs, choose_pairs_within, next_deadline, after_completion, log_weight
    )
    rng, dial = streams.generator, streams.dial
    outcome, info = np.empty(machine.states.shape[1]), np.empty(record.totals.shape[1])
    now = start
    while now < until and record.filled[0] + 100 < record.draws.shape[0]:
        began = now
        chain = take_next(machine, 0, 0, began, log)
        mine = machine.chains[chain]
        rung, state = mine["rung"], machine.states[mine["replica"]]
        rewind(dial, MOVE, chain, mine["moves"])
        move(machine.level[rung], tuning[rung], state, rng, outcome, info)
        rewind(dial, HOLD, chain, mine["moves"])
        now = min(now + hold(state[:1].copy(), rung, rng), machine.run[0]["deadline"])
        complete(machine, chain, outcome, info, began, now, now, record, log, streams, functions)
    return now


def run_with_cut_holds(
    power: int, *, budget: float, every: float, seed: int, warmup_share: float = 0.05
) -> list[npt.NDArray[np.float64]]:
    """The cold chain's draws of one such run."""
    store = MemoryStore()
    schedule = aptmc.Anytime(every, exchange=aptmc.Alternating())
    settings = Settings(
        problem=problem(),
        ladder=LADDER,
        kernel=aptmc.RandomWalk(STEP),
        schedule=schedule,
        pools=aptmc.Shared(),
        on=aptmc.VirtualTime(1),
        seed=seed,
        budget=budget,
    )
    session = build_session(settings, store)
    session.begin()
    hold = _compiled_hold(power)
    now = 0.0
    while now < budget:
        now = run_cutting_holds(
            now, budget, session.machine, session.record, session.log, session.streams,
            *session.functions, session.mover.move, session.tuning, hold,
        )  # fmt: skip
        session.flush()
    width = session.machine.states.shape[1]
    draws = store.draws(0, width).between(warmup_share * budget, budget)
    return [draws.state[:, 0]]


def _compiled_hold(power: int) -> Hold:
    hold = hold_time(power)

    def with_signature(theta, rung, rng):  # type: ignore[no-untyped-def]
        return hold(theta, rung, rng)

    return compiled_like(hold_model, with_signature)
