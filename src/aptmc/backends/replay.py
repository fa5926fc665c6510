"""Replay: compute a run again from the log of its events, on one processor, bit for bit."""

from __future__ import annotations

from aptmc.backends.session import Session
from aptmc.errors import RunFailed
from aptmc.event_log import TAKEN, Events


def replay(session: Session, events: Events, until: float) -> None:
    """Feed a fresh session the events of another, and compute every move here.

    Whatever processors there were, however often a move had to be ordered: given who took and who
    finished a move when, all else is determined.
    """
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
            continue
        if chain not in session.started_from:
            raise RunFailed(
                f"event {row} cannot have happened: at {time:g} chain {chain} finished a move "
                "that it had not begun"
            )
        began, ended = float(events.began[row]), float(events.ended[row])
        session.complete(chain, session.compute(chain), time, processor, began, ended)
    session.catch_up(until)
    session.progress.elapsed = until
