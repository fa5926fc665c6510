"""A problem of PEtab: a model in SBML, simulated by libRoadRunner, through pyPESTO."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import aptmc

pytestmark = pytest.mark.filterwarnings("ignore")  # what pyPESTO loads has much to say
FILE = Path(__file__).parents[1] / "support" / "decay" / "decay.yaml"
FAR = 4.4  # standard errors: by chance once in 100,000 times
PRIOR = stats.norm(-0.6, 0.05)  # of the decimal logarithm of the rate
TIMES, MEASURED, NOISE = np.array([0.0, 1, 2, 4]), np.array([2.1, 1.4, 0.7, 0.5]), 0.2


@pytest.fixture(scope="module")
def problem():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for library in ("petab", "roadrunner", "pypesto"):
            pytest.importorskip(library)
        import pypesto.petab

        importer = pypesto.petab.PetabImporter.from_yaml(FILE, simulator_type="roadrunner")
        return aptmc.from_pypesto(importer.create_problem())


def log_likelihood(log_rate, scale):
    """What the model says without its simulator: 2 scale exp(-rate t), measured with noise."""
    means = 2 * scale * np.exp(-(10.0**log_rate) * TIMES.reshape(-1, 1, 1))
    return stats.norm(means, NOISE).logpdf(MEASURED.reshape(-1, 1, 1)).sum(axis=0)


def test_likelihood_and_prior_are_those_of_the_problem(problem):
    assert problem.names == ("rate", "scale")
    theta = np.array([-0.3, 1.1])
    expected = log_likelihood(-0.3, 1.1).item()
    assert problem.log_likelihood(theta) == pytest.approx(expected, abs=1e-3)  # as it integrates
    prior = PRIOR.logpdf(-0.3) - np.log(3.9)
    assert problem.prior.log_density(theta) == pytest.approx(prior, abs=1e-6)


@pytest.mark.parametrize(("on", "moves"), [(aptmc.InProcess(), 3000), (aptmc.Processes(2), 1500)])
def test_a_run_finds_the_posterior(problem, on, moves):
    run = aptmc.sample(problem, budget=f"{moves} moves", seed=1, on=on, progress=False)
    rate, scale = np.linspace(-2, 1, 901)[:, None], np.linspace(0.1, 4, 901)[None, :]
    logs = log_likelihood(rate, scale) + PRIOR.logpdf(rate)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    for name, values in {"rate": rate, "scale": scale}.items():
        row, mean = run.summary()[name], (weights * values).sum()
        assert abs(row.mean - mean) < FAR * row.mcse
        flat = np.exp(log_likelihood(rate, scale))  # a posterior without the prior of the rate
        other = (flat * values).sum() / flat.sum()
        assert name == "scale" or abs(row.mean - other) > FAR * row.mcse
