"""Models of NumPyro: the densities, draws and names that NumPyro itself gives."""

import numpy as np
import pytest

import aptmc
from aptmc.frontends.numpyro import from_numpyro

jax = pytest.importorskip("jax")
numpyro = pytest.importorskip("numpyro")
dist = pytest.importorskip("numpyro.distributions")
EFFECTS = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


@pytest.fixture(autouse=True)
def with_64_bits():
    with jax.enable_x64(True):
        yield


def schools(effects, errors):
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("school", 8):
        z = numpyro.sample("z", dist.Normal(0, 1))
        theta = numpyro.deterministic("theta", mu + tau * z)
        numpyro.sample("effects", dist.Normal(theta, errors), obs=effects)


def mixed(y):
    """A simplex, a bound that depends on a parameter, a factor, a scale."""
    share = numpyro.sample("share", dist.Dirichlet(np.array([1.0, 2.0, 3.0])))
    low = numpyro.sample("low", dist.Uniform(0, 2))
    high = numpyro.sample("high", dist.Uniform(low, 5))
    with numpyro.handlers.scale(scale=0.5):
        numpyro.sample("y", dist.Gamma(1 + low, high), obs=y)
    numpyro.factor("soft", -3.0 * (share[0] - share[1]) ** 2)


@pytest.fixture(scope="module")
def eight():
    with jax.enable_x64(True):
        return from_numpyro(schools, EFFECTS, errors=ERRORS)


AT_LENGTH = pytest.mark.validation(shortest=0.1)  # all of it in `make frontends`, too


@AT_LENGTH
def test_the_parts_sum_to_the_model_and_so_do_their_slopes(eight):
    theta = np.random.default_rng(0).normal(size=10)
    parts, slopes = np.empty(2), np.empty(10)
    eight.density(theta, parts)
    eight.slopes(theta, 1.0, slopes)
    info = numpyro.infer.util.initialize_model(
        jax.random.PRNGKey(0), schools, model_args=(EFFECTS, ERRORS)
    )
    place = {"mu": theta[0], "tau": theta[1], "z": theta[2:]}
    assert parts.sum() == pytest.approx(-float(info.potential_fn(place)), rel=1e-12)
    expected = jax.grad(info.potential_fn)(place)
    of_all = np.concatenate([np.ravel(expected[name]) for name in place])
    np.testing.assert_allclose(slopes, -of_all, rtol=1e-10)
    likelihood = -0.5 * ((EFFECTS - theta[0] - np.exp(theta[1]) * theta[2:]) / ERRORS) ** 2
    constant = -np.log(ERRORS * np.sqrt(2 * np.pi)).sum()
    assert parts[1] == pytest.approx(likelihood.sum() + constant, rel=1e-12)


@AT_LENGTH
def test_users_see_what_the_model_says(eight):
    assert [variable.name for variable in eight.variables] == ["mu", "tau", "z", "theta"]
    assert eight.variables[3].dims == ("school",)
    (data,) = eight.data_groups["observed_data"]
    np.testing.assert_array_equal(data.values, EFFECTS)
    theta = np.full(10, 0.5)
    shown = eight.constrain(theta)
    np.testing.assert_allclose(shown[1], np.exp(0.5))
    np.testing.assert_allclose(shown[10:], 0.5 + 0.5 * np.exp(0.5))


@AT_LENGTH
def test_draws_of_the_prior_are_those_of_the_model(eight):
    draws = eight.prior.draw(np.random.default_rng(1), 2000)
    # Four standard errors, of quartiles where there is no mean.
    assert np.abs(draws[:, 0].mean()) < 4 * 5 / np.sqrt(2000)
    assert np.abs((draws[:, 1] < np.log(5)).mean() - 0.5) < 4 * 0.5 / np.sqrt(2000)
    assert np.abs(draws[:, 2:].std() - 1) < 4 / np.sqrt(2 * 16000)
    again = eight.prior.draw(np.random.default_rng(1), 5)
    np.testing.assert_array_equal(again, draws[:5])


@pytest.mark.validation  # numba compiles it for some seconds
def test_supports_of_all_kinds():
    problem = from_numpyro(mixed, y=np.array([0.3, 0.9]))
    info = numpyro.infer.util.initialize_model(
        jax.random.PRNGKey(0), mixed, model_kwargs={"y": np.array([0.3, 0.9])}, dynamic_args=False
    )
    place = {"share": np.array([0.2, -0.4]), "low": np.array(0.3), "high": np.array(-0.5)}
    theta = np.concatenate([np.ravel(one) for one in place.values()])
    parts = np.empty(2)
    problem.density(theta, parts)
    assert parts.sum() == pytest.approx(-float(info.potential_fn(place)), rel=1e-10)
    rows = problem.constrain(problem.prior.draw(np.random.default_rng(1), 200))
    np.testing.assert_allclose(rows[:, :3].sum(axis=1), 1)
    assert np.all(rows[:, 4] > rows[:, 3])


