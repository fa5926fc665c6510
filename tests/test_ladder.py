"""Ladders: how they are built, shown and refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aptmc import InputError, Ladder

POWERS = st.lists(
    st.floats(min_value=0.0, max_value=1.0, exclude_max=True), max_size=8, unique=True
).map(lambda warmer: [1.0, *sorted(warmer, reverse=True)])


@given(POWERS)
def test_powers_keeps_the_powers_in_order(powers: list[float]) -> None:
    ladder = Ladder.powers(powers)
    assert ladder.levels == tuple(powers)
    assert ladder.rungs == len(powers)
    assert ladder.idle_rungs == frozenset()
    np.testing.assert_array_equal(ladder.level_array(), powers)


@pytest.mark.parametrize("powers", [(1, 0.5), [1.0, 0.5], np.array([1.0, 0.5])])
def test_powers_takes_any_sequence(powers: Any) -> None:
    ladder = Ladder.powers(powers)
    assert ladder.levels == (1.0, 0.5)
    assert all(type(level) is float for level in ladder.levels)


@given(st.integers(1, 50))
def test_a_whole_number_of_powers_gives_equal_steps(rungs: int) -> None:
    ladder = Ladder.powers(rungs)
    assert ladder.rungs == rungs
    assert ladder.levels[0] == 1.0
    assert ladder.levels == tuple((rungs - rung) / rungs for rung in range(rungs))


@given(st.integers(2, 30), st.floats(min_value=1e-6, max_value=0.5))
def test_geometric_powers_have_one_common_ratio(rungs: int, hottest: float) -> None:
    ladder = Ladder.geometric(rungs, hottest=hottest)
    levels = ladder.level_array()
    assert ladder.rungs == rungs
    assert levels[0] == 1.0
    assert levels[-1] == hottest
    np.testing.assert_allclose(levels[1:] / levels[:-1], hottest ** (1 / (rungs - 1)), rtol=1e-12)


def test_idle_rungs_are_noted_and_the_levels_stay() -> None:
    ladder = Ladder.powers(4)
    idle = ladder.without_local_moves(0, 2)
    assert idle.idle_rungs == {0, 2}
    assert idle.levels == ladder.levels
    assert ladder.idle_rungs == frozenset()


@given(POWERS, st.data())
def test_repr_is_the_call_that_makes_the_ladder(powers: list[float], data: st.DataObject) -> None:
    idle = data.draw(st.sets(st.integers(0, len(powers) - 1)))
    ladder = Ladder.powers(powers).without_local_moves(*idle)
    assert eval(repr(ladder), {"Ladder": Ladder}) == ladder


def test_repr_is_short() -> None:
    assert repr(Ladder.powers([1, 0.5])) == "Ladder.powers([1.0, 0.5])"
    assert repr(Ladder.powers([1, 0.5]).without_local_moves(1, 0)) == (
        "Ladder.powers([1.0, 0.5]).without_local_moves(0, 1)"
    )


def test_equal_ladders_are_equal() -> None:
    assert Ladder.powers(2) == Ladder.powers([1, 0.5])
    assert hash(Ladder.powers(2)) == hash(Ladder.powers([1, 0.5]))
    assert Ladder.powers(2) != Ladder.powers(2).without_local_moves(0)


def test_an_empty_ladder_is_refused() -> None:
    with pytest.raises(InputError, match=r"the ladder is empty: give at least one level"):
        Ladder.powers([])


@pytest.mark.parametrize("rungs", [0, -3, True, False])
def test_a_ladder_without_rungs_is_refused(rungs: Any) -> None:
    with pytest.raises(
        InputError, match=f"the number of rungs must be a whole number from 1 on, got {rungs}"
    ):
        Ladder.powers(rungs)


@pytest.mark.parametrize("first", [0.5, 2.0, 0.0, -1.0, math.nextafter(1.0, 0.0)])
def test_a_first_power_other_than_one_is_refused(first: float) -> None:
    with pytest.raises(InputError) as refusal:
        Ladder.powers([first, -2.0])
    assert f"rung 0 must be the posterior itself, with power 1, got {first!r}" in str(refusal.value)
    assert "put 1 first" in str(refusal.value)


@pytest.mark.parametrize("powers", [[1.0, 0.2, 0.5], [1.0, 1.0], [1.0, 0.5, 0.5], [1.0, 2.0]])
def test_rungs_out_of_order_are_refused(powers: list[float]) -> None:
    with pytest.raises(InputError) as refusal:
        Ladder.powers(powers)
    assert f"powers must decrease from rung 0, got {powers!r}" in str(refusal.value)
    assert "sort them, coldest first" in str(refusal.value)


def test_a_negative_power_is_refused() -> None:
    with pytest.raises(InputError, match=r"must not be negative, got -0\.25: end with 0 or more"):
        Ladder.powers([1.0, 0.5, -0.25])


@pytest.mark.parametrize(
    "powers",
    [
        [1.0, math.nan],
        [math.nan],
        [1.0, -math.inf],
        [math.inf],
        [[1.0, 0.5]],
        [[1.0], [0.5, 0.2]],
        ["cold", "hot"],
        "auto",
        None,
        2.5,
        {1.0, 0.5},
        [1.0, None],
        1j,
    ],
)
def test_what_is_no_sequence_of_finite_numbers_is_refused(powers: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Ladder.powers(powers)
    assert f"a ladder is a sequence of finite numbers, got {powers!r}" in str(refusal.value)


@pytest.mark.parametrize("rungs", [1, 0, -2, 2.0, True, "3", None])
def test_geometric_refuses_what_is_no_number_of_rungs(rungs: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Ladder.geometric(rungs, hottest=0.1)
    assert f"rungs must be a whole number from 2 on, got {rungs!r}" in str(refusal.value)


@pytest.mark.parametrize("hottest", [0.0, 1.0, -0.1, 2, math.nan, math.inf, True, "cold", None])
def test_geometric_refuses_a_hottest_power_that_is_not_between_0_and_1(hottest: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Ladder.geometric(3, hottest=hottest)
    assert f"hottest must lie between 0 and 1, got {hottest!r}: use 0.01" in str(refusal.value)


@pytest.mark.parametrize("rung", [3, -1, 0.5, "coldest", None])
def test_an_idle_rung_that_does_not_exist_is_refused(rung: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Ladder.powers(3).without_local_moves(0, rung)
    assert f"there is no rung {rung!r}: this ladder has rungs 0 to 2" in str(refusal.value)


@pytest.mark.parametrize("levels", [(), (0.5, 1.0)])
def test_the_bare_constructor_is_no_way_around_the_checks(levels: tuple[float, ...]) -> None:
    with pytest.raises(InputError):
        Ladder(levels)
