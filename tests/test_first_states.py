"""First states of likelihood-free problems: within their tolerances, reproducible, at bounded cost.

Densities' starts are tested in test_failing_densities.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.problem.chain_state import log_prior_column, value_column
from aptmc.session.descent import DownTo, carry_out
from aptmc.session.first_states import descent_for, states_found
from aptmc.session.orders import Mover
from tests.support.problems import normal_distance as simulated_distance

PRIOR = aptmc.Prior(theta=stats.norm(0, math.sqrt(5)))
LADDERS = {
    "one rung": [0.3],
    "finite": [0.05, 0.3, 1.0, 4.0],
    "open": [0.05, 0.3, 1.0, math.inf],
    "prior only": [math.inf],
    "steep": [0.01, 5.0],
}


COMPILED = aptmc.Abc.early(simulated_distance, PRIOR)
PLAIN = aptmc.Abc.early(simulated_distance.py_func, PRIOR)


class Counted:
    """A simulator that counts how often it was called."""

    def __init__(self, function) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, theta, rng, tolerance):
        self.calls += 1
        return self.function(theta, rng, tolerance)


def start(problem, tolerances, *, chains_per_rung=1, kernel=None, seed=1):
    ladder = aptmc.Ladder.tolerances(tolerances)
    layout = aptmc.Shared(chains_per_rung).layout(ladder, 1)
    kernel = kernel or aptmc.OneHit(1.0)
    descent = searched(problem, ladder, kernel, seed)
    return states_found(descent, ladder, layout), layout.rung


def searched(problem, ladder, kernel, seed=1):
    goal = DownTo(ladder.levels, problem.start_simulations)
    descent = descent_for(problem, ladder, kernel, seed, goal)
    carry_out(descent, Mover(problem, kernel, seed).compute)
    return descent


@pytest.mark.parametrize("chains_per_rung", [1, 3, 70])
@pytest.mark.parametrize("tolerances", LADDERS.values(), ids=LADDERS)
def test_every_chain_starts_within_the_tolerance_of_its_rung(tolerances, chains_per_rung) -> None:
    states, rung = start(COMPILED, tolerances, chains_per_rung=chains_per_rung)
    assert states.shape == (len(tolerances) * chains_per_rung, COMPILED.width)
    distance = states[:, value_column(1)]
    assert (distance >= 0.0).all()
    assert (distance <= np.array(tolerances)[rung]).all()
    for state in states:
        assert state[log_prior_column(1)] == PRIOR.log_density(state[:1])


@pytest.mark.parametrize(
    "kernel",
    [
        aptmc.OneHit(1.0, cap=1),
        aptmc.OneHit(1.0, cap=None),
        aptmc.OneHit([0.5, 1.0, 2.0], cap=[None, 7, 1], steps=4),
        aptmc.OneHit(covariance=[[0.7]]),
        aptmc.OneHit(1.0, truncate=(-9.0, 9.0)),
    ],
    ids=repr,
)
def test_every_kind_of_kernel_finds_first_states(kernel) -> None:
    states, _ = start(COMPILED, [0.1, 0.5, 2.0], kernel=kernel)
    assert (states[:, 1] <= [0.1, 0.5, 2.0]).all()


def test_first_states_are_the_same_every_time_and_at_both_speeds() -> None:
    first, _ = start(COMPILED, LADDERS["open"], chains_per_rung=2)
    again, _ = start(COMPILED, LADDERS["open"], chains_per_rung=2)
    plain, _ = start(PLAIN, LADDERS["open"], chains_per_rung=2)
    other, _ = start(COMPILED, LADDERS["open"], chains_per_rung=2, seed=2)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, plain)
    assert not np.isin(other[:, 0], first[:, 0]).any()


def test_the_chains_of_a_rung_do_not_all_start_from_one_state() -> None:
    states, rung = start(COMPILED, LADDERS["finite"], chains_per_rung=4)
    for each in range(4):
        assert np.unique(states[rung == each, 0]).size >= 2


def test_kept_data_belong_to_the_first_states() -> None:
    problem = aptmc.Abc(
        lambda theta, rng: theta[0] + rng.standard_normal(3),
        PRIOR,
        observed=[3.0, 3.0, 3.0],
        distance=lambda mine, yours: abs(mine - yours).max(),
        keep_simulated=True,
    )
    states, _ = start(problem, [1.0, 2.0, math.inf])
    np.testing.assert_array_equal(abs(states[:, 3:] - 3.0).max(axis=1), states[:, 1])


def test_chains_that_make_no_moves_get_a_first_state_too() -> None:
    ladder = aptmc.Ladder.tolerances([0.1, 1.0, 3.0]).without_local_moves(0)
    layout = aptmc.Shared().layout(ladder, 1)
    states = states_found(searched(COMPILED, ladder, aptmc.OneHit(1.0)), ladder, layout)
    assert (states[:, 1] <= ladder.levels).all()


# --- out of reach ---------------------------------------------------------------------------------


def never_closer_than_two(theta, rng, tolerance):
    return 2.0 + abs(theta[0] + rng.standard_normal() - 3.0)


@pytest.mark.parametrize("start_simulations", [1, 50, 5000])
@pytest.mark.parametrize("steps", [1, 3])
def test_a_tolerance_out_of_reach_is_refused_with_the_smallest_distances(
    start_simulations: int, steps: int
) -> None:
    function = Counted(never_closer_than_two)
    problem = aptmc.Abc.early(function, PRIOR, start_simulations=start_simulations)
    with pytest.raises(aptmc.InputError) as refusal:
        start(problem, [1.5, 40.0], kernel=aptmc.OneHit(1.0, steps=steps))
    message = str(refusal.value)
    assert "tolerance 1.5" in message
    assert "start_simulations" in message
    assert "larger tolerances" in message
    seen = message.split("smallest distances seen were ")[1].split(":")[0].split(", ")
    distances = [float(one) for one in seen]
    assert distances == sorted(distances)
    assert len(distances) == min(start_simulations, 5)
    assert min(distances) >= 2.0
    assert function.calls <= start_simulations


def test_the_default_effort_is_bounded_too() -> None:
    default = aptmc.Abc.early(never_closer_than_two, PRIOR).start_simulations
    assert 1000 <= default <= 10_000_000


def test_a_simulator_that_is_always_infinitely_far_is_refused() -> None:
    function = Counted(lambda theta, rng, tolerance: math.inf)
    problem = aptmc.Abc.early(function, PRIOR, start_simulations=500)
    with pytest.raises(aptmc.InputError, match=r"smallest distances seen were inf: "):
        start(problem, [1.0, 2.0])
    assert function.calls <= 500


def test_sample_refuses_what_cannot_be_started() -> None:
    problem = aptmc.Abc.early(never_closer_than_two, PRIOR, start_simulations=300)
    with pytest.raises(aptmc.InputError, match=r"no state within tolerance 1\.5 was found"):
        aptmc.sample(
            problem,
            budget=10,
            ladder=aptmc.Ladder.tolerances([1.5, 3.0, 9.0]),
            kernel=aptmc.OneHit(1.0),
            schedule=aptmc.Anytime(1),
            on=aptmc.VirtualTime(),
            seed=1,
        )


def test_proposals_that_the_prior_always_refuses_end_the_search_at_a_bounded_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such moves simulate nothing, but they take time as well."""
    moves = []

    problem = aptmc.Abc.early(
        lambda theta, rng, tolerance: 2.0 + rng.random(),
        aptmc.Prior(theta=stats.uniform(0, 1)),
        start_simulations=100,
    )
    kernel = aptmc.OneHit(1e9)
    compute = Mover.compute
    monkeypatch.setattr(
        Mover, "compute", lambda self, order: (moves.append(1), compute(self, order))[1]
    )
    with pytest.raises(aptmc.InputError, match=r"no state within tolerance 1 "):
        start(problem, [1.0, 5.0], kernel=kernel)
    assert len(moves) <= 100


