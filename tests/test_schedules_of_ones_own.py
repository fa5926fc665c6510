"""Schedules of one's own: obeyed, exact, told apart by their numbers, and stopped if wrong."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest

import aptmc
from aptmc.clock import ManualClock
from aptmc.schedule import BARRIER, NOTHING, WITHIN_POOL
from tests.support import targets
from tests.support.sessions import all_draws, make_session, same
from tests.test_invariance import in_law, waiting_states


class Bursts(aptmc.Schedule):
    """Deadlines in bursts: so many a short time apart, and a pause with jitter between bursts."""

    count: int = 3
    short: float = 0.2
    long: float = 1.5

    @staticmethod
    def next_deadline(number, time, sweep_share, rng, settings):
        if number % settings.count == 0:
            return time + settings.long * (0.5 + rng.random())
        return time + settings.short


class BurstsInFlight(Bursts):
    """A planted error: exchanges take chains in flight, too."""

    swaps_in_flight = True


class EverySoOften(aptmc.Schedule):
    every: float = 2.3

    @staticmethod
    @numba.njit
    def next_deadline(number, time, sweep_share, rng, settings):
        return settings.every * (number + 1)


class AfterSoMany(aptmc.Schedule):
    """Exchanges within a pool each time that so many of its moves are complete."""

    completions: int = 3

    @staticmethod
    def next_deadline(number, time, sweep_share, rng):
        return math.inf

    @staticmethod
    def after_completion(moves, completed, sweep, settings):
        return WITHIN_POOL if completed % settings.completions == 0 else NOTHING


class Barriers(aptmc.Schedule):
    moves: int = 2
    never_waits = False

    @staticmethod
    def next_deadline(number, time, sweep_share, rng):
        return math.inf

    @staticmethod
    def after_completion(moves, completed, sweep, settings):
        return BARRIER if moves % settings.moves == 0 else NOTHING


def draws_of(schedule: Any, processors: int = 2, budget: float = 200.0) -> Any:
    session, store = make_session(schedule, processors=processors)
    usage = aptmc.VirtualTime(processors, targets.hold).run(session, budget)
    assert usage.failure is None
    return session, all_draws(session, store)


# --- they are obeyed ------------------------------------------------------------------------------


def test_a_schedule_of_ones_own_may_be_one_of_ours() -> None:
    rule = aptmc.NeighbouringRungs()
    for own, ours in (
        (EverySoOften(every=1.7), aptmc.Anytime(every=1.7)),
        (EverySoOften(every=1.7, within=rule), aptmc.Anytime(every=1.7, within=rule)),
        (Barriers(moves=3), aptmc.Synchronous(moves=3)),
    ):
        assert same(draws_of(own)[1], draws_of(ours)[1])


def test_deadlines_come_when_the_schedule_says() -> None:
    session, draws = draws_of(Bursts(count=4, short=0.25, long=8.0, exchange=aptmc.OneRandomPair()))
    times = np.unique(np.concatenate([mine[mine[:, 4] == 1.0, 3] for mine in draws]))
    gaps = np.diff(times)
    assert np.isclose(gaps, 0.25).sum() > 50
    assert gaps[~np.isclose(gaps, 0.25)].min() >= 4.0
    assert session.machine.passed[0] > 60


def test_completions_call_for_exchanges_as_the_schedule_says() -> None:
    schedule = AfterSoMany(completions=5, within=aptmc.OneRandomPair())
    session, _ = draws_of(schedule)
    assert session.record.attempts.sum() == session.machine.completed[0] // 5 > 10
    assert session.machine.passed[0] == 0


def test_numbers_tell_schedules_apart() -> None:
    first, other, again = Bursts(short=0.2), Bursts(short=0.3), Bursts(short=0.2)
    assert not same(draws_of(first)[1], draws_of(other)[1])
    assert first.functions() == again.functions()
    assert first.functions()[0] is not other.functions()[0]
    # Equal to Python, but other code.
    assert Bursts(count=1).functions()[0] is not Bursts(count=True).functions()[0]


def test_settings_are_shown_and_cannot_be_changed() -> None:
    schedule = Bursts(5, exchange=aptmc.RandomParity())
    assert repr(schedule) == (
        "Bursts(count=5, short=0.2, long=1.5, exchange=RandomParity(rounds=1), within=None)"
    )
    with pytest.raises(AttributeError):
        schedule.count = 6  # type: ignore[misc]
    assert schedule == Bursts(5, exchange=aptmc.RandomParity()) != Bursts(6)


# --- they are exact, and errors are caught --------------------------------------------------------


@pytest.mark.parametrize("processors", [1, pytest.param(2, marks=pytest.mark.validation)])
def test_bursts_leave_the_stationary_law_alone(processors: int) -> None:
    assert in_law(waiting_states(Bursts(), processors, 1))


def test_swapping_chains_in_flight_in_bursts_is_caught() -> None:
    assert not in_law(waiting_states(BurstsInFlight(), 2, 1))


def test_exchanges_after_so_many_completions_leave_it_alone_too() -> None:
    schedule = AfterSoMany(within=aptmc.RandomParity())
    assert in_law(waiting_states(schedule, 2, 1))


# --- they are kept, and stopped if they are wrong -------------------------------------------------


def sample(schedule: Any, **options: Any) -> aptmc.Run:
    settings: dict[str, Any] = {
        "budget": 100,
        "ladder": aptmc.Ladder.powers(4),
        "kernel": aptmc.RandomWalk(1.0),
        "schedule": schedule,
        "on": aptmc.VirtualTime(2),
        "seed": 1,
    }
    return aptmc.sample(targets.problem(), **(settings | options))


def test_a_stored_run_is_gone_on_with_if_the_schedule_is_given_again(tmp_path: Any) -> None:
    schedule, path = Bursts(), tmp_path / "run.zarr"
    whole = sample(schedule, budget=150, log_events=True)
    sample(schedule, store=path, log_events=True)
    opened = aptmc.open(path)
    assert "Bursts(count=3" in repr(opened.settings.schedule)
    assert opened.summary()["x"].ess > 0.0
    on = aptmc.VirtualTime(2)
    with pytest.raises(aptmc.InputError, match=r"of your own.*Bursts.*schedule=\.\.\."):
        aptmc.resume(path, targets.problem(), budget=50, on=on)
    again = aptmc.resume(path, targets.problem(), budget=50, on=on, schedule=schedule)
    assert np.array_equal(again.chains()[0].state, whole.chains()[0].state)
    assert aptmc.replay(path, targets.problem(), schedule=schedule).is_same


class Backwards(aptmc.Schedule):
    @staticmethod
    def next_deadline(number, time, sweep_share, rng):
        return 5.0 - number


class SilentBarriers(Barriers):
    never_waits = True


BACKENDS = {
    "virtual time": aptmc.VirtualTime,
    "wall time": lambda: aptmc.InProcess(ManualClock(1)),
}


@pytest.mark.parametrize("on", BACKENDS.values(), ids=BACKENDS.keys())
@pytest.mark.parametrize(
    ("schedule", "words"),
    [(Backwards(), "a time that is not later"), (SilentBarriers(), "never_waits = False")],
    ids=["backwards", "silent barriers"],
)
def test_a_wrong_schedule_is_stopped(schedule: Any, words: str, on: Any) -> None:
    with pytest.raises(aptmc.ExchangeFailed, match=words):
        sample(schedule, on=on())


class ForgotStatic(aptmc.Schedule):
    def next_deadline(self, number, time, sweep_share, rng):
        return time + 1.0


class CannotBeCompiled(aptmc.Schedule):
    @staticmethod
    def next_deadline(number, time, sweep_share, rng):
        return {}.get(number, object())


class WrongArguments(aptmc.Schedule):
    @staticmethod
    def next_deadline(time):
        return time + 1.0


@pytest.mark.parametrize("schedule", [ForgotStatic, CannotBeCompiled, WrongArguments])
def test_what_cannot_be_compiled_is_refused_by_name(schedule: Any) -> None:
    with pytest.raises(aptmc.InputError, match=schedule.__name__):
        sample(schedule())


class AtOnce(aptmc.Schedule):
    @staticmethod
    def next_deadline(number, time, sweep_share, rng):
        return time


def test_a_first_deadline_at_time_zero_is_refused() -> None:
    with pytest.raises(aptmc.InputError, match=r"after time 0, got 0\.0 from AtOnce"):
        sample(AtOnce())


def test_a_schedule_without_deadlines_cannot_be_made() -> None:
    class Undecided(aptmc.Schedule):
        pass

    with pytest.raises(TypeError, match="next_deadline"):
        Undecided()
