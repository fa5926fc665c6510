"""A model of PyMC, taken apart: density, gradient, draws from the prior, and what users see."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import InputError
from aptmc.frontends.pymc_graphs import graphs_of
from aptmc.frontends.pymc_variables import coordinates_of
from tests.support.pymc_models import EFFECTS, ERRORS, SCHOOLS, mean_model

RARE = 1e-5  # the false-alarm rate of each comparison of draws with a distribution


def point(theta):
    """The point of PyMC at some coordinates of the eight schools."""
    return {"mu": theta[0], "tau_log__": theta[1], "z": theta[2:]}


@pytest.fixture(scope="module")
def theta():
    return np.random.default_rng(1).normal(size=10)


def densities(problem, theta):
    found = np.empty(2)
    problem.density(theta.copy(), found)
    return found


def test_the_parts_are_pymcs_own(eight_schools, schools_problem, theta):
    log_prior, log_likelihood = densities(schools_problem, theta)
    with eight_schools:
        whole = eight_schools.compile_logp(mode="FAST_COMPILE")
    assert log_prior + log_likelihood == pytest.approx(whole(point(theta)), rel=1e-10)
    effects = theta[0] + np.exp(theta[1]) * theta[2:]
    expected = stats.norm(effects, ERRORS).logpdf(EFFECTS).sum()
    assert log_likelihood == pytest.approx(expected, rel=1e-10)


def test_the_gradient_is_that_of_the_rung(schools_problem, theta):
    weight, slopes = 0.3, np.empty(10)
    schools_problem.slopes(theta.copy(), weight, slopes)

    def on_rung(where):
        log_prior, log_likelihood = densities(schools_problem, where)
        return log_prior + weight * log_likelihood

    steps = 1e-5 * np.eye(10)
    differences = [(on_rung(theta + step) - on_rung(theta - step)) / 2e-5 for step in steps]
    assert slopes == pytest.approx(differences, rel=1e-5, abs=1e-6)


def test_users_see_constrained_parameters_and_deterministics(schools_problem, theta):
    assert schools_problem.names[:3] == ("mu", "tau_log__", "z[0]")
    assert schools_problem.labels[:3] == ("mu", "tau", "z[Choate]")
    seen = schools_problem.parametrisation.arrays(theta)
    assert seen["tau"] == pytest.approx(np.exp(theta[1]))
    assert seen["theta"] == pytest.approx(theta[0] + np.exp(theta[1]) * theta[2:])
    variables = {variable.name: variable for variable in schools_problem.variables}
    assert list(variables) == ["mu", "tau", "z", "theta"]
    assert variables["theta"].coords == {"school": tuple(SCHOOLS)}


def test_the_prior_draws_what_it_says(schools_problem):
    draws = schools_problem.prior.draw(np.random.default_rng(2), 3000)
    priors = [stats.norm(0, 5), stats.halfcauchy(scale=5), *[stats.norm(0, 1)] * 8]
    draws[:, 1] = np.exp(draws[:, 1])
    for column, prior in zip(draws.T, priors, strict=True):
        assert stats.kstest(column, prior.cdf).pvalue > RARE
    # What PyTensor's own draws of a Cauchy would be like, by its scale, is noticed.
    assert stats.kstest(draws[:, 1] / 25, priors[1].cdf).pvalue < RARE
    assert np.abs(np.corrcoef(draws[:, 2:].T) - np.eye(8)).max() < 5 / np.sqrt(3000)


def test_draws_belong_to_the_generator_that_is_given(schools_problem):
    first, second = np.random.default_rng(3), np.random.default_rng(3)
    assert np.array_equal(
        schools_problem.prior.draw(first, 2), schools_problem.prior.draw(second, 2)
    )
    assert first.random() == second.random() != np.random.default_rng(3).random()


def test_whoever_gets_the_problem_needs_no_pymc(schools_problem, theta):
    """As a worker does, which loads machine code."""
    script = (
        "import pickle, sys, numpy as np\n"
        "problem, theta = pickle.load(sys.stdin.buffer)\n"
        "found = np.empty(2); problem.density(theta, found)\n"
        "slopes = np.empty(10); problem.slopes(theta, 1.0, slopes)\n"
        "draw = problem.prior.draw(np.random.default_rng(5))\n"
        "assert not {'pymc', 'pytensor'} & set(sys.modules)\n"
        "print(*found, *draw)"
    )
    sent = pickle.dumps((schools_problem, theta))
    done = subprocess.run(
        [sys.executable, "-c", script], input=sent, capture_output=True, check=True
    )
    draw = schools_problem.prior.draw(np.random.default_rng(5))
    expected = [*densities(schools_problem, theta), *draw]
    assert [float(word) for word in done.stdout.split()] == expected


def test_the_same_model_is_recognised_and_another_is_not(pm, mean_problem):
    same = aptmc.from_pymc(mean_model(pm)).fingerprint()
    assert same == mean_problem.fingerprint()
    for other in (mean_model(pm, data=(2.0, 5.0)), mean_model(pm, width=4.0)):
        found = aptmc.from_pymc(other).fingerprint()
        assert found["density"] != same["density"]


def test_whole_numbers_are_held_between_steps(pm):
    with pm.Model() as model:
        count = pm.Poisson("count", 3.0)
        pm.Normal("y", count, 1.0, observed=[4.0])
    problem = aptmc.from_pymc(model)
    assert problem.variables[0].kind == "whole"
    assert problem.gradient is None
    log_prior, log_likelihood = densities(problem, np.array([2.7]))
    assert log_prior == pytest.approx(stats.poisson(3).logpmf(2))
    assert log_likelihood == pytest.approx(stats.norm(2, 1).logpdf(4))
    draws = problem.prior.draw(np.random.default_rng(1), 4000)[:, 0]
    within = draws - np.floor(draws)
    assert stats.kstest(within, stats.uniform.cdf).pvalue > RARE
    assert np.floor(draws).mean() == pytest.approx(3.0, abs=4.4 * np.sqrt(3 / 4000))
    assert problem.constrain([2.7]).tolist() == [2.0]


def test_potentials_belong_to_the_likelihood(pm):
    with pm.Model() as model:
        x = pm.Normal("x", 0, 1)
        pm.Potential("bonus", -(x**2))
    problem = aptmc.from_pymc(model)
    assert densities(problem, np.array([2.0]))[1] == pytest.approx(-4.0)
    assert "bonus" in problem.notes[0]


def test_whole_numbers_that_others_are_indexed_by_stay_within_their_bounds(pm):
    """A step of a chain may leave them: the prior is zero there, and nothing is looked up."""
    with pm.Model() as model:
        kind = pm.Categorical("kind", [0.3, 0.7])
        pm.Normal("y", pm.math.stack([-1.0, 2.0])[kind], 1.0, observed=1.0)
    problem = aptmc.from_pymc(model)
    prior, likelihood = densities(problem, np.array([1.5]))
    assert prior == pytest.approx(np.log(0.7))
    assert likelihood == pytest.approx(stats.norm(2, 1).logpdf(1))
    for outside in (-0.5, 2.5):
        assert densities(problem, np.array([outside]))[0] == -np.inf


@pytest.mark.filterwarnings("ignore:PyTensor could not link")
def test_the_factor_of_a_covariance_has_coordinates_with_a_name(pm):
    """PyMC's own has hyphens."""
    with pm.Model() as model:
        pm.LKJCholeskyCov("chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0))
    (coordinates,) = coordinates_of(graphs_of(model))
    assert coordinates.name.startswith("chol_cholesky_cov")
    assert coordinates.size == 3


def flat(pm):
    with pm.Model() as model:
        x = pm.Flat("x")
        pm.Normal("y", x, 1, observed=[1.0])
    return model


def without_data(pm):
    with pm.Model() as model:
        pm.Normal("x", 0, 1)
    return model


def only_data(pm):
    with pm.Model() as model:
        pm.Normal("y", 0, 1, observed=[1.0])
    return model


def with_minibatch(pm):
    with pm.Model() as model:
        x = pm.Normal("x", 0, 1)
        pm.Normal("y", x, 1, observed=pm.Minibatch(np.arange(9.0), batch_size=3), total_size=9)
    return model


def with_a_simulator(pm):
    def simulate(rng, mean, size=None):
        return rng.normal(mean, 1, size=3)

    with pm.Model() as model:
        pm.Simulator("counts", simulate, pm.Normal("x", 0, 1), observed=np.zeros(3))
    return model


def with_a_prior_nobody_draws_from(pm):
    with pm.Model() as model:
        x = pm.CustomDist("x", logp=lambda value: -(value**2))
        pm.Normal("y", x, 1, observed=[1.0])
    return model


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (flat, "x has a flat prior"),
        (with_a_prior_nobody_draws_from, r"give pm.CustomDist its random="),
        (without_data, "no observed variables"),
        (only_data, "no free variables"),
        (with_minibatch, "Minibatch"),
        (with_a_simulator, r"counts is a pm.Simulator.* aptmc.Abc\(simulate"),
        (lambda pm: "model", "needs a pymc.Model"),
    ],
)
def test_what_cannot_be_sampled_is_refused_in_one_sentence(pm, make, words):
    with pytest.raises(InputError, match=words) as raised:
        aptmc.from_pymc(make(pm))
    assert "\n" not in str(raised.value)


def test_a_missing_pymc_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymc", None)
    with pytest.raises(InputError, match=r"pip install 'aptmc\[pymc\]'"):
        aptmc.from_pymc(object())
