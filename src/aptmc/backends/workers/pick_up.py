"""Pick up the moves that were in flight when a session was left, as if it had never been left.

They are computed again with the same random keys, and it matters when. Waiting chains follow their
targets given what is in flight *and for how long*. Of what is found in flight slow moves are the
more; if all began anew together, the order in which they end would not be what it would have been.
So the session's clock stands still, the move that was oldest begins first and each of the others at
its time, and the clock goes on when every one has been computed for as long as it had been.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, final

from aptmc.backends.workers.wire import Reply
from aptmc.backends.workers.workforce import Worker, Workforce
from aptmc.session.control import Control
from aptmc.session.session import Session

# The most of what is left of the budget in which the clock may stand still. A move that had been
# computed for longer, because it hangs perhaps, is then younger than it was. The run forgets that
# in time, as it forgets where it began, and it is better than to wait for that move alone.
MOST_STANDING_STILL = 0.5
AT_ONCE = 1e-6  # seconds


class _Move(NamedTuple):
    age: float  # that it had
    chain: int
    processor: int


@final
class PickUp:
    """Moves of an earlier phase, on the way to being as old as they were."""

    def __init__(self, session: Session, control: Control, workforce: Workforce[Any]) -> None:
        self._session, self._control, self._workforce = session, control, workforce
        self.replies: list[tuple[Worker, Reply]] = []  # of moves that are done already
        self._to_start: list[_Move] = []  # the oldest last
        self._started: list[_Move] = []
        self._waited: list[_Move] = []  # for their processors, and do so again
        busy: set[int] = set()
        for chain in session.machine.in_flight:
            was = session.machine.chains[chain]
            waited = math.isnan(was["since"])
            age = 0.0 if waited else max(session.progress.elapsed - float(was["since"]), 0.0)
            move = _Move(age, chain, self._processor(chain, int(was["processor"]), busy))
            (self._waited if move.processor in busy else self._to_start).append(move)
            busy.add(move.processor)
        self._to_start.sort()

    def wait(self, until: float, serve: Callable[[], None]) -> None:
        """Hold on until all are as old as they were; not for long, if the run ends at `until`."""
        clock = self._control.clock
        now = clock.now()
        limit = now + MOST_STANDING_STILL * (until - now)
        while self._control.stopped is None:
            while self._to_start and self._to_start[-1].age >= self._missing() - AT_ONCE:
                move = self._to_start.pop()
                self._started.append(move)
                self._order(move)
            missing = self._missing()
            if clock.now() >= limit or (missing <= AT_ONCE and not self._to_start):
                break
            next_age = self._to_start[-1].age if self._to_start else 0.0
            next_look = clock.now() + missing - next_age
            self.replies += self._workforce.listen(min(limit, next_look, self._control.due))
            serve()

    def order_the_rest(self) -> None:
        """What waited for its processor does so again."""
        for move in [*reversed(self._to_start), *self._waited]:
            self._order(move)

    def _order(self, move: _Move) -> None:
        worker = self._workforce.workers[move.processor]
        self._workforce.order(worker, self._session.order(move.chain))

    def _missing(self) -> float:
        """How long it takes until those that were started, or else the next, are old enough."""
        now, done = self._control.clock.now(), {reply.key.chain for _, reply in self.replies}
        left = [
            move.age - (now - self._workforce.workers[move.processor].since)
            for move in self._started
            if move.chain not in done
        ]
        return max(left, default=self._to_start[-1].age if self._to_start else -math.inf)

    def _processor(self, chain: int, before: int, busy: set[int]) -> int:
        """Who takes a move: whoever had it before, or one of those who serve its pool."""
        served, pool = self._session.served, self._session.machine.pool[chain]
        own = [one for one in self._workforce.workers if served[one % served.size] == pool]
        if before in own:
            return before
        return min(own, key=lambda one: (one in busy, one))
