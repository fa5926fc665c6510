"""Which functions are JAX's, and what problems make of them."""

import functools

import cloudpickle
import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.jax_programs.recognise import is_of_jax
from aptmc.jax_programs.through_jax import ThroughJax

jax = pytest.importorskip("jax")
jnp = jax.numpy
PRIOR = aptmc.Prior(b=aptmc.iid(stats.norm(0, 3), 2))
DATA = np.array([0.5, 1.5, 4.0])


@pytest.fixture(autouse=True)
def with_64_bits():
    with jax.enable_x64(True):
        yield


def log_likelihood(theta):
    return -0.5 * jnp.sum((DATA - theta[0] - theta[1] * jnp.arange(3.0)) ** 2)


def calls_it(theta):
    return 2 * log_likelihood(theta)


class Model:
    def log_likelihood(self, theta):
        return jnp.sum(theta)


def plain(theta):
    return -0.5 * np.sum(theta**2)


def test_functions_of_jax_are_recognised():
    inside = jnp.sum
    assert is_of_jax(log_likelihood)
    assert is_of_jax(calls_it)
    assert is_of_jax(jax.jit(plain))
    assert is_of_jax(lambda theta: inside(theta))
    assert is_of_jax(functools.partial(log_likelihood))
    assert is_of_jax(Model().log_likelihood)
    assert not is_of_jax(plain)
    assert not is_of_jax(np.sum)
    assert not is_of_jax(stats.norm(0, 1).pdf)


def test_a_density_of_jax_is_compiled_and_has_a_gradient():
    problem = aptmc.Tempered(log_likelihood, PRIOR)
    theta = np.array([0.3, 1.2])
    assert problem.is_compiled
    assert problem.notes == ()
    assert problem.gradient is not None
    assert problem.log_likelihood(theta) == pytest.approx(float(log_likelihood(theta)), rel=1e-14)
    np.testing.assert_allclose(problem.gradient(theta), jax.grad(log_likelihood)(theta), rtol=1e-12)
    # It travels without JAX, and is told by what it computes.
    assert b"jax." not in cloudpickle.dumps(problem).replace(b"jax_programs.", b"")
    assert problem.fingerprint() == aptmc.Tempered(log_likelihood, PRIOR).fingerprint()
    other = aptmc.Tempered(calls_it, PRIOR)
    assert problem.fingerprint()["log_likelihood"] != other.fingerprint()["log_likelihood"]


def test_bits_are_those_of_the_process():
    with jax.enable_x64(False):
        problem = aptmc.Power(lambda theta: jnp.float32(1e8) + theta[0], [1.0])
    assert "32 bits" in problem.notes[0]
    # Wherever it is computed, one more or less is lost: the program says how many bits there are.
    assert problem.log_density(np.array([1.0])) == 1e8


def test_loops_without_an_end_are_differentiated_forwards():
    def halved(theta):
        size = jax.lax.while_loop(lambda x: x > 1, lambda x: x / 2, theta[0])
        return -(size**2)

    problem = aptmc.Power(halved, [5.0])
    np.testing.assert_allclose(problem.gradient(np.array([5.0])), [-2 * 5 / 8 / 8])


def test_what_numba_does_not_know_is_called_through_jax():
    def spectral(theta):
        return -jnp.sum(jnp.abs(jnp.fft.fft(theta)) ** 2)

    problem = aptmc.Tempered(spectral, PRIOR)
    assert isinstance(problem.log_likelihood, ThroughJax)
    assert not problem.is_compiled
    assert "called through JAX" in problem.notes[-1]
    theta = np.array([1.0, 2.0])
    again = cloudpickle.loads(cloudpickle.dumps(problem))
    assert again.log_likelihood(theta) == pytest.approx(-10.0)
    np.testing.assert_allclose(again.gradient(theta), [-4.0, -8.0])


def test_functions_that_only_use_jax_are_left_alone():
    def mixed(theta):
        return float(jnp.sum(theta)) + np.random.default_rng(0).normal()

    assert aptmc.Tempered(mixed, PRIOR).log_likelihood is mixed


def test_mistakes_are_said_at_once():
    with pytest.raises(aptmc.InputError, match="cannot be traced for theta, an array of 2"):
        aptmc.Tempered(jax.jit(lambda theta: theta[0] if theta[0] > 0 else 0.0), PRIOR)
    with pytest.raises(aptmc.InputError, match="single number, yours returns shape"):
        aptmc.Tempered(lambda theta: jnp.exp(theta), PRIOR)


def test_simulators_draw_from_a_key():
    def simulate(theta, key):
        return theta[0] + theta[1] * jax.random.normal(key, (3,))

    def distance(simulated, observed):
        return jnp.max(jnp.abs(simulated - observed))

    problem = aptmc.Abc(simulate, PRIOR, observed=DATA, distance=distance)
    assert problem.is_compiled
    rng = np.random.default_rng(3)
    draws = np.array([problem.simulator.simulate(np.array([1.0, 2.0]), rng) for _ in range(2000)])
    # 6000 independent normal draws: mean and sd within 4 standard errors.
    assert abs(draws.mean() - 1) < 4 * 2 / np.sqrt(6000)
    assert abs(draws.std() - 2) < 4 * 2 / np.sqrt(12000)
    assert problem.simulator.distance(draws[0], DATA) == pytest.approx(
        np.abs(draws[0] - DATA).max()
    )


def test_simulators_may_stop_early_and_say_how_much_they_did():
    def simulated_distance(theta, key, tolerance):
        def going(carried):
            return (carried[0] < tolerance) & (carried[1] < 5)

        def step(carried):
            return carried[0] + jnp.exp(theta[0]), carried[1] + 1

        away, steps = jax.lax.while_loop(going, step, (0.0 * theta[0], 0))
        return jnp.where(away < tolerance, away, jnp.inf), 1.0 * steps

    problem = aptmc.Abc.early(simulated_distance, PRIOR, counts_work=True)
    rng = np.random.default_rng(0)
    assert problem.is_compiled
    assert problem.simulator.simulate(np.zeros(2), rng, 9.0) == (5.0, 5.0)
    assert problem.simulator.simulate(np.zeros(2), rng, 2.5) == (np.inf, 3.0)
