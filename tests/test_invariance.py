"""Exact invariance: start in the stationary law, let the whole machine run, test that it is there.

The target is two-speed: its right half takes ten times as long to move from. Hold times are
exponential, so the stationary law of a pool can be drawn exactly: a random queue order, chains in
flight from the anytime distribution with fresh hold times, and waiting chains from their targets.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import aptmc
from aptmc.backends import VirtualTime
from aptmc.backends.virtual import event_loop
from aptmc.compiled import compiled
from aptmc.coordinator.exchange_round import ALL_POOLS, exchange_round
from aptmc.keys import open_streams
from aptmc.problem.weights import power_log_weight
from aptmc.session.session import Outcome
from tests.support import targets
from tests.support.sessions import PROBLEM, make_session
from tests.support.statistical import FALSE_ALARM, follows

LADDER = aptmc.Ladder.powers([1.0, 0.6, 0.35, 0.2])
WALK = aptmc.RandomWalk(2.0)
# Independent runs. Planted errors have p-values below 1e-9, where 1e-6 is enough.
RUNS = 400


def set_state(session, chain, value):
    session.machine.states[chain] = [value, -0.5 * value**2, 0.0]


def start_in_stationary_law(session, processors, rng):
    """Overwrite a fresh session by a draw from the law that should be stationary."""
    machine = session.machine
    order = rng.permutation(machine.rung.size)
    machine.queue[0] = order
    for place, chain in enumerate(order):
        beta = LADDER.levels[machine.rung[chain]]
        in_flight = place < processors
        draw = targets.draw_in_flight if in_flight else targets.draw
        set_state(session, chain, draw(rng, beta))


def waiting_states(schedule, processors, chains_per_rung, runs=RUNS, kernel=WALK):
    """What waiting chains hold after a while, by rung, over independent runs."""
    held = [[] for _ in LADDER.levels]
    rng = np.random.default_rng(1)
    backend = VirtualTime(processors, targets.hold)
    for seed in range(runs):
        session, _ = make_session(
            schedule,
            ladder=LADDER,
            pools=aptmc.Shared(chains_per_rung),
            processors=processors,
            seed=seed,
            kernel=kernel,
        )
        start_in_stationary_law(session, processors, rng)
        backend.run(session, 12.0)
        machine = session.machine
        for chain in np.flatnonzero(machine.waiting):
            held[machine.rung[chain]].append(machine.states[machine.replica[chain], 0])
    return held


def in_law(held) -> bool:
    checks = []
    for beta, values in zip(LADDER.levels, held, strict=True):
        checks.append(follows(values, stats.norm(0, beta**-0.5).cdf))
        right = int((np.array(values) > 0).sum())
        checks.append(stats.binomtest(right, len(values), 0.5).pvalue > FALSE_ALARM)
    return all(checks)


ALTERNATING = aptmc.Anytime(every=1.0)
OTHERS = {
    "rung-parity": aptmc.Anytime(every=0.7, exchange=aptmc.RungParity(rounds=2)),
    "within": aptmc.Anytime(every=1.0, exchange=aptmc.OneRandomPair(), within=aptmc.RandomParity()),
}


@pytest.mark.parametrize(
    ("schedule", "processors"),
    [
        pytest.param(ALTERNATING, 1, id="alternating-1"),
        pytest.param(ALTERNATING, 2, id="alternating-2"),
        *(
            pytest.param(
                schedule,
                processors,
                id=f"{name}-{processors}",
                marks=[pytest.mark.validation] if processors == 1 else [],
            )
            for name, schedule in OTHERS.items()
            for processors in (1, 2)
        ),
    ],
)
def test_the_coordinator_leaves_the_stationary_law_alone(schedule, processors):
    assert in_law(waiting_states(schedule, processors, 1))


def test_several_chains_per_rung_too():
    schedule = aptmc.Anytime(every=1.0, exchange=aptmc.RungParity())
    assert in_law(waiting_states(schedule, 3, 2))


@pytest.mark.parametrize(
    "kernel",
    [
        aptmc.Slice(4.0),
        pytest.param(aptmc.Slice(1.0, stretches=3), marks=pytest.mark.validation),
        pytest.param(
            aptmc.Mixture(aptmc.RandomWalk(2.0), aptmc.Slice(4.0)), marks=pytest.mark.validation
        ),
    ],
    ids=["slice", "stretched slice", "mixture"],
)
def test_other_kernels_leave_it_alone_too(kernel):
    assert in_law(waiting_states(aptmc.Anytime(every=1.0), 2, 1, kernel=kernel))


def test_exchanging_chains_in_flight_is_caught():
    assert not in_law(waiting_states(aptmc.Uncorrected(every=1.0), 2, 1))


def test_giving_up_slow_moves_is_caught():
    """A planted error: a move that takes long is given up, and its chain stays where it is."""
    patience = 3.0
    held = [[] for _ in LADDER.levels]
    rng = np.random.default_rng(1)
    for seed in range(RUNS):
        session, _ = make_session(aptmc.Anytime(every=1.0), ladder=LADDER, seed=seed, kernel=WALK)
        start_in_stationary_law(session, 1, rng)
        machine, now = session.machine, 0.0
        while True:
            chain = session.take_next(0)
            state = machine.states[machine.replica[chain]].copy()
            hold = rng.exponential(targets.SLOW if state[0] > 0 else targets.FAST)
            now += min(hold, patience)
            if now > 60.0:
                break
            outcome = session.compute(chain)
            session.complete(
                chain, outcome if hold < patience else Outcome(state, outcome.info), now
            )
        for waiting in np.flatnonzero(machine.waiting):
            held[machine.rung[waiting]].append(machine.states[machine.replica[waiting], 0])
    assert not in_law(held)


def exchanged_states(rule, log_weight, runs=2000):
    """Independent exact draws at every rung, after one round of exchanges."""
    session, _ = make_session(aptmc.Anytime(every=1.0), ladder=LADDER, keep="coldest")
    rng = np.random.default_rng(2)
    held = [[] for _ in LADDER.levels]
    streams = open_streams(3)
    for number in range(runs):
        for chain, beta in enumerate(LADDER.levels):
            session.machine.replica[chain] = chain
            set_state(session, chain, targets.draw(rng, beta))
        session.record.filled[0] = 0
        exchange_round(
            session.machine,
            ALL_POOLS,
            number,
            0.0,
            session.record,
            streams,
            rule.function(),
            log_weight,
        )
        for chain in range(len(LADDER.levels)):
            held[chain].append(session.machine.states[session.machine.replica[chain], 0])
    return held


@pytest.mark.parametrize(
    "rule",
    [
        aptmc.NeighbouringRungs(),
        aptmc.Alternating(),
        aptmc.RandomParity(),
        aptmc.OneRandomPair(),
        aptmc.RungParity(),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_exchanges_leave_exact_draws_exact(rule):
    assert in_law(exchanged_states(rule, power_log_weight))


@compiled
def wrong_log_weight(level: float, value: float) -> float:
    """A planted error: the wrong sign, so that swaps are accepted the wrong way round."""
    return -level * value


def test_a_wrong_swap_ratio_is_caught():
    assert not in_law(exchanged_states(aptmc.Alternating(), wrong_log_weight))


def test_the_problem_here_is_compiled():
    assert PROBLEM.is_compiled
    assert event_loop.run_until.signatures
