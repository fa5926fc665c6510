"""Data with names: what does not fit is refused before anything is sampled, and named."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas
import pytest
import xarray
from numba import njit

import aptmc
from aptmc.distance import by_part, p_norm
from tests.support.normal_data import OBSERVED, PRIOR, sample, simulate

TABLE = pandas.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=["Rome", "Oslo"])
GRID = xarray.DataArray(np.ones((2, 3)), dims=("place", "day"), coords={"day": [1, 2, 3]})
PARTS = {"prey": [1.0, 2.0, 3.0], "peak": 4.0}


def apart(simulated, observed):
    return 0.0


def made(observed, simulated, distance=apart, **options):
    return aptmc.Abc(lambda theta, rng: simulated, PRIOR, observed, distance, **options)


@pytest.mark.parametrize(
    ("observed", "simulated", "message"),
    [
        (PARTS, PARTS | {"prey": [1.0]}, "part 'prey' has shape (1,) in a simulation, (3,) as"),
        (PARTS, {"pray": [1.0], "peak": 1.0}, "part 'prey' of the data is missing in a simulation"),
        (PARTS, {}, "part 'prey' of the data is missing in a simulation, which has no parts"),
        (PARTS, np.zeros(4), "parts 'prey', 'peak', but in a simulation it is an array of shape"),
        (PARTS, None, "parts 'prey', 'peak', but in a simulation it is a NoneType"),
        (PARTS, PARTS | {"peak": "high"}, "part 'peak' is 'high' in a simulation, must be numbers"),
        ({"a": PARTS}, {"a": {"prey": [1.0, 2.0, 3.0]}}, "part 'a.peak' of the data is missing"),
        ([[1.0], [1.0, 2.0]], [[1.0], [1.0]], "part '1' has shape (1,) in a simulation"),
        ([[1.0], [1.0, 2.0]], [[1.0]], "part '1' of the data is missing"),
        (TABLE, TABLE.iloc[:1], "part 'x' is not simulated at label Oslo, only at Rome"),
        (TABLE, TABLE[["x"]], "part 'y' of the data is missing in a simulation, which has 'x'"),
        (TABLE, TABLE.iloc[[0, 0, 1]], "part 'x' has other labels in a simulation than as observ"),
        (TABLE["x"], TABLE["x"].iloc[1:], "the data is not simulated at label Rome"),
        (TABLE, TABLE.to_numpy()[:1], "shape"),
        (GRID, GRID[:, 1:], "the data is not simulated at day 1, only at 2, 3"),
        (GRID, GRID[0], "the dimensions ('day',) in a simulation, ('place', 'day') as observed"),
        (GRID.to_dataset(name="u"), GRID.to_dataset(name="v"), "part 'u' of the data is missing"),
    ],
)
def test_a_simulation_that_does_not_fit_is_refused_by_the_name_of_its_part(
    observed, simulated, message: str
) -> None:
    for on_error in ("raise", "reject"):
        if isinstance(observed, pandas.DataFrame) and isinstance(simulated, np.ndarray):
            continue  # an array, whose shape is seen when it is sampled
        with pytest.raises(aptmc.InputError, match=re.escape(message)) as refusal:
            made(observed, simulated, on_error=on_error)
        assert "at theta=" in str(refusal.value)


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        (PARTS | {"prey": [1.0, math.nan]}, "part 'prey.1' of observed must be an array of finite"),
        (PARTS | {"peak": "high"}, "part 'peak' of observed must be an array of finite numbers, g"),
        (
            PARTS | {"peak": []},
            "part 'peak' of observed must be an array of finite numbers, got []",
        ),
        ({1: 2.0, "1": 3.0}, "two parts of the data have the same name, got [1, '1']"),
        (
            TABLE.assign(z=["a", "b"]),
            "part 'z' of observed must be an array of finite numbers, got",
        ),
        (TABLE.assign(z=[1.0, math.nan]), "leave them out with dropna()"),
        (TABLE.iloc[:0], "part 'x' of observed"),
        (GRID.where(GRID.day < 3), "leave them out with dropna()"),
        (pandas.DataFrame(), "observed must be an array of finite numbers"),
    ],
)
def test_data_that_are_no_numbers_are_refused_by_the_name_of_their_part(
    observed, message: str
) -> None:
    with pytest.raises(aptmc.InputError, match=re.escape(message)):
        made(observed, observed)


@pytest.mark.parametrize(
    ("distance", "message"),
    [
        ({"pray": apart}, "a distance is given for 'pray', but observed has no such part: it has"),
        ({"prey": None}, "distance['prey'] must be a function"),
        ({"prey": lambda only: 0.0}, "distance['prey'] is called as"),
        ({"prey": {"x": apart}}, "given by name, for 'x', but part 'prey' has no parts"),
        ({"prey": lambda mine, yours: mine[7]}, "the distance of 'prey' raised IndexError"),
        ({"prey": lambda mine, yours: mine}, "the distance of 'prey' returned array"),
        (lambda mine, yours: mine["pray"], "distance raised KeyError: 'pray'"),
        (njit(lambda mine, yours: mine.nothing), "distance cannot be compiled"),
    ],
)
def test_a_distance_that_does_not_fit_is_refused_before_a_run(distance, message: str) -> None:
    with pytest.raises(aptmc.InputError, match=re.escape(message)):
        made(PARTS, PARTS, distance)


def test_names_need_data_with_names() -> None:
    with pytest.raises(aptmc.InputError, match="observed has no parts: give a dictionary of data"):
        aptmc.Abc(simulate, PRIOR, OBSERVED, {"x": apart})


@pytest.mark.parametrize(
    ("distances", "options", "message"),
    [
        ({}, {}, "must be a dictionary of distances by name"),
        ([apart], {}, "must be a dictionary of distances by name"),
        ({"x": apart}, {"order": 0.5}, "order must be a number from 1 on, got 0.5"),
        ({"x": apart}, {"order": "two"}, "order must be a number from 1 on"),
        ({"x": apart}, {"weights": {"y": 1.0}}, "there is a weight for 'y' but no distance"),
        ({"x": apart}, {"weights": {"x": 0.0}}, "the weight of 'x' must be a positive number"),
        ({"x": apart}, {"weights": {"x": math.nan}}, "the weight of 'x' must be a positive number"),
    ],
)
def test_distances_by_part_that_make_no_sense_are_refused(distances, options, message) -> None:
    with pytest.raises(aptmc.InputError, match=re.escape(message)):
        by_part(distances, **options)


def sometimes(theta, rng):
    if rng.random() < 0.3:
        raise ArithmeticError("died out")
    return {"y": theta[0] + rng.standard_normal(3 if rng.random() < 0.8 else 2)}


def test_what_fails_now_and_then_is_a_miss_if_that_is_asked_for() -> None:
    problem = aptmc.Abc(sometimes, PRIOR, {"y": OBSERVED}, p_norm(math.inf), on_error="reject")
    run = sample(problem, budget=500)
    assert run.failures > 50


def test_what_fails_in_a_run_names_the_part_and_the_parameters() -> None:
    def later(theta, rng):
        return {"y": theta[0] + rng.standard_normal(3 if theta[0] < 3.0 else 2)}

    problem = aptmc.Abc(later, PRIOR, {"y": OBSERVED}, p_norm(math.inf))
    with pytest.raises(
        aptmc.RunFailed, match=r"part 'y' has shape \(2,\) in a simulation"
    ) as error:
        sample(problem, budget=500)
    assert "theta=" in str(error.value)


def test_a_simulator_that_always_fails_is_refused_with_its_own_words() -> None:
    def broken(theta, rng):
        raise ArithmeticError("out of range")

    for on_error in ("raise", "reject"):
        with pytest.raises(aptmc.InputError, match="simulate raised ArithmeticError: out of range"):
            aptmc.Abc(broken, PRIOR, PARTS, apart, on_error=on_error)


@pytest.mark.parametrize("keep", ["yes", None, 3])
def test_what_to_keep_must_be_said_in_known_words(keep) -> None:
    with pytest.raises(aptmc.InputError, match="keep_simulated must be True, False or"):
        made(PARTS, PARTS, keep_simulated=keep)
