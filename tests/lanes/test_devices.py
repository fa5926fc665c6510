"""Several devices share the groups, and change nothing; what does not fit is refused."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import aptmc
from aptmc.backends.lanes.c_here import _library
from aptmc.backends.lanes.many_fleets import ManyFleets
from aptmc.backends.lanes.memory import check_fit, check_host, free_memory
from aptmc.backends.lanes.processor_fleet import ProcessorFleet
from aptmc.backends.lanes.tables import Places
from aptmc.errors import InputError
from tests.lanes.problems import TWO_MODES, sampled, two_modes
from tests.lanes.test_c_code import PLAN, beginning, modes
from tests.support.c_lanes import FleetInC

PROBLEM = two_modes()


def run_on(devices, keep="all"):
    on = aptmc.Lanes(60, device="cpu", budget_in="ticks", threads=2, settle=0.0, devices=devices)
    assert on.device.fleets == devices
    return sampled(PROBLEM, TWO_MODES, budget=1030, on=on, keep=keep)


@pytest.mark.parametrize("keep", ["all", "coldest"])
def test_three_devices_give_the_draws_of_one(keep):
    one, three = run_on(1, keep), run_on(3, keep)
    for rung in range(3 if keep == "all" else 1):
        states = [np.stack([draws.state for draws in run.chains(rung)]) for run in (one, three)]
        assert np.array_equal(*states)
    assert three.completions == one.completions
    assert three.round_trips == one.round_trips
    assert np.array_equal(three.swap_rates.neighbours, one.swap_rates.neighbours)
    assert np.array_equal(three.statistics["work"], one.statistics["work"])


def test_more_devices_than_groups_are_not_all_used():
    assert np.array_equal(run_on(50).chains()[0].state, run_on(1).chains()[0].state)


@pytest.mark.validation
def test_fleets_of_c_code_and_of_machine_code_go_together(tmp_path):
    """Whatever computes a group, its keys are those of its place among all."""
    made, row = modes(kept_lanes=18)

    def in_c(voyage):
        (tmp_path / str(voyage.first_group)).mkdir()
        return FleetInC(voyage, tmp_path / str(voyage.first_group))

    def by_numba(voyage):
        return ProcessorFleet(voyage, 1)

    fleets = ProcessorFleet(made, 1), ManyFleets(made, [by_numba, in_c])
    draws = []
    for fleet in fleets:
        fleet.load(beginning(made, row))
        draws.append(fleet.run(PLAN))
        fleet.retune(made.levels, 2.0 * made.tuning)
        draws.append(fleet.run(PLAN[:3]))
    assert np.array_equal(draws[0], draws[2])
    assert np.array_equal(draws[1], draws[3])
    for one, other in zip(*(fleet.read() for fleet in fleets), strict=True):
        assert np.array_equal(one, other)


def test_lanes_that_do_not_fit_are_refused_with_how_many_would():
    check_fit(1000, 100, 112_000, "here")
    with pytest.raises(InputError, match=r"1010 lanes of 100 bytes .* use 1008 lanes or fewer"):
        check_fit(1010, 100, 112_000, "here")
    with pytest.raises(InputError, match=r"free on this machine: use .* lanes or fewer"):
        check_host(1 << 50, Places(3, 9))
    with pytest.raises(InputError, match="do not fit into the"):
        aptmc.Lanes(1 << 50, device="cpu")


def test_where_nobody_says_what_is_free_nothing_is_refused(tmp_path):
    assert free_memory(tmp_path / "nothing") is None
    table = tmp_path / "table"
    table.write_text("MemTotal:  8 kB\nMemAvailable:  5 kB\n")
    assert free_memory(table) == 5120


@pytest.mark.parametrize(
    "compiler", ["c", "numba", pytest.param("c one by one", marks=pytest.mark.validation)]
)
def test_both_compilers_give_the_same(compiler):
    if compiler != "numba" and shutil.which("cc") is None:
        pytest.skip("there is no C compiler here")
    on = aptmc.Lanes(60, device="cpu", budget_in="ticks", threads=2, settle=0.0, compiler=compiler)
    assert on.device.compiler == compiler
    run = sampled(PROBLEM, TWO_MODES, budget=1030, on=on, keep="all")
    assert np.array_equal(run.chains()[0].state, run_on(1).chains()[0].state)


def test_without_a_compiler_numba_computes(monkeypatch):
    _library.cache_clear()
    monkeypatch.setattr("aptmc.backends.lanes.c_here.COMPILERS", ("no-such-compiler",))
    problem = two_modes()
    for compiler in ("auto", "c"):
        on = aptmc.Lanes(60, device="cpu", budget_in="ticks", compiler=compiler)
        if compiler == "auto":
            assert sampled(problem, TWO_MODES, budget=100, on=on).completions > 0
            continue
        with pytest.raises(InputError, match=r"no C compiler here .*compiler=.numba."):
            sampled(problem, TWO_MODES, budget=100, on=on)
    with pytest.raises(InputError, match='must be one of "auto", "c"'):
        aptmc.Lanes(60, device="cpu", compiler="rust")


def test_wrong_numbers_of_devices_are_named():
    with pytest.raises(InputError, match="devices must be"):
        aptmc.Lanes(60, device="cpu", devices=0)
