"""On an engine, too, a first simulation is looked at before anything is asked of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.cluster import first_look
from aptmc.backends.processes.first_look import leave_job

PRIOR = aptmc.Prior(mean=stats.norm(0, 5))
SETTINGS = {
    "ladder": [5, 50],
    "kernel": aptmc.OneHit(1.0),
    "schedule": aptmc.Anytime(every=0.1),
    "pools": aptmc.Shared(2),
    "warmup": 0,
    "seed": 1,
    "progress": False,
}


def of(simulator, size: int) -> aptmc.Abc:
    return aptmc.Abc(simulator, PRIOR, observed=np.zeros(size), distance=aptmc.distance.p_norm(2))


def simulate(theta, rng):
    return theta[0] + rng.standard_normal(3)


def from_a_seed_of_its_own(theta, rng):
    return theta[0] + np.random.default_rng(3).normal(size=3)


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """However busy the machine is."""
    monkeypatch.setattr(first_look, "SHARE", 1.0)
    monkeypatch.setattr(first_look, "LONGEST", 60.0)


@pytest.fixture
def made():
    """The executors that were made, which end with the run."""
    return []


def on(made):
    def make():
        made.append(ThreadPoolExecutor(2))
        return made[-1]

    return aptmc.Futures(make, 2, group=1)


@pytest.mark.parametrize("function", [simulate, njit(simulate)], ids=["plain", "compiled"])
def test_data_that_do_not_fit_are_found_before_the_engine_is_spoken_to(function, made):
    with pytest.raises(
        aptmc.InputError,
        match=r"^a first simulation failed: simulated data have shape \(3,\), observed have \(4,\)",
    ):
        aptmc.sample(of(function, 4), budget=60, on=on(made), **SETTINGS)
    assert made == []


def test_what_fits_is_sampled_and_what_repeats_itself_is_told(made):
    run = aptmc.sample(of(simulate, 3), budget="20 moves", on=on(made), **SETTINGS)
    assert len(made) == 1
    assert not run.repeats_itself
    run = aptmc.sample(of(from_a_seed_of_its_own, 3), budget="20 moves", on=on(made), **SETTINGS)
    assert run.repeats_itself


def test_a_look_is_no_rank_of_an_mpi_job():
    environment = {"PMI_RANK": "0", "PMIX_RANK": "0", "OMPI_COMM_WORLD_RANK": "0", "PATH": "/bin"}
    leave_job(environment)
    assert environment == {"PATH": "/bin"}


def test_only_what_shows_something_is_looked_at():
    assert first_look.has_something_to_see(of(simulate, 3))
    plain = aptmc.Tempered(lambda theta: -(theta[0] ** 2), PRIOR)
    assert not first_look.has_something_to_see(plain)
    compiled = aptmc.Tempered(njit(lambda theta: -(theta[0] ** 2)), PRIOR)
    assert first_look.has_something_to_see(compiled)
