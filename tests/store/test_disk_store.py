"""The store on disk keeps the contract, across chunks, checkpoints and processes."""

from __future__ import annotations

import hashlib
import json
import os

import numpy as np
import pytest
import zarr

import aptmc
from aptmc.store import DiskStore, Draws, table
from aptmc.store.checked import decode, encode
from aptmc.store.disk import draw_columns
from tests.store.contract import CHAINS, WIDTH, Filled, StoreContract, as_rows

CHUNK_ROWS = 8
DESCRIPTION = {"width": WIDTH}


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Where a store may be made, with chunks so short that there are several of them."""
    monkeypatch.setattr(table, "CHUNK_ROWS", CHUNK_ROWS)
    return tmp_path / "store.zarr"


@pytest.fixture
def store(path):
    made = DiskStore.create(path, DESCRIPTION, WIDTH)
    yield made
    made.close()


class TestDiskStore(StoreContract):
    @pytest.fixture
    def store(self, store):
        return store


@pytest.fixture
def filled(store):
    return Filled(store)


def save(store):
    store.save({"said": "something"}, {"states": np.arange(3.0)})


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 40])
def test_what_is_saved_is_read_by_another(filled, path, size):
    filled.append([number % CHAINS for number in range(size)], events=size)
    save(filled.store)
    read, checkpoint = DiskStore.read(path)
    assert filled.is_in(read)
    assert checkpoint.notes["said"] == "something"
    assert checkpoint.arrays["states"].tolist() == [0.0, 1.0, 2.0]


def test_what_is_not_saved_yet_is_not_seen_by_another(filled, path):
    filled.append([0] * 20, events=20)
    save(filled.store)
    before = list(filled.draws), list(filled.events)
    filled.append([1] * 20, events=20)  # whole chunks are on disk, but no checkpoint counts them
    assert (path / "draws" / "time" / "c" / "4").is_file()
    filled.draws, filled.events = before
    assert filled.is_in(DiskStore.read(path)[0])


def test_a_reader_keeps_what_it_has_read_while_the_store_grows(filled, path):
    filled.append([0] * 5, events=5)
    save(filled.store)
    read, _ = DiskStore.read(path)
    before = Filled(read)
    before.draws, before.events = list(filled.draws), list(filled.events)
    for _ in range(4):
        filled.append([0, 1] * 10, events=20)
        save(filled.store)
    assert before.is_in(read)
    assert filled.is_in(DiskStore.read(path)[0])


@pytest.mark.parametrize("lost", [0, 3, 8, 21])
def test_one_can_go_on_after_what_was_saved(filled, path, lost):
    """Rows that were appended after the last checkpoint are gone, and may be other ones next."""
    filled.append([0, 1, 2] * 5, events=11)
    save(filled.store)
    kept = list(filled.draws), list(filled.events)
    filled.append([3] * lost, events=lost)
    filled.store.close()
    again = Filled(DiskStore.reopen(path)[0])
    again.draws, again.events = list(kept[0]), list(kept[1])
    again.append([2, 1] * 10, events=30)
    save(again.store)
    again.store.close()
    assert again.is_in(again.store)
    assert again.is_in(DiskStore.read(path)[0])


def test_rows_are_in_the_order_in_which_they_came(filled, path):
    filled.append([3, 0, 1, 2] * 6)
    save(filled.store)
    blocks = list(DiskStore.read(path)[0].rows())
    assert np.concatenate([block.chain for block in blocks]).tolist() == [3, 0, 1, 2] * 6
    times = np.concatenate([block.draws.time for block in blocks])
    assert times.tolist() == [number / 8 for number in range(24)]


def test_a_single_column_of_a_chain_can_be_read(filled):
    filled.append([0, 1, 0] * 7)
    mine = filled.store.draws(0, WIDTH)
    assert filled.store.column("time", None, 0).tolist() == mine.time.tolist()
    assert filled.store.column("state", 2, 0).tolist() == mine.state[:, 2].tolist()


def test_draws_of_the_warm_up_are_kept_apart(filled, path):
    filled.append([0] * 10)
    warm = filled.store.draws(0, WIDTH)
    filled.store.append_warmup(warm, chain=0)
    filled.store.append_warmup(warm, chain=0)
    save(filled.store)
    read, _ = DiskStore.read(path)
    assert filled.is_in(read)
    assert as_rows(read.warmup(0)) == 2 * as_rows(warm)


def test_other_programs_that_know_zarr_can_read_whole_chunks(filled, path):
    filled.append([0, 1, 2, 3] * 5)
    time = zarr.open_group(path, mode="r")["draws/time"]
    assert time[:].tolist() == [number / 8 for number in range(16)]
    assert zarr.open_group(path, mode="r")["draws/state"].shape == (16, WIDTH)


def test_chunks_keep_the_size_that_they_were_written_with(filled, path, monkeypatch):
    filled.append([0, 1] * 10, events=20)
    save(filled.store)
    monkeypatch.setattr(table, "CHUNK_ROWS", 5)
    assert filled.is_in(DiskStore.read(path)[0])


# --- one writer, one place -----------------------------------------------------------------------


def test_a_second_writer_is_refused(filled, path):
    save(filled.store)
    with pytest.raises(aptmc.InputError, match="being written by another run"):
        DiskStore.reopen(path)
    filled.store.close()
    DiskStore.reopen(path)[0].close()


def test_something_that_is_there_already_is_left_alone(path):
    path.mkdir()
    with pytest.raises(aptmc.InputError, match="is there already"):
        DiskStore.create(path, DESCRIPTION, WIDTH)
    assert not any(path.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(aptmc.InputError, match="not_there"):
        DiskStore.create(tmp_path / "not_there" / "store.zarr", DESCRIPTION, WIDTH)


def test_what_is_no_store_is_said_to_be_none(tmp_path):
    with pytest.raises(aptmc.InputError, match="there is no store"):
        DiskStore.read(tmp_path / "nothing.zarr")
    with pytest.raises(aptmc.InputError, match="no store of aptmc"):
        DiskStore.read(tmp_path)


def test_a_run_that_ended_before_its_first_checkpoint_is_no_store(store, path):
    with pytest.raises(aptmc.InputError, match="before the first checkpoint"):
        DiskStore.read(path)


def test_a_format_of_the_future_is_refused(path):
    store = DiskStore.create(path, {**DESCRIPTION, "format": 99}, WIDTH)
    save(store)
    store.close()
    with pytest.raises(aptmc.InputError, match="another version"):
        DiskStore.read(path)


# --- files as a whole or not at all --------------------------------------------------------------


@pytest.mark.parametrize("moment", ["write", "fsync", "replace"])
def test_a_checkpoint_that_cannot_be_written_leaves_the_last_one(filled, path, monkeypatch, moment):
    filled.append([0] * 5)
    save(filled.store)
    before = list(filled.draws)
    filled.append([1] * 2)

    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    place = {"write": "pathlib.Path.open", "fsync": "os.fsync", "replace": "pathlib.Path.replace"}
    with monkeypatch.context() as patch:
        patch.setattr(place[moment], full)
        with pytest.raises(aptmc.StoreFailed, match="No space left on device"):
            save(filled.store)
    filled.draws = before
    assert filled.is_in(DiskStore.read(path)[0])


def test_checkpoints_take_turns_so_that_one_is_always_whole(filled, path):
    numbers = []
    for _ in range(4):
        save(filled.store)
        numbers.append(
            sorted(
                decode((path / name).read_bytes(), path).notes["number"]
                for name in os.listdir(path)
                if name.startswith("checkpoint")
            )
        )
    assert numbers == [[1], [1, 2], [2, 3], [3, 4]]


def test_a_file_holds_named_arrays_and_json(tmp_path):
    arrays = {
        "floats": np.array([[1.5, np.nan]]), "flags": np.array([True, False]),
        "none": np.empty((0, 3)), "one": np.array(7, np.int32),
    }  # fmt: skip
    notes, back = decode(encode({"a": [1, None]}, arrays), tmp_path)
    assert notes == {"a": [1, None]}
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        assert np.array_equal(back[name], array, equal_nan=array.dtype.kind == "f")


def test_an_array_of_objects_is_refused(tmp_path):
    data = encode({}, {"objects": np.array([1.0])})
    body = data[:-32].replace(b'"<f8"', b'"|O8"')
    with pytest.raises(aptmc.StoreDamaged, match="of a kind that no store has"):
        decode(body + hashlib.sha256(body).digest(), tmp_path)


def test_all_that_a_store_writes_is_json_zarr_or_checked(filled, path):
    filled.append([0] * 20, events=20)
    save(filled.store)
    for file in (file for file in path.rglob("*") if file.is_file()):
        name = file.relative_to(path)
        if name.name == "zarr.json":
            json.loads(file.read_text())
        elif name.name.startswith("checkpoint"):
            decode(file.read_bytes(), file)
        else:
            assert str(name) == "lock" or "c" in name.parts


def test_draws_have_the_same_columns_as_the_table():
    assert [column.name for column in draw_columns(WIDTH)] == ["chain", *Draws._fields]
