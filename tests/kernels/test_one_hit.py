"""The 1-hit kernel leaves the ABC posterior alone, for every cap, at both speeds.

The model is the paper's normal one: theta ~ N(0, 5), x ~ N(theta, 1), and |x - 3| is the distance.
Exact draws come from rejection, so that one move must leave both theta and the distance in law.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.kernels import proposals
from aptmc.kernels.one_hit import CAP
from aptmc.keys import Key
from aptmc.problem.chain_state import ACCEPTED, WORK
from aptmc.targets import INTERPRETED, NUMBA
from tests.support.problems import normal_distance as simulated_distance
from tests.support.statistical import FALSE_ALARM

OBSERVED = 3.0
PRIOR = aptmc.Prior(theta=stats.norm(0, math.sqrt(5)))
LADDER = aptmc.Ladder.tolerances([0.5, 1.5, math.inf])
DRAWS = 3000
SIMULATIONS, FAILURES = (aptmc.OneHit(1.0).places[name] for name in ("simulations", "failures"))


@njit
def simulate(theta, rng):
    x = np.empty(1)
    x[0] = theta[0] + rng.standard_normal()
    return x


@njit
def distance(simulated, observed):
    return abs(simulated[0] - observed[0])


COMPILED = aptmc.Abc.early(simulated_distance, PRIOR)
PLAIN = aptmc.Abc.early(simulated_distance.py_func, PRIOR)
WITH_DATA, PLAIN_WITH_DATA = (
    aptmc.Abc(one, PRIOR, observed=[OBSERVED], distance=other, keep_simulated=True)
    for one, other in ((simulate, distance), (simulate.py_func, distance.py_func))
)


def exact_draws(tolerance, number, rng, prior=PRIOR):
    """Pairs of theta and distance from the ABC posterior, by rejection."""
    # Within 0.3, one draw in 22 hits.
    theta = prior.draw(rng, 40 * number)[:, 0]
    away = abs(theta + rng.standard_normal(theta.size) - OBSERVED)
    hits = np.flatnonzero(away <= tolerance)[:number]
    assert hits.size == number
    return theta[hits], away[hits]


def moved(kernel, problem, rung, rng, number=DRAWS, move=None):
    """Where exact draws are after one move each."""
    theta, away = exact_draws(LADDER.levels[rung], number, rng, problem.prior)
    move = move or kernel.move(problem, problem.target)
    tuning = kernel.tuning(problem, LADDER)[rung]
    after = np.empty((number, 2))
    outcome, info = np.empty(problem.width), np.empty(kernel.info_length)
    state = np.zeros(problem.width)
    for i in range(number):
        state[:2] = theta[i], away[i]
        state[2] = problem.prior.log_density(theta[i : i + 1])
        move(LADDER.levels[rung], tuning, state, rng, outcome, info)
        after[i] = outcome[:2]
    return after


def in_law(after, rung, rng, prior=PRIOR) -> bool:
    """Two-sample tests against fresh exact draws."""
    fresh = exact_draws(LADDER.levels[rung], 4 * DRAWS, rng, prior)
    return all(
        stats.ks_2samp(after[:, column], fresh[column]).pvalue > FALSE_ALARM for column in (0, 1)
    )


@pytest.mark.parametrize("given", [[3, 2, 1], (3, 2, 1), np.array([3, 2, 1])], ids=type)
def test_each_rung_may_have_a_cap_of_its_own(given):
    kernel = aptmc.OneHit(1.5, cap=given)
    assert kernel.tuning(COMPILED, LADDER)[:, CAP].tolist() == [3, 2, 1]


@pytest.mark.parametrize("rung", [0, 1, 2])
@pytest.mark.parametrize("cap", [1, 2, 5, None])
def test_a_move_leaves_exact_draws_exact_for_every_cap(rung, cap):
    rng = np.random.default_rng(1)
    after = moved(aptmc.OneHit(1.5, cap=cap, steps=3), COMPILED, rung, rng)
    assert in_law(after, rung, rng)
    assert after[:, 1].max() <= LADDER.levels[rung]


# Compiled and plain runs of all kinds of problems are compared bit for bit elsewhere.
@pytest.mark.parametrize(
    "problem",
    [
        pytest.param(PLAIN, id="plain"),
        pytest.param(PLAIN_WITH_DATA, id="with data"),
        pytest.param(WITH_DATA, id="compiled with data", marks=pytest.mark.validation),
    ],
)
def test_other_ways_to_give_the_simulator(problem):
    rng = np.random.default_rng(2)
    after = moved(aptmc.OneHit(1.5, steps=2), problem, 0, rng)
    assert in_law(after, 0, rng)


HALF_LINE = aptmc.Prior(theta=stats.expon(scale=2.0))
ON_HALF_LINE = aptmc.Abc.early(simulated_distance, HALF_LINE)
STEPS = 12  # after four, the error below would be seen with some seeds only


@pytest.mark.parametrize("truncate", [False, True, (0.0, 60.0)])
def test_truncated_proposals_are_corrected_for(truncate):
    rng = np.random.default_rng(3)
    kernel = aptmc.OneHit(3.0, truncate=truncate, steps=STEPS, cap=100)
    after = moved(kernel, ON_HALF_LINE, 1, rng)
    assert in_law(after, 1, rng, HALF_LINE)


def test_forgetting_the_mass_of_truncated_proposals_is_caught(monkeypatch):
    monkeypatch.setattr(proposals, "log_mass", lambda *arguments: 0.0)
    problem = aptmc.Abc.early(simulated_distance.py_func, HALF_LINE)
    rng = np.random.default_rng(3)
    kernel = aptmc.OneHit(3.0, truncate=True, steps=STEPS, cap=100)
    assert not in_law(moved(kernel, problem, 1, rng), 1, rng, HALF_LINE)


def test_deciding_an_undecided_race_by_the_prior_alone_is_caught():
    """A planted error: a race that reaches its cap is given to the proposal."""
    kernel = aptmc.OneHit(1.5, cap=1)
    right = kernel.move(PLAIN, INTERPRETED)

    def wrong(level, tuning, state, rng, outcome, info):
        right(level, tuning, state, rng, outcome, info)
        undecided = info[SIMULATIONS] == 1 and (outcome == state).all()
        if undecided:
            outcome[0] = state[0] + 1.5 * rng.standard_normal()

    rng = np.random.default_rng(4)
    assert not in_law(moved(kernel, PLAIN, 0, rng, move=wrong), 0, rng)


@pytest.mark.parametrize("cap", [1, 3, None])
def test_compiled_and_plain_moves_are_the_same_bit_for_bit(cap):
    kernel = aptmc.OneHit(1.0, cap=cap, truncate=(-20.0, 20.0), steps=3)
    moves = [
        kernel.move(COMPILED, NUMBA),
        kernel.move(PLAIN, INTERPRETED),
    ]
    tuning = kernel.tuning(PLAIN, LADDER)
    states = [np.array([2.5, 0.1, PRIOR.log_density([2.5])]) for _ in moves]
    for number in range(300):
        rung = 0 if number % 10 else 2
        infos = []
        for which, move in enumerate(moves):
            outcome, info = np.empty(3), np.empty(kernel.info_length)
            generator = Key(1, 0, number).generator()
            move(LADDER.levels[rung], tuning[rung], states[which], generator, outcome, info)
            if outcome[1] <= 0.5:
                states[which] = outcome
            infos.append(info)
        assert (states[0] == states[1]).all()
        assert (infos[0] == infos[1]).all()


def test_a_cap_of_one_costs_one_simulation_per_raced_step():
    kernel = aptmc.OneHit(0.5, cap=1, steps=1000)
    move, tuning = kernel.move(COMPILED, NUMBA), kernel.tuning(COMPILED, LADDER)
    outcome, info = np.empty(3), np.empty(kernel.info_length)
    state = np.array([2.5, 0.1, PRIOR.log_density([2.5])])
    move(0.5, tuning[0], state, np.random.default_rng(1), outcome, info)
    assert info[ACCEPTED] < info[SIMULATIONS] <= 1000
    assert info[WORK] == info[SIMULATIONS]


def costly(theta, rng, tolerance):
    return abs(theta[0] + rng.standard_normal() - 3.0), 7.0


@pytest.mark.parametrize(
    "function", [costly, pytest.param(njit(costly), marks=pytest.mark.validation)]
)
def test_work_is_what_the_simulator_says(function):
    problem = aptmc.Abc.early(function, PRIOR, counts_work=True)
    move = aptmc.OneHit(0.5, steps=20).move(problem, problem.target)
    tuning = aptmc.OneHit(0.5, steps=20).tuning(problem, LADDER)
    outcome, info = np.empty(3), np.empty(aptmc.OneHit(0.5).info_length)
    state = np.array([2.5, 0.1, PRIOR.log_density([2.5])])
    move(0.5, tuning[0], state, np.random.default_rng(1), outcome, info)
    assert info[WORK] == 7.0 * info[SIMULATIONS] > 0


def test_a_state_from_beyond_the_bounds_waits_for_an_exchange():
    kernel = aptmc.OneHit(0.5, truncate=(0.0, 1.0), steps=50)
    move, tuning = kernel.move(COMPILED, NUMBA), kernel.tuning(COMPILED, LADDER)
    outcome, info = np.empty(3), np.empty(kernel.info_length)
    state = np.array([2.5, 0.1, PRIOR.log_density([2.5])])
    move(0.5, tuning[0], state, np.random.default_rng(1), outcome, info)
    assert (outcome == state).all()
    assert info[SIMULATIONS] == 0


@njit
def sometimes_fails(theta, rng, tolerance):
    x = theta[0] + rng.standard_normal()
    kind = rng.random()
    if kind < 0.1:
        raise ValueError("the simulator broke down")
    if kind < 0.2:
        return math.nan
    return abs(x - 3.0)


@pytest.mark.parametrize(
    "function",
    [sometimes_fails.py_func, pytest.param(sometimes_fails, marks=pytest.mark.validation)],
)
def test_failures_can_be_counted_as_misses(function):
    """Failures that do not depend on theta leave the posterior as it is."""
    problem = aptmc.Abc.early(function, PRIOR, on_error="reject")
    rng = np.random.default_rng(5)
    after = moved(aptmc.OneHit(1.5, steps=2), problem, 0, rng)
    assert in_law(after, 0, rng)
    kernel = aptmc.OneHit(1.5, steps=200)
    info = np.empty(kernel.info_length)
    move, tuning = (
        kernel.move(problem, problem.target),
        kernel.tuning(problem, LADDER),
    )
    state, outcome = np.array([2.5, 0.1, 0.0]), np.empty(3)
    move(0.5, tuning[0], state, rng, outcome, info)
    # 0.2 of n simulations fail, with a standard error of sqrt(0.16 / n).
    share, error = info[FAILURES] / info[SIMULATIONS], math.sqrt(0.16 / info[SIMULATIONS])
    assert abs(share - 0.2) < 5 * error


def test_kept_simulations_belong_to_their_states():
    run = aptmc.sample(
        PLAIN_WITH_DATA,
        budget=2000,
        ladder=aptmc.Ladder.tolerances([0.3, 1.0, 3.0]),
        kernel=aptmc.OneHit(1.0),
        schedule=aptmc.Anytime(every=10),
        on=aptmc.VirtualTime(),
        keep="all",
        seed=1,
    )
    for rung in range(3):
        state = run.chains(rung)[0].state
        assert (abs(state[:, 3] - OBSERVED) == state[:, 1]).all()
        assert (state[:, 1] <= run.settings.ladder.levels[rung]).all()
