"""From the tables of a session to columns of lanes, and back.

A session knows of a move in flight its name and its age. So lanes that are loaded again compute
what is in flight once more from its beginning, up to its age: the same numbers, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from aptmc.backends.lanes.fleet import Voyage
from aptmc.backends.lanes.tables import CHANCE_UNIT, Lanes, Whole, empty_lanes
from aptmc.compiled import FloatTable, FloatTables, Integers, IntegerTable
from aptmc.coordinator.state import Coordinator
from aptmc.kernels.base import Kernel
from aptmc.keys import start_of_epoch
from aptmc.problem.chain_state import ACCEPTED, HOLD_TIME, WORK
from aptmc.record.record import NOBODY, Record
from aptmc.session.session import Session
from aptmc.targets import NUMBA


def clock_of(machine: Coordinator) -> int:
    """How many ticks the lanes have made: kept where a pool notes when its last sweep ended."""
    return int(machine.swept[0])


def loaded(session: Session, voyage: Voyage) -> tuple[Lanes, Integers]:
    """Lanes as a session describes them, and the ages of what is in flight.

    The lanes are where each move in flight begins: whoever loads them must catch up.
    """
    machine, places, record = session.machine, voyage.places, session.record
    lanes = empty_lanes(places, voyage.lanes)
    dimension = voyage.model.dimension
    states = machine.states[machine.replica].reshape(voyage.lanes, 2, -1)
    for side in range(2):
        for i in range(dimension):
            lanes.reals[side * dimension + i] = states[:, side, i]
        lanes.reals[places.value + side] = states[:, side, dimension]
        lanes.reals[places.log_prior + side] = states[:, side, dimension + 1]
        lanes.wholes[Whole.STARTED + side] = machine.moves.reshape(-1, 2)[:, side]
        lanes.wholes[Whole.JOURNEY + side] = record.last_end.reshape(-1, 2)[:, side]
    in_flight = ~machine.waiting.reshape(-1, 2)
    begun = in_flight.any(axis=1)
    flying = np.where(begun, in_flight.argmax(axis=1), 0)
    lanes.wholes[Whole.FLYING] = flying
    each = np.arange(voyage.lanes)
    # In a session that has not begun, each lane takes its first chain now.
    lanes.wholes[Whole.STARTED + flying, each] += ~begun
    since = machine.chains["since"].reshape(-1, 2)[each, flying]
    ages = np.where(begun, clock_of(machine) - since, 0.0).astype(np.int64)
    return lanes, ages


def store(session: Session, voyage: Voyage, lanes: Lanes, now: int, deadlines: int) -> None:
    """Have a session describe these lanes."""
    machine, record, places = session.machine, session.record, voyage.places
    dimension = voyage.model.dimension
    states = machine.states.reshape(voyage.lanes, 2, -1)
    each, flying = np.arange(voyage.lanes), lanes.wholes[Whole.FLYING]
    for side in range(2):
        for i in range(dimension):
            states[:, side, i] = lanes.reals[side * dimension + i]
        states[:, side, dimension] = lanes.reals[places.value + side]
        states[:, side, dimension + 1] = lanes.reals[places.log_prior + side]
        states[:, side, dimension + 2 :] = math.nan  # lanes keep no simulated data
        machine.moves.reshape(-1, 2)[:, side] = lanes.wholes[Whole.STARTED + side]
        record.last_end.reshape(-1, 2)[:, side] = lanes.wholes[Whole.JOURNEY + side]
    show(session, machine.states)
    chains = machine.chains
    chains["replica"] = np.arange(chains.size)
    chains["waiting"] = True
    chains["started_from"] = chains["processor"] = NOBODY
    chains["since"] = math.nan
    up = 2 * each + flying
    chains["waiting"][up], chains["started_from"][up], chains["processor"][up] = False, up, each
    chains["since"][up] = now - lanes.wholes[Whole.AGE]
    chains["taken"][up] = each
    machine.run["taken"] = voyage.lanes
    machine.queue[0, : voyage.lanes] = 2 * each + 1 - flying
    machine.pools["queued"], machine.pools["head"] = voyage.lanes, 0
    machine.pools["swept"] = now
    machine.pools["completed"] = int(
        (machine.moves - start_of_epoch(machine.epoch)).sum() - voyage.lanes
    )
    machine.run["passed"] = deadlines


class Counts:
    """What lanes have counted, added to a session's sums since it was last looked at."""

    def __init__(self, session: Session, voyage: Voyage) -> None:
        self.session, self.voyage = session, voyage
        self._before: IntegerTable | None = None

    def begin(self, sums: IntegerTable) -> None:
        """What has been counted up to here does not count."""
        self._before = sums

    def add(self, sums: IntegerTable, deadlines: int, ticks: int) -> None:
        """Add what came after."""
        assert self._before is not None
        voyage, record, kernel = self.voyage, self.session.record, self.session.kernel
        new = sums - self._before
        self._before = sums
        totals = record.totals
        totals[:, WORK] += new[Whole.STEPS]
        totals[:, ACCEPTED] += new[Whole.ACCEPTED]
        totals[:, HOLD_TIME] += ticks * voyage.groups * np.diff(voyage.starts)
        for name, column in _statistics(kernel).items():
            totals[:, kernel.places[name]] += new[column]
        for place, name in enumerate(voyage.model.statistics):
            totals[:, kernel.places[name]] += new[int(Whole.COUNT) + place] / CHANCE_UNIT
        _add_chances(record, voyage, new[Whole.CHANCE] / CHANCE_UNIT, deadlines)
        record.round_trips[0] += new[Whole.TRIPS].sum()


