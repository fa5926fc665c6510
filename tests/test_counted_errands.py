"""Of a budget that is a number of evaluations an errand uses what its moves evaluate."""

from __future__ import annotations

import numpy as np
import pytest

from aptmc.keys import ANNEALING, Key
from aptmc.problem.chain_state import OWN, WORK
from aptmc.quota import EVALUATIONS, MOVES, Quota
from aptmc.sampling.counted import CountedErrand
from aptmc.session.descent import Errand
from aptmc.session.meter import Meter
from aptmc.session.orders import Order, Outcome

ORDER = Order(Key(1, 0, 1, ANNEALING), 0, 1.0, np.array([1.0]), np.zeros(3))


class Listens(Errand):
    """What it was told."""

    is_over = False

    def next_order(self):
        return ORDER

    def report(self, order, outcome, seconds, elapsed):
        self.told = seconds, elapsed


@pytest.mark.parametrize(
    ("unit", "work", "counts"),
    [(EVALUATIONS, 15.0, 15.0), (EVALUATIONS, 0.0, 1.0), (MOVES, 15.0, 1.0)],
    ids=["a trajectory", "an attempt", "a move"],
)
def test_an_errand_is_charged_what_its_moves_evaluate(unit, work, counts):
    meter, listens, info = Meter(Quota(20.0, unit)), Listens(), np.zeros(OWN)
    info[WORK] = work
    counted = CountedErrand(listens, meter, WORK, 0.5, 2, by_time=False)
    counted.report(ORDER, Outcome(np.zeros(3), info), 7.0, 8.0)
    assert meter.used == counts
    assert listens.told == (counts, 0.5 * counts)  # of both processors, and of the whole
    assert not counted.is_over
    counted.report(ORDER, Outcome(np.zeros(3), info), 7.0, 8.0)
    assert counted.is_over == (counts > 10.0)
