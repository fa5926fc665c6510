"""Models of PyMC, each taken apart once. Without PyMC these tests are skipped."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import aptmc
from tests.support.pymc_models import EFFECTS, ERRORS, SCHOOLS, mean_model


@pytest.fixture(scope="session")
def pm() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ArviZ, which PyMC loads
        return pytest.importorskip("pymc")


@pytest.fixture(scope="session")
def eight_schools(pm) -> Any:
    """Non-centred, with a deterministic, data and coords."""
    with pm.Model(coords={"school": SCHOOLS}) as model:
        errors = pm.Data("errors", ERRORS, dims="school")
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", 0, 1, dims="school")
        theta = pm.Deterministic("theta", mu + tau * z, dims="school")
        pm.Normal("y", theta, errors, observed=EFFECTS, dims="school")
    return model


@pytest.fixture(scope="session")
def schools_problem(eight_schools) -> Any:
    return aptmc.from_pymc(eight_schools)


@pytest.fixture(scope="session")
def mean_problem(pm) -> Any:
    return aptmc.from_pymc(mean_model(pm))
