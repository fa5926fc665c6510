"""Runs of models of NumPyro: posteriors, draws as NumPyro gives them, stores, replay, backends."""

from __future__ import annotations

import numpy as np
import pytest

import aptmc
from aptmc.errors import InputError
from aptmc.frontends.numpyro import from_numpyro
from tests.support.model_scripts import SCRIPTS, check_lines
from tests.support.scripts import running_script

jax = pytest.importorskip("jax")
numpyro = pytest.importorskip("numpyro")
from tests.support.numpyro_models import DATA, mean_model, pairs_model  # noqa: E402

FAR = 4.4  # standard errors: by chance once in 100,000 times


@pytest.fixture(autouse=True, scope="module")
def with_64_bits():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def problem(with_64_bits):
    return from_numpyro(mean_model, DATA)


def sampled(problem, **others):
    options = {
        "budget": 3000,
        "ladder": aptmc.Ladder.powers([1.0, 0.3, 0.0]),
        "kernel": aptmc.RandomWalk(1.5),
        "schedule": aptmc.Anytime(every=3),
        "on": aptmc.VirtualTime(1),
        "seed": 1,
    }
    return aptmc.sample(problem, **(options | others))


@pytest.fixture(scope="module")
def stored(problem, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "mean.zarr"
    return folder, sampled(problem, store=folder)


def test_the_posterior_is_right(stored):
    row = stored[1].summary()["mean"]
    assert abs(row.mean - DATA.sum() / (2 + 1 / 9)) < FAR * row.mcse
    # A posterior without its prior would be noticed.
    assert abs(row.mean - DATA.mean()) > FAR * row.mcse


def test_a_run_goes_on_and_can_be_computed_again(stored, problem):
    folder, run = stored
    more = aptmc.resume(folder, problem, budget=500, on=aptmc.VirtualTime(1))
    assert more.completions > run.completions
    assert aptmc.replay(folder, problem).is_same


def test_a_store_is_read_without_the_model(stored):
    found = aptmc.open(stored[0]).draws
    np.testing.assert_allclose(found["posterior"]["twice"], 2 * found["posterior"]["mean"])
    assert found["observed_data"]["y"].dims == ("place",)
    np.testing.assert_array_equal(found["observed_data"]["y"], DATA)


@pytest.mark.parametrize(("data", "width"), [(DATA + 1, 3.0), (DATA, 4.0)])
def test_a_changed_model_is_refused(stored, data, width):
    with pytest.raises(InputError, match="density has changed"):
        aptmc.resume(
            stored[0], from_numpyro(mean_model, data, width), budget=100, on=aptmc.VirtualTime(1)
        )


def test_the_likelihood_of_observations_sums_to_that_of_the_state(stored, problem):
    run = stored[1]
    draws = problem.with_log_likelihood(run)
    single = draws["log_likelihood"]["y"]
    assert single.dims == ("chain", "draw", "place")
    whole = draws["sample_stats"]["log_likelihood"].sel(draw=single.draw)
    np.testing.assert_allclose(single.sum("place"), whole)
    assert "log_likelihood" not in run.draws.children


@pytest.mark.validation
def test_single_observations_are_those_of_numpyro():
    """Two numbers are one observation; masks count, scales and factors do not."""
    pairs, weights = np.arange(6.0).reshape(3, 2), np.array([1, 0, 1])
    problem = from_numpyro(pairs_model, pairs, weights)
    run = sampled(problem, budget=60)
    found = problem.with_log_likelihood(run)["log_likelihood"]
    assert found["pairs"].dims == ("chain", "draw", "pair")
    assert found["last_one"].dims == ("chain", "draw")
    means = run.draws["posterior"]["mean"].values
    expected = numpyro.infer.log_likelihood(
        pairs_model, {"mean": means}, pairs, weights, batch_ndims=2
    )
    np.testing.assert_allclose(found["pairs"], expected["pairs"], rtol=1e-10)
    np.testing.assert_allclose(found["last_one"], expected["last/one"], rtol=1e-10)


def test_a_stored_run_needs_the_model_for_single_observations(stored, problem):
    import cloudpickle

    again = cloudpickle.loads(cloudpickle.dumps(problem))
    with pytest.raises(InputError, match=r"needs a model of PyMC or NumPyro"):
        again.with_log_likelihood(stored[1])


@pytest.mark.validation(shortest=0.1)  # as of other problems, with what JAX takes to compile
@pytest.mark.parametrize(
    "from_standard_input", [False, pytest.param(True, marks=pytest.mark.validation)]
)  # the latter has no file to import, as a notebook has none
def test_scripts_need_no_guard(tmp_path, from_standard_input):
    with running_script(
        tmp_path, SCRIPTS["numpyro"], from_standard_input=from_standard_input
    ) as script:
        check_lines(script.output())
        assert script.processes() == []


def test_in_this_process(problem):
    run = sampled(problem, budget="400 moves", schedule=aptmc.Anytime(), on=aptmc.InProcess())
    assert run.completions > 300
    assert np.isfinite(run.draws["posterior"]["mean"]).all()


@pytest.mark.validation(shortest=0.1)  # a cluster takes its time to start
def test_on_a_cluster(problem):
    from tests.support.engines import dask_cluster

    with dask_cluster() as (_, client):
        run = sampled(problem, budget="400 moves", schedule=aptmc.Anytime(), on=aptmc.Dask(client))
    assert run.completions > 300
    assert np.isfinite(run.draws["posterior"]["mean"]).all()
