"""Prior and likelihood of models of NumPyro, beside the density that NumPyro itself samples."""

import numpy as np
import pytest
from scipy import stats

jax = pytest.importorskip("jax")
numpyro = pytest.importorskip("numpyro")
import numpyro.distributions as dist  # noqa: E402
from jax.extend.core import jaxpr_as_fun  # noqa: E402
from numpyro import handlers  # noqa: E402
from numpyro.contrib.control_flow import scan  # noqa: E402

from aptmc.frontends.numpyro_sites import sites_of  # noqa: E402
from aptmc.frontends.numpyro_split import Split  # noqa: E402

DATA = np.array([0.4, -1.2, 2.0])


@pytest.fixture(autouse=True, scope="module")
def with_64_bits():
    with jax.enable_x64(True):
        yield


def in_a_loop(y):
    """A latent site of a bounded support at each step."""

    def step(width, given):
        with numpyro.plate("two", 2):
            width = numpyro.sample("width", dist.LogNormal(jax.numpy.log(width), 0.3))
        numpyro.sample("y", dist.Normal(0, width.sum()), obs=given)
        return width, None

    first = numpyro.sample("first", dist.HalfNormal(1))
    scan(step, jax.numpy.ones(2) * first, y)


def scaled(y):
    with handlers.scope(prefix="part"), handlers.scale(scale=0.5):
        width = numpyro.sample("width", dist.HalfNormal(1))
    numpyro.sample("y", dist.Normal(0, width), obs=y)


def masked(y):
    with numpyro.plate("place", 3), handlers.mask(mask=np.arange(3) < 2):
        width = numpyro.sample("width", dist.HalfNormal(1))
        numpyro.sample("y", dist.Normal(0, width), obs=y)


def with_its_own_key(y):
    """As a loop without a key would not be: what a key is wanted for has one."""
    width = numpyro.sample("width", dist.HalfNormal(1))
    noise = jax.random.normal(numpyro.prng_key(), (3,))
    numpyro.sample("y", dist.Normal(0.0 * noise, width), obs=y)


def parts(model, theta):
    """Log prior and log likelihood at some coordinates, and minus NumPyro's potential there."""
    sites = sites_of(model, (DATA,), {})
    split = Split(model, (DATA,), {}, sites)
    seeded = handlers.seed(model, jax.random.PRNGKey(0))
    place, start = {}, 0
    for site in sites.latent:
        size = site.coordinates.size
        numbers = jax.numpy.asarray(theta[start : start + size])
        place[site.name] = numbers.reshape(site.coordinates.shape)
        start += size
    program = jaxpr_as_fun(split.density())
    whole = -float(numpyro.infer.util.potential_energy(seeded, (DATA,), {}, place))
    return [float(one) for one in program(theta)], whole, split


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(in_a_loop, marks=pytest.mark.validation),
        pytest.param(scaled, marks=pytest.mark.validation),
        masked,
        pytest.param(with_its_own_key, marks=pytest.mark.validation),
    ],
)
def test_both_sum_to_the_density_that_numpyro_samples(model):
    size = {in_a_loop: 7, masked: 3}.get(model, 1)
    theta = np.random.default_rng(1).normal(size=size)
    (prior, likelihood), whole, _ = parts(model, theta)
    assert prior + likelihood == pytest.approx(whole, rel=1e-12)


def test_the_prior_has_the_density_of_its_draws():
    """Without masks and scales: these would weigh draws of the prior, which nobody weighs."""
    width = np.exp(0.3)
    of_draws = stats.halfnorm.logpdf(width) + 0.3
    (prior, _), whole, _ = parts(scaled, np.array([0.3]))
    assert prior == pytest.approx(of_draws)
    assert whole == pytest.approx(0.5 * of_draws + stats.norm(0, width).logpdf(DATA).sum())
    (prior, _), _, _ = parts(masked, np.full(3, 0.3))
    assert prior == pytest.approx(3 * of_draws)


@pytest.mark.validation(shortest=0.1)  # `make frontends` has it, too
def test_a_loop_draws_as_numpyro_does_and_its_sites_are_shown():
    split = Split(in_a_loop, (DATA,), {}, sites_of(in_a_loop, (DATA,), {}))
    draw, shown = jaxpr_as_fun(split.draw()), jaxpr_as_fun(split.shown())
    (theta,) = draw(np.array([3, 4], dtype=np.uint32))
    key = jax.random.wrap_key_data(np.array([3, 4], dtype=np.uint32), impl="threefry2x32")
    trace = handlers.trace(handlers.seed(in_a_loop, key)).get_trace(DATA)
    (found,) = shown(theta)
    values = [trace[name]["value"] for name in ("first", "width")]
    expected = np.concatenate([np.ravel(one) for one in values])
    np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=1e-12)
    assert "random" not in str(split.density())  # no keys are split in each evaluation


def test_dims_of_an_event_are_named_as_arviz_names_them():
    def model(y):
        with numpyro.plate("place", 3):
            normal = dist.Normal(0, 1).expand([2]).to_event(1)
            slope = numpyro.sample("slope", normal, infer={"event_dims": ["way"]})
        numpyro.sample("y", dist.Normal(slope.sum(-1), 1), obs=y)

    (slope,) = sites_of(model, (DATA,), {}).latent
    assert slope.variable.dims == ("place", "way")
