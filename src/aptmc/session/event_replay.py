"""Replay: compute a run again from the log of its events, on one processor or many, bit for bit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

from typing_extensions import override

from aptmc.errors import RunFailed
from aptmc.record.event_log import TAKEN, Events
from aptmc.session.orders import Outcome
from aptmc.session.session import Session

# Events between two comparisons: the first difference should be found soon.
EVENTS_AT_A_TIME = 1024


class Computing(ABC):
    """Who computes the moves of a replay."""

    @abstractmethod
    def begin(self, chain: int) -> None:
        """A chain's move may be computed from now on."""

    @abstractmethod
    def finish(self, chain: int) -> Outcome:
        """The outcome of a move that was begun."""


@final
class Here(Computing):
    """This process, one move after the other."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @override
    def begin(self, chain: int) -> None:
        """Nothing is done yet: a move is computed when its outcome is asked for."""

    @override
    def finish(self, chain: int) -> Outcome:
        return self._session.compute(chain)


def replay(
    session: Session, events: Events, until: float, computing: Computing | None = None
) -> None:
    """Feed a fresh session the events of another, and compute every move again.

    Whatever processors there were, however often a move had to be ordered: given who took and who
    finished a move when, all else is determined.
    """
    computing = computing or Here(session)
    session.begin()
    for row, kind in enumerate(events.kind.tolist()):
        chain, processor = int(events.chain[row]), int(events.processor[row])
        time = float(events.time[row])
        if kind == TAKEN:
            pool = int(session.machine.pool[chain])
            taken = session.take_next(pool, processor, time)
            if taken != chain:
                raise RunFailed(
                    f"event {row} cannot have happened: at {time:g} the next chain of pool {pool} "
                    f"was {taken}, but the log says that {chain} was taken"
                )
            computing.begin(chain)
            continue
        if not 0 <= chain < session.machine.rung.size or session.machine.waiting[chain]:
            raise RunFailed(
                f"event {row} cannot have happened: at {time:g} chain {chain} finished a move "
                "that it had not begun"
            )
        began, ended = float(events.began[row]), float(events.ended[row])
        session.complete(chain, computing.finish(chain), time, processor, began, ended)
        if row % EVENTS_AT_A_TIME == 0:
            session.flush()
    session.catch_up(until)
    session.progress.elapsed = until
    session.flush()
