"""How a problem is computed: plain Python or machine code, and many moves at once."""

from __future__ import annotations

import math

import cloudpickle
import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.compiled import is_compiled
from aptmc.keys import START, Key
from aptmc.problem.base import density_model
from aptmc.problem.chain_state import accepts
from aptmc.session.orders import Mover, Order
from aptmc.targets import INTERPRETED, NUMBA, target_of

PRIOR = aptmc.Prior(x=stats.norm(0, 2))
LADDER = aptmc.Ladder.powers([1.0, 0.5, 0.0])
KERNEL = aptmc.RandomWalk(1.0, steps=2)


@njit
def log_likelihood(theta):
    return -theta[0] * theta[0]


def test_each_target_turns_functions_into_what_it_calls():
    plain = log_likelihood.py_func
    assert INTERPRETED.like(density_model, plain) is INTERPRETED.helper(plain) is plain
    assert is_compiled(NUMBA.like(density_model, plain))
    assert is_compiled(NUMBA.helper(plain))
    assert NUMBA.library(accepts) is accepts
    assert INTERPRETED.library(accepts) is accepts.py_func
    assert NUMBA.like(density_model, plain)(np.ones(1)) == plain(np.ones(1))


def test_what_only_compiled_code_calls_has_no_way_in_from_python():
    plain = log_likelihood.py_func
    within, brief = NUMBA.within(density_model, plain), NUMBA.brief(density_model, plain)
    both = NUMBA.like(density_model, lambda theta: within(theta) + 0.5 * brief(theta))
    assert both(np.ones(1)) == 1.5 * plain(np.ones(1))
    with pytest.raises(TypeError, match="log_likelihood is compiled for compiled callers alone"):
        within(np.ones(1))  # numba would crash
    # A brief one was copied so far, and is compiled when Python calls it.
    assert not brief.signatures
    assert brief(np.ones(1)) == plain(np.ones(1))
    assert INTERPRETED.within(density_model, plain) is INTERPRETED.brief(density_model, plain)


def test_a_target_is_the_same_wherever_it_travels():
    for target in (INTERPRETED, NUMBA):
        assert cloudpickle.loads(cloudpickle.dumps(target)) == target
    assert INTERPRETED != NUMBA
    assert not INTERPRETED.is_compiled
    assert NUMBA.is_compiled


def test_a_problem_says_how_it_is_computed():
    assert target_of(log_likelihood) == aptmc.Tempered(log_likelihood, PRIOR).target == NUMBA
    assert aptmc.Tempered(log_likelihood.py_func, PRIOR).target == INTERPRETED
    unknown = aptmc.Prior(x=stats.gumbel_r(0, 1))
    assert aptmc.Tempered(log_likelihood, unknown).target == INTERPRETED
    assert target_of(log_likelihood, log_likelihood.py_func) == INTERPRETED


# --- many moves at once ---------------------------------------------------------------------------


def orders_for(problem, kernel, levels):
    ladder = aptmc.Ladder.powers(levels)
    tuning = kernel.tuning(problem, ladder)
    orders = []
    for chain in range(30):
        rung = chain % len(levels)
        state = problem.start(Key(1, chain, 0).generator())
        orders.append(Order(Key(1, chain, 3), rung, levels[rung], tuning[rung], state))
    return orders


def test_a_batch_is_computed_by_one_call(monkeypatch):
    problem = aptmc.Tempered(log_likelihood, PRIOR)
    mover = Mover(problem, KERNEL, 1)
    orders = orders_for(problem, KERNEL, LADDER.levels)
    alone = [mover.compute(order) for order in orders]
    monkeypatch.setattr(Mover, "compute", None)
    for one, other in zip(alone, mover.compute_all(orders), strict=True):
        np.testing.assert_array_equal(one.state, other.state)
        np.testing.assert_array_equal(one.info, other.info)
    assert mover.compute_all([]) == []


def test_starts_are_no_moves():
    problem = aptmc.Tempered(log_likelihood, PRIOR)
    mover = Mover(problem, KERNEL, 1)
    order = orders_for(problem, KERNEL, LADDER.levels)[0]
    starts = [order._replace(key=Key(1, chain, 0, START)) for chain in range(3)]
    for chain, outcome in enumerate(mover.compute_all(starts)):
        expected = problem.start(Key(1, chain, 0, START).generator())
        np.testing.assert_array_equal(outcome.state, expected)


@njit
def gives_nan(theta):
    return math.nan if theta[0] > 3.0 else -0.5 * theta[0] ** 2


@njit
def raises(theta):
    if theta[0] > 3.0:
        raise ValueError("too far")
    return -0.5 * theta[0] ** 2


@pytest.mark.parametrize("function", [gives_nan, raises])
def test_the_first_that_fails_in_a_batch_is_named_as_if_it_were_alone(function):
    kernel = aptmc.RandomWalk(3.0)
    problem = aptmc.Power(function, 0.0)
    mover = Mover(problem, kernel, 1)
    orders = orders_for(problem, kernel, (1.0, 0.5, 0.25))
    alone = None
    for order in orders:
        try:
            mover.compute(order)
        except aptmc.MoveFailed as failure:
            alone = failure
            break
    assert alone is not None
    with pytest.raises(aptmc.MoveFailed) as together:
        mover.compute_all(orders)
    assert str(together.value) == str(alone)
    assert together.value.key == alone.key
    assert together.value.rung == alone.rung
    assert together.value.parameters == alone.parameters
    # Whoever failed, the next is computed as ever.
    np.testing.assert_array_equal(
        mover.compute_all(orders[:2])[1].state, mover.compute(orders[1]).state
    )
