"""Truncated and flipped files: a clear error that names one, or a sound read; never a wrong answer.

Every file of a small store is damaged in turn, by cutting it off at random places, by flipping one
bit or several bytes, and by emptying it.
"""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import aptmc
from aptmc.store import checked
from tests.support.stores import (
    CHUNK_ROWS,
    ON,
    PROBLEM,
    everything,
    is_prefix,
    is_subset,
    sampled,
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A store, and all that can be read of it."""
    path = tmp_path_factory.mktemp("store") / "run.zarr"
    with pytest.MonkeyPatch.context() as monkeypatch:
        sampled(path, monkeypatch, budget=240.0)
        aptmc.resume(path, PROBLEM, budget=20.0, on=ON)
    run = aptmc.open(path)
    assert len(list(path.glob("draws/state/c/*"))) > 2
    assert len(list(path.glob("checkpoint-*"))) == 2
    return path, everything(run), str(run.summary())


@pytest.fixture
def store(sound, tmp_path):
    """A copy to be damaged."""
    path = tmp_path / "run.zarr"
    shutil.copytree(sound[0], path)
    return path


def files(path):
    return sorted(file for file in path.rglob("*") if file.is_file())


def of_each_kind(path):
    """One file of each kind: of a column's chunks one, not always the first."""
    kinds = {}
    for place, file in enumerate(files(path)):
        column, chunk, _ = str(file.relative_to(path)).partition("/c/")
        if not chunk or column not in kinds or place % 2:
            kinds[column] = file
    return sorted(kinds.values())


def newest_checkpoint(path):
    found = path.glob("checkpoint-*")
    return max(found, key=lambda file: checked.decode(file.read_bytes(), file).notes["number"])


def damaged(data, kind, rng):
    """Other bytes than these."""
    if kind == "empty" or not data:
        return b""
    if kind == "cut":
        return data[: int(rng.integers(len(data)))]
    if kind == "longer":
        return data + rng.bytes(int(rng.integers(1, 20)))
    other = bytearray(data)
    if kind == "bit":
        other[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    else:
        for place in rng.integers(len(data), size=int(rng.integers(2, 10))):
            other[place] = int(rng.integers(256))
    return bytes(other)


def said_where(path, error):
    """An error is one that names the place, and gives nothing."""
    assert str(path) in str(error)


def read(path):
    """All that one can read of a store, or None and the error."""
    try:
        run = aptmc.open(path)
        return everything(run), str(run.summary()), run.draws.load()
    except (aptmc.StoreDamaged, aptmc.InputError) as error:
        return said_where(path, error)


def salvaged(path):
    try:
        run = aptmc.open(path, salvage=True)
        found = everything(run)
        assert run.draws.posterior.x.shape[1] == run.chains(0)[0].time.size
        assert repr(run).startswith("<aptmc.Run")
        return found, run.damage
    except (aptmc.StoreDamaged, aptmc.InputError) as error:
        return said_where(path, error)


def check_damage(path, sound, chosen, cases=1, seed=1):
    """Damage files so often; gives how many cases there were, and how many were noticed."""
    _, whole, summary = sound
    rng = np.random.default_rng(seed)
    kinds = ["bit", "cut", "bytes", "longer", "empty"]
    total = noticed = 0
    for file in chosen:
        data = file.read_bytes()
        for _ in range(cases):
            file.write_bytes(damaged(data, kinds[total % len(kinds)], rng))
            found = read(path)
            if found is not None:
                assert found[0] == whole, file
                assert found[1] == summary, file
            kept = salvaged(path)
            if kept is not None:
                assert is_subset(kept[0], whole), file
            total, noticed = total + 1, noticed + (found is None)
        file.write_bytes(data)
    assert read(path) is not None
    return total, noticed


@pytest.mark.validation
def test_damage_anywhere_is_an_error_or_harmless(store, sound):
    chosen = of_each_kind(store)
    total, noticed = check_damage(store, sound, chosen)
    assert len(files(store)) > total == len(chosen) > 20
    assert noticed > total / 2


@pytest.mark.validation(shortest=0.1)
def test_a_thousand_damages_are_errors_or_harmless(store, sound, validation_scale):
    every = files(store)
    cases = max(int(1_500 * validation_scale / len(every)), 1)
    total, noticed = check_damage(store, sound, every, cases, seed=2)
    assert noticed > total / 2


def test_without_checksums_a_wrong_answer_would_be_seen(store, sound, monkeypatch):
    """The planted error: whatever the checksum of a checkpoint is, it is taken for right."""

    class Anything:
        def __ne__(self, other):
            return False

    agreeable = SimpleNamespace(digest=Anything)
    monkeypatch.setattr(checked, "hashlib", SimpleNamespace(sha256=lambda _data: agreeable))
    newest, rng, wrong = newest_checkpoint(store), np.random.default_rng(1), 0
    data = newest.read_bytes()
    states = checked.decode(data, newest).arrays["tail/draws/state"].tobytes()
    for _ in range(10):
        other = bytearray(data)
        place = data.index(states) + int(rng.integers(len(states)))
        other[place] ^= 1 << int(rng.integers(8))
        newest.write_bytes(bytes(other))
        found = read(store)
        wrong += found is not None and found[0] != sound[1]
    assert wrong == 10


# --- what is said --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["draws/state/c/1/0", "draws/chain/c/0", "events/began/c/2", "checkpoint-0", "checkpoint-1"],
)
@pytest.mark.parametrize("kind", ["bit", "cut"])
def test_one_bit_is_found_and_located(store, name, kind):
    file = store / name
    file.write_bytes(damaged(file.read_bytes(), kind, np.random.default_rng(3)))
    with pytest.raises(aptmc.StoreDamaged) as caught:
        everything(aptmc.open(store))
    assert caught.value.path == file
    assert str(file) in str(caught.value)
    with pytest.raises(aptmc.StoreDamaged, match=name):
        aptmc.replay(store, PROBLEM)


def test_a_missing_chunk_is_no_chunk_of_zeros(store):
    (store / "draws" / "time" / "c" / "1").unlink()
    with pytest.raises(aptmc.StoreDamaged, match="it is missing"):
        aptmc.open(store)
    run = aptmc.open(store, salvage=True)
    assert "time/c/1" in str(run.damage[0])


def test_a_damaged_store_is_not_gone_on_with(store):
    file = store / "draws" / "zarr.json"
    file.write_bytes(file.read_bytes()[:-5])
    before = {file: file.read_bytes() for file in files(store)}
    with pytest.raises(aptmc.StoreDamaged, match=r"draws.zarr\.json"):
        aptmc.resume(store, PROBLEM, budget=10.0, on=ON)
    assert {file: file.read_bytes() for file in files(store)} == before


def test_what_is_sound_can_be_read(store, sound):
    """A damaged chunk takes its rows with it, and no others; each damage is named once."""
    whole = sound[1]
    file = store / "draws" / "work" / "c" / "1"
    file.write_bytes(file.read_bytes()[:-1])
    run = aptmc.open(store, salvage=True)
    found = everything(run)
    assert sum(map(len, found)) == sum(map(len, whole)) - CHUNK_ROWS
    assert is_subset(found, whole)
    everything(run)
    assert [error.path for error in run.damage] == [file]
    assert run.draws.posterior.sizes["draw"] == run.chains(0)[0].time.size


def test_a_damaged_checkpoint_leaves_the_one_before(store, sound):
    newest_checkpoint(store).write_bytes(b"")
    found = everything(aptmc.open(store, salvage=True))
    assert 0 < len(found[0]) < len(sound[1][0])
    assert is_prefix(found, sound[1])


def test_chunks_can_be_read_although_what_describes_them_is_gone(store, sound):
    for name in ("draws/state", "draws/time", "events/kind"):
        (store / name / "zarr.json").unlink()
    run = aptmc.open(store, salvage=True)
    assert everything(run) == sound[1]
    assert {error.path.parent.name for error in run.damage} == {"state", "time", "kind"}
