"""A stored run is computed again bit for bit, and every difference is found and located."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr

import aptmc
from aptmc import start
from aptmc.errors import RunFailed
from aptmc.record.event_log import empty_log
from aptmc.record.record import empty_record, write
from aptmc.result.compare import Comparison
from aptmc.store import table
from tests.backends.contract import eventually
from tests.support import simulators
from tests.support.stores import PROBLEM, kept, sampled

MANY = 3_000


@pytest.fixture(scope="module")
def on_processes(tmp_path_factory):
    """A run of many moves, one step each, on four worker processes."""
    path = tmp_path_factory.mktemp("replay") / "run.zarr"
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(table, "CHUNK_ROWS", 1024)
        with start(
            simulators.problem(),
            budget=3600.0,
            ladder=aptmc.Ladder.powers(6),
            kernel=aptmc.RandomWalk(1.0),
            schedule=aptmc.Anytime(every="3 ms"),
            on=aptmc.Processes(4, group=1, ahead=0),
            keep="all",
            store=path,
            seed=1,
        ) as handle:
            eventually(lambda: handle.inspect().run.completions >= MANY)
            run = handle.stop()
    return path, run


def test_thousands_of_moves_of_four_workers_are_the_same(on_processes):
    path, run = on_processes
    again = aptmc.replay(path, simulators.problem())
    assert again.is_same
    assert again.completions == run.completions >= MANY
    assert again.draws == sum(draws.time.size for draws in kept(run))
    assert 0.0 < run.counted_from < run.elapsed
    assert len(np.unique(run.events.processor)) == 4
    assert "all the same" in str(again)


@pytest.mark.parametrize("kind", ["processes", "an executor"])
def test_many_processors_replay_the_same(on_processes, kind):
    path, run = on_processes
    on = aptmc.Processes(2, group=1)
    if kind == "an executor":
        on = aptmc.Futures(lambda: ThreadPoolExecutor(2), workers=2)
    again = aptmc.replay(path, simulators.problem(), on=on)
    assert again.is_same
    assert again.completions == run.completions


def test_virtual_time_cannot_replay(on_processes):
    with pytest.raises(aptmc.InputError, match=r"on must be aptmc.Processes\(...\) or"):
        aptmc.replay(on_processes[0], simulators.problem(), on=aptmc.VirtualTime(2))


def changed_chunk(path, name, row, bit=0):
    """Write a chunk with one bit changed, and a checksum that fits."""
    array = zarr.open_array(path / "draws" / name, mode="r+")
    flat = array[:]
    flat.view(np.uint8).reshape(len(flat), -1)[row, 0] ^= 1 << bit
    array[:] = flat


@pytest.mark.parametrize("name", ["state", "time", "chain", "accepted", "hold_time"])
def test_a_changed_draw_with_a_valid_checksum_is_located(tmp_path, monkeypatch, name):
    path = tmp_path / "run.zarr"
    sampled(path, monkeypatch)
    row = 41
    changed_chunk(path, name, row)
    aptmc.open(path)  # nothing is wrong with any file
    again = aptmc.replay(path, PROBLEM)
    assert not again.is_same
    assert again.draws == row
    assert f"draw {row} " in again.difference
    assert f"its {name} is" in again.difference
    assert str(again).startswith("not the same: draw 41 (chain ")


def test_a_draw_of_real_processes_that_was_changed_is_located(on_processes, tmp_path):
    path = tmp_path / "run.zarr"
    shutil.copytree(on_processes[0], path)
    changed_chunk(path, "state", 2_000)
    again = aptmc.replay(path, simulators.problem())
    assert "draw 2000 (chain " in str(again)
    assert again.completions < on_processes[1].completions  # no more than needed are computed


@pytest.mark.parametrize("what", ["time", "chain"])
def test_a_changed_event_is_located(tmp_path, monkeypatch, what):
    path = tmp_path / "run.zarr"
    sampled(path, monkeypatch)
    array = zarr.open_array(path / "events" / what, mode="r+")
    values = array[:]
    values[40] = values[40] + 1
    array[:] = values
    again = aptmc.replay(path, PROBLEM)
    assert not again.is_same
    assert "draw" in again.difference or "event 4" in again.difference


def test_a_run_without_draws_can_be_replayed(tmp_path, monkeypatch):
    path = tmp_path / "run.zarr"
    sampled(path, monkeypatch, budget=1e-9)
    assert aptmc.replay(path, PROBLEM) == (0, 0, None)


def test_a_store_that_ends_too_early_or_too_late_differs(tmp_path, monkeypatch):
    run = sampled(tmp_path / "run.zarr", monkeypatch)
    blocks = list(run._store.rows())
    record = empty_record(np.arange(4), 4, 3, np.ones(4, np.bool_), 100)
    first = blocks[0]
    for row in range(len(first.chain)):
        draws = first.draws.rows(slice(row, row + 1))
        write(
            record, int(first.chain[row]), int(draws.exchanged[0]), int(draws.accepted[0]),
            int(draws.replica[0]), float(draws.time[0]), draws.state[0], int(draws.processor[0]),
            float(draws.hold_time[0]), float(draws.work[0]),
        )  # fmt: skip
    same = Comparison(iter(blocks[:1]))
    same.append(record, empty_log(0))
    assert same.finish() is None
    assert same.compared == len(first.chain)
    longer = Comparison(iter(blocks))
    longer.append(record, empty_log(0))
    assert "goes on after draw" in longer.finish()
    shorter = Comparison(iter([]))
    with pytest.raises(RunFailed, match="ends after draw 0"):
        shorter.append(record, empty_log(0))
    assert "ends after draw 0" in shorter.finish()


def test_a_store_says_in_plain_json_what_it_is(tmp_path, monkeypatch):
    path = tmp_path / "run.zarr"
    sampled(path, monkeypatch)
    described = json.loads((path / "zarr.json").read_text())["attributes"]["aptmc"]
    assert described["seed"] == 1
    assert described["problem"]["names"] == ["x"]
    assert described["versions"]["aptmc"] == aptmc.__version__
