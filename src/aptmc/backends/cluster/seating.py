"""Who sits where: workers, and the seats of an engine, which come and go."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, final

from aptmc.backends.cluster.dispatch import Dispatch, Seat
from aptmc.backends.workers.workforce import Worker


@final
@dataclass(eq=False, kw_only=True)
class RemoteWorker(Worker):
    """A worker and where it sits. One that lost its seat gets another, or has to wait for one."""

    seat: Seat | None = None
    is_held: bool = False  # its orders stay here for the time being


@final
class Seating:
    """Finds seats, and knows which are free and who has to share one."""

    def __init__(self, dispatch: Dispatch, workers: dict[int, RemoteWorker]) -> None:
        self.free: list[Seat] = []
        self.crowded: list[RemoteWorker] = []  # all but the first on each seat
        self._dispatch, self._workers = dispatch, workers
        self._retired: set[Seat] = set()  # whose workers were asked to leave

    def seat(self, worker: RemoteWorker) -> None:
        """Give a worker a seat: a free one, or that with the fewest on it, if there is any."""
        seats = self._dispatch.seats()
        taken = Counter(other.seat for other in self._workers.values())
        free = [seat for seat in seats if taken[seat] == 0]
        welcome = [seat for seat in free if seat not in self._retired] or free
        if welcome:
            worker.seat = welcome[0]
            self._retired.discard(welcome[0])
        elif seats:
            worker.seat = min(seats, key=lambda seat: taken[seat])
        self.take_stock()

    def retire(self, seat: Seat) -> None:
        """Leave a seat empty from when its worker goes."""
        self._retired.add(seat)

    def forget(self, home: Any) -> list[RemoteWorker]:
        """A home is gone; gives those who sat there, and sit nowhere now."""
        found = [
            one for one in self._workers.values() if one.seat is not None and one.seat.home is home
        ]
        for worker in found:
            worker.seat = None
        self._retired = {seat for seat in self._retired if seat.home is not home}
        return found

    def take_stock(self) -> None:
        """Which seats are free, and who shares one."""
        taken: set[Seat] = set()
        self.crowded = []
        for worker in self._workers.values():
            if worker.seat in taken:
                self.crowded.append(worker)
            elif worker.seat is not None:
                taken.add(worker.seat)
        self.free = [
            seat
            for seat in self._dispatch.seats()
            if seat not in taken and seat not in self._retired
        ]
