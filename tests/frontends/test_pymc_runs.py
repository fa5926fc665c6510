"""Runs of models of PyMC: posteriors, draws as PyMC gives them, stores, replay."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import InputError
from tests.support.engines import dask_cluster
from tests.support.model_scripts import SCRIPTS, check_lines
from tests.support.pymc_models import EFFECTS, SCHOOLS, mean_model
from tests.support.scripts import running_script

FAR = 4.4  # standard errors: by chance once in 100,000 times


def exact_mean(data=(2.0, 4.0), width=3.0):
    """The posterior mean of `mean_model`."""
    return sum(data) / (len(data) + width**-2)


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
def stored(mean_problem, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "mean.zarr"
    return folder, sampled(mean_problem, store=folder)


def test_the_posterior_is_right(stored):
    row = stored[1].summary()["mean"]
    assert abs(row.mean - exact_mean()) < FAR * row.mcse
    # A posterior without its prior would be noticed.
    assert abs(row.mean - exact_mean(width=np.inf)) > FAR * row.mcse


def test_a_run_goes_on_and_can_be_computed_again(stored, mean_problem):
    folder, run = stored
    more = aptmc.resume(folder, mean_problem, budget=500, on=aptmc.VirtualTime(1))
    assert more.completions > run.completions
    assert aptmc.replay(folder, mean_problem).is_same


def test_a_store_is_read_without_the_model(stored):
    found = aptmc.open(stored[0]).draws
    assert np.isfinite(found["posterior"]["mean"].values).all()
    assert found["observed_data"]["y"].values.tolist() == [2.0, 4.0]


def test_a_changed_model_is_refused(stored, pm):
    other = aptmc.from_pymc(mean_model(pm, data=(2.0, 5.0)))
    with pytest.raises(InputError, match="density has changed"):
        aptmc.resume(stored[0], other, budget=100, on=aptmc.VirtualTime(1))


def sums_of_counts(data):
    """The posterior means of a count and of a shift, by summing over the former."""
    counts = np.arange(60)
    weights = stats.poisson(3.0).pmf(counts) * stats.norm(counts, np.hypot(1.0, 0.5)).pdf(data)
    weights /= weights.sum()
    shifts = (data - counts) / (1.0 + 0.5**2)  # of normal prior and data, at each count
    return weights @ counts, weights @ shifts


def test_whole_numbers_have_the_posterior_of_an_exact_sum(pm):
    data = 5.2
    with pm.Model() as model:
        count = pm.Poisson("count", 3.0)
        shift = pm.Normal("shift", 0.0, 1.0)
        pm.Normal("y", count + shift, 0.5, observed=data)
    run = sampled(aptmc.from_pymc(model), budget=6000, kernel="auto")
    draws = run.draws["posterior"]
    assert draws["count"].dtype.kind == "i"
    summary = run.summary()
    for name, mean in zip(("count", "shift"), sums_of_counts(data), strict=True):
        row = summary[name]
        assert row.ess > 300
        assert abs(row.mean - mean) < FAR * row.mcse
    # Numbers between k and k + 1 that are not rounded down, half a one too high, would be noticed.
    count, _ = sums_of_counts(data - 0.5)
    assert abs(summary["count"].mean - count) > FAR * summary["count"].mcse


def test_draws_are_as_pymc_gives_them(schools_problem):
    run = sampled(schools_problem, budget=600, ladder=aptmc.Ladder.powers([1.0, 0.5, 0.0]))
    draws = run.draws
    assert set(draws["posterior"].data_vars) == {"mu", "tau", "z", "theta"}
    assert draws["posterior"]["theta"].dims == ("chain", "draw", "school")
    assert draws["posterior"].coords["school"].values.tolist() == SCHOOLS
    assert (draws["posterior"]["tau"] > 0).all()
    posterior = draws["posterior"]
    made = posterior["mu"] + posterior["tau"] * posterior["z"]
    assert np.allclose(made.transpose("chain", "draw", "school"), posterior["theta"])
    assert draws["observed_data"]["y"].values.tolist() == EFFECTS.tolist()
    assert list(draws["constant_data"].data_vars) == ["errors"]


def test_the_likelihood_of_observations_sums_to_that_of_the_state(stored, mean_problem):
    run = sampled(mean_problem, budget=200)
    draws = mean_problem.with_log_likelihood(run)
    single = draws["log_likelihood"]["y"]
    whole = draws["sample_stats"]["log_likelihood"]
    assert np.allclose(single.sum(single.dims[-1]), whole)
    assert "log_likelihood" not in run.draws.children


@pytest.mark.validation  # by the clock, on a machine that may be busy
def test_workers_compute_the_same(mean_problem):
    """Through the bytes that they are sent, in processes without PyMC."""
    on, schedule = aptmc.Processes(1), aptmc.Anytime(every=0.01)
    run = sampled(mean_problem, budget="400 moves", schedule=schedule, on=on)
    states = np.concatenate([chain.state for chain in run.chains()])
    assert len(states) > 0
    expected = [mean_problem.constrain(state[:1])[0] for state in states[:50]]
    assert states[:50, 3].tolist() == expected


@pytest.mark.parametrize("from_standard_input", [False, True])  # the latter has no file to import
def test_scripts_need_no_guard(pm, tmp_path, from_standard_input):
    with running_script(
        tmp_path, SCRIPTS["pymc"], from_standard_input=from_standard_input
    ) as script:
        check_lines(script.output())
        assert script.processes() == []


def test_in_this_process(mean_problem):
    on, schedule = aptmc.InProcess(), aptmc.Anytime()
    run = sampled(mean_problem, budget="400 moves", schedule=schedule, on=on)
    assert run.completions > 300
    assert np.isfinite(run.draws["posterior"]["mean"]).all()


def test_on_a_cluster(mean_problem):
    with dask_cluster() as (_, client):
        on, schedule = aptmc.Dask(client), aptmc.Anytime()
        run = sampled(mean_problem, budget="400 moves", schedule=schedule, on=on)
    assert run.completions > 300
    assert np.isfinite(run.draws["posterior"]["mean"]).all()


def test_observations_of_several_numbers_are_one_each(pm):
    pairs = np.arange(6.0).reshape(3, 2)
    with pm.Model(coords={"pair": list("abc"), "place": ["x", "y"]}) as model:
        mean = pm.Normal("mean", 0, 1, dims="place")
        pm.MvNormal("pairs", mean, np.eye(2), observed=pairs, dims=("pair", "place"))
        pm.Normal("single", mean[0], 2, observed=0.5)
    problem = aptmc.from_pymc(model)
    run = sampled(problem, budget=60)
    found = problem.with_log_likelihood(run)["log_likelihood"]
    assert found["pairs"].dims == ("chain", "draw", "pair")
    assert found["pairs"].coords["pair"].values.tolist() == ["a", "b", "c"]
    means = run.draws["posterior"]["mean"].values[:, :, None, :]
    expected = stats.norm(means, 1).logpdf(pairs).sum(-1)
    assert np.allclose(found["pairs"], expected)
    assert np.allclose(found["single"], stats.norm(means[:, :, 0, 0], 2).logpdf(0.5))


def test_ordered_variables_are_drawn_in_order(pm):
    """A mixture as PyMC's users write it; what the prior draws out of order is drawn again."""
    ordered = pm.distributions.transforms.ordered
    with pm.Model() as model:
        mean = pm.Normal("mean", 0, 2, shape=2, transform=ordered, initval=[-1.0, 1.0])
        pm.Normal("y", mean, 1, observed=[1.0, 2.0])
    problem = aptmc.from_pymc(model)
    assert list(model.rvs_to_initial_values[mean]) == [-1.0, 1.0]  # the model is left as it was
    draws = problem.constrain(problem.prior.draw(np.random.default_rng(1), 2000))
    assert (draws[:, 1] > draws[:, 0]).all()
    lower = stats.norm(0, 2)
    assert stats.kstest(draws[:, 0], lambda x: 1 - lower.sf(x) ** 2).pvalue > 1e-5
    assert stats.kstest(draws[:, 1], lambda x: lower.cdf(x) ** 2).pvalue > 1e-5
