"""The uniform valid reassignment: every valid assignment is equally likely, and nothing else."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import aptmc
from aptmc.coordinator.exchange_round import ALL_POOLS, exchange_round
from aptmc.exchange.rule import Waiting
from aptmc.keys import EXCHANGE, Key, open_streams
from aptmc.problem.weights import tolerance_log_weight
from tests.kernels.test_one_hit import COMPILED, exact_draws
from tests.support.sessions import make_session
from tests.support.statistical import FALSE_ALARM

LEVELS = np.array([1.0, 2.0, 2.0, 4.0, np.inf])
RUNGS = np.array([0, 1, 1, 2, 3])
VALUES = np.array([0.5, 1.5, 0.7, 1.2, 3.0])


def assign(values, levels, rungs, number):
    """Which state each position holds after one reassignment, by number."""
    size = len(values)
    waiting = Waiting(rungs, np.zeros(size, np.int64), levels, values)
    pairs = np.empty((size, 2), np.int64)
    rng = Key(1, 0, number, EXCHANGE).generator()
    count = aptmc.Reassignment.choose_pairs(number, waiting, rng, pairs)
    held = list(range(size))
    for first, second in pairs[:count]:
        held[first], held[second] = held[second], held[first]
        # Each swap is valid in itself, so that the coordinator accepts it.
        assert values[held[first]] <= levels[first]
        assert values[held[second]] <= levels[second]
    return tuple(held)


def valid_assignments(values, levels):
    return [
        held
        for held in permutations(range(len(values)))
        if all(values[state] <= level for state, level in zip(held, levels, strict=True))
    ]


def test_all_valid_assignments_are_equally_likely():
    valid = valid_assignments(VALUES, LEVELS)
    counts = Counter(assign(VALUES, LEVELS, RUNGS, number) for number in range(400 * len(valid)))
    assert set(counts) == set(valid)
    assert len(valid) > 5
    assert stats.chisquare(list(counts.values())).pvalue > FALSE_ALARM


@given(st.integers(1, 12), st.integers(0, 2**32))
def test_assignments_are_valid_and_complete(size, seed):
    rng = np.random.default_rng(seed)
    rungs = np.sort(rng.integers(0, 4, size))
    levels = np.array([0.5, 1.0, 3.0, np.inf])[rungs]
    values = levels * rng.random(size)
    values[np.isnan(values)] = np.inf
    values[levels == np.inf] = rng.exponential(3.0, np.count_nonzero(levels == np.inf))
    held = assign(values, levels, rungs, seed)
    assert sorted(held) == list(range(size))


def reassigned(rule, runs=1500):
    """Independent exact draws at every rung, after one round of exchanges."""
    ladder = aptmc.Ladder.tolerances([0.3, 0.8, 2.0])
    session, _ = make_session(
        aptmc.Anytime(every=1.0),
        ladder=ladder,
        pools=aptmc.Shared(2),
        problem=COMPILED,
        kernel=aptmc.OneHit(1.0),
    )
    machine = session.machine
    rng, streams = np.random.default_rng(1), open_streams(2)
    exact = {level: exact_draws(level, 2 * runs, rng) for level in ladder.levels}
    held = np.empty((runs, machine.rung.size, 2))
    for number in range(runs):
        for chain, rung in enumerate(machine.rung):
            theta, away = exact[ladder.levels[rung]]
            row = 2 * number + chain % 2
            machine.replica[chain] = chain
            machine.states[chain, :2] = theta[row], away[row]
        session.record.filled[0] = 0
        exchange_round(
            machine, ALL_POOLS, number, 0.0, session.record, streams,
            rule.function(), tolerance_log_weight,
        )  # fmt: skip
        held[number] = machine.states[machine.replica, :2]
    return ladder, machine, held


@pytest.mark.parametrize(
    "rule",
    [
        aptmc.Reassignment(),
        aptmc.Alternating(),
        pytest.param(aptmc.RungParity(), marks=pytest.mark.validation),
    ],
)
def test_exchanges_leave_exact_draws_exact(rule):
    ladder, machine, held = reassigned(rule)
    rng = np.random.default_rng(5)
    for chain, rung in enumerate(machine.rung):
        fresh = exact_draws(ladder.levels[rung], 8000, rng)
        for column in (0, 1):
            test = stats.ks_2samp(held[:, chain, column], fresh[column])
            assert test.pvalue > FALSE_ALARM


class CloserFirst(aptmc.Rule):
    """A planted error: sort the states by distance, coldest rung first."""

    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        values = waiting.value.copy()
        for position in range(values.size):
            best = position + np.argmin(values[position:])
            pairs[position, 0], pairs[position, 1] = position, best
            values[position], values[best] = values[best], values[position]
        return values.size


def test_a_greedy_assignment_is_caught():
    _, _, held = reassigned(CloserFirst())
    fresh = exact_draws(0.3, 8000, np.random.default_rng(5))
    assert stats.ks_2samp(held[:, 0, 1], fresh[1]).pvalue < FALSE_ALARM


def test_every_attending_chain_is_recorded_once():
    run = aptmc.sample(
        COMPILED,
        budget=3000,
        ladder=aptmc.Ladder.tolerances([0.3, 0.8, 2.0]),
        kernel=aptmc.OneHit(1.0),
        schedule=aptmc.Anytime(every=20, exchange=aptmc.Reassignment()),
        pools=aptmc.Shared(2),
        on=aptmc.VirtualTime(2),
        keep="all",
        seed=1,
    )
    times = np.concatenate(
        [draws.time[draws.exchanged] for rung in range(3) for draws in run.chains(rung)]
    )
    # Six chains, two of them in flight at each of 150 deadlines.
    assert Counter(times.tolist()) == {20.0 * (i + 1): 4 for i in range(150)}
    assert run.round_trips > 10


def test_it_is_for_tolerances_only():
    with pytest.raises(aptmc.InputError, match=r"Reassignment\(\) is for ladders of tolerances"):
        aptmc.sample(
            aptmc.Power(lambda theta: 0.0, 0.0),
            budget=1,
            ladder=aptmc.Ladder.powers(3),
            kernel=aptmc.RandomWalk(1.0),
            schedule=aptmc.Anytime(every=1, exchange=aptmc.Reassignment()),
            on=aptmc.VirtualTime(),
            seed=1,
        )
