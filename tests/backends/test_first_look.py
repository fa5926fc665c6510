"""A first simulation is looked at before there are workers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.processes.local_workforce import LocalWorkforce

PRIOR = aptmc.Prior(mean=stats.norm(0, 5))
WORDS = (
    r"simulated data have shape \(3,\), observed have \(4,\), and must be alike, at mean=-?[0-9]"
)


def simulate(theta, rng):
    return theta[0] + rng.standard_normal(3)


def greatest(simulated, observed):
    return np.abs(simulated - observed).max()


def shares(theta, rng):
    return theta + rng.standard_normal(theta.size)


def of(simulator, size: int, **changes) -> aptmc.Abc:
    settings = {"observed": np.zeros(size), "distance": greatest, **changes}
    return aptmc.Abc(simulator, settings.pop("prior", PRIOR), **settings)


@pytest.mark.parametrize("function", [simulate, njit(simulate)], ids=["plain", "compiled"])
def test_data_that_do_not_fit_are_found_before_there_are_workers(function, monkeypatch):
    hired = []
    hire = LocalWorkforce.hire
    monkeypatch.setattr(
        LocalWorkforce, "hire", lambda self, number: hired.append(number) or hire(self, number)
    )
    with pytest.raises(aptmc.InputError, match=f"^a first simulation failed: {WORDS}"):
        aptmc.sample(of(function, 4), budget=60, on=2, seed=1, progress=False)
    assert hired == []


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (of(simulate, 4), WORDS),
        (of(njit(simulate), 4), WORDS),
        (of(simulate, 3), None),
        (of(simulate, 1, summary=np.mean), None),
        (of(shares, 3, prior=aptmc.Prior(share=stats.dirichlet([1, 1, 1]))), None),
        (of(lambda theta, rng: None, 3), "simulate returned None, must be an array of numbers"),
        (of(lambda theta, rng: 1j * theta, 1), "simulate returned array.* must be an array of num"),
        (of(simulate, 3, distance=np.subtract), "distance returned .*, must be a single number"),
        (of(lambda theta, rng: {}["key"], 3), None),  # which a move says better
        (of(simulate, 4, on_error="reject"), None),
        (aptmc.Abc.early(lambda theta, rng, tolerance: theta, PRIOR), "must be a single number"),
        (aptmc.Abc.early(lambda theta, rng, tolerance: abs(theta[0]), PRIOR), None),
        (aptmc.Tempered(lambda theta: "nothing", PRIOR), None),
    ],
)
def test_what_is_seen_is_the_form_of_what_functions_return(problem, words):
    fault = problem.first_fault()
    if words is None:
        assert fault is None
    else:
        assert fault is not None
        assert re.search(words, fault)
