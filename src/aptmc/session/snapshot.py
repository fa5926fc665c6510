"""A session as numbers, and back: all that is needed to go on as if it had never been left.

Moves in flight are kept by name only, with who computed them and for how long: whoever goes on
computes them again with the same random keys (`aptmc.backends.workers.pick_up`). Virtual time
knows when they will be finished, and keeps that too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.coordinator.transitions import Coordinator
from aptmc.errors import InputError
from aptmc.kernels.base import STEPS
from aptmc.problem.state import OWN
from aptmc.record.record import NOBODY, Record, without_rows
from aptmc.session.flight import Flight
from aptmc.session.session import Session, UnderWay
from aptmc.session.units import Units

Arrays = dict[str, npt.NDArray[Any]]

# What changes in a run; all else follows from the settings.
MACHINE = (
    "states", "replica", "waiting", "moves", "moves_left", "unfinished", "queue", "head", "queued",
    "completed", "swept", "sweep_time", "passed", "deadline",
)  # fmt: skip
RECORD = ("seen", "totals", "attempts", "swaps", "met", "chance", "last_end", "round_trips")

# Where `info` had what in stores of before kernels named their statistics.
FIXED_BEFORE_NAMES = [2, 1, 0, 5, 6]  # in the order of now
PLACES_BEFORE_NAMES = {"simulations": 3, "failures": 4}
BEFORE_NAMES = tuple(PLACES_BEFORE_NAMES)


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
        "statistics": list(session.kernel.statistics),
    }
    arrays: Arrays = {f"machine/{name}": getattr(session.machine, name) for name in MACHINE}
    arrays |= {f"record/{name}": getattr(session.record, name) for name in RECORD}
    arrays["tuning"] = session.tuning
    in_flight, under_way = _in_flight(session)
    arrays["in_flight"] = np.array(in_flight, np.int64).reshape(-1, 2)
    arrays["under_way"] = np.array(
        [(chain, *under_way[chain]) for chain, _ in in_flight if chain in under_way]
    ).reshape(-1, 3)
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
    notes, arrays = with_own_places(saved, session.kernel.statistics)
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
        progress.under_way = {
            int(chain): UnderWay(int(processor), age)
            for chain, processor, age in arrays.get("under_way", np.empty((0, 3))).tolist()
        }


def statistics_in(notes: dict[str, Any]) -> tuple[str, ...]:
    """The names of what the kernel of a stored session counted."""
    return tuple(notes.get("statistics", BEFORE_NAMES))


def with_own_places(saved: Snapshot, statistics: tuple[str, ...]) -> Snapshot:
    """A snapshot of before statistics had names, with them where they are now."""
    if "statistics" in saved.notes:
        if statistics_in(saved.notes) != statistics:
            raise InputError(
                f"the kernel's statistics are {statistics}, those of the stored one were "
                f"{statistics_in(saved.notes)}: give the kernel with which the run began"
            )
        return saved
    arrays = dict(saved.arrays)
    for name in {"record/totals", "flight/info"} & arrays.keys():
        now = np.zeros((len(arrays[name]), OWN + len(statistics)))
        now[:, :OWN] = arrays[name][:, FIXED_BEFORE_NAMES]
        for place, statistic in enumerate(statistics, OWN):
            if statistic in PLACES_BEFORE_NAMES:
                now[:, place] = arrays[name][:, PLACES_BEFORE_NAMES[statistic]]
        arrays[name] = now
    return Snapshot(saved.notes, arrays)


def _in_flight(session: Session) -> tuple[list[tuple[int, int]], dict[int, UnderWay]]:
    """The chains in flight with the states that they started from, those taken first first."""
    flight: Flight | None = session.progress.flight
    if flight is None:
        return list(session.started_from.items()), session.progress.under_way
    order = np.argsort(flight.started, kind="stable").tolist()
    busy = [p for p in order if flight.chain[p] != NOBODY]
    now = max(session.progress.elapsed, float(flight.now[0]))
    under_way = {
        int(flight.chain[p]): UnderWay(p % flight.busy.size, max(now - flight.started[p], 0.0))
        for p in busy
    }
    in_flight = [(int(flight.chain[p]), int(flight.replica[p])) for p in busy]
    for chain, age in zip(flight.backlog.tolist(), flight.backlog_age.tolist(), strict=True):
        if chain != NOBODY:
            in_flight.append((chain, int(session.machine.replica[chain])))
            under_way[chain] = UnderWay(NOBODY, age)
    return in_flight, under_way


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
