"""Ctrl-C in this process: where it raises an exception, and where it must not."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from numba import njit, objmode
from scipy import stats

import aptmc
from aptmc.backends import InProcess, VirtualTime
from aptmc.clock import ManualClock
from aptmc.errors import StopReason
from aptmc.problem.density import checked_call
from aptmc.session.control import Control
from tests.support.sessions import make_session

PRIOR = aptmc.Prior(x=stats.uniform(-5, 10))
SETTINGS = {
    "ladder": aptmc.Ladder.powers([1, 0.3, 0]),
    "kernel": aptmc.RandomWalk(1.0),
    "schedule": aptmc.Anytime(every=2.0),
    "progress": False,
    "seed": 1,
}


def press_ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "on",
    [InProcess(), InProcess(ManualClock(1.0)), VirtualTime()],
    ids=["wall", "manual", "virtual"],
)
def test_a_long_function_of_the_user_is_left_at_once(on) -> None:
    calls, ended = [], []

    def log_likelihood(theta):
        calls.append(theta[0])
        if len(calls) == 30:
            press_ctrl_c()
            ended.append("it should have been left")
        return 0.0

    run = aptmc.sample(aptmc.Tempered(log_likelihood, PRIOR), budget=100.0, on=on, **SETTINGS)
    assert run.stopped is StopReason.INTERRUPTED
    assert (len(calls), ended) == (30, [])


def test_a_long_simulation_is_left_at_once() -> None:
    calls = []

    def simulate(theta, rng):
        calls.append(theta[0])
        if len(calls) > 200:
            press_ctrl_c()
            calls.append("it should have been left")
        return theta + rng.standard_normal(1)

    problem = aptmc.Abc(
        simulate, PRIOR, [0.0], lambda simulated, observed: abs(simulated - observed)[0]
    )
    settings = SETTINGS | {"ladder": aptmc.Ladder.tolerances([1.0, 3.0, 10.0]), "kernel": "auto"}
    run = aptmc.sample(problem, budget=1000.0, on=InProcess(ManualClock(1.0)), **settings)
    assert run.stopped is StopReason.INTERRUPTED
    assert "it should have been left" not in calls


class Answers:
    """Ctrl-C is pressed, impatiently, while a coordinator looks for its answer."""

    def __init__(self, answers, number: int) -> None:
        self.answers, self.number = answers, number

    def __next__(self):
        self.number -= 1
        if self.number == 0:
            press_ctrl_c()
            press_ctrl_c()
        return next(self.answers)


def test_the_coordinator_is_never_interrupted_however_often_one_tries() -> None:
    session, _ = make_session(aptmc.Anytime(every=3.0))
    session.begin()
    session.coordinator._answers = Answers(session.coordinator._answers, number=12)
    control = Control()
    with control.signals(interrupt=True):
        usage = InProcess(ManualClock(1.0)).run(session, 1000.0, control)
    assert usage.stopped is StopReason.INTERRUPTED
    assert usage.failure is None
    # The move that was under way has been completed, and nothing is in flight.
    assert session.machine.in_flight == []


@njit
def interrupts_itself(theta):
    with objmode():
        press_ctrl_c()
    return theta[0]


def test_a_compiled_function_is_not_interrupted() -> None:
    """Not even if it is called from Python, because its prior is not compiled, and twice."""
    control, theta = Control(), np.array([7.0])
    with control.signals(interrupt=True):
        assert checked_call(interrupts_itself, "log_likelihood", theta, {}) == 7.0
        assert checked_call(interrupts_itself, "log_likelihood", theta, {}) == 7.0
        assert control.stopped is StopReason.INTERRUPTED
        with pytest.raises(KeyboardInterrupt):
            checked_call(interrupts_itself.py_func, "log_likelihood", theta, {})


def test_a_second_ctrl_c_raises_where_one_only_waits() -> None:
    control = Control()
    with control.signals():
        press_ctrl_c()
        assert control.stopped is StopReason.INTERRUPTED
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


def test_the_first_one_only_stops_a_run_that_is_not_in_a_function_of_the_user() -> None:
    """Where a store is being written, say."""
    control = Control()
    with control.signals(interrupt=True):
        press_ctrl_c()
        assert control.stopped is StopReason.INTERRUPTED
