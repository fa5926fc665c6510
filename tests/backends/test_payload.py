"""What travels to workers: a problem without scipy, and what this process had set."""

from __future__ import annotations

import decimal
import os
import pickle

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.backends.workers.carried_over import CarriedOver, Jax, seen_here, take_over
from aptmc.backends.workers.payload import pack, unpack
from aptmc.backends.workers.wire import Wire
from aptmc.problem.prior.unloaded import Unloaded
from tests.backends.contract import run_until
from tests.support import simulators

KERNEL = aptmc.RandomWalk(1.0)
PRIOR = aptmc.Prior(
    x=stats.norm(1.0, 5.0),
    y=aptmc.iid(stats.gamma(2.0, scale=3.0), 3),
    k=stats.poisson(4.0),
    z=stats.uniform([0.0, 1.0], 2.0),
)


def sent(problem):
    """A problem as a worker has it."""
    payload = pack((problem, KERNEL), Wire(1, problem.width))
    return unpack(payload)[0].problem


def test_a_prior_of_known_families_travels_without_scipy():
    problem = aptmc.Tempered(simulators.log_density, PRIOR)
    assert b"scipy" not in pack((problem, KERNEL), Wire(1, problem.width))
    twin = sent(problem).prior
    assert all(isinstance(part.distribution, Unloaded) for part in twin.parts)
    draws, rng = PRIOR.draw(np.random.default_rng(1), 100), np.random.default_rng(1)
    assert (twin.draw(rng, 100) == draws).all()
    assert (twin.log_density(draws) == PRIOR.log_density(draws)).all()
    assert all((mine == own).all() for mine, own in zip(twin.support, PRIOR.support, strict=True))
    assert str(twin) == str(PRIOR)
    # Asked for themselves, the distributions are there.
    (part,) = (part for part in twin.parts if part.variables[0].name == "x")
    assert part.distribution.mean() == 1.0
    with pytest.raises(AttributeError, match="no_such"):
        _ = part.distribution.no_such


def test_a_worker_may_send_it_on():
    twin = sent(sent(aptmc.Tempered(simulators.log_density, PRIOR))).prior
    theta = PRIOR.draw(np.random.default_rng(1))
    assert twin.log_density(theta) == PRIOR.log_density(theta)
    assert pickle.loads(pickle.dumps(twin)).log_density(theta) == PRIOR.log_density(theta)


def test_a_prior_of_other_families_travels_with_scipy():
    prior = aptmc.Prior(x=stats.gumbel_r(0.0, 2.0))
    problem = aptmc.Tempered(simulators.log_density, prior)
    assert b"scipy.stats" in pack((problem, KERNEL), Wire(1, problem.width))
    assert sent(problem).prior.log_density([0.5]) == prior.log_density([0.5])


# --- what is carried over -------------------------------------------------------------------------


class Decimals(CarriedOver):
    """How many digits decimal numbers have."""

    module = "decimal"

    def seen(self, library):
        return library.getcontext().prec

    def set(self, settings):
        decimal.getcontext().prec = settings


class Nothing(CarriedOver):
    module = "a_library_that_is_not_there"

    def seen(self, library):
        raise AssertionError("nobody has loaded it")

    def set(self, settings):
        raise AssertionError("nobody has loaded it")


def test_settings_of_libraries_that_are_loaded_are_carried_over():
    kinds = [Decimals(), Nothing()]
    with decimal.localcontext(prec=7):
        settings = pickle.loads(pickle.dumps(seen_here(kinds)))
    assert settings == {"decimal": 7}
    with decimal.localcontext(prec=20):
        take_over(settings, kinds)
        assert decimal.getcontext().prec == 7
        take_over({}, kinds)
        assert decimal.getcontext().prec == 7


def test_settings_of_jax_reach_a_process_that_has_not_loaded_it(monkeypatch):
    monkeypatch.setenv("JAX_ENABLE_X64", "False")
    Jax().set({"jax_enable_x64": True})
    assert os.environ["JAX_ENABLE_X64"] == "True"


class InJax:
    """A log density in JAX, which refuses to compute in 32 bits."""

    def __init__(self, data):
        self.data = data

    def __call__(self, theta):
        import jax.numpy as jnp

        value = -0.5 * jnp.sum((jnp.asarray(theta) - self.data) ** 2)
        if value.dtype != "float64":
            raise ArithmeticError(f"it computes with {value.dtype}")
        return float(value)


@pytest.mark.parametrize("has_array", [False, True])
def test_workers_compute_with_as_many_bits_as_this_process(has_array):
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        data = jax.numpy.zeros(1) if has_array else 0.0  # an array starts threads when it is loaded
        run = run_until(problem=simulators.problem(InJax(data)), on=aptmc.Processes(2, group=1))
    finally:
        jax.config.update("jax_enable_x64", before)
    assert run.completions >= 60
