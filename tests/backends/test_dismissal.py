"""The run is over: where a worker is told by an exception, and where it must not be.

Arguments that are on their way into compiled code do not survive one: Python crashes.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from types import FrameType

import numpy as np
import pytest

from aptmc.backends.workers.channel import Channel, WorkerChannel
from aptmc.backends.workers.worker import Dismissal, Dismissed
from aptmc.problem.density import checked_call


@pytest.fixture
def dismissal() -> Iterator[Dismissal]:
    before = signal.getsignal(signal.SIGTERM)
    found = Dismissal()
    signal.signal(signal.SIGTERM, found.hear)
    yield found
    signal.signal(signal.SIGTERM, before)


def dismiss(*_: object) -> float:
    signal.raise_signal(signal.SIGTERM)
    return 7.0


def test_a_function_of_the_user_is_left_at_once(dismissal: Dismissal) -> None:
    with pytest.raises(Dismissed):
        checked_call(dismiss, "log_likelihood", np.zeros(1), {})


def put_away(dismissal: Dismissal) -> list[str]:
    """What a function does at its end, while it is told once more that the run is over."""
    done = []

    def function(*_: object) -> float:
        try:
            dismiss()
        finally:
            done.append("began to put its things away")
            dismiss()
            done.append("put them away")
        return 7.0

    with pytest.raises(Dismissed):
        checked_call(function, "log_likelihood", np.zeros(1), {})
    return done


def test_whoever_puts_his_things_away_is_not_disturbed(dismissal: Dismissal) -> None:
    assert len(put_away(dismissal)) == 2


def test_the_test_sees_a_dismissal_that_is_raised_twice(dismissal: Dismissal) -> None:
    def hear(number: int, frame: FrameType | None) -> None:
        dismissal._is_raised = False  # the planted error
        dismissal.hear(number, frame)

    signal.signal(signal.SIGTERM, hear)
    assert len(put_away(dismissal)) == 1


def test_elsewhere_the_move_is_finished_and_no_order_is_waited_for(dismissal: Dismissal) -> None:
    here, there = socket.socketpair()
    with closing(Channel(here)) as ours, closing(WorkerChannel(there.detach())) as theirs:
        ours.send(b"an order")
        assert dismissal.wait_for_order(theirs) == b"an order"
        assert dismiss() == 7.0
        with pytest.raises(Dismissed):  # or this would wait forever
            dismissal.wait_for_order(theirs)


class Deaf:
    """A connection on which no order comes, but the signal does."""

    def receive(self) -> bytes:
        dismiss()
        return b"it should have been left"


def test_whoever_waits_for_an_order_waits_no_longer(dismissal: Dismissal) -> None:
    with pytest.raises(Dismissed):
        dismissal.wait_for_order(Deaf())  # type: ignore[arg-type]


class LeavesWithATrace:
    """What Python calls where nobody can hear an exception."""

    def __del__(self) -> None:
        dismiss()


def test_what_is_lost_on_the_way_is_not_printed_and_is_said_again(
    dismissal: Dismissal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def function(*_: object) -> float:
        LeavesWithATrace()
        return dismiss()

    monkeypatch.setattr("sys.unraisablehook", dismissal.was_lost)
    with pytest.raises(Dismissed):
        checked_call(function, "log_likelihood", np.zeros(1), {})
    assert capsys.readouterr().err == ""


def test_other_exceptions_that_are_lost_are_printed(
    dismissal: Dismissal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Fails:
        def __del__(self) -> None:
            raise ValueError("in the middle of nowhere")

    monkeypatch.setattr("sys.unraisablehook", dismissal.was_lost)
    Fails()
    assert "in the middle of nowhere" in capsys.readouterr().err
