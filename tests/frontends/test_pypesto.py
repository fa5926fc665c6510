"""Problems of pyPESTO: the likelihood without priors, priors within bounds."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore")  # what pyPESTO loads has much to say
FAR = 4.4  # standard errors: by chance once in 100,000 times


@pytest.fixture(scope="module")
def pypesto():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pypesto")


def misfit(x):
    return 0.5 * (x[0] - 3.0) ** 2 + 0.5 * (x[1] - 1.0) ** 2


def slopes(x):
    return np.array([x[0] - 3.0, x[1] - 1.0])


def with_priors(pypesto, **others):
    from pypesto.objective import NegLogParameterPriors
    from pypesto.objective.priors import get_parameter_prior_dict

    prior = get_parameter_prior_dict(0, "normal", [0.0, 1.0], "lin")
    objective = pypesto.Objective(fun=misfit, grad=slopes)
    options = {"lb": [-8.0, 0.0], "ub": [8.0, 2.0], "x_names": ["rate", "shift"]} | others
    return pypesto.Problem(objective, x_priors_defs=NegLogParameterPriors([prior]), **options)


def test_the_objective_is_the_likelihood_and_priors_are_the_prior(pypesto):
    problem = aptmc.from_pypesto(with_priors(pypesto))
    theta = np.array([0.7, 1.5])
    assert problem.names == ("rate", "shift")
    assert problem.log_likelihood(theta) == pytest.approx(-misfit(theta))
    expected = stats.norm(0, 1).logpdf(0.7) + np.log(0.5)
    assert problem.prior.log_density(theta) == pytest.approx(expected, abs=1e-6)
    assert problem.prior.log_density(np.array([0.7, 2.1])) == -np.inf
    assert problem.gradient(theta) == pytest.approx(-slopes(theta))


def test_priors_within_the_objective_count_once(pypesto):
    """As problems of PEtab have them."""
    from pypesto.objective import AggregatedObjective

    known = with_priors(pypesto)
    both = AggregatedObjective([known.objective, known.x_priors])
    twice = pypesto.Problem(both, lb=[-8.0, 0.0], ub=[8.0, 2.0], x_priors_defs=known.x_priors)
    once = pypesto.Problem(both, lb=[-8.0, 0.0], ub=[8.0, 2.0])
    theta = np.array([0.7, 1.5])
    expected = aptmc.from_pypesto(known).prior.log_density(theta)
    for problem in (twice, once):
        found = aptmc.from_pypesto(problem)
        assert found.prior.log_density(theta) == expected
        assert found.log_likelihood(theta) == pytest.approx(-misfit(theta))


def test_draws_are_those_of_the_prior(pypesto):
    prior = aptmc.from_pypesto(with_priors(pypesto)).prior
    draws = prior.draw(np.random.default_rng(1), 1000)
    assert stats.kstest(draws[:, 0], stats.norm(0, 1).cdf).pvalue > 1e-5
    assert stats.kstest(draws[:, 1], stats.uniform(0, 2).cdf).pvalue > 1e-5
    assert stats.kstest(draws[:, 0], stats.norm(0, 1.4).cdf).pvalue < 1e-5  # would be noticed


def test_fixed_parameters_are_left_out_and_the_posterior_is_right(pypesto):
    fixed = with_priors(pypesto, x_fixed_indices=[1], x_fixed_vals=[1.0])
    problem = aptmc.from_pypesto(fixed)
    assert problem.names == ("rate",)
    run = aptmc.sample(
        problem,
        budget=4000,
        ladder=aptmc.Ladder.powers([1.0, 0.3, 0.0]),
        kernel=aptmc.RandomWalk(1.2),
        schedule=aptmc.Anytime(every=3),
        on=aptmc.VirtualTime(1),
        seed=1,
    )
    row = run.summary()["rate"]
    assert abs(row.mean - 1.5) < FAR * row.mcse
    assert abs(row.mean - 3.0) > FAR * row.mcse  # without its prior


def test_bad_problems_are_refused(pypesto):
    with pytest.raises(InputError, match=r"needs a pypesto\.Problem"):
        aptmc.from_pypesto("problem")
    objective = pypesto.Objective(fun=misfit)
    endless = pypesto.Problem(objective, lb=[-np.inf, 0.0], ub=[1.0, 1.0])
    with pytest.raises(InputError, match="x0 has no finite bounds"):
        aptmc.from_pypesto(endless)


def test_a_missing_pypesto_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypesto", None)
    with pytest.raises(InputError, match=r"pip install 'aptmc\[pypesto\]'"):
        aptmc.from_pypesto(object())
