"""The kernel's numbers travel once: afterwards orders call them by name."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from numba import njit

import aptmc
from aptmc.backends.cluster.task import DONE, UNKNOWN, perform, read_answer, token_of
from aptmc.backends.processes.backend import FULL_SOCKET
from aptmc.backends.processes.local_workforce import LocalWorkforce
from aptmc.backends.workers import settings_rows
from aptmc.backends.workers.payload import pack
from aptmc.backends.workers.settings_rows import KnownRows
from aptmc.backends.workers.wire import Wire
from aptmc.clock import WallClock
from aptmc.kernels import Students
from aptmc.kernels.students import Mixed
from aptmc.keys import Key
from aptmc.session.orders import Mover, Order
from tests.backends.contract import eventually

WIDTH = 4


def order(row, rung=0, steps=1.0, number=1):
    return Order(Key(1, 2, number), rung, 0.5, np.array([steps, *row]), np.arange(WIDTH) + 0.5)


def same(one, other):
    assert one[:3] == other[:3]
    np.testing.assert_array_equal(one.tuning, other.tuning)
    np.testing.assert_array_equal(one.state, other.state)
    return True


def test_a_row_is_sent_with_the_first_order_and_not_with_the_next():
    here, there, known = Wire(1, WIDTH), Wire(1, WIDTH), KnownRows()
    row = np.arange(500.0)
    lengths = []
    for number in range(3):
        # The number of steps is no part of it.
        one = order(row, steps=1.0 + number, number=number)
        message = here.order_bytes(one, known)
        lengths.append(len(message))
        assert same(there.read_order(message), one)
    assert lengths[0] == lengths[1] + 8 * row.size
    assert lengths[1] == lengths[2] == here.bytes_per_order


def test_rows_that_change_are_sent_again_and_old_ones_are_still_known():
    here, there, known = Wire(1, WIDTH), Wire(1, WIDTH), KnownRows()
    rows = [np.arange(5.0), np.arange(7.0), np.array([np.nan, np.inf]), np.arange(5.0)]
    lengths = []
    for number, row in enumerate(rows):
        one = order(row, number=number)
        message = here.order_bytes(one, known)
        lengths.append((len(message) - here.bytes_per_order) // 8)
        assert same(there.read_order(message), one)
    assert lengths == [5, 7, 2, 0]


def test_a_row_that_is_changed_in_place_is_noticed():
    here, there, known = Wire(1, WIDTH), Wire(1, WIDTH), KnownRows()
    one = order(np.arange(5.0))
    there.read_order(here.order_bytes(one, known))
    one.tuning[2] = 9.0
    assert same(there.read_order(here.order_bytes(one, known)), one)


def test_kernels_without_numbers_need_no_rows():
    here, there = Wire(1, WIDTH), Wire(1, WIDTH)
    one = order([], steps=3.0)
    message = here.order_bytes(one, KnownRows())
    assert len(message) == here.bytes_per_order
    assert same(there.read_order(message), one)


def test_both_sides_forget_the_same_rows(monkeypatch):
    monkeypatch.setattr(settings_rows, "MOST_KEPT", 3)
    here, there, known = Wire(1, WIDTH), Wire(1, WIDTH), KnownRows()
    rng = np.random.default_rng(1)
    sent = 0
    for number in range(200):
        one = order([float(rng.integers(6)), 1.0], rung=number % 4, number=number)
        message = here.order_bytes(one, known)
        sent += len(message) > here.bytes_per_order
        assert same(there.read_order(message), one)
    assert 20 < sent < 200


def test_a_name_that_was_never_explained_is_noticed():
    here, known = Wire(1, WIDTH), KnownRows()
    here.order_bytes(order([1.0, 2.0]), known)
    assert Wire(1, WIDTH).read_order(here.order_bytes(order([1.0, 2.0]), known)) is None


def test_a_task_whose_row_is_not_known_is_asked_for_again():
    problem = aptmc.Power(lambda theta: -float(theta @ theta), {"x": np.zeros(2)})
    kernel = aptmc.RandomWalk(0.5)
    (row,) = kernel.tuning(problem, aptmc.Ladder.powers([1.0]))
    one = Order(Key(1, 0, 1), 0, 1.0, row, problem.start(np.random.default_rng(1)))
    wire, known = Wire(1, problem.width), KnownRows()
    payload = pack((problem, kernel), wire)
    wire.order_bytes(one, known)
    short = wire.order_bytes(one, known)
    token = token_of(payload)
    assert read_answer(perform(token, short, payload)).kind == UNKNOWN
    expected = Mover(problem, kernel, 1).compute(one)
    for message in (wire.order_bytes(one), short):
        kind, _, rest = read_answer(perform(token, message, None))
        assert kind == DONE
        outcome = wire.read_reply(rest).outcome
        np.testing.assert_array_equal(outcome.state, expected.state)


# --- a hundred dimensions -------------------------------------------------------------------------


@njit
def log_density(theta):
    return -0.5 * np.dot(theta, theta)


WIDE = aptmc.Power(log_density, {"x": np.zeros(100)})
LADDER = aptmc.Ladder.powers([1.0, 0.95, 0.9, 0.85])
KERNEL = aptmc.EllipticalSlice(Students.one(np.zeros(100), np.eye(100)), steps=5)


@pytest.mark.validation
@pytest.mark.parametrize("ahead", [0, 1])
def test_a_hundred_parameters_as_one_variable_can_be_queued_ahead(ahead, tmp_path):
    assert Wire(1, WIDE.width).bytes_per_order < FULL_SOCKET / 10
    assert 8 * KERNEL.tuning(WIDE, LADDER).shape[1] > FULL_SOCKET / 2
    handle = aptmc.start(
        WIDE,
        budget=1000.0,
        ladder=LADDER,
        kernel=KERNEL,
        schedule=aptmc.Anytime(every="5 ms"),
        pools=aptmc.Shared(2),
        on=aptmc.Processes(2, group=1, ahead=ahead),
        store=tmp_path / "run.zarr",
        progress=False,
        seed=1,
    )
    eventually(lambda: handle.inspect().run.completions > 100)
    run = handle.stop()
    assert run.draws.posterior.x.shape[-1] == 100
    assert aptmc.replay(tmp_path / "run.zarr", WIDE).is_same


def test_a_worker_process_is_told_of_rows_that_are_longer_than_before():
    wire, mover = Wire(1, WIDE.width), Mover(WIDE, KERNEL, 1)
    first, state = KERNEL.tuning(WIDE, LADDER)[0], WIDE.start(np.random.default_rng(1))
    two = Students.of([KERNEL.reference.on(0), *[mixture_of_two()] * 3])
    longer = aptmc.EllipticalSlice(two).tuning(WIDE, LADDER)[1]
    assert longer.size > first.size
    with closing(LocalWorkforce(pack((WIDE, KERNEL), wire), wire, WIDE)) as workforce:
        worker = workforce.hire(0)
        replies = []
        for number, tuning in enumerate([first, longer, first]):
            one = Order(Key(1, 0, number), 0, 1.0, tuning, state)
            workforce.order(worker, one)
            eventually(lambda: replies.extend(workforce.listen(WallClock().now() + 0.1)) or replies)
            _, reply = replies.pop()
            np.testing.assert_array_equal(reply.outcome.state, mover.compute(one).state)


def mixture_of_two():
    means = np.array([np.zeros(100), np.ones(100)])
    return Mixed(np.full(2, 0.5), means, np.array([np.eye(100)] * 2), 5.0)
