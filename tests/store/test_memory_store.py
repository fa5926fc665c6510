"""The store in memory: the draws of each chain, in the order in which they came."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aptmc.record.event_log import empty_log
from aptmc.store import Draws, MemoryStore
from tests.store.contract import (
    CHAINS,
    WIDTH,
    StoreContract,
    as_rows,
    fill,
    new_record,
)


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()


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
