"""An engine whose budget is a count, or that ends when a count is reached."""

from __future__ import annotations

from typing import final

from typing_extensions import override

from aptmc.backends.base import Engine
from aptmc.errors import StopReason
from aptmc.kernels.base import STEPS
from aptmc.problem.chain_state import WORK
from aptmc.quota import MOVES, NO_LIMIT
from aptmc.session.descent import Errand
from aptmc.session.meter import Meter
from aptmc.session.orders import Order, Outcome
from aptmc.session.session import Session, Usage


@final
class CountedEngine(Engine):
    """Runs phases on another engine, and counts.

    A budget is then a number of seconds, or as many units as each processor is to compute, and all
    who plan by it do so as ever. Beside a time, what is scarcer is what counts: a share of the
    count is worth the same share of the time.

    :param seconds: of the whole run; None: the count is all there is
    """

    def __init__(
        self, engine: Engine, meter: Meter, *, seconds: float | None, searchers: int
    ) -> None:
        self._engine, self._meter, self._searchers = engine, meter, searchers
        self._by_time = seconds is not None
        self._worth = 1.0 / searchers if seconds is None else seconds / meter.quota.most
        self.unit = meter.quota.unit if seconds is None else ""

    @override
    def run(self, session: Session, budget: float) -> Usage:
        meter = self._meter
        is_all = budget >= self.left()
        meter.follow(session, meter.left if is_all else min(budget / self._worth, meter.left))
        session.progress.meter = meter
        try:
            usage = self._engine.run(session, budget if self._by_time else NO_LIMIT)
        finally:
            session.progress.meter = None
        used = meter.end_phase() * self._worth
        if not self._by_time:
            return usage._replace(charged=used)
        return self._ended(usage)._replace(charged=max(used, usage.elapsed))

    @override
    def search(self, session: Session, errand: Errand) -> Usage:
        place = session.kernel.places.get("simulations", WORK)
        counted = CountedErrand(
            errand, self._meter, place, self._worth, self._searchers, by_time=self._by_time
        )
        usage = self._engine.search(session, counted)
        if usage.stopped is StopReason.STILL_RUNNING and self._meter.left <= 0.0:
            usage = usage._replace(stopped=StopReason.BUDGET_SPENT)
        charged = max(counted.used * self._worth, usage.elapsed if self._by_time else 0.0)
        return self._ended(usage)._replace(charged=charged)

    @override
    def left(self) -> float:
        left = self._engine.left()
        worth = self._meter.left * self._worth
        if self._by_time:
            return min(left, worth)
        return worth if left > 0.0 else 0.0

    @override
    def over(self) -> None:
        self._engine.over()

    def _ended(self, usage: Usage) -> Usage:
        """Beside a time, a count that is reached is no spent budget."""
        is_reached = self._by_time and self._meter.left <= 0.0
        if is_reached and usage.stopped is StopReason.BUDGET_SPENT:
            return usage._replace(stopped=StopReason.ENOUGH)
        return usage


@final
class CountedErrand(Errand):
    """An errand whose orders are told to have taken what their count is worth.

    :param by_time: they are told the time that they took, if that is more
    """

    def __init__(
        self, errand: Errand, meter: Meter, place: int, worth: float, searchers: int,
        *, by_time: bool,
    ) -> None:  # fmt: skip
        self._errand, self._meter, self._place = errand, meter, place
        self._worth, self._searchers, self._by_time = worth, searchers, by_time
        self.used = 0.0
        errand.tell = lambda words, share: self.tell(words, share)

    @property
    @override
    def is_over(self) -> bool:
        return self._errand.is_over or self._meter.left <= 0.0

    @override
    def next_order(self) -> Order:
        return self._errand.next_order()

    @override
    def report(self, order: Order, outcome: Outcome | None, seconds: float, elapsed: float) -> None:
        took = 1.0
        if self._meter.quota.unit != MOVES:
            took = float(order.tuning[STEPS])
            if outcome is not None:
                took = float(outcome.info[self._place])
                if self._place == WORK:  # what computes nothing is an attempt, and there is an end
                    took = max(took, 1.0)
        self.used += took
        self._meter.used_before += took
        least = (seconds, elapsed) if self._by_time else (0.0, 0.0)
        seconds = max(took * self._worth * self._searchers, least[0])
        elapsed = max(self.used * self._worth, least[1])
        self._errand.report(order, outcome, seconds, elapsed)
