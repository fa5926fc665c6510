"""Which GPUs are chosen, what lies on which, and what is said if it does not fit: with no GPU.

What their kernels compute is tested as C code, in `test_c_code.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc.backends.lanes.cuda.fleet import GpuFleet
from aptmc.backends.lanes.fleet import Deadline
from aptmc.backends.lanes.many_fleets import ManyFleets
from aptmc.backends.lanes.tables import Places
from aptmc.errors import InputError
from tests.lanes.problems import TWO_MODES, sampled, two_modes
from tests.lanes.test_c_code import GROUPS, beginning, modes
from tests.support.fake_cupy import Machine

PLENTY = 1 << 30


@pytest.fixture
def machine(monkeypatch):
    return Machine([PLENTY, 2 * PLENTY, PLENTY]).plug_in(monkeypatch)


def test_one_gpu_is_taken_unless_more_are_asked_for(machine):
    machine.now = 1  # the one that is used by whoever calls
    assert aptmc.Lanes(60).device.numbers == (1,)
    assert aptmc.Lanes(60, devices=2).device.numbers == (0, 1)
    assert aptmc.Lanes(60, devices="all", device="gpu").device.numbers == (0, 1, 2)
    assert not aptmc.Lanes(60, device="cpu", devices="all").device.is_gpu
    assert repr(aptmc.Lanes(60, bits=32)) == "Lanes(60, on GPU 1 with 32 bits)"
    assert "3 GPUs" in aptmc.Lanes(60, devices="all").device.words_at_first
    assert "the GPU" in aptmc.Lanes(60).device.words_at_first
    assert aptmc.Lanes(60).remark == ""
    with pytest.raises(InputError, match="devices=4 are more than the 3 GPUs here"):
        aptmc.Lanes(60, devices=4)


def test_if_nobody_says_how_many_each_gpu_has_as_many_as_one(machine):
    counts = [aptmc.Lanes(devices=devices).processors for devices in (1, 2, "all")]
    assert counts == [65_536, 2 * 65_536, 3 * 65_536]


def test_a_machine_without_gpus_is_told_from_one_without_cupy(monkeypatch):
    def no_driver():
        raise RuntimeError("no driver\nat all")

    machine = Machine([]).plug_in(monkeypatch)
    for count, said in ((lambda: 0, "cupy finds no GPU"), (no_driver, "(no driver")):
        machine.count = count
        on = aptmc.Lanes(60)
        assert on.remark.startswith("lanes made by processors, because ")
        assert said in on.remark
        assert "\n" not in on.remark
        with pytest.raises(InputError, match=r"cannot be used here: cupy finds no GPU"):
            aptmc.Lanes(60, device="gpu")


def test_the_gpu_with_the_least_memory_decides_how_many_lanes_fit(machine):
    machine.free[2] = 900_000
    aptmc.Lanes(2000)
    # Of which a tenth stays free.
    each = 900_000 * 9 // 10 // Places(1, 0).bytes_of_lane(64)
    with pytest.raises(InputError, match=rf"free on each of 3 GPUs: use {3 * each} lanes or fewer"):
        aptmc.Lanes(20_000, devices="all")
    assert aptmc.Lanes(3 * each, devices="all").processors == 3 * each
    machine.now = 2
    with pytest.raises(InputError, match=rf"free on the GPU: use {each} lanes or fewer"):
        aptmc.Lanes(20_000)
    machine.free, machine.now = [1 << 60], 0
    with pytest.raises(InputError, match="free on this machine: use"):
        aptmc.Lanes(1 << 40)


def test_tables_of_this_machine_must_hold_the_lanes_of_its_gpus(monkeypatch, machine):
    made, _ = modes()
    on = aptmc.Lanes(60, devices=2)
    assert isinstance(on.device.fleet(made), ManyFleets)
    assert isinstance(aptmc.Lanes(60).device.fleet(made), GpuFleet)
    monkeypatch.setattr("aptmc.backends.lanes.memory.free_memory", lambda: 1000)
    with pytest.raises(InputError, match="free on this machine: use 0 lanes or fewer"):
        on.device.fleet(made)
    with pytest.raises(InputError, match="free on this machine: use 0 lanes or fewer"):
        aptmc.Lanes(60)


@pytest.mark.parametrize("bits", [64, 32])
def test_columns_go_to_their_gpus_and_come_back(machine, bits):
    made, row = modes(kept_lanes=3 * GROUPS)
    fleet = aptmc.Lanes(60, bits=bits, devices="all").device.fleet(made)
    lanes = beginning(made, row)
    lanes.wholes[5] = np.arange(made.lanes)
    fleet.load(lanes)
    assert machine.held(0) == machine.held(1) == machine.held(2)
    size = made.lanes // 3 * made.places.bytes_of_lane(bits)
    assert size <= machine.held(1) <= size + 1000  # with the settings of rungs
    for before, after in zip(lanes, fleet.read(), strict=True):
        np.testing.assert_allclose(before, after, rtol=0 if bits == 64 else 1e-7)
    assert np.array_equal(fleet.sums(), lanes.wholes.reshape(len(lanes.wholes), 3, -1).sum(axis=2))
    rows = fleet.run([Deadline(5, 1, False), Deadline(5, 2, True), Deadline(5, 3, True)])
    assert rows.shape == (2, made.lanes, made.model.dimension + 2)
    of_one = [name for number, name, *_ in machine.launched if number == 1]
    assert of_one == [
        "advance", "exchange", "advance", "exchange", "collect", "advance", "exchange", "collect",
    ]  # fmt: skip


@pytest.mark.parametrize("devices", [1, 2])
def test_memory_that_others_took_meanwhile_is_an_error_that_says_what_would_fit(machine, devices):
    made, row = modes()
    fleet = aptmc.Lanes(60, devices=devices).device.fleet(made)
    machine.free = [1000] * 3
    each = made.places.bytes_of_lane(64)
    fits = devices * ((1000 + machine.held(0)) * 9 // 10 // each)
    assert 0 < fits < made.lanes
    said = rf"{made.lanes} lanes do not fit .* use {fits} lanes or fewer \(Out of memory"
    with pytest.raises(InputError, match=said):
        fleet.load(beginning(made, row))


def test_a_run_says_so_too(machine):
    """What a run holds beside its lanes is more than they take at first."""
    on = aptmc.Lanes(600, budget_in="ticks", settle=0.0)
    machine.free = [130_000]
    with pytest.raises(InputError, match=r"lanes (do not fit on the GPU|of .* bytes).* or fewer"):
        sampled(two_modes(), TWO_MODES, budget=1000, on=on)
