"""Exchange rules: who may be paired, and how evenly."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import aptmc
from aptmc.coordinator.exchange_round import ALL_POOLS
from aptmc.exchange.rule import Waiting as WaitingChains
from aptmc.keys import EXCHANGE, Key
from tests.support.statistical import FALSE_ALARM

RULES = [
    aptmc.NeighbouringRungs,
    aptmc.Alternating,
    aptmc.RandomParity,
    aptmc.OneRandomPair,
    aptmc.RungParity,
    aptmc.BetweenPools,
]
UNTOUCHED = -99


class Waiting(NamedTuple):
    """The chains that wait: as a rule sees them."""

    rungs: list[int]
    pools: list[int]


@st.composite
def waiting_sets(draw: st.DrawFn, least: int = 0) -> Waiting:
    """Rungs with repeats and gaps, coldest first; pools one after the other, gaps allowed."""
    rungs = sorted(draw(st.lists(st.integers(0, 9), min_size=least, max_size=14)))
    steps = draw(st.lists(st.integers(0, 2), min_size=len(rungs), max_size=len(rungs)))
    return Waiting(rungs, np.cumsum(steps).tolist())


WAITING = waiting_sets()
ROUNDS = st.integers(0, 10**9)
SEEDS = st.integers(0, 2**32)


def choose(rule: Any, waiting: Waiting, number: int, seed: int) -> list[tuple[int, int]]:
    """The pairs that a rule chooses, from the stream that the coordinator would give it.

    The table is as small as it may be, and what lies around it must stay untouched.
    """
    size = len(waiting.rungs)
    table = np.full((size + 2, 2), UNTOUCHED)
    pairs = table[1 : size + 1]
    count = rule.choose_pairs(
        number,
        WaitingChains(
            np.array(waiting.rungs, dtype=np.int64),
            np.array(waiting.pools, dtype=np.int64),
            0.5 ** np.array(waiting.rungs, dtype=np.float64),
            np.linspace(0.0, 1.0, size),
        ),
        Key(seed, ALL_POOLS + 1, number, EXCHANGE).generator(),
        pairs,
    )
    assert (table[[0, -1]] == UNTOUCHED).all()
    assert 0 <= count <= size
    return [(int(colder), int(warmer)) for colder, warmer in pairs[:count]]


def is_uniform(counts: Any) -> bool:
    """Whether equally likely outcomes, independent, may give these counts (chi-square)."""
    return bool(stats.chisquare(counts).pvalue > FALSE_ALARM)


def tally(rule: Any, waiting: Waiting, *, rounds: range = range(4000)) -> Counter[Any]:
    """How often each set of pairs was chosen."""
    return Counter(tuple(choose(rule, waiting, number, seed=1)) for number in rounds)


# --- what holds for every rule --------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@given(waiting=WAITING, number=ROUNDS, seed=SEEDS)
def test_pairs_are_two_positions_that_exist_colder_first_and_none_is_used_twice(
    rule: Any, waiting: Waiting, number: int, seed: int
) -> None:
    pairs = choose(rule, waiting, number, seed)
    positions = [position for pair in pairs for position in pair]
    assert set(positions) <= set(range(len(waiting.rungs)))
    assert len(positions) == len(set(positions))
    assert all(colder < warmer for colder, warmer in pairs)


@pytest.mark.parametrize("rule", RULES)
@given(waiting=WAITING, number=ROUNDS, seed=SEEDS)
def test_the_same_round_with_the_same_stream_gives_the_same_pairs(
    rule: Any, waiting: Waiting, number: int, seed: int
) -> None:
    assert choose(rule, waiting, number, seed) == choose(rule, waiting, number, seed)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("waiting", [Waiting([], []), Waiting([0], [0]), Waiting([3], [1])])
@pytest.mark.parametrize("number", [0, 1])
def test_nobody_is_paired_where_fewer_than_two_wait(
    rule: Any, waiting: Waiting, number: int
) -> None:
    assert choose(rule, waiting, number, seed=1) == []


@pytest.mark.parametrize("rule", [aptmc.Alternating, aptmc.RandomParity, aptmc.OneRandomPair])
@given(waiting=WAITING, number=ROUNDS, seed=SEEDS)
def test_only_neighbours_are_paired(rule: Any, waiting: Waiting, number: int, seed: int) -> None:
    assert all(warmer == colder + 1 for colder, warmer in choose(rule, waiting, number, seed))


# --- each rule ------------------------------------------------------------------------------------


@given(waiting=WAITING, number=ROUNDS, seed=SEEDS)
def test_alternating_pairs_all_even_or_all_odd_neighbours_by_the_number_of_the_round(
    waiting: Waiting, number: int, seed: int
) -> None:
    first = number % 2
    expected = [(i, i + 1) for i in range(first, len(waiting.rungs) - 1, 2)]
    assert choose(aptmc.Alternating, waiting, number, seed) == expected


@given(waiting=waiting_sets(least=2), number=ROUNDS, seed=SEEDS)
def test_two_rounds_of_alternating_pair_every_two_neighbours_once(
    waiting: Waiting, number: int, seed: int
) -> None:
    rounds = [choose(aptmc.Alternating, waiting, number + turn, seed) for turn in (0, 1)]
    assert sorted(rounds[0] + rounds[1]) == list(pairwise(range(len(waiting.rungs))))


@given(waiting=WAITING, number=ROUNDS, seed=SEEDS)
def test_random_parity_pairs_all_even_or_all_odd_neighbours(
    waiting: Waiting, number: int, seed: int
) -> None:
    choices = [[(i, i + 1) for i in range(first, len(waiting.rungs) - 1, 2)] for first in (0, 1)]
    assert choose(aptmc.RandomParity, waiting, number, seed) in choices


@pytest.mark.parametrize("rounds", [range(0, 8000, 2), range(1, 8000, 2)])
def test_random_parity_tosses_a_fair_coin_whatever_the_number_of_the_round(rounds: range) -> None:
    counts = tally(aptmc.RandomParity, Waiting([0, 1, 2], [0, 0, 0]), rounds=rounds)
    assert set(counts) == {((0, 1),), ((1, 2),)}
    assert is_uniform(list(counts.values()))


@given(waiting=waiting_sets(least=2), number=ROUNDS, seed=SEEDS)
def test_one_random_pair_is_one_pair(waiting: Waiting, number: int, seed: int) -> None:
    assert len(choose(aptmc.OneRandomPair, waiting, number, seed)) == 1


@pytest.mark.parametrize("size", [3, 7])
def test_one_random_pair_picks_all_neighbours_equally_often(size: int) -> None:
    counts = tally(aptmc.OneRandomPair, Waiting(list(range(size)), [0] * size))
    assert set(counts) == {((i, i + 1),) for i in range(size - 1)}
    assert is_uniform(list(counts.values()))


@given(waiting=WAITING, number=ROUNDS, seed=SEEDS)
def test_rung_parity_matches_each_rung_of_the_round_with_the_next_and_as_many_as_can_be(
    waiting: Waiting, number: int, seed: int
) -> None:
    pairs = choose(aptmc.RungParity, waiting, number, seed)
    matched = Counter((waiting.rungs[colder], waiting.rungs[warmer]) for colder, warmer in pairs)
    present = Counter(waiting.rungs)
    expected = {
        (rung, rung + 1): min(present[rung], present[rung + 1])
        for rung in present
        if rung % 2 == number % 2 and rung + 1 in present
    }
    assert matched == expected


@given(waiting=WAITING, number=ROUNDS, seed=SEEDS)
def test_neighbouring_rungs_are_those_that_wait_in_turn_and_as_many_as_can_be(
    waiting: Waiting, number: int, seed: int
) -> None:
    pairs = choose(aptmc.NeighbouringRungs, waiting, number, seed)
    matched = Counter((waiting.rungs[colder], waiting.rungs[warmer]) for colder, warmer in pairs)
    present = Counter(waiting.rungs)
    rungs = sorted(present)[number % 2 :]
    expected = {
        (colder, warmer): min(present[colder], present[warmer])
        for colder, warmer in zip(rungs[::2], rungs[1::2], strict=False)
    }
    assert matched == expected


@given(waiting=WAITING, number=ROUNDS, seed=SEEDS)
def test_with_one_chain_on_each_rung_neighbouring_rungs_are_neighbouring_chains(
    waiting: Waiting, number: int, seed: int
) -> None:
    rungs = sorted(set(waiting.rungs))
    alone = Waiting(rungs, waiting.pools[: len(rungs)])
    by_rung = choose(aptmc.NeighbouringRungs, alone, number, seed)
    assert by_rung == choose(aptmc.Alternating, alone, number, seed)


@pytest.mark.parametrize("rule", [aptmc.RungParity, aptmc.NeighbouringRungs])
@pytest.mark.parametrize(
    ("colder", "warmer"), [(4, 1), (1, 4), (3, 2), (2, 3), (5, 2), (2, 5), (3, 3)]
)
def test_surplus_chains_are_left_out_equally_often(rule: Any, colder: int, warmer: int) -> None:
    waiting = Waiting([2] * colder + [3] * warmer, [0] * (colder + warmer))
    counts = tally(rule, waiting, rounds=range(0, 4000, 2))
    # Outcomes are rotations of the longer side: independent from round to round, equally likely.
    assert len(counts) == max(colder, warmer)
    assert is_uniform(list(counts.values()))
    paired: Counter[int] = Counter()
    for pairs, times in counts.items():
        for position in {position for pair in pairs for position in pair}:
            paired[position] += times
    longer = range(colder) if colder > warmer else range(colder, colder + warmer)
    # Each position is paired in this share of the rounds; six standard errors at most.
    share = min(colder, warmer) / max(colder, warmer)
    rounds = sum(counts.values())
    error = np.sqrt(share * (1 - share) / rounds)
    assert all(abs(paired[position] / rounds - share) <= 6 * error for position in longer)


@given(waiting=WAITING, number=ROUNDS, seed=SEEDS)
def test_between_pools_pairs_the_last_of_one_pool_with_the_first_of_the_next(
    waiting: Waiting, number: int, seed: int
) -> None:
    pools = waiting.pools
    pairs = choose(aptmc.BetweenPools, waiting, number, seed)
    borders = [(i, i + 1) for i in range(len(pools) - 1) if pools[i] != pools[i + 1]]
    if not borders:
        assert pairs == []
        return
    assert len(pairs) == 1
    assert pairs[0] in borders


def test_between_pools_picks_all_borders_equally_often() -> None:
    waiting = Waiting([0, 0, 1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 2, 2, 3, 3])
    counts = tally(aptmc.BetweenPools, waiting)
    assert set(counts) == {((2, 3),), ((3, 4),), ((5, 6),)}
    assert is_uniform(list(counts.values()))


class ColdestMoreOften(aptmc.Rule):
    """A planted error: colder pairs are a little likelier."""

    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        first = int(rng.random() ** 1.25 * (waiting.rung.shape[0] - 1))
        pairs[0, 0], pairs[0, 1] = first, first + 1
        return 1


def test_the_check_of_evenness_catches_a_rule_that_is_not_even() -> None:
    counts = tally(ColdestMoreOften, Waiting(list(range(7)), [0] * 7))
    assert len(counts) == 6
    assert not is_uniform(list(counts.values()))


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_holds_one_round_unless_told_otherwise(rule: Any) -> None:
    assert rule().rounds == 1
    assert rule(rounds=3).rounds == 3
    assert repr(rule(rounds=3)) == f"{rule.__name__}(rounds=3)"


@pytest.mark.parametrize("rounds", [0, -1, 1.5, 2.0, True, "2", None])
def test_what_is_no_number_of_rounds_is_refused(rounds: Any) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        aptmc.Alternating(rounds=rounds)
    assert f"rounds must be a whole number from 1 on, got {rounds!r}" in str(refusal.value)


def test_a_rule_without_a_choice_of_pairs_cannot_be_made() -> None:
    class Undecided(aptmc.Rule):
        pass

    with pytest.raises(TypeError, match="choose_pairs"):
        Undecided()
