"""What every store promises, as one suite that each inherits.

A store is given records and logs, and gives back the draws of each chain and all events, in order,
whatever the sizes in which they came. Another store may be made of what it holds at any moment.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from aptmc.record.event_log import COMPLETED, TAKEN, EventLog, Events, empty_log, log_event
from aptmc.record.record import EXCHANGE_MOVE, LOCAL_MOVE, Record, empty_record, write
from aptmc.store import Draws, Store

CHAINS, WIDTH, ROWS = 4, 3, 64
TYPES = [
    np.float64, np.float64, np.bool_, np.int32, np.int32, np.int32, np.float64, np.float64,
]  # fmt: skip
EVENT_TYPES = [np.int8, np.int32, np.int32, np.float64, np.float64, np.float64]
# Around the sizes of chunks that stores on disk are tested with.
SIZES = [0, 1, 7, 8, 9, 16, 17, 40]


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


def fill_log(log: EventLog, count: int, begin: int) -> list[tuple[Any, ...]]:
    """The same with events."""
    rows = []
    for number in range(begin, begin + count):
        kind = COMPLETED if number % 2 else TAKEN
        time, began, ended = number / 4, number / 8, number / 3
        row = (kind, number % CHAINS, number % 3, time, began, ended)
        log_event(log, *row)
        rows.append(row)
    return rows


def as_rows(columns: Draws | Events) -> list[tuple[Any, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def of_chain(rows: list[tuple[Any, ...]], chain: int) -> list[tuple[Any, ...]]:
    return [row[1:] for row in rows if row[0] == chain]


class Filled:
    """A store, and in plain rows what it was given."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.draws: list[tuple[Any, ...]] = []
        self.events: list[tuple[Any, ...]] = []

    def append(self, chains: list[int], events: int = 0) -> None:
        record, log = new_record(), empty_log(ROWS)
        self.draws += fill(record, chains, begin=len(self.draws))
        self.events += fill_log(log, events, begin=len(self.events))
        self.store.append(record, log)

    def is_in(self, store: Store) -> bool:
        """Whether a store holds this, all of it and nothing else."""
        mine = [as_rows(draws) for draws in store.chains(range(CHAINS), WIDTH)]
        wanted = [of_chain(self.draws, chain) for chain in range(CHAINS)]
        return mine == wanted and as_rows(store.events()) == self.events


