"""Schedules: what they tell the coordinator, and which layouts they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aptmc import (
    Alternating,
    Anytime,
    BetweenPools,
    InputError,
    Ladder,
    NeighbouringRungs,
    OneRandomPair,
    Paired,
    Partitioned,
    RandomParity,
    Reassignment,
    Shared,
    Synchronous,
    Uncorrected,
)
from aptmc.checks import counted
from aptmc.pools import Layout
from aptmc.schedule import Numbers, Plan


def shared(rungs: int, processors: int, chains_per_rung: int = 1) -> Layout:
    return Shared(chains_per_rung).layout(Ladder.powers(rungs), processors)


def partitioned(rungs: int, processors: int, chains_per_rung: int = 1) -> Layout:
    return Partitioned(chains_per_rung).layout(Ladder.powers(rungs), processors)


@pytest.mark.parametrize(
    ("schedule", "plan"),
    [
        (Anytime(5), Plan(5.0, True, False, 1, 0, settings=Numbers(5.0))),
        (Anytime("2 min"), Plan(120.0, True, False, 1, 0, settings=Numbers(120.0))),
        (
            Anytime(5, exchange=Alternating(rounds=3)),
            Plan(5.0, True, False, 3, 0, settings=Numbers(5.0)),
        ),
        (
            Anytime(5, within=OneRandomPair(rounds=2)),
            Plan(5.0, True, False, 1, 2, settings=Numbers(5.0)),
        ),
        (Synchronous(), Plan(math.inf, False, False, 1, 0, settings=Numbers(moves=1))),
        (
            Synchronous(4, within=Alternating()),
            Plan(math.inf, False, False, 1, 1, settings=Numbers(moves=4)),
        ),
        (
            Uncorrected("500 ms", exchange=OneRandomPair()),
            Plan(0.5, True, True, 1, 0, settings=Numbers(0.5)),
        ),
    ],
)
def test_the_plan_says_all_that_the_coordinator_needs(schedule: Any, plan: Plan) -> None:
    assert schedule.plan() == plan


@pytest.mark.parametrize("schedule", [Anytime(1), Synchronous(), Uncorrected(1)])
def test_neighbouring_rungs_are_the_default_and_pools_are_not_swept(schedule: Any) -> None:
    assert schedule.rule("powers") == NeighbouringRungs()
    assert schedule.within is None


def test_tolerances_are_reassigned_by_default_at_deadlines() -> None:
    assert Anytime(1).rule("tolerances") == Reassignment()
    assert Anytime(1, exchange=RandomParity()).rule("tolerances") == RandomParity()
    assert Synchronous().rule("tolerances") == NeighbouringRungs()


def test_repr_shows_what_was_given() -> None:
    assert repr(Anytime(5)) == (
        "Anytime(every=5, exchange=None, within=None, follow=False, jitter=0.0, shortest=0.0)"
    )
    assert repr(Synchronous(2, exchange=OneRandomPair(rounds=3))) == (
        "Synchronous(moves=2, exchange=OneRandomPair(rounds=3), within=None)"
    )
    assert repr(Uncorrected("1 s")).startswith("Uncorrected(every='1 s'")


@pytest.mark.parametrize("kind", [Anytime, Uncorrected])
@pytest.mark.parametrize("every", [0, -1.0, math.nan, math.inf, "0 s", "soon", "later", None, True])
def test_deadlines_must_be_a_positive_time_apart(kind: Any, every: Any) -> None:
    with pytest.raises(InputError) as refusal:
        kind(every)
    assert f"every must be a positive duration, got {every!r}" in str(refusal.value)
    assert 'every="10 min"' in str(refusal.value)


@pytest.mark.parametrize("shortest", [-1.0, math.nan, "soon", None])
def test_the_shortest_time_between_deadlines_is_a_time(shortest: Any) -> None:
    with pytest.raises(InputError, match="shortest must be a positive duration"):
        Anytime(1, shortest=shortest)
    assert Anytime(1, shortest="20 ms").plan().settings.shortest == 0.02


@pytest.mark.parametrize("moves", [0, -1, 1.0, True, "1", None])
def test_chains_must_make_a_whole_number_of_moves_between_barriers(moves: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Synchronous(moves)
    assert f"moves must be a whole number from 1 on, got {moves!r}" in str(refusal.value)


@given(
    rungs=st.integers(1, 8),
    chains_per_rung=st.integers(1, 3),
    processors=st.integers(1, 8),
    is_shared=st.booleans(),
    data=st.data(),
)
def test_anytime_takes_a_layout_just_when_every_pool_keeps_a_mover_waiting_and_two_chains_wait(
    rungs: int, chains_per_rung: int, processors: int, is_shared: bool, data: st.DataObject
) -> None:
    assume(rungs * chains_per_rung >= processors)
    idle = data.draw(st.sets(st.integers(0, rungs - 1), max_size=rungs - 1))
    pools = Shared(chains_per_rung) if is_shared else Partitioned(chains_per_rung)
    layout = pools.layout(Ladder.powers(rungs).without_local_moves(*idle), processors)

    movers = [int(layout.moves[layout.pool == pool].sum()) for pool in range(layout.pools)]
    busy = [int((layout.served == pool).sum()) for pool in range(layout.pools)]
    somebody_waits = all(
        chains > processors for chains, processors in zip(movers, busy, strict=True)
    )
    two_wait_together = layout.rung.size - processors >= 2 or rungs == 1  # which swaps nothing
    try:
        Anytime(1.0).check(layout)
    except InputError:
        assert not (somebody_waits and two_wait_together)
    else:
        assert somebody_waits
        assert two_wait_together


@pytest.mark.parametrize(
    ("layout", "pool", "movers", "processors"),
    [
        (shared(3, 3), 0, 3, 3),
        (shared(2, 5), 0, 2, 5),
        (shared(1, 1), 0, 1, 1),
        (partitioned(5, 3), 2, 1, 1),
        (Partitioned().layout(Ladder.powers(6).without_local_moves(2), 3), 1, 1, 1),
        (Shared().layout(Ladder.powers(3).without_local_moves(0), 2), 0, 2, 2),
        (Partitioned().layout(Ladder.powers(4).without_local_moves(2, 3), 2), 1, 0, 1),
    ],
)
def test_a_pool_without_a_moving_chain_to_spare_is_refused(
    layout: Layout, pool: int, movers: int, processors: int
) -> None:
    with pytest.raises(InputError) as refusal:
        Anytime(1.0).check(layout)
    message = str(refusal.value)
    assert (
        f"pool {pool} has {counted(movers, 'moving chain')} for {counted(processors, 'processor')},"
        in message
    )
    assert "a pool needs at least one chain more than processors" in message
    assert "use more rungs, pools=aptmc.Shared(2), or fewer processors" in message


@pytest.mark.parametrize(
    ("layout", "chains", "processors"),
    [
        (shared(2, 1), 2, 1),
        (shared(4, 3), 4, 3),
    ],
)
def test_a_run_in_which_two_chains_never_wait_together_is_refused(
    layout: Layout, chains: int, processors: int
) -> None:
    with pytest.raises(InputError) as refusal:
        Anytime(1.0).check(layout)
    message = str(refusal.value)
    words = f"{counted(chains, 'chain')} on {counted(processors, 'processor')}"
    assert f"with {words} two chains never wait" in message
    assert "use more rungs, pools=aptmc.Shared(2), or fewer processors" in message


@pytest.mark.parametrize(
    "layout",
    [
        # Nothing is exchanged on a single rung.
        shared(1, 1, chains_per_rung=2),
        shared(1, 2, chains_per_rung=3),
        Paired().layout(Ladder.powers(1), 1),
        shared(3, 1),
        shared(2, 2, chains_per_rung=2),
        partitioned(4, 2),
        Paired().layout(Ladder.powers(2), 2),
        # A chain that makes no moves always waits.
        Shared().layout(Ladder.powers(3).without_local_moves(0), 1),
    ],
)
def test_a_layout_that_keeps_two_chains_waiting_is_taken(layout: Layout) -> None:
    Anytime(1.0).check(layout)


@pytest.mark.parametrize("layout", [shared(1, 1), shared(2, 5), partitioned(3, 3)])
def test_synchronous_takes_any_layout_because_everyone_waits_in_the_end(layout: Layout) -> None:
    Synchronous().check(layout)


def test_uncorrected_needs_two_chains_and_no_more() -> None:
    Uncorrected(1.0).check(shared(2, 2))
    with pytest.raises(InputError, match="a single chain has nobody to exchange with: use more"):
        Uncorrected(1.0).check(shared(1, 1))


@pytest.mark.parametrize("make", [lambda **rules: Anytime(1.0, **rules), Synchronous])
def test_between_pools_needs_two_pools(make: Any) -> None:
    schedule = make(exchange=BetweenPools())
    schedule.check(partitioned(4, 2))
    with pytest.raises(InputError) as refusal:
        schedule.check(shared(4, 2))
    assert "BetweenPools() exchanges between pools, but there is only one" in str(refusal.value)
    assert "use pools=aptmc.Partitioned() with at least two processors" in str(refusal.value)


def test_between_pools_cannot_be_the_rule_within_a_pool() -> None:
    # Inside one pool there are no borders, so such a rule would never exchange anything.
    schedule = Anytime(1.0, within=BetweenPools())
    with pytest.raises(InputError, match="BetweenPools"):
        schedule.check(partitioned(4, 2))


@pytest.mark.parametrize("which", ["exchange", "within"])
@pytest.mark.parametrize("rule", ["alternating", Alternating, 2, np.zeros(2)])
@pytest.mark.parametrize("kind", [Anytime, Uncorrected, Synchronous])
def test_what_is_no_exchange_rule_is_refused(kind: Any, which: str, rule: Any) -> None:
    schedule = kind(1, **{which: rule})
    with pytest.raises(InputError) as refusal:
        schedule.check(shared(4, 1))
    assert "exchange and within must be exchange rules, got" in str(refusal.value)
    assert repr(rule) in str(refusal.value)
    assert "use aptmc.NeighbouringRungs()" in str(refusal.value)


def test_there_is_a_rule_for_exchanges_even_if_none_is_named() -> None:
    Anytime(1.0, exchange=None).check(shared(4, 1))