# --- hard models ----------------------------------------------------------------------------------


def needle(theta, rng, tolerance):
    """Only a thousandth of the prior comes within one; the rest leads there step by step."""
    return abs(theta[0] - 400.0) + abs(theta[1] - 600.0) + rng.random()


def test_a_rarely_hit_model_is_found_through_its_ladder() -> None:
    prior = aptmc.Prior(a=stats.uniform(0, 1000), b=stats.uniform(0, 1000))
    problem = aptmc.Abc.early(needle, prior)
    ladder = [2.0, 8.0, 32.0, 128.0, 512.0]
    states, rung = start(problem, ladder, kernel=aptmc.OneHit([0.5, 2.0, 8.0, 32.0, 128.0]))
    assert (states[:, 2] <= np.array(ladder)[rung]).all()


def two_modes(theta, rng, tolerance):
    """Two narrow modes; a third place looks good at first and leads nowhere."""
    x = theta[0] + 0.1 * rng.standard_normal()
    trap = 1.5 + 0.05 * abs(x)
    return min(abs(abs(x) - 30.0), trap)


@pytest.mark.validation
def test_places_that_lead_nowhere_are_left_behind() -> None:
    prior = aptmc.Prior(theta=stats.uniform(-40, 80))
    problem = aptmc.Abc.early(two_modes, prior)
    ladder = [0.05, 0.3, 1.0, 3.0]
    modes = set()
    for seed in range(5):
        states, rung = start(
            problem, ladder, kernel=aptmc.OneHit([0.1, 0.3, 1.0, 1.0]), chains_per_rung=4, seed=seed
        )
        assert (states[:, 1] <= np.array(ladder)[rung]).all()
        modes |= set(np.sign(states[rung == 0, 0]).tolist())
    assert modes == {-1.0, 1.0}
