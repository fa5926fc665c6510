"""Densities and gradients in C, as `ctypes` has them: called by compiled moves, on workers too."""

from __future__ import annotations

import ctypes
import math
import shutil

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.c_functions import DENSITY, in_library, library_of
from aptmc.errors import InputError, RunFailed
from aptmc.kernels import Metric
from aptmc.problem.fingerprint import fingerprint, is_uncertain
from aptmc.targets import NUMBA
from tests.support.c_library import library

CODE = """
#include <math.h>
#include <stdint.h>

double log_likelihood(const double *theta, int64_t size) {
    double total = 0.0;
    for (int64_t i = 0; i < size; i++) total -= 0.5 * (theta[i] - MEAN) * (theta[i] - MEAN);
    return total;
}

void gradient(const double *theta, double *slopes, int64_t size) {
    for (int64_t i = 0; i < size; i++) slopes[i] = MEAN - theta[i];
}

double fails(const double *theta, int64_t size) { return theta[0] > 0.5 ? NAN : 0.0; }
"""
PRIOR = aptmc.Prior(x=aptmc.iid(stats.norm(0, 1), 2))
MEAN = 1.0  # of the posterior: 0.5 in each place, with variance 0.5


def code(mean=MEAN):
    return CODE.replace("MEAN", f"{mean:.1f}")


@pytest.fixture(scope="module")
def in_c(tmp_path_factory):
    return library(tmp_path_factory.mktemp("in_c"), code())


@pytest.fixture(scope="module")
def problem(in_c):
    return aptmc.Tempered(in_c.log_likelihood, PRIOR, gradient=in_c.gradient)


def numba_problem():
    @njit
    def log_likelihood(theta):
        total = 0.0
        for i in range(theta.size):
            total -= 0.5 * (theta[i] - MEAN) * (theta[i] - MEAN)
        return total

    @njit
    def gradient(theta):
        return MEAN - theta

    return aptmc.Tempered(log_likelihood, PRIOR, gradient=gradient)


# Moves that hold an address are not kept on disk, and compiled anew: kernels that take little.
LADDER = aptmc.Ladder.powers([1.0, 0.3])
ALONG = aptmc.Mala(Metric(np.tile(np.eye(2), (2, 1, 1)), np.ones(2)))
SETTINGS = {
    "ladder": LADDER, "schedule": aptmc.Anytime(every=5.0), "pools": aptmc.Shared(2),
    "on": aptmc.VirtualTime(1), "seed": 1, "progress": False,
}  # fmt: skip


def sampled(problem, kernel=ALONG, **options):
    return aptmc.sample(problem, kernel=kernel, **({"budget": 2000} | SETTINGS | options))


def in_plain_python():
    """The same, which takes less time than to have numba compile it."""
    compiled = numba_problem()
    return aptmc.Tempered(
        compiled.log_likelihood.py_func, PRIOR, gradient=compiled.gradient.py_func
    )


def test_they_are_compiled_end_to_end_and_give_the_draws_of_python(problem):
    assert problem.target is NUMBA
    assert problem.gradient is not None
    mine, theirs = sampled(problem), sampled(in_plain_python())
    assert mine.draws.posterior.sizes["draw"] > 100
    for one, other in zip(mine.chains(), theirs.chains(), strict=True):
        np.testing.assert_array_equal(one.state, other.state)
    assert "log_likelihood" in repr(problem)
    assert "gradient=gradient" in repr(problem)


def test_power_takes_them_too(in_c):
    problem = aptmc.Power(in_c.log_likelihood, {"x": np.zeros(3)}, gradient=in_c.gradient)
    theta, found = np.array([0.0, 1.0, 3.0]), np.empty(3)
    assert problem.log_density(theta) == -2.5
    problem.gradient_function(NUMBA)(theta, found)
    assert found.tolist() == [1.0, 0.0, -2.0]


