"""Virtual time: any number of processors, with hold times from a function or from counted work."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, final

import numpy as np
import numpy.typing as npt
from numba import njit
from typing_extensions import override

from aptmc.arguments import class_named_clearly
from aptmc.backends.base import Engine, LoopBackend, LoopEngine
from aptmc.backends.early_here import compile_here
from aptmc.backends.virtual.errands import run_errand
from aptmc.backends.virtual.event_loop import (
    A_HOLD_TIME,
    AN_EXCHANGE,
    FAILED,
    FINISHED,
    MOST_STANDING,
    PAUSED,
    STANDING,
    hold_model,
    run_until,
)
from aptmc.checks import numbers, whole_number
from aptmc.clock import WallClock
from aptmc.compiled import Floats, is_compiled
from aptmc.errors import (
    AptmcError,
    InputError,
    MoveFailed,
    RunFailed,
    StopReason,
    StoreFailed,
)
from aptmc.global_generators import Seeding
from aptmc.in_words import in_words
from aptmc.kernels.base import STEPS
from aptmc.keys import HOLD
from aptmc.problem.chain_state import WORK
from aptmc.quota import MOVES
from aptmc.record.record import NOBODY
from aptmc.session.control import Control, FixedProcessors
from aptmc.session.descent import Errand
from aptmc.session.flight import Flight, empty_flight
from aptmc.session.kept_code import KEPT_ON_DISK
from aptmc.session.orders import Order, Outcome
from aptmc.session.session import Session, Usage, failed_exchange
from aptmc.session.start_up import Part
from aptmc.session.units import can_queue_ahead
from aptmc.targets import INTERPRETED, NUMBA, interpreted

COMPILING = "compiling virtual time, once on this machine (about 30 s)"
SECONDS_BETWEEN_PAUSES = 0.2
MOST_COMPLETIONS = 1 << 40


@class_named_clearly
@final
class VirtualTime(LoopBackend):
    """A simulated machine. Results are exact and repeatable: no clock is read.

    The whole loop runs compiled when the problem and `hold` do.

    :param workers: how many processors
    :param hold: hold(theta, rung, rng) gives the hold time of a move that starts at theta. If it is
        not given, the kernel's own count of work is the hold time
    :param speed: of each processor, if they differ; hold times are divided by it
    :param latency: from the end of a move until its processor can have an answer: how long messages
        take, both ways
    :param cost: the coordinator's time for each completion. It attends to one after the other, so
        that one coordinator serves at most 1 / cost completions per unit of time
    :param ahead: how many moves wait at each processor, so that it need not wait for messages
    """

    time_unit = "unit"
    logs_events = False

    def __init__(
        self,
        workers: int = 1,
        hold: Callable[..., float] | None = None,
        *,
        speed: npt.ArrayLike | None = None,
        latency: float = 0.0,
        cost: float = 0.0,
        ahead: int = 0,
    ) -> None:
        workers = whole_number("workers", workers)
        if hold is not None and not callable(hold):
            raise InputError(f"hold must be a function hold(theta, rung, rng), got {hold!r}")
        speeds = np.ones(workers) if speed is None else numbers(speed)
        if speeds is None or speeds.shape != (workers,) or not (speeds > 0).all():
            raise InputError(f"speed must give {workers} positive numbers, got {speed!r}")
        self.processors = workers
        self.hold = hold
        self.speed = speeds
        self.latency, self.cost = _delay("latency", latency), _delay("cost", cost)
        self.ahead = whole_number("ahead", ahead, least=0)

    @property
    def places(self) -> int:
        """How many orders the processors hold, those that wait included."""
        return self.processors * (1 + self.ahead)

    def __repr__(self) -> str:
        return f"VirtualTime(workers={self.processors})"

    def check(self, session: Session) -> None:
        """Are there chains enough? Try the hold times of the starting states."""
        if self.ahead > 0 and not can_queue_ahead(session.machine, session.served, self.ahead):
            raise InputError(
                f"with ahead={self.ahead} each of {self.processors} processors holds "
                f"{1 + self.ahead} moves, and too few chains would be left to exchange (or the "
                "schedule has barriers): use more chains, fewer workers, or ahead=0"
            )
        if not session.problem.needs_search:
            session.begin()
            for chain in range(session.machine.rung.size):
                self._try_hold(session, chain)

    @override
    def engine(self, budget: float, control: Control) -> Engine:
        run, search = (partial(do, control=control) for do in (self.run, self._search))
        return LoopEngine(run, search, budget)

    def _search(self, session: Session, errand: Errand, budget: float, control: Control) -> Usage:
        return run_errand(session, errand, budget, self.speed, self._duration(session), control)

    def _duration(self, session: Session) -> Callable[[Order, Outcome], float]:
        """How long an order takes that does not count: its work, or as `hold` says of its steps."""
        if self.hold is None:
            return lambda order, outcome: float(outcome.info[WORK])
        hold, problem, seeding = self.hold, session.problem, Seeding(session.seed)

        def duration(order: Order, outcome: Outcome) -> float:
            # Who has no state yet begins where it ends.
            state = outcome.state if np.isnan(order.state[0]) else order.state
            theta = problem.constrain(state[: problem.dimension].copy())
            rng = order.key._replace(purpose=HOLD).generator()
            return float(seeding.call(rng, hold, theta, order.rung, rng) * order.tuning[STEPS])

        return duration

    def run(self, session: Session, budget: float, control: Control | None = None) -> Usage:
        """Simulate until the virtual time of the budget."""
        control = control or Control()
        hold: Callable[..., float] = _no_hold if self.hold is None else self.hold
        simulate: Callable[..., int] = run_until
        is_compiled_throughout = session.mover.target.is_compiled and is_compiled(hold)
        try:
            _compile(session, control, loop=is_compiled_throughout)
            session.begin()
        except KeyboardInterrupt:
            return Usage(StopReason.INTERRUPTED, 0.0, np.zeros(self.processors))
        if is_compiled_throughout:
            hold = _with_signature(session.problem.of_coordinates(hold, NUMBA))
        else:
            hold = session.problem.of_coordinates(hold, INTERPRETED)
            if self.hold is not None:
                hold = Seeding(session.seed).around(hold, 2)
            simulate = _plain_loop(session)
        flight = self._flight(session)
        began, until = session.progress.elapsed, session.progress.elapsed + budget
        busy_before = flight.busy + _unfinished(session, flight, began)
        stopped, failure = StopReason.BUDGET_SPENT, None
        status = PAUSED
        # Compiled code cannot be interrupted, so it comes back for air several times a second.
        clock, completions = WallClock(), 1000
        try:
            while status == PAUSED:
                before = clock.now()
                status = simulate(
                    until, _before_the_end(session, completions), session.machine, flight,
                    session.record, session.log, session.streams, *session.functions,
                    session.mover.move, session.tuning, hold, self.hold is None,
                    session.problem.dimension, self.latency, self.cost,
                )  # fmt: skip
                session.flush()
                now = max(float(flight.now[0]), began)
                busy = flight.busy + _unfinished(session, flight, now) - busy_before
                control.serve(FixedProcessors(now - began, busy))
                if control.stopped is not None:
                    stopped = control.stopped
                    break
                if session.has_used_its_share:
                    break
                in_time = clock.now() - before < SECONDS_BETWEEN_PAUSES
                completions = (
                    min(2 * completions, MOST_COMPLETIONS)
                    if in_time
                    else (max(1, completions // 2))
                )
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        except Exception as error:
            stopped, failure = StopReason.FAILED, self._failure(session, flight, error)
        if status == FAILED:
            stopped, failure = StopReason.FAILED, self._failure(session, flight)
        elif status == STANDING:
            stopped = StopReason.FAILED
            failure = RunFailed(
                f"virtual time stands still at {flight.now[0]}: "
                + ("moves did no work" if self.hold is None else "hold gave 0")
                + f" {MOST_STANDING} times in a row; give hold times that are positive now and "
                "then, or proposals that the prior does not always refuse"
            )
        if failure is not None or stopped is StopReason.INTERRUPTED:
            _leave_half_done(session, flight)
        now = until if status == FINISHED else max(float(flight.now[0]), began)
        session.progress.elapsed = now
        busy = flight.busy + _unfinished(session, flight, now) - busy_before
        return Usage(stopped, now - began, busy, failure)

    def _flight(self, session: Session) -> Flight:
        """What the processors were doing when the session was left, or nothing yet."""
        flight: Flight | None = session.progress.flight
        if flight is None:
            machine, progress = session.machine, session.progress
            machine.chains["processor"] = NOBODY
            flight = progress.flight = empty_flight(
                session.served, self.speed, machine.states.shape[1],
                session.record.totals.shape[1], progress.elapsed, self.ahead,
            )  # fmt: skip
        return flight

    def _failure(
        self, session: Session, flight: Flight, error: Exception | None = None
    ) -> RunFailed:
        """Say what failed: a move, a hold time or an exchange."""
        if isinstance(error, StoreFailed):
            return error
        chain, stage = int(flight.clock[0]["suspect"]), flight.clock[0]["stage"]
        if stage == AN_EXCHANGE:
            return failed_exchange(error or AptmcError("unknown reason"))
        if stage == A_HOLD_TIME:
            try:
                self._try_hold(session, chain)
            except MoveFailed as failure:
                return failure
        return session.failed_move(chain, error)

    def _try_hold(self, session: Session, chain: int) -> None:
        """Draw the hold time of a chain's current move, in plain Python, and check it."""
        if self.hold is None:
            return
        rung, key = int(session.machine.rung[chain]), session.key(chain)._replace(purpose=HOLD)
        state = session.machine.states[session.machine.replica[chain]]
        parameters = session.problem.describe(state)
        theta = state[: session.problem.dimension].copy()
        try:
            value = self.hold(session.problem.constrain(theta), rung, key.generator())
        except Exception as error:
            reason = f"hold raised {in_words(error)}"
            raise MoveFailed(reason, parameters, rung, key) from error
        time = numbers(value)
        if time is None or time.ndim != 0 or time < 0.0:
            reason = f"hold returned {value!r}, must be a finite time that is not negative,"
            raise MoveFailed(reason, parameters, rung, key)


