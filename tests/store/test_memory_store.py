"""The store in memory: the draws of each chain, in the order in which they came."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aptmc.event_log import empty_log
from aptmc.record import EXCHANGE_MOVE, LOCAL_MOVE, Record, empty_record, write
from aptmc.store import Draws, MemoryStore

CHAINS, WIDTH, ROWS = 4, 3, 64
TYPES = [
    np.float64, np.float64, np.bool_, np.int32, np.int32, np.int32, np.float64, np.float64,
]  # fmt: skip


def new_record() -> Record:
    rung = np.arange(CHAINS)
    return empty_record(rung, CHAINS, WIDTH, np.ones(CHAINS, np.bool_), ROWS)


def fill(record: Record, chains: list[int], begin: int) -> list[tuple[Any, ...]]:
    """Write one draw after the other, all different, and return them as plain rows."""
    rows = []
    for number, chain in enumerate(chains, start=begin):
        kind = EXCHANGE_MOVE if number % 3 == 0 else LOCAL_MOVE
        state = np.array([number, -number, number / 2], dtype=float)
        accepted, replica, processor = number % 5, number % CHAINS, number % 2
        time, hold_time, work = number / 8, number / 16, number * 2.0
        write(
            record, chain, kind, accepted, replica, time, state, processor, hold_time, work
        )  # fmt: skip
        exchanged = kind == EXCHANGE_MOVE
        rows.append(
            (
                chain, state.tolist(), time, exchanged, accepted, replica, processor,
                hold_time, work,
            )
        )  # fmt: skip
    return rows


def as_rows(draws: Draws) -> list[tuple[Any, ...]]:
    return list(zip(*(column.tolist() for column in draws), strict=True))


def with_times(times: list[float]) -> Draws:
    size = len(times)
    return Draws(
        state=np.arange(float(size)).reshape(size, 1),
        time=np.array(times),
        exchanged=np.arange(size) % 2 == 0,
        accepted=np.arange(size, dtype=np.int32),
        replica=np.arange(size, dtype=np.int32) + 10,
        processor=np.arange(size, dtype=np.int32) % 2,
        hold_time=np.arange(float(size)) / 3,
        work=np.arange(float(size)) / 7,
    )


@given(st.lists(st.lists(st.integers(0, CHAINS - 1), max_size=10), max_size=6))
def test_each_chain_keeps_its_draws_in_order_across_several_records(
    batches: list[list[int]],
) -> None:
    store, record = MemoryStore(), new_record()
    written: list[tuple[Any, ...]] = []
    for batch in batches:
        record.filled[0] = 0
        written += fill(record, batch, begin=len(written))
        store.append(record, empty_log(0))
    for chain in range(CHAINS):
        mine = [row[1:] for row in written if row[0] == chain]
        assert as_rows(store.draws(chain, WIDTH)) == mine


def test_draws_may_be_asked_for_between_records_and_more_than_once() -> None:
    store, record = MemoryStore(), new_record()
    written = fill(record, [0, 1, 0], begin=0)
    store.append(record, empty_log(0))
    assert store.draws(0, WIDTH).time.tolist() == [0.0, 0.25]
    for _ in range(2):
        record.filled[0] = 0
        written += fill(record, [1, 0], begin=len(written))
        store.append(record, empty_log(0))
    for _ in range(2):
        assert as_rows(store.draws(0, WIDTH)) == [row[1:] for row in written if row[0] == 0]
        assert as_rows(store.draws(1, WIDTH)) == [row[1:] for row in written if row[0] == 1]


def test_a_record_that_is_used_again_leaves_the_stored_draws_alone() -> None:
    store, record = MemoryStore(), new_record()
    written = fill(record, [2, 2], begin=1)
    store.append(record, empty_log(0))
    for column in (record.state, record.time, record.chain, record.kind, record.accepted):
        column[:] = 1
    assert as_rows(store.draws(2, WIDTH)) == [row[1:] for row in written]


def test_rows_that_are_not_in_use_are_not_stored() -> None:
    store, record = MemoryStore(), new_record()
    fill(record, [0] * 10, begin=0)
    record.filled[0] = 4
    store.append(record, empty_log(0))
    assert store.draws(0, WIDTH).time.size == 4


@pytest.mark.parametrize("appends", [0, 1, 2])
def test_a_store_without_draws_gives_empty_columns_of_the_right_kind(appends: int) -> None:
    store = MemoryStore()
    for _ in range(appends):
        store.append(new_record(), empty_log(0))
    draws = store.draws(3, WIDTH)
    assert draws.state.shape == (0, WIDTH)
    assert [column.shape[0] for column in draws] == [0] * len(TYPES)
    assert [column.dtype for column in draws] == TYPES
    assert draws.between(-math.inf, math.inf).state.shape == (0, WIDTH)


def test_a_chain_without_draws_is_empty_beside_one_with_draws() -> None:
    store, record = MemoryStore(), new_record()
    fill(record, [1, 1], begin=0)
    store.append(record, empty_log(0))
    assert store.draws(0, WIDTH).state.shape == (0, WIDTH)
    assert store.draws(1, WIDTH).state.shape == (2, WIDTH)
    assert [column.dtype for column in store.draws(1, WIDTH)] == TYPES


def test_two_stores_have_nothing_in_common() -> None:
    one, other, record = MemoryStore(), MemoryStore(), new_record()
    fill(record, [0], begin=0)
    one.append(record, empty_log(0))
    assert one.draws(0, WIDTH).time.size == 1
    assert other.draws(0, WIDTH).time.size == 0


@given(
    times=st.lists(st.integers(0, 6).map(float), max_size=12).map(sorted),
    start=st.sampled_from([-math.inf, -1.0, 0.0, 2.0, 2.5, 6.0, 7.0]),
    end=st.sampled_from([-1.0, 0.0, 2.0, 3.5, 6.0, 9.0, math.inf]),
)
def test_between_keeps_draws_after_the_start_up_to_and_with_the_end(
    times: list[float], start: float, end: float
) -> None:
    draws = with_times(times)
    expected = [row for row in as_rows(draws) if start < row[1] <= end]
    assert as_rows(draws.between(start, end)) == expected


@given(
    times=st.lists(st.floats(0, 10), max_size=12).map(sorted),
    cut=st.floats(0, 10),
)
def test_two_parts_cut_at_any_time_make_up_the_whole(times: list[float], cut: float) -> None:
    draws = with_times(times)
    before, after = draws.between(-math.inf, cut), draws.between(cut, math.inf)
    assert as_rows(before) + as_rows(after) == as_rows(draws)
