"""Exchange rules of one's own: they are obeyed, and those that are wrong are stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import pytest

import aptmc
from aptmc.clock import ManualClock
from aptmc.coordinator.exchange_round import ALL_POOLS, exchange_round
from aptmc.coordinator.state import coordinator
from aptmc.exchange.pairs import neighbours
from aptmc.keys import open_streams
from aptmc.problem.weights import power_log_weight
from aptmc.record.record import empty_record
from tests.test_invariance import exchanged_states, in_law

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
        "warmup": 0,
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


# --- rules with parameters ------------------------------------------------------------------------


class Nearby(aptmc.Rule):
    """One random pair of waiting chains at most so many places apart."""

    reach: int = 2

    @staticmethod
    def choose_pairs(round_number, waiting, rng, pairs, settings):
        first = int(rng.random() * waiting.rung.shape[0])
        second = first + 1 + int(rng.random() * settings.reach)
        if second >= waiting.rung.shape[0]:
            return 0
        pairs[0, 0], pairs[0, 1] = first, second
        return 1


class BestNearby(aptmc.Rule):
    """A planted error: the coldest always with the best of the next so many."""

    reach: int = 2

    @staticmethod
    @numba.njit
    def choose_pairs(round_number, waiting, rng, pairs, settings):
        best = 1
        for position in range(1, min(1 + settings.reach, waiting.value.shape[0])):
            if waiting.value[position] > waiting.value[best]:
                best = position
        pairs[0, 0], pairs[0, 1] = 0, best
        return 1


@pytest.mark.parametrize("reach", [1, 3])
def test_a_rule_sees_its_parameters(reach: int) -> None:
    run = sample(Nearby(reach=reach, rounds=2), budget=2_000)
    colder, warmer = np.nonzero(run._record.attempts)
    # Positions are of waiting chains: with one of four in flight, rungs may be one farther apart.
    assert (warmer - colder).max() == min(reach + 1, 3)
    assert run.settings.schedule.exchange == Nearby(reach=reach, rounds=2)


def test_a_rule_with_a_parameter_leaves_exact_draws_exact() -> None:
    assert in_law(exchanged_states(Nearby(reach=3), power_log_weight, runs=2000))


def test_a_rule_with_a_parameter_that_is_not_exact_is_caught() -> None:
    assert not in_law(exchanged_states(BestNearby(reach=3), power_log_weight, runs=2000))


def test_parameters_tell_rules_apart() -> None:
    one, other = Nearby(reach=1), Nearby(reach=3)
    runs = [sample(rule) for rule in (one, other, Nearby(reach=1))]
    assert not are_equal(runs[0], runs[1])
    assert are_equal(runs[0], runs[2])
    assert one.function() is Nearby(reach=1).function() is not other.function()
    # Equal to Python, but other code: a whole number, a flag and a fraction.
    functions = {id(Nearby(reach=reach).function()) for reach in (1, True, 1.0)}
    assert len(functions) == 3
    # The number of rounds is the coordinator's affair.
    assert one.function() is Nearby(reach=1, rounds=5).function()


def test_two_rules_of_one_class_serve_one_schedule() -> None:
    rules = {"exchange": Nearby(reach=1), "within": Nearby(reach=3)}
    run = sample(Nearby(), schedule=aptmc.Anytime(2.5, **rules))
    swapped = sample(
        Nearby(), schedule=aptmc.Anytime(2.5, exchange=Nearby(reach=3), within=Nearby(reach=1))
    )
    assert not are_equal(run, swapped)


def test_a_rule_may_be_called_a_dataclass_or_not() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Farther(Nearby):
        reach: int = 5

    assert repr(Farther(rounds=2)) == f"{Farther.__qualname__}(rounds=2, reach=5)"
    assert are_equal(sample(Farther()), sample(Nearby(reach=5)))
