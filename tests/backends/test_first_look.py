"""A first simulation is looked at before there are workers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.processes.local_workforce import LocalWorkforce

PRIOR = aptmc.Prior(mean=stats.norm(0, 5))
WORDS = (
    r"simulated data have shape \(3,\), observed have \(4,\), and must be alike, at mean=-?[0-9]"
)


def simulate(theta, rng):
    return theta[0] + rng.standard_normal(3)


def greatest(simulated, observed):
    return np.abs(simulated - observed).max()


def shares(theta, rng):
    return theta + rng.standard_normal(theta.size)


def of(simulator, size: int, **changes) -> aptmc.Abc:
    settings = {"observed": np.zeros(size), "distance": greatest, **changes}
    return aptmc.Abc(simulator, settings.pop("prior", PRIOR), **settings)


@pytest.mark.parametrize("function", [simulate, njit(simulate)], ids=["plain", "compiled"])
def test_data_that_do_not_fit_are_found_before_there_are_workers(function, monkeypatch):
    hired = []
    hire = LocalWorkforce.hire
    monkeypatch.setattr(
        LocalWorkforce, "hire", lambda self, number: hired.append(number) or hire(self, number)
    )
    with pytest.raises(aptmc.InputError, match=f"^a first simulation failed: {WORDS}"):
        aptmc.sample(of(function, 4), budget=60, on=2, seed=1, progress=False)
    assert hired == []


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (of(simulate, 4), WORDS),
        (of(njit(simulate), 4), WORDS),
        (of(simulate, 3), None),
        (of(simulate, 1, summary=np.mean), None),
        (of(shares, 3, prior=aptmc.Prior(share=stats.dirichlet([1, 1, 1]))), None),
        (of(lambda theta, rng: None, 3), "simulate returned None, must be an array of numbers"),
        (of(lambda theta, rng: 1j * theta, 1), "simulate returned array.* must be an array of num"),
        (of(simulate, 3, distance=np.subtract), "distance returned .*, must be a single number"),
        (of(lambda theta, rng: {}["key"], 3), None),  # which a move says better
        (of(simulate, 4, on_error="reject"), None),
        (aptmc.Abc.early(lambda theta, rng, tolerance: theta, PRIOR), "must be a single number"),
        (aptmc.Abc.early(lambda theta, rng, tolerance: abs(theta[0]), PRIOR), None),
        (aptmc.Tempered(lambda theta: "nothing", PRIOR), None),
    ],
)
def test_what_is_seen_is_the_form_of_what_functions_return(problem, words):
    fault = problem.first_fault()
    if words is None:
        assert fault is None
    else:
        assert fault is not None
        assert re.search(words, fault)


# --- simulators that are not random ---------------------------------------------------------------


def from_a_seed_of_its_own(theta, rng):
    return theta[0] + np.random.default_rng(3).normal(size=3)


def through_nothing_random(theta, rng):
    return np.array([theta[0], theta[0] ** 2, 1.0])


def from_numpys_own(theta, rng):
    return theta[0] + np.random.standard_normal(3)  # noqa: NPY002 (which pyABC's users call)


@pytest.mark.parametrize(
    ("simulator", "size", "repeats"),
    [
        (from_a_seed_of_its_own, 3, True),
        (through_nothing_random, 3, True),
        (njit(through_nothing_random), 3, True),
        (simulate, 3, False),
        (from_numpys_own, 3, False),
        (lambda theta, rng: np.zeros(3), 3, False),  # which says nothing, and is said elsewhere
        (lambda theta, rng: rng.random(1) < 0.5, 1, False),
        (lambda theta, rng: theta[5], 1, False),
    ],
)
def test_a_simulator_that_gives_the_same_again_is_seen(simulator, size, repeats):
    assert of(simulator, size).repeats_itself() is repeats


def test_distances_that_a_simulator_gives_itself_may_repeat_themselves():
    away = aptmc.Abc.early(lambda theta, rng, tolerance: abs(theta[0]), PRIOR)
    assert away.repeats_itself()
    random = aptmc.Abc.early(lambda theta, rng, tolerance: abs(theta[0] + rng.random()), PRIOR)
    assert not random.repeats_itself()
    assert not aptmc.Tempered(lambda theta: 0.0, PRIOR).repeats_itself()


def test_a_run_tells_of_a_simulator_that_repeats_itself(tmp_path):
    store = tmp_path / "run.zarr"
    run = aptmc.sample(
        of(from_a_seed_of_its_own, 3), budget="40 moves", ladder=[5, 50], kernel=aptmc.OneHit(1.0),
        schedule=aptmc.Synchronous(), warmup=0, on=aptmc.Processes(1), seed=1, progress=False,
        store=store,
    )  # fmt: skip
    for one in (run, aptmc.open(store)):
        assert one.repeats_itself
        told = [advice for advice in one.advice if "gives the same data again" in advice.problem]
        assert told[0].serious


# --- compiled functions that leave their arrays ---------------------------------------------------


def beyond(theta):
    return -(theta[0] ** 2) + theta[1 + int(theta[0] > 1e9)]


def simulate_beyond(theta, rng):
    data = np.zeros(3)
    data[2 + theta.size] = rng.random()
    return data


@pytest.mark.parametrize(
    ("problem", "name"),
    [
        (aptmc.Tempered(njit(beyond), PRIOR), "log_likelihood"),
        (aptmc.Power(njit(beyond), {"mean": 0.5}), "log_density"),
        (of(njit(simulate_beyond), 3), "simulate"),
    ],
)
def test_compiled_code_that_would_read_anything_is_refused(problem, name):
    fault = problem.first_fault()
    assert fault is not None
    assert re.match(
        rf"{name} raised IndexError: index [13] is out of bounds for axis 0 with size [13],? as "
        r"plain Python at mean=\S+; compiled code does not notice, and reads what happens",
        fault,
    )


@pytest.mark.parametrize(
    "problem",
    [
        aptmc.Tempered(beyond, PRIOR),  # which Python checks itself
        aptmc.Tempered(njit(lambda theta: -(theta[0] ** 2)), PRIOR),
        aptmc.Tempered(njit(lambda theta: 1 / (theta[0] - theta[0])), PRIOR),
        of(simulate_beyond, 3),
    ],
)
def test_other_densities_are_left_to_moves(problem):
    assert problem.first_fault() is None
