"""A single move is computed again, whenever it was; and runs are exported."""

from __future__ import annotations

import math
import sys
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.keys import HOLD, START, Key
from tests.support import simulators
from tests.support.stores import PROBLEM, SETTINGS, in_memory, kept, sampled


@pytest.fixture(scope="module")
def run():
    return in_memory()


def moves(run, chain):
    """By move of a chain: the state before it, and after."""
    draws = kept(run)[chain]
    first = run._first_states[chain]
    states = np.vstack([first, draws.state])
    return [(states[row], states[row + 1]) for row in np.flatnonzero(~draws.exchanged)]


@pytest.mark.parametrize("compiled", [None, False], ids=["compiled", "plain Python"])
@pytest.mark.parametrize("chain", [0, 3])
def test_every_completed_move_is_the_same_again(run, chain, compiled):
    known = moves(run, chain)
    assert len(known) > 5
    # Among them are moves that started anew, while the run settled, and others.
    assert kept(run)[chain].time[0] < run.counted_from < kept(run)[chain].time[-1]
    for number, (before, after) in enumerate(known[:10], start=1):
        again = run.rerun(Key(1, chain, number), compiled=compiled)
        assert again.rung == chain
        assert list(again.before.values()) == before[:2].tolist()
        assert list(again.after.values()) == after[:2].tolist()
        assert list(again.after) == ["x", "log_density"]


def test_a_move_in_flight_is_what_comes_next(run):
    keys = run.in_flight
    assert len(keys) == 2
    later = in_memory(400.0)
    for key in keys:
        _, after = moves(later, key.chain)[key.number - 1]
        assert list(run.rerun(key).after.values()) == after[:2].tolist()


def test_statistics_of_a_move_are_those_that_were_recorded(run):
    draws = kept(run)[0]
    local = np.flatnonzero(~draws.exchanged)
    again = [run.rerun(Key(1, 0, number)) for number in range(1, 1 + len(local))]
    assert [move.accepted for move in again] == draws.accepted[local].tolist()
    assert [move.work for move in again] == draws.work[local].tolist()


def test_a_stored_run_needs_its_problem(tmp_path, monkeypatch, run):
    path = tmp_path / "run.zarr"
    sampled(path, monkeypatch)
    key = run.in_flight[0]
    with pytest.raises(aptmc.InputError, match=r"aptmc\.open\(store, problem\)"):
        aptmc.open(path).rerun(key)
    opened = aptmc.open(path, PROBLEM)
    assert opened.rerun(key) == run.rerun(key)
    assert opened.rerun(Key(1, 0, 1)) == run.rerun(Key(1, 0, 1))


def test_a_failed_move_fails_again():
    problem = simulators.problem(simulators.raises_far_out)
    with pytest.raises(aptmc.MoveFailed) as caught:
        aptmc.sample(problem, budget=1_000.0, **(SETTINGS | {"on": aptmc.VirtualTime(2)}))
    error = caught.value
    with pytest.raises(aptmc.MoveFailed, match="too far out") as again:
        error.run.rerun(error.key)
    assert again.value.parameters == error.parameters
    assert again.value.key == error.key


def test_a_run_with_a_warm_up_counts_its_moves_from_where_it_began():
    settings = {"ladder": aptmc.Ladder.powers(4), "on": SETTINGS["on"], "seed": 1, "keep": "all"}
    found = aptmc.sample(PROBLEM, budget=2_000.0, **settings)
    key = found.in_flight[0]
    number = key.number - 1  # the last that was completed
    before, after = moves_of_chain(found, key.chain)[-1]
    again = found.rerun(key._replace(number=number))
    assert list(again.before.values()) == before[:2].tolist()
    assert list(again.after.values()) == after[:2].tolist()


