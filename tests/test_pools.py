"""Pools: who stands where, and which layouts are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aptmc import InputError, Ladder, Paired, Partitioned, Shared
from aptmc.pools import Groups, Layout

RUNGS = st.integers(1, 12)
CHAINS_PER_RUNG = st.integers(1, 4)
PROCESSORS = st.integers(1, 10)


def is_sorted(values: np.ndarray[Any, Any]) -> bool:
    return bool((np.diff(values) >= 0).all())


def check_layout(layout: Layout, rungs: int, chains_per_rung: int, processors: int) -> None:
    """What holds for every layout."""
    chains = rungs * chains_per_rung
    for column in layout[:3]:
        assert column.shape == (chains,)
    assert layout.served.shape == (processors,)
    assert [column.dtype for column in layout[:4]] == [np.int64, np.int64, np.bool_, np.int64]
    # Coldest first, as many chains on each rung as asked for.
    assert is_sorted(layout.rung)
    assert np.bincount(layout.rung, minlength=rungs).tolist() == [chains_per_rung] * rungs
    # Pools without gaps, neighbours together, each with somebody to serve it.
    assert is_sorted(layout.pool)
    assert set(layout.pool.tolist()) == set(range(layout.pools))
    assert set(layout.served.tolist()) == set(range(layout.pools))
    for pool in range(layout.pools):
        members = layout.rung[layout.pool == pool]
        assert set(np.diff(np.unique(members)).tolist()) <= {1}


@given(RUNGS, CHAINS_PER_RUNG, PROCESSORS)
def test_shared_puts_everyone_in_one_pool(
    rungs: int, chains_per_rung: int, processors: int
) -> None:
    layout = Shared(chains_per_rung).layout(Ladder.powers(rungs), processors)
    check_layout(layout, rungs, chains_per_rung, processors)
    assert layout.pools == 1


@given(RUNGS, CHAINS_PER_RUNG, PROCESSORS)
def test_partitioned_gives_each_processor_an_even_share_of_neighbours(
    rungs: int, chains_per_rung: int, processors: int
) -> None:
    assume(rungs * chains_per_rung >= processors)
    layout = Partitioned(chains_per_rung).layout(Ladder.powers(rungs), processors)
    check_layout(layout, rungs, chains_per_rung, processors)
    assert layout.pools == processors
    assert layout.served.tolist() == list(range(processors))
    sizes = np.bincount(layout.pool)
    assert sizes.max() - sizes.min() <= 1


@given(RUNGS)
def test_paired_puts_the_two_chains_of_a_rung_in_its_own_pool(rungs: int) -> None:
    layout = Paired().layout(Ladder.powers(rungs), rungs)
    check_layout(layout, rungs, 2, rungs)
    assert layout.pools == rungs
    assert layout.pool.tolist() == layout.rung.tolist()
    assert layout.served.tolist() == list(range(rungs))


@given(RUNGS, CHAINS_PER_RUNG, PROCESSORS, st.data())
def test_chains_of_idle_rungs_are_the_ones_that_make_no_moves(
    rungs: int, chains_per_rung: int, processors: int, data: st.DataObject
) -> None:
    idle = data.draw(st.sets(st.integers(0, rungs - 1), max_size=rungs - 1))
    ladder = Ladder.powers(rungs).without_local_moves(*idle)
    layout = Shared(chains_per_rung).layout(ladder, processors)
    check_layout(layout, rungs, chains_per_rung, processors)
    assert set(layout.rung[~layout.moves].tolist()) == idle
    assert set(layout.rung[layout.moves].tolist()) == set(range(rungs)) - idle


@given(RUNGS, CHAINS_PER_RUNG, PROCESSORS, st.booleans(), st.data())
def test_who_waits_at_deadlines_is_counted_pool_by_pool(
    rungs: int, chains_per_rung: int, processors: int, is_shared: bool, data: st.DataObject
) -> None:
    assume(rungs * chains_per_rung >= processors)
    idle = data.draw(st.sets(st.integers(0, rungs - 1), max_size=rungs - 1))
    pools = Shared(chains_per_rung) if is_shared else Partitioned(chains_per_rung)
    layout = pools.layout(Ladder.powers(rungs).without_local_moves(*idle), processors)
    for pool, waiting in enumerate(layout.waiting_at_deadlines().tolist()):
        chains = [chain for chain in range(layout.rung.size) if layout.pool[chain] == pool]
        movers = sum(bool(layout.moves[chain]) for chain in chains)
        busy = layout.served.tolist().count(pool)
        assert waiting == (len(chains) - busy if movers > busy else -1)


def test_one_pool_is_shared_by_one_chain_per_rung_unless_told_otherwise() -> None:
    assert repr(Shared()) == "Shared(chains_per_rung=1)"
    assert repr(Partitioned(2)) == "Partitioned(chains_per_rung=2)"
    assert repr(Paired()) == "Paired()"
    assert Shared(2) == Shared(chains_per_rung=2) != Shared()


@pytest.mark.parametrize("kind", [Shared, Partitioned])
@pytest.mark.parametrize("chains_per_rung", [0, -1, 1.5, 2.0, True, "2", None])
def test_what_is_no_number_of_chains_is_refused(kind: Any, chains_per_rung: Any) -> None:
    with pytest.raises(InputError) as refusal:
        kind(chains_per_rung).layout(Ladder.powers(3), 1)
    message = f"chains_per_rung must be a whole number from 1 on, got {chains_per_rung!r}"
    assert message in str(refusal.value)


def test_fewer_chains_than_processors_cannot_be_partitioned() -> None:
    with pytest.raises(InputError, match="4 chains cannot be divided among 5 processors: use more"):
        Partitioned(2).layout(Ladder.powers(2), 5)


@pytest.mark.parametrize("processors", [1, 2, 4])
def test_paired_needs_one_processor_for_each_rung(processors: int) -> None:
    with pytest.raises(InputError) as refusal:
        Paired().layout(Ladder.powers(3), processors)
    message = f"one processor for each rung, got {processors} processors and 3 rungs: change one"
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("pools", "processors"), [(Shared(), 1), (Partitioned(), 2), (Paired(), 2)]
)
def test_a_ladder_on_which_every_rung_is_idle_is_refused(pools: Any, processors: int) -> None:
    with pytest.raises(InputError, match="no chain makes local moves: leave at least one rung its"):
        pools.layout(Ladder.powers(2).without_local_moves(0, 1), processors)


def test_groups_have_a_lane_with_two_chains_on_each_rung():
    layout = Groups(14).layout(Ladder.powers(3), 14)
    assert layout.rung.tolist() == [0] * 8 + [1] * 8 + [2] * 8
    assert layout.served.size == 12
    assert layout.recorded.tolist() == [True, False] * 12
    with pytest.raises(InputError, match="2 lanes are too few for a ladder of 3 rungs"):
        Groups(2).layout(Ladder.powers(3), 2)


def test_groups_may_have_several_lanes_on_a_rung():
    groups = Groups(30, lanes_per_rung=2, coldest=5)
    layout = groups.layout(Ladder.powers(3), 30)
    assert np.bincount(layout.rung).tolist() == [30, 12, 12]
    assert layout.served.size == 27
    assert groups.apart == layout.apart == 5
    assert Groups(30, lanes_per_rung=2).apart == 2
    assert Groups(30).apart == 1
    with pytest.raises(InputError, match=r"8 lanes are too few .* 9 lanes on them: use 9 lanes"):
        Groups(8, lanes_per_rung=2, coldest=5).layout(Ladder.powers(3), 8)


def test_more_chains_may_stand_on_the_coldest_rung() -> None:
    pools = Shared(2, coldest=5)
    layout = pools.layout(Ladder.powers([1.0, 0.5, 0.25]), 3)
    assert np.bincount(layout.rung).tolist() == [5, 2, 2]
    assert layout.pools == 1
    assert repr(pools) == "Shared(chains_per_rung=2, coldest=5)"


@pytest.mark.parametrize("coldest", [0, 1.5, "many"])
def test_as_many_as_cannot_be_are_refused(coldest: Any) -> None:
    with pytest.raises(InputError, match="coldest must be a whole number"):
        Shared(1, coldest=coldest).layout(Ladder.powers([1.0, 0.5]), 1)
