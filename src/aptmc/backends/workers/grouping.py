"""How much is sent to a worker at a time: as the user wants it, or as a trial shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, final

import numpy as np

from aptmc.backends.workers.trials import ComputeTimed, measure_units, moves_are_long
from aptmc.checks import whole_number
from aptmc.compiled import Integers
from aptmc.errors import InputError
from aptmc.kernels.base import STEPS
from aptmc.session.session import Session
from aptmc.session.units import Units, can_queue_ahead

Group = Literal["auto"] | int | Sequence[int] | Integers
Ahead = Literal["auto"] | int


@final
class Grouping:
    """The user's wishes about units of work.

    :param most_ahead: how many moves may wait at a worker
    """

    def __init__(self, group: Group, ahead: Ahead, most_ahead: float = math.inf) -> None:
        if isinstance(group, np.ndarray):
            group = group.tolist()
        if group != "auto":
            for count in group if isinstance(group, Sequence) else [group]:
                whole_number("group", count)
        if ahead != "auto":
            if most_ahead == 1 and ahead not in (0, 1):
                raise InputError(f'ahead must be "auto", 0 or 1, got {ahead!r}')
            ahead = whole_number("ahead", ahead, least=0)
        self.group, self.ahead, self.most_ahead = group, ahead, most_ahead

    def check(self, session: Session) -> None:
        """Do groups and queues fit?"""
        if isinstance(self.group, Sequence) and self.group != "auto":
            rungs = session.tuning.shape[0]
            if len(self.group) != rungs:
                raise InputError(
                    f"group must have one entry for each of {rungs} rungs, got {self.group!r}"
                )
        if (
            self.ahead != "auto"
            and self.ahead > 0
            and not can_queue_ahead(session.machine, session.served, self.ahead)
        ):
            count = "two" if self.ahead == 1 else str(1 + self.ahead)
            raise InputError(
                f"with ahead={self.ahead} {count} moves of each processor are in flight, and too "
                "few chains would be left to exchange (or the schedule has barriers): use more "
                "chains, fewer workers, or ahead=0"
            )

    def units(self, session: Session, seconds: float, compute: ComputeTimed) -> Units:
        """How many steps make a move, and how many moves wait: given, or found by a trial.

        :param seconds: how long the run is to take
        """
        steps = session.tuning[:, STEPS].astype(np.int64)
        if self.group != "auto":
            steps = steps * np.broadcast_to(np.asarray(self.group, np.int64), steps.shape)
        ahead = None if self.ahead == "auto" else self.ahead
        if self.group != "auto" and ahead is not None:
            return Units(steps, ahead)
        if moves_are_long(session):
            return Units(steps, ahead or 0)
        group = self.group == "auto"
        measured = measure_units(
            session,
            compute,
            seconds=seconds,
            group=group,
            ahead=ahead,
            most_ahead=self.most_ahead,
        )
        return measured if group else Units(steps, measured.ahead)
