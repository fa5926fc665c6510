"""Exchange rules: who may be paired, how evenly, and what happens to a rule that is wrong."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import aptmc
from aptmc.clock import ManualClock
from aptmc.coordinator import ALL_POOLS, coordinator, exchange_round
from aptmc.exchange import rules
from aptmc.exchange.rules import neighbours
from aptmc.keys import EXCHANGE, Key, open_streams
from aptmc.problem.weights import power_log_weight
from aptmc.record import empty_record
from tests.support.statistical import FALSE_ALARM

RULES = [
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
        rules.Waiting(
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


@pytest.mark.parametrize(
    ("colder", "warmer"), [(4, 1), (1, 4), (3, 2), (2, 3), (5, 2), (2, 5), (3, 3)]
)
def test_rung_parity_leaves_surplus_chains_out_equally_often(colder: int, warmer: int) -> None:
    waiting = Waiting([2] * colder + [3] * warmer, [0] * (colder + warmer))
    counts = tally(aptmc.RungParity, waiting, rounds=range(0, 4000, 2))
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


# --- rules of one's own ---------------------------------------------------------------------------


def log_density(theta):
    return -0.5 * theta[0] * theta[0]


PROBLEM = aptmc.Power(log_density, start=0.0)


def sample(rule: aptmc.Rule, **options: Any) -> aptmc.Run:
    settings: dict[str, Any] = {
        "budget": 300,
        "ladder": aptmc.Ladder.powers(4),
        "kernel": aptmc.RandomWalk(1.0),
        "schedule": aptmc.Anytime(2.5, exchange=rule),
        "on": aptmc.VirtualTime(),
        "keep": "all",
        "seed": 1,
    }
    return aptmc.sample(PROBLEM, **(settings | options))


class ColdestTwo(aptmc.Rule):
    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        pairs[0, 0], pairs[0, 1] = 0, 1
        return 1


class CompiledColdestTwo(aptmc.Rule):
    @staticmethod
    @numba.njit
    def choose_pairs(round_number, waiting, rng, pairs):
        pairs[0, 0], pairs[0, 1] = 0, 1
        return 1


class WarmerFirst(aptmc.Rule):
    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        pairs[0, 0], pairs[0, 1] = 1, 0
        return 1


class AlternatingByHand(aptmc.Rule):
    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        return neighbours(round_number % 2, waiting, pairs)


def draws_of(run: aptmc.Run) -> list[Any]:
    return [draws for rung in range(4) for draws in run.chains(rung)]


def are_equal(one: aptmc.Run, other: aptmc.Run) -> bool:
    return all(
        np.array_equal(left, right)
        for mine, yours in zip(draws_of(one), draws_of(other), strict=True)
        for left, right in zip(mine, yours, strict=True)
    )


def test_a_rule_written_in_plain_python_is_obeyed() -> None:
    exchanges = [int(draws.exchanged.sum()) for draws in draws_of(sample(ColdestTwo()))]
    # 120 deadlines, two draws each. Three of four chains wait, so the hottest is never a coldest.
    assert sum(exchanges) == 240
    assert exchanges[3] == 0
    assert all(exchanges[:3])


def test_as_many_rounds_of_a_rule_are_held_as_it_says() -> None:
    run = sample(ColdestTwo(rounds=3))
    assert sum(int(draws.exchanged.sum()) for draws in draws_of(run)) == 3 * 240


def test_a_rule_may_come_compiled_or_name_the_warmer_first_all_the_same() -> None:
    run = sample(ColdestTwo())
    assert are_equal(run, sample(CompiledColdestTwo()))
    assert are_equal(run, sample(WarmerFirst()))


def test_alternating_written_by_hand_is_alternating() -> None:
    run = sample(aptmc.Alternating())
    assert are_equal(run, sample(AlternatingByHand()))
    assert not are_equal(run, sample(ColdestTwo()))


def test_a_rule_of_ones_own_serves_within_pools_too() -> None:
    rule = ColdestTwo()
    run = sample(rule, schedule=aptmc.Synchronous(exchange=rule, within=rule))
    # 75 sweeps, after each of which both rules pair the chains of rungs 0 and 1.
    assert [int(draws.exchanged.sum()) for draws in draws_of(run)] == [150, 150, 0, 0]


# --- rules that are wrong -------------------------------------------------------------------------


class FarTooWarm(aptmc.Rule):
    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        pairs[0, 0], pairs[0, 1] = 0, 10**12
        return 1


class JustTooWarm(aptmc.Rule):
    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        pairs[0, 0], pairs[0, 1] = 0, waiting.rung.shape[0]
        return 1


class Negative(aptmc.Rule):
    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        pairs[0, 0], pairs[0, 1] = 1, -1
        return 1


class TooManyPairs(aptmc.Rule):
    """All rows of the table are fine, but more are announced than there are."""

    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        pairs[:, 0], pairs[:, 1] = 0, 1
        return pairs.shape[0] + 1


class WrongLater(aptmc.Rule):
    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        pairs[0, 0], pairs[0, 1] = 0, 1 if round_number < 20 else 7
        return 1


BACKENDS = {"virtual time": aptmc.VirtualTime, "wall time": lambda: aptmc.InProcess(ManualClock(1))}


@pytest.mark.parametrize("on", BACKENDS.values(), ids=BACKENDS.keys())
@pytest.mark.parametrize("rule", [FarTooWarm, JustTooWarm, Negative, WrongLater])
def test_a_rule_that_pairs_positions_which_are_not_there_is_stopped(rule: Any, on: Any) -> None:
    with pytest.raises(Exception, match="an exchange rule paired positions"):
        sample(rule(), on=on())


@pytest.mark.parametrize("on", BACKENDS.values(), ids=BACKENDS.keys())
def test_a_wrong_rule_is_an_error_of_ours_that_blames_no_move(on: Any) -> None:
    with pytest.raises(aptmc.AptmcError) as stop:
        sample(WrongLater(), on=on())
    assert not isinstance(stop.value, aptmc.MoveFailed)


def test_a_rule_that_announces_more_pairs_than_there_is_room_for_is_stopped() -> None:
    # In plain Python, where reading beyond the table is an error and never a gamble.
    layout = aptmc.Shared().layout(aptmc.Ladder.powers(3), 1)
    plan = aptmc.Anytime(1.0, exchange=TooManyPairs()).plan()
    machine = coordinator(plan, layout, np.array([1.0, 0.5, 0.25]), np.zeros((3, 3)), 1)
    record = empty_record(layout.rung, 3, 3, np.ones(3, np.bool_), rows=100)
    with pytest.raises(Exception, match="exchange rule"):
        exchange_round.py_func(
            machine, ALL_POOLS, 0, 1.0, record, open_streams(1), TooManyPairs.choose_pairs,
            power_log_weight,
        )  # fmt: skip


class ForgotStatic(aptmc.Rule):
    def choose_pairs(self, round_number, waiting, rng, pairs):
        return 0


class ForgotReturn(aptmc.Rule):
    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        pairs[0, 0], pairs[0, 1] = 0, 1


class CannotBeCompiled(aptmc.Rule):
    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs):
        return len({}.fromkeys(waiting.rung, object()))


class WrongArguments(aptmc.Rule):
    @staticmethod
    def choose_pairs(rungs, pairs):
        return 0


@pytest.mark.parametrize("rule", [ForgotStatic, ForgotReturn, CannotBeCompiled, WrongArguments])
def test_a_rule_that_cannot_be_compiled_is_refused_by_name(rule: Any) -> None:
    with pytest.raises(aptmc.InputError, match=rule.__name__):
        sample(rule())
