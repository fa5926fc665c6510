"""How a likelihood-free problem is shown: as the call that made it, in short."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.distance import by_part, log_supremum, p_norm

PRIOR = aptmc.Prior(mean=stats.norm(0, 2))


def simulate(theta, rng):
    return theta[0] + rng.standard_normal(50)


def away(simulated, observed):
    return abs(simulated[0] - observed[0])


def parts(theta, rng):
    return {"first": rng.random(3), "last": theta[0]}


def simulated_distance(theta, rng, tolerance):
    return abs(theta[0])


def begin(theta, rng, state):
    state[0] = theta[0]


def step(theta, rng, state, tolerance):
    return abs(state[0])


@pytest.mark.parametrize(
    ("distance", "written"),
    [
        (away, "away"),
        (p_norm(2), "p_norm(2)"),
        (p_norm(1, np.ones(50)), "p_norm(1, weights=…)"),
        (log_supremum(), "log_supremum()"),
    ],
)
def test_functions_and_shapes_are_shown(distance, written):
    problem = aptmc.Abc(simulate, PRIOR, observed=np.zeros(50), distance=distance)
    wanted = f"Abc(simulate, Prior(mean=norm(0, 2)), observed=(50,), distance={written})"
    assert repr(problem) == wanted


def test_a_summary_is_shown_and_data_of_several_parts():
    problem = aptmc.Abc(simulate, PRIOR, np.zeros(50), away, summary=lambda data: data[:2])
    assert repr(problem).endswith("observed=(50,), distance=away, summary=<lambda>)")
    distance = by_part({"first": p_norm(2), "last": p_norm(1)})
    named = aptmc.Abc(parts, PRIOR, {"first": [1.0, 2.0, 3.0], "last": 1.0}, distance)
    first, *_ = repr(named).splitlines()
    assert "observed={'first': (3,), 'last': ()}, distance=by_part({'first': p_norm(2)" in first


def test_other_ways_to_make_one_are_shown():
    early = aptmc.Abc.early(simulated_distance, PRIOR)
    assert repr(early) == "Abc.early(simulated_distance, Prior(mean=norm(0, 2)))"
    stepwise = aptmc.Abc.stepwise(begin, step, PRIOR, state=1)
    assert repr(stepwise) == "Abc.stepwise(begin, step, Prior(mean=norm(0, 2)), state=1)"


def test_how_it_is_written_is_no_part_of_what_it_is():
    ours = aptmc.Abc(simulate, PRIOR, np.zeros(50), away)
    assert "written" not in ours.fingerprint()
    assert ours.fingerprint() == aptmc.Abc(simulate, PRIOR, list(np.zeros(50)), away).fingerprint()
