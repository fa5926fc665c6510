"""Data with names: dictionaries, lists, pandas and xarray give the draws that arrays give."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pandas
import pytest
import xarray
from numba import njit

import aptmc
from aptmc.backends.workers.payload import load, pack
from aptmc.backends.workers.wire import Wire
from aptmc.distance import by_part, p_norm
from tests.support.normal_data import OBSERVED, PRIOR, assert_same, sample, simulate

BUDGET = 300  # of virtual time: a datum in a wrong place shows in the first draws
SUPREMUM = p_norm(math.inf)
DAYS = pandas.Index([3, 1, 2], name="day")
PLAIN = simulate.py_func


def series(numbers):
    return pandas.Series(numbers, index=DAYS)


def data_array(numbers):
    return xarray.DataArray(numbers, dims="day", coords={"day": DAYS})


# By kind of data: how the three numbers are packed, by the data and by the simulator.
KINDS = {
    "dictionary": lambda y: {"early": y[:2], "late": y[2]},
    "dictionaries in a dictionary": lambda y: {"a": {"x": y[0], "z": y[1]}, "b": [y[2]]},
    "list of data sets": lambda y: [y[:1], y[1:]],
    "Series": series,
    "DataFrame": lambda y: pandas.DataFrame({"x": series(y)}),
    "whole numbers of pandas": lambda y: pandas.DataFrame({"x": series(y).astype("Float64")}),
    "DataArray": data_array,
    "Dataset": lambda y: xarray.Dataset({"x": data_array(y)}),
    "dictionary of series": lambda y: {"x": series(y)},
}
# Simulators that say the same in another way: in another order, with more than was observed.
OTHERS = {
    "dictionary": lambda y: {"late": np.array(y[2]), "noise": 1e9, "early": list(y[:2])},
    "list of data sets": lambda y: (list(y[:1]), y[1:]),
    "Series": lambda y: pandas.concat([series(y), pandas.Series({9: 1e9})]).sort_index(),
    "DataFrame": lambda y: {"x": series(y)[::-1]},
    "DataArray": lambda y: data_array(y)[::-1],
    "Dataset": lambda y: xarray.Dataset({"x": data_array(y).sortby("day")}),
}
# What is made of the others: it is looked at once by tests further down.
LEFT_OUT = {
    "dictionaries in a dictionary", "list of data sets", "whole numbers of pandas",
    "dictionary of series", "DataFrame in another order", "Dataset in another order",
}  # fmt: skip
CASES = {
    **{kind: (KINDS[kind], KINDS[kind]) for kind in KINDS},
    **{f"{kind} in another order": (KINDS[kind], other) for kind, other in OTHERS.items()},
}


@pytest.fixture(scope="module")
def by_array() -> aptmc.Run:
    return sample(aptmc.Abc(PLAIN, PRIOR, OBSERVED, SUPREMUM), budget=BUDGET)


@pytest.mark.parametrize(
    ("observed", "simulated"),
    [
        pytest.param(*both, id=case, marks=[pytest.mark.validation] if case in LEFT_OUT else [])
        for case, both in CASES.items()
    ],
)
def test_every_kind_of_data_gives_the_draws_of_an_array(
    by_array: aptmc.Run, observed, simulated
) -> None:
    problem = aptmc.Abc(
        lambda theta, rng: simulated(PLAIN(theta, rng)), PRIOR, observed(OBSERVED), SUPREMUM
    )
    assert not problem.is_compiled
    run = sample(problem, budget=BUDGET)
    assert_same(by_array, run)
    np.testing.assert_array_equal(problem.kept_data, OBSERVED)


def test_labels_in_another_order_would_be_seen(by_array: aptmc.Run) -> None:
    """The planted error: a simulation taken by place although its labels say otherwise."""
    problem = aptmc.Abc(
        lambda theta, rng: series(PLAIN(theta, rng))[::-1].to_numpy(),
        PRIOR,
        series(OBSERVED),
        SUPREMUM,
    )
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        assert_same(by_array, sample(problem, budget=BUDGET))


@pytest.mark.parametrize("kind", ["Series", "DataFrame", "DataArray"])
def test_where_simulations_are_arrays_a_table_is_one(by_array: aptmc.Run, kind: str) -> None:
    observed = KINDS[kind](OBSERVED)
    shape = np.shape(observed)
    problem = aptmc.Abc(
        lambda theta, rng: PLAIN(theta, rng).reshape(shape),
        PRIOR,
        observed,
        lambda mine, yours: np.abs(mine - yours).max(),
    )
    words = "x".join(map(str, shape))
    assert problem.notes == (
        f"observed, a {kind}, is compared as an array of shape {words}, as simulations are",
    )
    assert_same(by_array, sample(problem, budget=BUDGET))


def test_a_compiled_simulator_of_a_table_stays_compiled() -> None:
    problem = aptmc.Abc(simulate, PRIOR, series(OBSERVED), SUPREMUM)
    assert problem.is_compiled
    assert "is compared as an array of shape 3" in repr(problem)


# --- distances ------------------------------------------------------------------------------------


def distances(problem, simulations: int = 5):
    return aptmc.rejection(problem, math.inf, simulations=simulations, seed=3).distance


def apart(simulated, observed):
    return abs(simulated - observed)


OBSERVED_PARTS = {"early": OBSERVED[:2], "late": OBSERVED[2]}


def in_parts(distance, **options):
    pack_up = KINDS["dictionary"]
    return aptmc.Abc(
        lambda theta, rng: pack_up(PLAIN(theta, rng)), PRIOR, OBSERVED_PARTS, distance, **options
    )


@pytest.mark.parametrize(
    ("weights", "order", "together"),
    [
        (None, 1, lambda early, late: early + late),
        ({"late": 3.0}, 1, lambda early, late: early + 3.0 * late),
        ({"early": 0.5}, 2, lambda early, late: np.hypot(0.5 * early, late)),
        (None, math.inf, np.maximum),
    ],
)
def test_distances_by_part_are_put_together(weights, order, together) -> None:
    parts = {"early": p_norm(2), "late": apart}
    early, late = (distances(in_parts({name: one})) for name, one in parts.items())
    whole = distances(in_parts(by_part(parts, weights=weights, order=order)))
    np.testing.assert_allclose(whole, together(early, late))
    if order == 1 and weights is None:
        np.testing.assert_array_equal(whole, distances(in_parts(parts)))
    assert np.ptp(early / late) > 0.1  # they differ, so that none is taken for another


def test_parts_of_parts_have_distances_of_their_own() -> None:
    pack_up = KINDS["dictionaries in a dictionary"]

    def problem(distance):
        return aptmc.Abc(
            lambda theta, rng: pack_up(PLAIN(theta, rng)), PRIOR, pack_up(OBSERVED), distance
        )

    nested = problem({"a": {"x": apart, "z": apart}, "b": p_norm(1)})
    flat = in_parts({"early": p_norm(1), "late": apart})
    np.testing.assert_allclose(distances(nested), distances(flat))


def test_plain_functions_take_what_was_given_and_compiled_ones_arrays() -> None:
    seen = {}

    def note(name):
        def distance(simulated, observed):
            seen[name] = type(simulated), type(observed), np.shape(observed)
            return 0.0

        return distance

    @njit
    def compiled(simulated, observed):
        return float(observed.ndim + 10 * observed.size)

    table = pandas.DataFrame({"x": series(OBSERVED)})
    observed = {"list": [1, 2], "number": 3, "table": table, "series": table["x"]}
    names = ("list", "number", "table", "series")
    problem = aptmc.Abc(
        lambda theta, rng: observed, PRIOR, observed, {name: note(name) for name in names}
    )
    distances(problem, 1)
    frame, one_series = pandas.DataFrame, pandas.Series
    assert seen == {
        "list": (np.ndarray, np.ndarray, (2,)),
        "number": (float, float, ()),
        "table": (frame, frame, (3, 1)),
        "series": (one_series, one_series, (3,)),
    }
    distances(aptmc.Abc(lambda theta, rng: observed, PRIOR, observed, note("whole")), 1)
    assert seen["whole"][:2] == (dict, dict)
    observed["grid"] = np.ones((2, 2))
    shown = {"list": 21.0, "number": 11.0, "table": 31.0, "series": 31.0, "grid": 42.0}
    for name, expected in shown.items():
        by_name = aptmc.Abc(lambda theta, rng: observed, PRIOR, observed, {name: compiled})
        assert distances(by_name, 1).tolist() == [expected]
    whole = aptmc.Abc(lambda theta, rng: observed, PRIOR, observed, compiled)
    assert distances(whole, 1).tolist() == [131.0]


def test_a_summary_takes_data_and_simulations_as_they_are_given() -> None:
    table = pandas.DataFrame({"x": OBSERVED, "who": ["a", "b", "a"]})

    def frames(theta, rng):
        return table.assign(x=PLAIN(theta, rng))

    def means(data):
        return data.groupby("who")["x"].mean()

    problem = aptmc.Abc(frames, PRIOR, table, p_norm(1), summary=means)
    np.testing.assert_array_equal(problem.kept_data, [3.5, 2.0])
    by_hand = aptmc.Abc(
        PLAIN, PRIOR, OBSERVED, p_norm(1), summary=lambda y: [(y[0] + y[2]) / 2.0, y[1]]
    )
    np.testing.assert_allclose(distances(problem), distances(by_hand))
    named = aptmc.Abc(
        PLAIN, PRIOR, OBSERVED, {"mean": apart}, summary=lambda y: {"mean": y.mean(), "sd": y.std()}
    )
    assert named.notes[-1] == "there is no distance for 'sd', which is not compared"
    alone = aptmc.Abc(PLAIN, PRIOR, OBSERVED, p_norm(1), summary=np.mean)
    np.testing.assert_allclose(distances(named), distances(alone))


def test_functions_that_change_what_they_are_given_do_no_harm() -> None:
    def vandal(simulated, observed):
        away = np.abs(simulated["early"] - observed["early"]).max()
        simulated["early"][:], observed["early"][:] = 1e9, -1e9
        return away

    clean = in_parts(lambda mine, yours: np.abs(mine["early"] - yours["early"]).max())
    np.testing.assert_array_equal(distances(in_parts(vandal)), distances(clean))

    @njit
    def compiled_vandal(simulated, observed):
        away = np.abs(simulated - observed).max()
        simulated[:], observed[:] = 1e9, -1e9
        return away

    one, other = in_parts(compiled_vandal), in_parts(SUPREMUM)
    np.testing.assert_array_equal(distances(one), distances(other))
    states = [sample(problem, budget=200).chains()[0].state for problem in (one, other)]
    np.testing.assert_array_equal(*states)


# --- what is said ---------------------------------------------------------------------------------


def test_what_is_converted_is_said_once_by_problem_summary_and_store(tmp_path) -> None:
    observed = pandas.DataFrame({"x": series(OBSERVED), "y": series(OBSERVED)}).iloc[:2]

    def simulated(theta, rng):
        return {"x": series(PLAIN(theta, rng)), "y": [1.0, 1.0], "hidden": 3.0}

    problem = aptmc.Abc(simulated, PRIOR, observed, {"x": SUPREMUM})
    expected = (
        "the data have the parts x (2 numbers), y (2 numbers)",
        "observed is a DataFrame, simulated as a dictionary: taken by name",
        "simulations also have 'hidden', of which there are no data",
        "part 'x' is simulated at 3 labels, compared at the 2 of the data",
        "part 'y' is a Series, simulated as a list: taken in order",
        "there is no distance for 'y', which is not compared",
    )
    assert problem.notes == expected
    first, *others = repr(problem).splitlines()
    assert first.startswith("Abc(simulated, Prior(theta=")
    assert "observed=(2, 2)" in first
    assert others == [f"  {x}" for x in expected]
    sample(problem, budget=100, store=tmp_path / "run.zarr")
    words = str(aptmc.open(tmp_path / "run.zarr").summary())
    for note in expected:
        assert words.count(note) == 1


@pytest.mark.parametrize("scale", [None, "sd"])
def test_a_distance_of_all_numbers_is_said_to_be_one(scale) -> None:
    problem = in_parts(p_norm(2, scale=scale))
    assert "distance compares all 3 numbers, one after the other" in problem.notes


def test_arrays_are_neither_converted_nor_tried() -> None:
    calls = []

    def counted(theta, rng):
        calls.append(theta)
        return PLAIN(theta, rng)

    assert aptmc.Abc(counted, PRIOR, OBSERVED, SUPREMUM).notes == ()
    assert calls == []
    pack_up = KINDS["Series"]
    aptmc.Abc(lambda *given: pack_up(counted(*given)), PRIOR, pack_up(OBSERVED), SUPREMUM)
    assert len(calls) == 1


# --- runs that go on elsewhere and later ----------------------------------------------------------


def test_fingerprints_tell_data_apart_by_what_they_are() -> None:
    def made(data, distance=SUPREMUM):
        return aptmc.Abc(lambda theta, rng: data, PRIOR, data, distance)

    for kind, pack_up in KINDS.items():
        data = pack_up(OBSERVED)
        problem = made(data)
        before = problem.fingerprint()
        distances(problem, 1)  # they remember what was looked up in them
        assert problem.fingerprint()["observed"] == before["observed"], kind
        assert made(pack_up(OBSERVED)).fingerprint()["observed"] == before["observed"], kind
        assert made(pack_up(OBSERVED + 1.0)).fingerprint()["observed"] != before["observed"], kind
    relabelled = pandas.Series(OBSERVED, index=[5, 6, 7])
    assert (
        made(relabelled).fingerprint()["observed"]
        != made(series(OBSERVED)).fingerprint()["observed"]
    )
    ours, theirs = made({"x": OBSERVED}, {"x": p_norm(1)}), made({"x": OBSERVED}, {"x": p_norm(2)})
    assert ours.fingerprint()["distance"] != theirs.fingerprint()["distance"]


@pytest.mark.parametrize("kind", KINDS)
def test_problems_travel_to_workers(kind: str) -> None:
    pack_up = KINDS[kind]
    problem = aptmc.Abc(
        lambda theta, rng: pack_up(theta[0] + rng.standard_normal(3)),
        PRIOR,
        pack_up(OBSERVED),
        SUPREMUM,
    )
    kernel = aptmc.OneHit(1.0)
    wire = Wire(1, problem.width)
    there = load(pack((problem, kernel), wire))[0].problem
    np.testing.assert_array_equal(distances(there), distances(problem))


@pytest.mark.parametrize("named", [False, True])
def test_ready_made_distances_are_compiled_once_and_not_by_every_worker(named: bool) -> None:
    distance = p_norm(2, weights=[1.0, 2.0, 3.0 + named])  # of which nobody else knows
    pack_up = (lambda y: {"x": y}) if named else np.asarray
    problem = aptmc.Abc(
        lambda theta, rng: pack_up(theta[0] + rng.standard_normal(3)),
        PRIOR,
        pack_up(OBSERVED),
        {"x": distance} if named else distance,
    )
    if not named:  # a simulator of data with names has been tried
        assert distance.signatures == []
    problem.simulation(problem.target)  # as the process does that workers are copies of
    before = list(distance.signatures)
    assert len(before) == 1
    distances(problem)
    assert distance.signatures == before  # it was compiled for what it is given
    wire = Wire(1, problem.width)
    sent = pack((problem, aptmc.OneHit(1.0)), wire)
    assert b"_weighted_p_norm" in sent  # made again there, from what is cached on disk
    assert b"custom_rebuild" not in sent  # numba's own way, which compiles anew
    supremum = aptmc.Abc(PLAIN, PRIOR, OBSERVED, aptmc.distance.log_supremum())
    sent = pack((supremum, aptmc.OneHit(1.0)), wire)
    assert b"log_supremum" in sent
    assert b"custom_rebuild" not in sent


def test_pandas_is_not_imported_for_those_who_do_not_use_it() -> None:
    code = """
import sys
import aptmc
from scipy import stats
problem = aptmc.Abc(lambda theta, rng: {"y": theta[0] + rng.random(3)},
                    aptmc.Prior(a=stats.norm(0, 1)), {"y": [1, 2, 3]},
                    aptmc.distance.p_norm(2, scale="mad"))
print({"pandas", "xarray"} & set(sys.modules))
"""
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "set()"
