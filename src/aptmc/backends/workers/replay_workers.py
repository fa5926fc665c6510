"""Workers that compute the moves of a replay."""

from __future__ import annotations

import math
from typing import Any, final

from typing_extensions import override

from aptmc.backends.workers.workforce import Workforce
from aptmc.session.control import Control
from aptmc.session.event_replay import Computing
from aptmc.session.orders import Outcome
from aptmc.session.session import Session

PATIENCE = 600.0  # seconds, for workers to be there: a replay has no budget


@final
class ByWorkers(Computing):
    """Workers: moves that were under way at the same time are so again."""

    def __init__(self, session: Session, workforce: Workforce[Any], processors: int) -> None:
        self._session, self._workforce = session, workforce
        self._outcomes: dict[int, Outcome] = {}  # by chain
        control = Control()
        workforce.await_ready(control.clock.now() + PATIENCE, control)
        for processor in range(processors):
            workforce.hire(processor)

    @override
    def begin(self, chain: int) -> None:
        """Order it from whoever has least to do."""
        worker = min(self._workforce.workers.values(), key=lambda worker: len(worker.orders))
        self._workforce.order(worker, self._session.order(chain))

    @override
    def finish(self, chain: int) -> Outcome:
        """Wait for the outcome of a move that was begun."""
        while chain not in self._outcomes:
            for _, reply in self._workforce.listen(math.inf):
                if reply.failure is not None:
                    raise reply.failure
                assert reply.outcome is not None
                self._outcomes[reply.key.chain] = reply.outcome
        return self._outcomes.pop(chain)