def test_one_in_c_goes_with_one_of_numba(in_c, problem):
    mixed = aptmc.Tempered(in_c.log_likelihood, PRIOR, gradient=numba_problem().gradient)
    assert mixed.target is NUMBA
    assert mixed.default_kernel() == problem.default_kernel()
    assert mixed.log_likelihood(np.array([1.0, 3.0])) == -2.0


def test_worker_processes_load_the_library_themselves(problem, tmp_path):
    run = sampled(
        problem, aptmc.RandomWalk(1.0), on=aptmc.Processes(1, group=1), budget="600 moves",
        store=tmp_path / "run",
    )  # fmt: skip
    assert np.concatenate(run.series("x[0]")).size > 100
    again = aptmc.replay(tmp_path / "run", problem)
    assert again.is_same, again.difference


def test_a_run_is_resumed_with_the_same_library_and_no_other(in_c, problem, tmp_path):
    store = tmp_path / "run"
    sampled(problem, aptmc.RandomWalk(1.0), store=store)
    # The same bytes in another place are the same library.
    moved = tmp_path / "moved.so"
    shutil.copy(library_of(in_c.gradient)[0], moved)
    there = ctypes.CDLL(str(moved))
    same = aptmc.Tempered(there.log_likelihood, PRIOR, gradient=there.gradient)
    assert fingerprint(same) == fingerprint(problem)
    assert not any(map(is_uncertain, fingerprint(problem).values()))
    aptmc.resume(store, same, budget=500, on=aptmc.VirtualTime(1), progress=False)
    shifted = library(tmp_path, code(mean=2.0))
    other = aptmc.Tempered(shifted.log_likelihood, PRIOR, gradient=shifted.gradient)
    with pytest.raises(InputError, match="log_likelihood"):
        aptmc.resume(store, other, budget=500, on=aptmc.VirtualTime(1), progress=False)


def test_functions_of_one_library_are_told_apart(in_c):
    other = aptmc.Tempered(in_c.fails, PRIOR)
    same = aptmc.Tempered(in_c.log_likelihood, PRIOR)
    assert fingerprint(other)["log_likelihood"] != fingerprint(same)["log_likelihood"]


def test_a_process_that_finds_another_library_says_so(in_c, tmp_path):
    path, symbol = library_of(in_c.log_likelihood)
    with pytest.raises(InputError, match="is another one than that with which"):
        in_library(path, symbol, DENSITY, "another checksum")
    with pytest.raises(InputError, match="put it where all processes of the run see it"):
        in_library(str(tmp_path / "gone.so"), symbol, DENSITY, "a checksum")


def test_what_is_no_number_is_told_with_the_parameters(in_c):
    with pytest.raises(RunFailed, match=r"log_likelihood returned nan, must be .* at x\[0\]="):
        sampled(aptmc.Tempered(in_c.fails, PRIOR), aptmc.RandomWalk(1.0))


def test_pointers_that_workers_could_not_find_or_that_are_declared_otherwise_are_refused(in_c):
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int64)
    with pytest.raises(InputError, match="log_likelihood is a pointer that belongs to no library"):
        aptmc.Tempered(kind(lambda theta, size: 0.0), PRIOR)
    of_three = in_c["log_likelihood"]
    of_three.argtypes = [ctypes.c_void_p] * 3
    with pytest.raises(InputError, match=r"called as double f\(const double \*theta, int64_t"):
        aptmc.Tempered(of_three, PRIOR)
    of_float = in_c["log_likelihood"]
    of_float.restype = ctypes.c_float
    with pytest.raises(InputError, match="declared otherwise"):
        aptmc.Tempered(of_float, PRIOR)
    declared = in_c["log_likelihood"]
    declared.restype = ctypes.c_double
    declared.argtypes = [ctypes.POINTER(ctypes.c_double), ctypes.c_int64]
    made = aptmc.Tempered(declared, PRIOR)
    assert made.log_likelihood(np.array([1.0, 3.0])) == -2.0
    assert math.isclose(made.log_likelihood(np.zeros(2)), -1.0)
