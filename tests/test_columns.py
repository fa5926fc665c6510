"""The columns of draws and events are written once; whoever needs them takes them from there."""

from __future__ import annotations

import numpy as np

from aptmc.record.columns import (
    DRAW_COLUMNS,
    EVENT_COLUMNS,
    STATISTICS,
    Draws,
    Events,
    no_draws,
)
from aptmc.record.event_log import EVENT
from aptmc.record.record import DRAW
from aptmc.store.disk import EVENT_COLUMNS as ON_DISK
from aptmc.store.disk import draw_columns

WIDTH = 3


def test_a_row_in_memory_and_on_disk_has_the_columns_of_a_draw():
    on_disk = {column.name: column for column in draw_columns(WIDTH)}
    assert list(on_disk) == list(DRAW_COLUMNS) == ["chain", *Draws._fields]
    assert set(DRAW.names) == {"chain", *STATISTICS} == set(DRAW_COLUMNS) - {"state"}
    for name, kind in DRAW_COLUMNS.items():
        assert on_disk[name].kind == kind.code
        assert on_disk[name].shape == ((WIDTH,) if kind.is_row else ())
        if not kind.is_row:
            assert DRAW[name] == np.dtype(kind.code)


def test_so_has_one_of_an_event():
    assert [column.name for column in ON_DISK] == list(EVENT_COLUMNS) == list(Events._fields)
    assert EVENT.names == Events._fields
    assert [EVENT[column.name] for column in ON_DISK] == [np.dtype(c.kind) for c in ON_DISK]


def test_no_draws_have_the_right_kinds():
    nothing = no_draws(WIDTH)
    assert nothing.state.shape == (0, WIDTH)
    for name, column in nothing._asdict().items():
        assert column.dtype == np.dtype(DRAW_COLUMNS[name].code)
        assert len(column) == 0
