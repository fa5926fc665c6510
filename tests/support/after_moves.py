"""Wait for a run to make moves, without looking again and again: each look copies the run."""

from __future__ import annotations

import threading

import pytest

from aptmc.problem import Problem
from aptmc.session.session import Session


def after_moves(
    monkeypatch: pytest.MonkeyPatch, count: int, problem: Problem | None = None
) -> threading.Event:
    """Is set once the runs of this process have completed so many moves, from now on.

    :param problem: those of other problems do not count
    """
    enough, complete = threading.Event(), Session.complete
    left = [count]

    def counted(session: Session, *arguments, **named) -> None:
        complete(session, *arguments, **named)
        left[0] -= problem is None or session.problem is problem
        if left[0] == 0:
            enough.set()

    monkeypatch.setattr(Session, "complete", counted)
    return enough
