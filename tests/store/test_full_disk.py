"""A full disk ends the run with a clear error; nothing is lost, and the store is sound."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import aptmc
from aptmc.clock import ManualClock
from aptmc.store import DiskStore
from aptmc.store.table import Table
from tests.support.stores import (
    BUDGET,
    ON,
    PROBLEM,
    everything,
    in_memory,
    is_prefix,
    sampled,
)


class Disk:
    """A disk that is full after so many files were written."""

    def __init__(self, monkeypatch):
        self.written, self.room = 0, 10**9
        fsync, opening = os.fsync, Path.open

        def counted(descriptor):
            self.use()
            fsync(descriptor)

        def open_to_write(path, mode="r", *rest, **options):
            if "w" in mode:
                self.use()
            return opening(path, mode, *rest, **options)

        monkeypatch.setattr(os, "fsync", counted)
        monkeypatch.setattr(Path, "open", open_to_write)

    def use(self):
        self.written += 1
        if self.written > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


@pytest.fixture(scope="module")
def whole():
    return everything(in_memory())


@pytest.fixture(scope="module")
def uses(tmp_path_factory):
    """How often a run had used the disk at each of its checkpoints, and in all."""
    found = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        disk, save = Disk(monkeypatch), DiskStore.save

        def noted(store, *arguments, **options):
            found.append(disk.written)
            save(store, *arguments, **options)

        monkeypatch.setattr(DiskStore, "save", noted)
        sampled(tmp_path_factory.mktemp("uses") / "run.zarr", monkeypatch)
        found.append(disk.written)
    return found


@pytest.mark.parametrize(
    "share",
    [
        0.0,
        *(pytest.param(other, marks=pytest.mark.validation) for other in (0.1, 0.3, 0.7, 0.9)),
        0.5,
        1.0,
    ],
)
def test_a_full_disk_ends_the_run_and_nothing_is_lost(
    share, tmp_path, monkeypatch, disk, whole, uses
):
    """From the first use after moves began, to the last checkpoint's last."""
    path, first, last = tmp_path / "run.zarr", uses[0] + 3, uses[-1] - 2
    disk.room = round(first + share * (last - first))
    with pytest.raises(aptmc.StoreFailed, match="No space left on device") as caught:
        sampled(path, monkeypatch)
    disk.room = 10**9
    run = caught.value.run
    assert run.stopped is aptmc.StopReason.FAILED
    assert everything(run) == whole  # all that was computed is in memory, and no draw twice
    stored = aptmc.open(path)
    assert is_prefix(everything(stored), whole)
    left = BUDGET - stored.elapsed
    assert everything(aptmc.resume(path, PROBLEM, budget=left, on=ON)) == whole


def test_a_disk_that_is_full_at_once_is_found_before_any_work(tmp_path, monkeypatch, disk):
    disk.room = 2
    with pytest.raises(aptmc.StoreFailed, match="No space left"):
        sampled(tmp_path / "run.zarr", monkeypatch)


@pytest.mark.parametrize("room", [3, 40])
def test_this_process_by_the_clock(tmp_path, monkeypatch, disk, uses, room):
    disk.room = uses[0] + room
    on = aptmc.InProcess(ManualClock(1.0))
    with pytest.raises(aptmc.StoreFailed) as caught:
        sampled(tmp_path / "run.zarr", monkeypatch, on=on, save_every=1e-6)
    disk.room = 10**9
    again = everything(in_memory(on=aptmc.InProcess(ManualClock(1.0))))
    assert is_prefix(everything(caught.value.run), again)
    assert is_prefix(everything(aptmc.open(tmp_path / "run.zarr")), again)


def test_worker_processes(tmp_path, monkeypatch, disk):
    """They start up while checkpoints are written, so the disk is full when there are chunks."""
    write_chunks = Table.write_chunks

    def written(table):
        if table.written > 0:
            disk.room = 0
        return write_chunks(table)

    monkeypatch.setattr(Table, "write_chunks", written)
    settings = {"on": aptmc.Processes(1, group=1), "schedule": aptmc.Anytime(every="2 ms")}
    with pytest.raises(aptmc.StoreFailed) as caught:
        sampled(tmp_path / "run.zarr", monkeypatch, budget=300.0, save_every=0.05, **settings)
    disk.room = 10**9
    assert caught.value.run.completions > 0
    stored = aptmc.open(tmp_path / "run.zarr")
    assert is_prefix(everything(stored), everything(caught.value.run))
    assert aptmc.replay(tmp_path / "run.zarr", PROBLEM).is_same


def test_a_failed_move_is_told_rather_than_the_full_disk(tmp_path, disk):
    def fails(theta):
        if abs(theta[0]) > 1.5:
            disk.room = 0
            raise ArithmeticError("too far out")
        return -0.5 * theta[0] ** 2

    with pytest.raises(aptmc.MoveFailed) as caught:
        aptmc.sample(
            aptmc.Power(fails, {"x": 0.0}), budget=1_000.0, store=tmp_path / "run.zarr",
            ladder=aptmc.Ladder.powers(4), kernel=aptmc.RandomWalk(1.0), on=aptmc.VirtualTime(1),
            schedule=aptmc.Anytime(every=4.0), seed=1,
        )  # fmt: skip
    assert caught.value.run.stopped is aptmc.StopReason.FAILED