def _compile(session: Session, control: Control, *, loop: bool) -> None:
    """Compile what is not on disk, and say so.

    :param loop: this one, too
    """
    needed: Any = run_until
    if loop and not needed.load():
        with control.start_up.without_looking_up(Part.SAMPLER, COMPILING):
            needed.make_ready()
    compile_here(session, control)
    control.start_up.over()


def _before_the_end(session: Session, completions: int) -> int:
    """Not more than a phase may yet count, where something is counted."""
    meter = session.progress.meter
    if meter is None:
        return completions
    made = int(session.machine.completed.sum())
    each = 1.0 if meter.quota.unit == MOVES else max(meter.used / max(made, 1), 1.0)
    # Moves count differently: one comes to the end in ever shorter steps.
    share = 1.0 if meter.quota.unit == MOVES else 0.5
    return max(min(completions, int(share * meter.left_in_phase / each)), 1)


def _plain_loop(session: Session) -> Callable[..., int]:
    """The loop as plain Python, around plain Python functions and the same coordinator."""
    coordinator = session.coordinator

    def take_next(_machine: Any, pool: int, processor: int, time: float, *_: Any) -> int:
        return coordinator.take_next(pool, processor, time)

    def catch_up(_machine: Any, time: float, *_: Any) -> bool:
        return coordinator.catch_up(time)

    def complete(
        _machine: Any, chain: int, outcome: Floats, info: Floats,
        began: float, ended: float, time: float, *_: Any,
    ) -> bool:  # fmt: skip
        return coordinator.complete(chain, Outcome(outcome, info), began, ended, time)

    return interpreted(run_until, take_next=take_next, catch_up=catch_up, complete=complete)


