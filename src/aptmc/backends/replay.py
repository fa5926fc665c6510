"""Replay: compute a run again from the log of its events, on one processor or many, bit for bit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, final

from aptmc.backends.control import Control
from aptmc.backends.session import Session
from aptmc.backends.workforce import Workforce
from aptmc.errors import RunFailed
from aptmc.event_log import TAKEN, Events
from aptmc.moves import Outcome

# Events between two comparisons: the first difference should be found soon.
EVENTS_AT_A_TIME = 1024
PATIENCE = 600.0  # seconds, for workers to be there: a replay has no budget


class Computing(ABC):
    """Who computes the moves of a replay."""

    @abstractmethod
    def begin(self, chain: int) -> None:
        """A chain's move may be computed from now on."""

    @abstractmethod
    def finish(self, chain: int) -> Outcome:
        """What came of it."""


@final
class Here(Computing):
    """This process, one move after the other."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin(self, chain: int) -> None:
        """Nothing yet."""

    def finish(self, chain: int) -> Outcome:
        """Compute it."""
        return self._session.compute(chain)


@final
class ByWorkers(Computing):
    """Workers: moves that were under way at the same time are so again."""

    def __init__(self, session: Session, workforce: Workforce[Any], processors: int) -> None:
        self._session, self._workforce = session, workforce
        self._outcomes: dict[int, Outcome] = {}  # by chain
        control = Control()
        workforce.await_nursery(control.clock.now() + PATIENCE, control)
        for processor in range(processors):
            workforce.hire(processor)

    def begin(self, chain: int) -> None:
        """Order it from whoever has least to do."""
        worker = min(self._workforce.workers.values(), key=lambda worker: len(worker.orders))
        self._workforce.order(worker, self._session.order(chain))

    def finish(self, chain: int) -> Outcome:
        """Wait for it."""
        while chain not in self._outcomes:
            for _, reply in self._workforce.listen(math.inf):
                if reply.failure is not None:
                    raise reply.failure
                assert reply.outcome is not None
                self._outcomes[reply.key.chain] = reply.outcome
        return self._outcomes.pop(chain)


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
        if chain not in session.started_from:
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
