"""Wait for a run to make moves, without looking again and again: each look copies the run."""

from __future__ import annotations

import threading

import pytest

from aptmc.session.session import Session


def after_moves(monkeypatch: pytest.MonkeyPatch, count: int) -> threading.Event:
    """Is set once the runs of this process have completed so many moves, from now on."""
    enough, complete = threading.Event(), Session.complete
    left = [count]

    def counted(*arguments, **named) -> None:
        complete(*arguments, **named)
        left[0] -= 1
        if left[0] == 0:
            enough.set()

    monkeypatch.setattr(Session, "complete", counted)
    return enough