def _leave_half_done(session: Session, flight: Flight) -> None:
    """If a move was being computed, and failed: whoever goes on must compute it again first."""
    if flight.clock[0]["stage"] == AN_EXCHANGE:
        return
    chain = flight.clock[0]["suspect"]
    flight.chain[flight.chain == chain] = NOBODY
    session.machine.chains[chain]["processor"] = NOBODY
    session.machine.chains[chain]["since"] = math.nan


def _unfinished(session: Session, flight: Flight, now: float) -> Floats:
    """Of each processor: how long it has been at its present move."""
    is_busy = flight.chain != NOBODY
    started = np.where(is_busy, session.machine.chains["since"][flight.chain], now)
    so_far = np.maximum(np.minimum(flight.finish, now) - started, 0.0)
    by_place = np.where(is_busy, so_far, 0.0)
    by_processor: Floats = by_place.reshape(-1, flight.busy.size).sum(axis=0)
    return by_processor


def _delay(name: str, value: float) -> float:
    delay = numbers(value)
    if delay is None or delay.ndim != 0 or delay < 0.0:
        raise InputError(f"{name} must be a time that is not negative, got {value!r}")
    return float(delay)


@njit
def _no_hold(theta: Any, rung: Any, rng: Any) -> float:
    """Stands in where the kernel's count of work is the hold time."""
    return 0.0


@lru_cache
def _with_signature(hold: Callable[..., float]) -> Callable[..., float]:
    """A function of ours around a user's compiled one, so that we may give it a signature."""

    def hold_time(theta: Any, rung: Any, rng: Any) -> float:
        return hold(theta, rung, rng)

    return KEPT_ON_DISK.like(hold_model, hold_time)