class StoreContract:
    """Inherit, and say how a store is made."""

    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def filled(self, store: Store) -> Filled:
        return Filled(store)

    @pytest.mark.parametrize("size", SIZES)
    def test_each_chain_keeps_its_draws_in_order(self, filled, size):
        filled.append([number * 7 % CHAINS for number in range(size)], events=size)
        assert filled.is_in(filled.store)

    def test_many_appends_of_all_sizes_are_one_after_the_other(self, filled):
        sizes = np.random.default_rng(1).permutation(SIZES * 3).tolist()
        for turn, size in enumerate(sizes):
            filled.append([(turn + number) % CHAINS for number in range(size)], events=size // 2)
        assert len(filled.draws) == 3 * sum(SIZES)
        assert filled.is_in(filled.store)

    def test_draws_may_be_asked_for_at_any_moment(self, filled):
        for _ in range(20):
            filled.append([0, 1, 0], events=2)
            assert filled.is_in(filled.store)
        assert filled.is_in(filled.store)

    def test_a_chain_may_be_asked_for_alone(self, filled):
        filled.append([0, 1, 0, 2] * 5)
        assert as_rows(filled.store.draws(2, WIDTH)) == of_chain(filled.draws, 2)

    def test_chains_may_be_asked_for_in_any_order(self, filled):
        filled.append([0, 1, 0, 2] * 5)
        found = [as_rows(draws) for draws in filled.store.chains([2, 0], WIDTH)]
        assert found == [of_chain(filled.draws, 2), of_chain(filled.draws, 0)]

    def test_a_record_that_is_used_again_leaves_the_stored_draws_alone(self, store):
        record, log = new_record(), empty_log(ROWS)
        draws, events = fill(record, [2, 2], begin=1), fill_log(log, 3, begin=1)
        store.append(record, log)
        for table in (record, log):
            for column in table:
                if isinstance(column, np.ndarray):
                    column[...] = 1
        assert as_rows(store.draws(2, WIDTH)) == of_chain(draws, 2)
        assert as_rows(store.events()) == events

    def test_rows_that_are_not_in_use_are_not_stored(self, store):
        record, log = new_record(), empty_log(ROWS)
        fill(record, [0] * 10, begin=0)
        fill_log(log, 10, begin=0)
        record.filled[0], log.filled[0] = 4, 5
        store.append(record, log)
        assert store.draws(0, WIDTH).time.size == 4
        assert store.events().time.size == 5

    @pytest.mark.parametrize("appends", [0, 1, 2])
    def test_a_store_without_draws_gives_empty_columns_of_the_right_kind(self, store, appends):
        for _ in range(appends):
            store.append(new_record(), empty_log(0))
        draws = store.draws(3, WIDTH)
        assert draws.state.shape == (0, WIDTH)
        assert [column.shape[0] for column in draws] == [0] * len(TYPES)
        assert [column.dtype for column in draws] == TYPES
        assert draws.between(-math.inf, math.inf).state.shape == (0, WIDTH)
        assert [column.size for column in store.events()] == [0] * len(EVENT_TYPES)
        assert [column.dtype for column in store.events()] == EVENT_TYPES

    def test_a_chain_without_draws_is_empty_beside_one_with_draws(self, filled):
        filled.append([1, 1] * 10, events=20)
        assert filled.store.draws(0, WIDTH).state.shape == (0, WIDTH)
        assert filled.store.draws(1, WIDTH).state.shape == (20, WIDTH)
        assert [column.dtype for column in filled.store.draws(1, WIDTH)] == TYPES
        assert [column.dtype for column in filled.store.events()] == EVENT_TYPES

    def test_numbers_that_are_none_come_back_as_they_were(self, store):
        record = new_record()
        values = np.array([math.nan, -math.inf, -0.0])
        for _ in range(10):
            write(record, 0, LOCAL_MOVE, 1, 0, 0.0, values, 0, math.nan, math.inf)
        store.append(record, empty_log(0))
        draws = store.draws(0, WIDTH)
        assert draws.state.tobytes() == np.tile(values, (10, 1)).tobytes()
        assert np.isnan(draws.hold_time).all()
        assert (draws.work == math.inf).all()

    def test_a_copy_does_not_change_while_the_store_grows(self, filled):
        filled.append([0, 1, 2] * 3, events=9)
        before = Filled(filled.store.copy())
        before.draws, before.events = list(filled.draws), list(filled.events)
        for _ in range(5):
            filled.append([0, 1, 2] * 3, events=9)
        assert before.is_in(before.store)
        assert filled.is_in(filled.store)

    def test_a_copy_of_an_empty_store_is_empty(self, filled):
        copy = filled.store.copy()
        filled.append([0] * 20, events=20)
        assert copy.draws(0, WIDTH).time.size == 0
        assert copy.events().time.size == 0

    def test_a_column_of_a_chain_is_that_of_its_draws(self, filled):
        filled.append([0, 1, 0, 2] * 5)
        for chain in range(CHAINS):
            draws = filled.store.draws(chain, WIDTH)
            for name in Draws._fields[1:]:
                column = filled.store.column(name, None, chain)
                assert column.tolist() == getattr(draws, name).tolist()
            for place in range(WIDTH):
                column = filled.store.column("state", place, chain)
                assert column.tolist() == draws.state[:, place].tolist()
            stretch = filled.store.column("state", slice(0, 2), chain)
            assert stretch.tolist() == draws.state[:, :2].tolist()

    def test_the_kinds_of_columns_are_told(self, store):
        kinds = store.column_kinds()
        assert [np.dtype(kinds[name]) for name in Draws._fields] == TYPES
        assert np.dtype(kinds["chain"]) == np.int32

    def test_a_store_can_be_saved_and_closed_wherever_it_is(self, filled):
        filled.append([0, 1] * 10, events=20)
        filled.store.append_warmup(filled.store.draws(0, WIDTH), chain=0)
        filled.store.save({"a note": 1}, {"numbers": np.arange(3)})
        filled.store.save({"a note": 2}, {"numbers": np.arange(4)}, wait=False)
        assert filled.is_in(filled.store)
        assert filled.store.damage is None
        filled.store.close()
        assert filled.store.path is None or filled.store.path.is_dir()

    def test_the_comparison_that_these_tests_make_can_fail(self, filled):
        filled.append([0, 1] * 10, events=20)
        record, log = new_record(), empty_log(ROWS)
        assert filled.is_in(filled.store)
        filled.draws[-1], last = (1, *filled.draws[-1][1:-1], -1.0), filled.draws[-1]
        assert not filled.is_in(filled.store)
        filled.draws[-1] = last
        fill(record, [3], begin=0)
        filled.store.append(record, log)
        assert not filled.is_in(filled.store)
