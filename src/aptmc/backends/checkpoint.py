"""A session as numbers, and back: all that is needed to go on as if it had never been left.

Moves in flight are not kept but by name: who goes on issues them again with the same random keys,
so they only took longer. (Virtual time knows when they will be finished, and keeps that too.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.backends.events import Flight
from aptmc.backends.session import Session
from aptmc.backends.units import Units
from aptmc.coordinator import Coordinator
from aptmc.kernels.base import STEPS
from aptmc.record import NOBODY, Record, without_rows

Arrays = dict[str, npt.NDArray[Any]]

# What changes in a run; all else follows from the settings.
MACHINE = (
    "states", "replica", "waiting", "moves", "moves_left", "unfinished", "queue", "head", "queued",
    "completed", "swept", "sweep_time", "passed", "deadline",
)  # fmt: skip
RECORD = ("seen", "totals", "attempts", "swaps", "met", "chance", "last_end", "round_trips")


class Snapshot(NamedTuple):
    """A session at one moment."""

    notes: dict[str, Any]
    arrays: Arrays


def snapshot(session: Session) -> Snapshot:
    """Everything that changes, but for the draws. The record must have been emptied."""
    progress = session.progress
    notes: dict[str, Any] = {
        "elapsed": progress.elapsed,
        "exchange_seconds": progress.exchange_seconds,
        "has_states": progress.has_states,
        "ahead": None if progress.units is None else progress.units.ahead,
    }
    arrays: Arrays = {f"machine/{name}": getattr(session.machine, name) for name in MACHINE}
    arrays |= {f"record/{name}": getattr(session.record, name) for name in RECORD}
    arrays["tuning"] = session.tuning
    arrays["in_flight"] = np.array(_in_flight(session), np.int64).reshape(-1, 2)
    if progress.first_states is not None:
        arrays["first_states"] = progress.first_states
    if progress.units is not None:
        arrays["units"] = progress.units.steps
    if progress.flight is not None:
        arrays |= {f"flight/{name}": value for name, value in progress.flight._asdict().items()}
    return Snapshot(notes, arrays)


def restore(session: Session, saved: Snapshot, *, same_flight: bool) -> None:
    """Bring a fresh session of the same settings to where another one was.

    :param same_flight: in virtual time, moves in flight end when they would have ended; otherwise
        they are issued again
    """
    notes, arrays = saved
    restore_tables(session.machine, session.record, arrays)
    session.tuning[...] = arrays["tuning"]
    progress = session.progress
    progress.elapsed = float(notes["elapsed"])
    progress.exchange_seconds = float(notes["exchange_seconds"])
    progress.has_states = bool(notes["has_states"])
    progress.first_states = arrays.get("first_states")
    if "units" in arrays:
        progress.units = Units(arrays["units"], int(notes["ahead"]))
    elif session.machine.completed.any() or arrays["in_flight"].size > 0:
        # A move that is computed again must be the same move, so steps are not grouped anew.
        progress.units = Units(session.tuning[:, STEPS].astype(np.int64), 0)
    if same_flight and "flight/chain" in arrays:
        progress.flight = Flight(*(arrays[f"flight/{name}"] for name in Flight._fields))
    else:
        session.started_from.update(arrays["in_flight"].tolist())


def _in_flight(session: Session) -> list[tuple[int, int]]:
    """The chains in flight with the states that they started from, those taken first first."""
    flight: Flight | None = session.progress.flight
    if flight is None:
        return list(session.started_from.items())
    busy = [p for p in np.argsort(flight.started, kind="stable") if flight.chain[p] != NOBODY]
    backlog = [chain for chain in flight.backlog.tolist() if chain != NOBODY]
    return [
        *((int(flight.chain[p]), int(flight.replica[p])) for p in busy),
        *((chain, int(session.machine.replica[chain])) for chain in backlog),
    ]


def restore_tables(machine: Coordinator, record: Record, arrays: Arrays) -> None:
    """What the coordinator and the record knew."""
    for name in MACHINE:
        getattr(machine, name)[...] = arrays[f"machine/{name}"]
    for name in RECORD:
        getattr(record, name)[...] = arrays[f"record/{name}"]


def frozen(machine: Coordinator, record: Record) -> tuple[Coordinator, Record]:
    """Copies that do not change while the run goes on."""
    return _copied(machine), _copied(without_rows(record))


def _copied(table: Any) -> Any:
    arrays: dict[str, Any] = {
        name: value.copy()
        for name, value in table._asdict().items()
        if isinstance(value, np.ndarray)
    }
    return table._replace(**arrays)