@AT_LENGTH
def test_a_changed_model_is_another(eight):
    same = from_numpyro(schools, EFFECTS, ERRORS)
    assert same.fingerprint() == eight.fingerprint()
    other = from_numpyro(schools, EFFECTS + 1, ERRORS)
    assert other.fingerprint()["density"] != eight.fingerprint()["density"]


@pytest.mark.validation(shortest=0.1)
def test_a_run_ends_at_the_posterior_is_stored_and_replayed(eight, tmp_path):
    store = tmp_path / "schools.zarr"
    run = aptmc.sample(eight, budget="3000 moves", seed=1, on=aptmc.Processes(2), store=store)
    summary = run.summary()
    # The reference draws of posteriordb, whose own error is a hundredth of ours.
    for name, mean, elsewhere in [("mu", 4.4105, 0.0), ("tau", 3.6021, 10.0)]:
        row = summary[name]
        assert abs(row.mean - mean) < 4 * row.mcse
        assert abs(row.mean - elsewhere) > 4 * row.mcse  # the prior's own would be caught
    assert run.draws["posterior"]["theta"].dims == ("chain", "draw", "school")
    replayed = aptmc.replay(store, eight)
    assert replayed.is_same
    assert replayed.draws > 20
    more = aptmc.resume(store, eight, budget="3 s")
    assert more.draws["posterior"].sizes["draw"] > run.draws["posterior"].sizes["draw"]
    with pytest.raises(aptmc.InputError, match="not the one that is stored"):
        aptmc.resume(store, from_numpyro(schools, EFFECTS + 1, ERRORS), budget="3 s")


def without_data():
    numpyro.sample("mu", dist.Normal(0, 1))


def with_subsampling(y):
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    with numpyro.plate("places", 8, subsample_size=4):
        numpyro.sample("y", dist.Normal(mu, 1), obs=y[:4])


def with_a_discrete_site(y):
    which = numpyro.sample("which", dist.Bernoulli(0.5))
    numpyro.sample("y", dist.Normal(which, 1), obs=y)


def with_a_flat_prior(y):
    mu = numpyro.sample("mu", dist.ImproperUniform(dist.constraints.real, (), ()))
    numpyro.sample("y", dist.Normal(mu, 1), obs=y)


def with_a_branch_on_data(y):
    """JAX, which sees no values of what it compiles, explains itself in many lines."""
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    sign = jax.jit(lambda x: 1.0 if x > 0 else -1.0)(y)
    numpyro.sample("y", dist.Normal(sign * mu, 1), obs=y)


def with_a_branch_on_a_site(y):
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    numpyro.sample("y", dist.Normal(mu if mu > 0 else 0.0, 1), obs=y)


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        (without_data, (), "no observed site and no factor"),
        (with_subsampling, (EFFECTS,), "'places' takes 4 of 8 places anew"),
        (with_a_discrete_site, (EFFECTS,), r"'which' is discrete \(Bernoulli"),
        (with_a_flat_prior, (EFFECTS,), "'mu' has an improper prior"),
        (schools, (EFFECTS,), "cannot be run with what was given: TypeError"),
        (with_a_branch_on_data, (1.0,), "cannot be run with what was given: Tracer"),
        (with_a_branch_on_a_site, (1.0,), "cannot trace the model"),
        (numpyro.infer.NUTS(without_data), (), r"got NUTS\(...\): give the model itself"),
    ],
)
def test_what_cannot_be_sampled_is_refused_in_a_sentence(model, given, said):
    with pytest.raises(aptmc.InputError, match=said) as raised:
        from_numpyro(model, *given)
    assert "\n" not in str(raised.value)


def with_gaps(y, is_masked):
    mu = numpyro.sample("mu", dist.Normal(0, 1))
    numpyro.sample("y", dist.Normal(mu, 1).mask(~(is_masked & np.isnan(y))), obs=y)


@AT_LENGTH
def test_observations_that_are_no_numbers_are_refused_unless_they_are_masked():
    gaps = np.array([1.0, np.nan])
    with pytest.raises(aptmc.InputError, match="y has observations that are not finite"):
        from_numpyro(with_gaps, gaps, False)
    assert from_numpyro(with_gaps, gaps, True).dimension == 1