def moves_of_chain(run, chain):
    draws = run._store.draws(chain, 3)
    states = np.vstack([run._first_states[chain], draws.state])
    return [(states[row], states[row + 1]) for row in np.flatnonzero(~draws.exchanged)]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (Key(2, 0, 1), "whose seed is 1"),
        (Key(1, 17, 1), "no move of this run"),
        (Key(1, 0, 1, HOLD), "no move of this run"),
        (Key(1, 0, 10**6), "has made"),
        (Key(1, 0, 0), "has made"),
    ],
)
def test_a_key_of_no_move_is_refused(run, key, message):
    with pytest.raises(aptmc.InputError, match=message):
        run.rerun(key)


@pytest.mark.parametrize("changes", [{"thin": 2}, {"keep": "coldest"}])
def test_what_was_not_kept_cannot_be_computed_again(changes):
    found = in_memory(**changes)
    with pytest.raises(aptmc.InputError, match="was not kept"):
        found.rerun(Key(1, 3, 1))


# --- exports -------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path, monkeypatch):
    sampled(tmp_path / "run.zarr", monkeypatch)
    return aptmc.open(tmp_path / "run.zarr")


def test_draws_from_disk_are_those_in_memory(stored, run):
    for group in ("posterior", "sample_stats"):
        lazy, eager = stored.draws[group], run.draws[group]
        assert list(lazy.data_vars) == list(eager.data_vars)
        for name in eager.data_vars:
            assert lazy[name].dims == eager[name].dims
            assert lazy[name].dtype == eager[name].dtype
            assert np.array_equal(lazy[name].values, eager[name].values, equal_nan=True), name
        for name in ("chain", "draw"):
            assert np.array_equal(lazy[name].values, eager[name].values)


@pytest.mark.parametrize(
    "where",
    [
        {"draw": 3}, {"chain": 0}, {"draw": slice(5, 20)}, {"draw": slice(None, None, 7)},
        {"chain": 0, "draw": -1}, {"draw": [4, 2, 9]},
    ],
    ids=repr,
)  # fmt: skip
def test_parts_of_draws_can_be_read_from_disk(stored, run, where):
    one, other = stored.draws.posterior.x.isel(where), run.draws.posterior.x.isel(where)
    assert one.shape == other.shape
    assert np.array_equal(one.values, other.values)


def test_nothing_is_read_before_it_is_asked_for(stored, monkeypatch):
    reads = []
    column = type(stored._store).column

    def counted(store, name, place, chain):
        reads.append(name)
        return column(store, name, place, chain)

    monkeypatch.setattr(type(stored._store), "column", counted)
    draws = stored.draws
    assert "posterior" in repr(draws)
    assert repr(stored)
    assert reads == []
    assert float(draws.posterior.x.mean()) == pytest.approx(float(stored.series("x")[0].mean()))
    assert reads == ["state"]


def test_several_chains_and_a_warm_up_are_read_from_disk(tmp_path):
    settings = {"on": aptmc.VirtualTime(2), "pools": aptmc.Shared(2), "seed": 1}
    path = tmp_path / "run.zarr"
    eager = aptmc.sample(PROBLEM, budget=2_000.0, **settings).draws
    lazy = aptmc.sample(PROBLEM, budget=2_000.0, store=path, **settings).draws
    opened = aptmc.open(path).draws
    groups = {
        f"{part}{group}"
        for part in ("", "beyond_", "warmup_")
        for group in ("posterior", "sample_stats")
    }
    assert set(eager.children) == set(lazy.children) == set(opened.children) == groups
    for group in groups:
        for name in eager[group].data_vars:
            assert np.array_equal(eager[group][name], lazy[group][name]), (group, name)
            assert np.array_equal(eager[group][name], opened[group][name]), (group, name)
    assert eager.posterior.sizes["chain"] == 2


