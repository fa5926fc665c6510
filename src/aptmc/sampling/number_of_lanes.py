"""How many lanes a run has, if nobody has said so: found in trials before anything counts.

A trial is the run itself for a short while, with so many lanes; nothing of it is recorded. The run
begins anew where the trials have ended, with random keys of its own, and settles. So draws depend
on the trials by their number alone, and by where their chains begin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aptmc.backends import Lanes
from aptmc.backends.base import Engine
from aptmc.backends.lanes.how_many import HowMany
from aptmc.compiled import FloatTable
from aptmc.errors import StopReason
from aptmc.pools import Groups
from aptmc.problem.chain_state import ACCEPTED
from aptmc.session.build import build_session
from aptmc.session.control import Control
from aptmc.session.session import Session, Usage
from aptmc.store import MemoryStore

if TYPE_CHECKING:
    from aptmc.sampling.phases import Phases


def choose_lanes(phases: Phases, engine: Engine, control: Control) -> Usage | None:
    """Have a run go on with as many lanes as suit it. A usage means that it ended in a trial."""
    on, pools, session = phases.settings.on, phases.settings.pools, phases.session
    if not (isinstance(on, Lanes) and on.chooses and isinstance(pools, Groups)):
        return None
    if pools.why or session.progress.elapsed > 0.0:  # chosen in an earlier sitting
        return None
    of_group = int(pools.of_group(phases.settings.ladder.rungs).sum())
    how_many = HowMany(pools.lanes, of_group)
    epoch = int(session.machine.epoch)
    states = session.progress.first_states if session.progress.has_states else None
    while (lanes := how_many.to_try) is not None:
        trial = _session(phases, replace(pools, lanes=lanes), epoch, states, is_trial=True)
        usage = on.try_out(trial, control, engine.left())
        if usage.failure is not None:
            phases.session = trial
            return usage
        if usage.stopped is not StopReason.BUDGET_SPENT or usage.elapsed == 0.0:
            return usage._replace(elapsed=0.0, busy=np.zeros(session.processors))
        epoch += 1
        if states is None or len(states) <= 2 * lanes:
            states = trial.machine.states[trial.machine.replica]
        how_many.learn(_accepted_each(trial) / usage.elapsed, engine.left())
    assert how_many.chosen is not None
    found = replace(pools, lanes=how_many.chosen, why=how_many.words)
    phases.settings = phases.settings.found(pools=found)
    phases.session = _session(phases, found, epoch, states, is_trial=False)
    if phases.watch is not None:
        phases.session = phases.watch.follow(phases.session)
    phases.save(phases.nothing_yet())
    return None


def _session(
    phases: Phases, pools: Groups, epoch: int, states: FloatTable | None, *, is_trial: bool
) -> Session:
    settings = phases.settings.found(pools=pools)
    before = phases.session.progress
    store = MemoryStore() if is_trial else phases.store
    session = build_session(settings, store, epoch=epoch)
    session.progress.early, session.progress.reached = before.early, before.reached
    if states is not None:
        of_group = int(pools.of_group(settings.ladder.rungs).sum())
        session.begin_from(_of_fewer(states, of_group, session.machine.rung.size))
    return session


def _of_fewer(states: FloatTable, of_group: int, wanted: int) -> FloatTable:
    """Of the states of all chains, place by place in a group, as many of each as are wanted."""
    by_place = states.reshape(of_group, -1, states.shape[1])
    return np.ascontiguousarray(by_place[:, : wanted // of_group]).reshape(wanted, -1)


def _accepted_each(session: Session) -> float:
    """Moves that a chain of the coldest rung has accepted; of none one, among all of them."""
    accepted = max(float(session.record.totals[0, ACCEPTED]), 1.0)
    return accepted / int(np.count_nonzero(session.machine.rung == 0))
