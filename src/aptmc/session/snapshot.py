"""A session as numbers, and back: all that is needed to go on as if it had never been left.

Moves in flight are kept by name only, with who computed them and since when: whoever goes on
computes them again with the same random keys (`aptmc.backends.workers.pick_up`). Virtual time
knows when they will be finished, and keeps that too.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aptmc.compiled import FloatTable
from aptmc.coordinator.state import Coordinator
from aptmc.errors import InputError
from aptmc.kernels.base import STEPS
from aptmc.problem.chain_state import OWN
from aptmc.record.record import NOBODY, Record, without_rows
from aptmc.session.descent import Reached
from aptmc.session.flight import Flight, empty_flight
from aptmc.session.session import Session
from aptmc.session.units import Units

Arrays = dict[str, npt.NDArray[Any]]

# What changes in a run; all else follows from the settings.
MACHINE = (
    "states", "replica", "waiting", "moves", "unfinished", "queue", "head", "queued", "completed",
    "occasions", "swept", "sweep_time", "passed", "barriers", "deadline",
    "settles_until", "settling_since", "settled", "is_settled", "given",
)  # fmt: skip
IN_FLIGHT = ("started_from", "processor", "since")  # of chains in flight, those taken first first
FLIGHT = ("speed", "chain", "finish", "busy", "now", "standing", "outcome", "info")
RECORD = (
    "seen", "before", "totals", "attempts", "swaps", "met", "chance", "last_end", "round_trips",
)  # fmt: skip
# In stores of before runs settled: they count from their beginning.
UNSETTLED: dict[str, Any] = {
    "machine/settles_until": 0.0, "machine/settling_since": 0.0, "machine/settled": 0,
    "machine/is_settled": 1, "machine/given": 0, "record/before": 0,
}  # fmt: skip

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
        "reached": None if session.reached is None else session.reached.notes(),
    }
    arrays: Arrays = {f"machine/{name}": getattr(session.machine, name) for name in MACHINE}
    arrays |= {f"record/{name}": getattr(session.record, name) for name in RECORD}
    arrays["tuning"] = session.tuning
    if session.machine.settles_until[0] > 0.0:  # a run is computed again from its beginning
        arrays["starts/rows"] = session.machine.starts
        arrays["starts/count"] = session.machine.rungs["count"]
    in_flight = session.machine.in_flight
    arrays["in_flight/chain"] = np.array(in_flight, np.int64)
    for name in IN_FLIGHT:
        arrays[f"in_flight/{name}"] = session.machine.chains[name][in_flight]
    arrays |= progress.early.arrays()
    if progress.descent is not None:
        arrays |= {f"descent/{name}": part for name, part in progress.descent.memory().items()}
    if progress.first_states is not None:
        arrays["first_states"] = progress.first_states
    if progress.units is not None:
        arrays["units"] = progress.units.steps
    if progress.flight is not None:
        arrays |= {f"flight/{name}": getattr(progress.flight, name) for name in FLIGHT}
    return Snapshot(notes, arrays)


def restore(session: Session, saved: Snapshot, *, same_flight: bool) -> None:
    """Bring a fresh session of the same settings to where another one was.

    :param same_flight: in virtual time, moves in flight end when they would have ended; otherwise
        they are issued again
    """
    notes, arrays = with_own_places(saved, session.kernel.statistics)
    restore_tables(session.machine, session.record, arrays, float(notes["elapsed"]))
    session.tuning[...] = arrays["tuning"]
    progress = session.progress
    progress.elapsed = float(notes["elapsed"])
    progress.exchange_seconds = float(notes["exchange_seconds"])
    progress.has_states = bool(notes["has_states"])
    progress.first_states = arrays.get("first_states")
    progress.reached = reached_in(notes)
    progress.early.recall(arrays, session.seed)
    progress.descended = {
        name.removeprefix("descent/"): part
        for name, part in arrays.items()
        if name.startswith("descent/")
    }
    if "units" in arrays:
        progress.units = Units(arrays["units"], int(notes["ahead"]))
    elif session.machine.completed.any() or session.machine.in_flight:
        # A move that is computed again must be the same move, so steps are not grouped anew.
        progress.units = Units(session.tuning[:, STEPS].astype(np.int64), 0)
    if same_flight and "flight/chain" in arrays:
        progress.flight = _flight(session, arrays)


def starts_in(arrays: Arrays) -> list[FloatTable] | None:
    """By rung, the states from which a stored session settled, if it did."""
    if "starts/rows" not in arrays:
        return None
    return np.split(arrays["starts/rows"], np.cumsum(arrays["starts/count"])[:-1])


def statistics_in(notes: dict[str, Any]) -> tuple[str, ...]:
    """The names of what the kernel of a stored session counted."""
    return tuple(notes.get("statistics", BEFORE_NAMES))


def reached_in(notes: dict[str, Any]) -> Reached | None:
    """How far a stored session came; None for powers, and in stores of before it was kept."""
    return Reached.from_notes(notes.get("reached"))


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


def restore_tables(
    machine: Coordinator, record: Record, arrays: Arrays, elapsed: float = 0.0
) -> None:
    """What the coordinator and the record knew."""
    arrays = UNSETTLED | _in_new_words(machine, arrays, elapsed)
    for name in MACHINE:
        getattr(machine, name)[...] = arrays[f"machine/{name}"]
    for name in RECORD:
        getattr(record, name)[...] = arrays[f"record/{name}"]
    chains = arrays["in_flight/chain"]
    for name in IN_FLIGHT:
        machine.chains[name][chains] = arrays[f"in_flight/{name}"]
    machine.chains["taken"][chains] = np.arange(chains.size)
    machine.run["taken"] = chains.size


def _in_new_words(machine: Coordinator, arrays: Arrays, elapsed: float) -> Arrays:
    """What a store of version 0.1 says, which knew the age of a move and not when it began."""
    if "in_flight/chain" in arrays:
        return arrays
    passed, sweeps = arrays["machine/passed"], arrays["machine/completed"] // machine.sweep
    chains, replicas = arrays["in_flight"].reshape(-1, 2).T
    processor, since = np.full(chains.size, NOBODY), np.full(chains.size, math.nan)
    for chain, who, age in arrays["under_way"]:
        processor[chains == chain], since[chains == chain] = who, elapsed - age
    return arrays | {
        "machine/barriers": 0 * passed if machine.plan.never_waits else passed,
        "machine/occasions": sweeps if machine.plan.rounds_within_pool > 0 else 0 * sweeps,
        "in_flight/chain": chains,
        "in_flight/started_from": replicas,
        "in_flight/processor": processor,
        "in_flight/since": since,
    }


def _flight(session: Session, arrays: Arrays) -> Flight:
    """What virtual processors were doing; who they are does not change."""
    processors, width = session.served.size, session.machine.states.shape[1]
    ahead = arrays["flight/chain"].size // processors - 1
    flight = empty_flight(
        session.served, arrays["flight/speed"], width, arrays["flight/info"].shape[1], 0.0, ahead
    )
    for name in FLIGHT:
        getattr(flight, name)[...] = arrays[f"flight/{name}"]
    return flight


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