def _statistics(kernel: Kernel) -> dict[str, Whole]:
    known = {"simulations": Whole.SIMULATIONS, "failures": Whole.FAILURES}
    return {name: known[name] for name in kernel.statistics if name in known}


def _add_chances(record: Record, voyage: Voyage, chances: np.ndarray, deadlines: int) -> None:
    """Neighbours meet at every deadline. How many swaps there were is told by their chances."""
    lanes_on = np.diff(voyage.starts).tolist()
    for rung in range(voyage.rungs - 1):
        met = deadlines * voyage.groups * lanes_on[rung]
        pair = record.by_pair[rung * voyage.rungs + rung + 1]
        pair["met"] += met
        pair["chance"] += chances[rung]
        pair["attempts"] += met
        pair["swaps"] += round(chances[rung])


def show(session: Session, rows: FloatTable) -> None:
    """Write what users see of a model's coordinates behind them, which lanes do not carry along."""
    problem = session.problem
    if not problem.is_written_out:
        return
    if "showing" not in problem.compiled_moves:
        finish = problem.finishing(NUMBA)
        problem.compiled_moves["showing"] = numba.njit(nogil=True)(_showing(finish))
    problem.compiled_moves["showing"](np.random.default_rng(0), rows)


def _showing(finish: Any) -> Callable[..., None]:
    def show_rows(rng: Any, rows: Any) -> None:
        whole = np.empty(rows.shape[1])  # rows of a record lie apart
        for row in rows:
            whole[:] = row
            finish(rng, whole)
            row[:] = whole

    return show_rows


def note_draws(session: Session, rows: FloatTables, times: list[float], kept: int) -> None:
    """Write states that were kept into the record of a session, and empty that when it is full."""
    record = session.record
    chains = 2 * np.arange(kept)
    for states, time in zip(rows, times, strict=True):
        for first in range(0, kept, record.draws.size):
            some = slice(first, first + record.draws.size)
            count = len(states[some])
            if record.filled[0] + count > record.draws.size:
                session.flush()
            filled = slice(int(record.filled[0]), int(record.filled[0]) + count)
            draws = record.draws[filled]
            draws["chain"] = draws["replica"] = chains[some]
            draws["time"], draws["exchanged"], draws["accepted"] = time, True, 1
            draws["processor"], draws["hold_time"], draws["work"] = NOBODY, 0.0, 0.0
            width = states.shape[1]
            record.state[filled, :width] = states[some]
            record.state[filled, width:] = math.nan
            show(session, record.state[filled])
            record.filled[0] += count
