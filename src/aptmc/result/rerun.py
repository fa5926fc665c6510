"""Compute a single move of a run again, with the same randomness."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aptmc.compiled import Floats, FloatTable
from aptmc.coordinator.state import Coordinator
from aptmc.errors import InputError
from aptmc.global_generators import left_alone
from aptmc.kernels import Kernel
from aptmc.keys import MOVE, Key, start_of_epoch
from aptmc.pools import Groups
from aptmc.problem import Problem
from aptmc.problem.chain_state import ACCEPTED, WORK
from aptmc.record.record import Record
from aptmc.result.sources import value_source
from aptmc.session.orders import Mover, Order
from aptmc.store import Store
from aptmc.targets import INTERPRETED, NUMBA

if TYPE_CHECKING:
    from aptmc.settings import Settings


class Rerun(NamedTuple):
    """A single move that was computed again, and what came of it."""

    rung: int
    before: dict[str, float]
    after: dict[str, float]
    accepted: int  # local steps
    simulations: int
    work: float


class Trace(NamedTuple):
    """What a run has left behind, from which its moves can be started again."""

    machine: Coordinator
    record: Record
    store: Store
    tuning: FloatTable
    first_states: FloatTable | None
    failed: Order | None = None  # which has ended the run


@left_alone()
def rerun(settings: Settings, trace: Trace, move: Key, *, compiled: bool | None) -> Rerun:
    """Compute a move again, in this process.

    :param compiled: False runs it in plain Python
    """
    if not isinstance(move, Key):
        raise InputError(
            f"a move is named by its random key, got {move!r}: give error.key, or one of "
            "run.in_flight"
        )
    if settings.problem.is_stored:
        raise InputError(
            "a stored run holds no functions to compute with: give the problem, "
            "aptmc.open(store, problem)"
        )
    if not isinstance(settings.kernel, Kernel):
        raise InputError(
            f"this run used a kernel of its own, {settings.kernel}, which a store does not hold"
        )
    if isinstance(settings.pools, Groups):
        raise InputError(
            "lanes have a generator of their own, with which no other processor computes a single "
            "move: aptmc.replay(store, problem, on=aptmc.Lanes(...)) computes them all again"
        )
    order = _order_of(move, settings.seed, trace)
    target = None if compiled is None else NUMBA if compiled else INTERPRETED
    mover = Mover(settings.problem, settings.kernel, settings.seed, target=target)
    outcome = mover.compute(order)
    place = settings.kernel.places.get("simulations")
    return Rerun(
        order.rung,
        _described(settings.problem, order.state),
        _described(settings.problem, outcome.state),
        accepted=int(outcome.info[ACCEPTED]),
        simulations=0 if place is None else int(outcome.info[place]),
        work=float(outcome.info[WORK]),
    )


def _described(problem: Problem, state: Floats) -> dict[str, float]:
    source = value_source(problem)
    value = source.shown(state[None, source.place])[0]
    return problem.describe(state) | {problem.value_name: float(value)}


def _order_of(move: Key, seed: int, trace: Trace) -> Order:
    """A move as it was ordered.

    One that failed is known as it was: in a descent, or in a round of the warm-up, the tables of
    the run say nothing of it.
    """
    if trace.failed is not None and trace.failed.key == move:
        return trace.failed
    before = _state_before(move, seed, trace)
    rung = int(trace.machine.rung[move.chain])
    return Order(move, rung, float(trace.machine.level[rung]), trace.tuning[rung], before)


def _state_before(move: Key, seed: int, trace: Trace) -> Floats:
    """The state from which a move started."""
    machine, record, chain = trace.machine, trace.record, move.chain
    is_move = move.purpose == MOVE and 0 <= chain < machine.rung.size
    if not is_move or move.seed != seed:
        raise InputError(f"{move!r} is no move of this run, whose seed is {seed}")
    if not machine.waiting[chain] and machine.moves[chain] == move.number:
        state: Floats = machine.states[machine.replica[chain]]
        return state
    if not record.wanted[chain] or record.thin > 1:
        raise InputError(
            "the state from which this move started was not kept: use keep='all' and thin=1, "
            "or aptmc.replay the whole run"
        )
    draws = trace.store.draws(chain, machine.states.shape[1])
    local = np.flatnonzero(~draws.exchanged)
    turn = move.number - start_of_epoch(machine.epoch) - 1
    if not 0 <= turn < local.size:
        raise InputError(f"chain {chain} has made {local.size} moves; there is no {move!r}")
    if local[turn] > 0:
        before: Floats = draws.state[local[turn] - 1]
        return before
    assert trace.first_states is not None
    first: Floats = trace.first_states[chain]
    return first