def test_a_data_frame_has_a_row_for_each_draw(stored, run):
    pandas = pytest.importorskip("pandas")
    for rung in (0, 2):
        frame, other = stored.to_dataframe(rung), run.to_dataframe(rung)
        pandas.testing.assert_frame_equal(frame, other)
        draws = run.chains(rung)[0]
        assert len(frame) == draws.time.size
        assert frame["x"].tolist() == draws.state[:, 0].tolist()
        assert frame["time"].tolist() == draws.time.tolist()
        assert list(frame)[:3] == ["chain", "x", "log_density"]


def test_a_netcdf_file_holds_the_draws(stored, run, tmp_path):
    pytest.importorskip("h5netcdf")
    import xarray

    path = tmp_path / "run.nc"
    stored.to_netcdf(path)
    with xarray.open_datatree(path, engine="h5netcdf") as back:
        assert np.array_equal(back.posterior.x.values, run.draws.posterior.x.values)
        assert np.array_equal(back.sample_stats.time.values, run.draws.sample_stats.time.values)


def test_without_the_package_for_netcdf_it_is_named(run, tmp_path, monkeypatch):
    import xarray

    def missing(*_arguments, **_options):
        raise ValueError("cannot write NetCDF files because none of the suitable backends")

    monkeypatch.setattr(xarray.DataTree, "to_netcdf", missing)
    with pytest.raises(aptmc.InputError, match=r"aptmc\[netcdf\]"):
        run.to_netcdf(tmp_path / "run.nc")


def test_the_older_arviz_is_given_what_it_wants(stored, monkeypatch):
    class InferenceData:
        def __init__(self, attrs=None, **groups):
            self.groups = groups

    old = ModuleType("arviz")
    old.InferenceData = InferenceData
    monkeypatch.setitem(sys.modules, "arviz", old)
    data = stored.to_inference_data()
    assert list(data.groups) == ["posterior", "sample_stats"]
    assert math.isfinite(float(data.groups["posterior"].x.mean()))
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(aptmc.InputError, match="pip install arviz"):
        stored.to_inference_data()


# --- moves that fail before any counts ------------------------------------------------------------


def fails_near_the_data(theta, rng):
    simulated = theta[0] + 0.1 * rng.standard_normal()
    if abs(simulated) < 0.05:
        raise ArithmeticError("too near")
    return np.array([simulated])


NEAR = aptmc.Abc(
    fails_near_the_data,
    aptmc.Prior(x=stats.uniform(-10.0, 20.0)),
    observed=[0.0],
    distance=lambda simulated, observed: abs(simulated[0] - observed[0]),
)


@pytest.mark.parametrize("on", [aptmc.VirtualTime(2), aptmc.InProcess()], ids=repr)
def test_a_move_of_a_descent_fails_again_from_where_it_started(on, tmp_path):
    """A draw from the prior that failed is known by its key; a move by its start, too."""
    moved = False
    for seed in range(20):
        path = tmp_path / str(seed)
        with pytest.raises(aptmc.MoveFailed, match="too near") as caught:
            aptmc.sample(NEAR, budget=2_000.0, on=on, seed=seed, store=path, progress=False)
        error = caught.value
        assert error.key.purpose == START
        moved = not np.isnan(error.order.state).any()
        for run in (error.run, aptmc.open(path, NEAR)):
            with pytest.raises(aptmc.MoveFailed, match="too near") as again:
                run.rerun(error.key)
            assert again.value.parameters == error.parameters
            assert again.value.key == error.key
        if moved:
            break
    assert moved


def test_a_move_of_a_worker_that_failed_is_whole():
    with pytest.raises(aptmc.MoveFailed) as caught:
        aptmc.sample(NEAR, budget=60.0, on=aptmc.Processes(2), seed=1, progress=False)
    error = caught.value
    with pytest.raises(aptmc.MoveFailed) as again:
        error.run.rerun(error.key)
    assert again.value.parameters == error.parameters
    with pytest.raises(aptmc.InputError, match="no move of this run"):
        error.run.rerun(error.key._replace(number=error.key.number + 1))
