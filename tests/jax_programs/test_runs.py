"""Runs of simulators of JAX: they reach draws of the right law, here and in workers."""

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.jax_programs.through_jax import ThroughJax

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
FAR = 4.4  # standard errors: by chance once in 100,000 times
OBSERVED, TOLERANCE = 1.5, 0.5
# theta + N(0, 1) within the tolerance of what was observed, far from the bounds of the prior
VARIANCE = 1 + TOLERANCE**2 / 3
LADDER = aptmc.Ladder.tolerances([TOLERANCE, 1.5, 5.0])


def simulate(theta, key):
    """A sum of as many small steps as theta says, by a loop whose length is not known before."""
    steps = 4.0 + jnp.floor(jnp.abs(theta[0]))

    def step(carried):
        number, key, total = carried
        key, own = jax.random.split(key)
        return number + 1, key, total + jax.random.normal(own)

    begin = (0.0 * steps, key, 0.0 * steps)
    _, _, total = jax.lax.while_loop(lambda carried: carried[0] < steps, step, begin)
    return jnp.array([theta[0] + total / jnp.sqrt(steps)])


def simulated_distance(theta, key, tolerance):
    """The same at once, as a distance; infinite as soon as it must be too large."""
    away = jnp.abs(theta[0] + jax.random.normal(key) - OBSERVED)
    return jnp.where(away <= tolerance, away, jnp.inf)


@pytest.fixture(scope="module")
def problem():
    with jax.enable_x64(True):
        prior = aptmc.Prior(theta=stats.uniform(-9, 18))
        distance = aptmc.distance.p_norm(2)
        return aptmc.Abc(simulate, prior, observed=[OBSERVED], distance=distance)


def assert_right(run):
    row = run.summary()["theta"]
    assert row.ess > 100
    assert abs(row.mean - OBSERVED) < FAR * row.mcse
    squares = np.concatenate(run.series("theta")) - OBSERVED
    error = np.sqrt(2 / row.ess) * VARIANCE
    assert abs((squares**2).mean() - VARIANCE) < FAR * error
    # What the second rung would give is noticed.
    assert abs((squares**2).mean() - (1 + 1.5**2 / 3)) > FAR * error


def sampled(problem, on, moves):
    return aptmc.sample(
        problem, budget=f"{moves} moves", ladder=LADDER, kernel=aptmc.OneHit(scale=2.0), on=on,
        seed=1, progress=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("on", "moves"),
    [
        pytest.param(aptmc.InProcess(), 12_000, marks=pytest.mark.validation),  # less than a worker
        (aptmc.Processes(1, group=64), 2000),
    ],
)
def test_a_run_reaches_draws_of_the_right_law(problem, on, moves):
    assert problem.is_compiled
    assert_right(sampled(problem, on, moves))


@pytest.mark.validation
def test_distances_that_stop_early_reach_draws_too():
    with jax.enable_x64(True):
        prior = aptmc.Prior(theta=stats.uniform(-9, 18))
        problem = aptmc.Abc.early(simulated_distance, prior)
    # In virtual time, so that the same is drawn wherever it is computed.
    assert_right(sampled(problem, aptmc.VirtualTime(1), 6000))


def test_a_run_goes_on_and_can_be_computed_again(problem, tmp_path):
    store = tmp_path / "jax.zarr"
    run = aptmc.sample(
        problem, budget=300, ladder=LADDER, kernel=aptmc.OneHit(scale=2.0),
        on=aptmc.VirtualTime(1), store=store, seed=1,
    )  # fmt: skip
    more = aptmc.resume(store, problem, budget=200, on=aptmc.VirtualTime(1))
    assert more.completions > run.completions
    assert aptmc.replay(store, problem).is_same


# --- what JAX alone can compute -------------------------------------------------------------------

DATA = np.array([1.0, -2.0, 0.5])
OFFSET = 1e8  # whose neighbours among numbers of 32 bits are 8 away


def spectral(theta):
    """That of data with noise of width one, by spectra; too far up for 32 bits."""
    away = jnp.fft.fft(theta - jnp.asarray(DATA, theta.dtype))
    return OFFSET - 0.5 * jnp.sum(jnp.abs(away) ** 2) / len(DATA)


def sampled_spectrum(on, moves):
    """With the ladder and the steps that suit a normal posterior in three dimensions."""
    prior = aptmc.Prior(theta=stats.norm([0.0, 0.0, 0.0], 3.0))
    problem = aptmc.Tempered(spectral, prior)
    assert isinstance(problem.log_likelihood, ThroughJax)
    return aptmc.sample(
        problem, budget=f"{moves} moves", ladder=aptmc.Ladder.powers([1.0, 0.3, 0.0]),
        kernel=aptmc.RandomWalk(1.2), on=on, seed=1, progress=False,
    )  # fmt: skip


def errors_of_the_spectrum(run):
    """Of means and of mean squares around the true means, in standard errors."""
    found = run.summary()
    variance = 1 / (1 + 1 / 9)
    means = DATA * variance
    for place, mean in enumerate(means):
        row = found[f"theta[{place}]"]
        squares = (np.concatenate(run.series("theta"))[:, place] - mean) ** 2
        yield abs(row.mean - mean) / row.mcse
        yield abs(squares.mean() - variance) / (variance * np.sqrt(2 / row.ess))


def test_workers_call_jax_with_the_bits_of_the_main_process():
    with jax.enable_x64(True):
        run = sampled_spectrum(aptmc.Processes(1, group=4), 800)
    assert run.summary()["theta[0]"].ess > 30
    assert max(errors_of_the_spectrum(run)) < FAR


def test_too_few_bits_would_be_noticed():
    with jax.enable_x64(False):
        run = sampled_spectrum(aptmc.InProcess(), 3000)
    assert max(errors_of_the_spectrum(run)) > FAR
