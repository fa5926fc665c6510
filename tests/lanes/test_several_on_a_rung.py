"""Several lanes on a rung of the same group: exact, and the same wherever they are computed.

Groups are independent, so their means tell the standard error. A false alarm, 4 of them off, comes
once in 16,000 seeds; what is wrong must be 10 off.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends.lanes.exchanges import exchange
from aptmc.backends.lanes.tables import Whole, empty_lanes
from aptmc.errors import InputError
from aptmc.record.record import COLDEST
from tests.lanes.problems import TWO_MODES, lanes, sampled, two_modes
from tests.lanes.test_c_code import GROUPS, density, modes

MOST, FEWEST = 4.0, 10.0
SEVERAL = {"lanes_per_rung": 2, "coldest": 4}
OF_GROUP = (4, 2, 2)
LANES = 160
PROBLEM = two_modes()


def run_for(budget=3030, **options):
    on = lanes(LANES, settle=0.0, **SEVERAL, **options.pop("lanes", {}))
    return sampled(PROBLEM, TWO_MODES, budget=budget, on=on, **options)


def draws_of(run, rung=0):
    return np.stack([draws.state for draws in run.chains(rung)])


def errors_off(run, of, expected):
    """By groups: those of one rung stand together, lane after lane."""
    means = of(np.stack(run.series("x"))).mean(axis=1)
    groups = means.size // run.settings.pools.apart
    by_group = means.reshape(-1, groups).mean(axis=0)
    return (by_group.mean() - expected) / (by_group.std(ddof=1) / math.sqrt(groups))


@pytest.fixture(scope="module")
def run():
    return run_for(keep="all")


def test_every_lane_of_the_coldest_rung_has_draws(run):
    groups = LANES // sum(OF_GROUP)
    for rung, of_group in enumerate(OF_GROUP):
        assert draws_of(run, rung).shape == (groups * of_group, 3030 // 50, 3)
        assert (draws_of(run, rung)[:, :, 1] <= TWO_MODES["ladder"].levels[rung]).all()
    assert np.array_equal(draws_of(run_for()), draws_of(run))
    assert len(run.in_flight) == LANES
    assert "80 chains on the coldest and 40 on each other" in str(run.summary())
    # What is counted, is counted on each rung of all its lanes.
    assert run.statistics["work"].sum() <= 3030 * LANES
    works = run.statistics["work"] / np.array(OF_GROUP) / groups / 3030
    assert (works > 0.8).all()
    assert (works <= 1.0).all()
    assert 0.2 < run.swap_rates.neighbours[0] < 0.4


def test_two_modes_have_equal_shares():
    run = sampled(PROBLEM, TWO_MODES, budget=60_000, on=lanes(LANES, **SEVERAL))
    assert abs(errors_off(run, lambda x: x > 0.0, 0.5)) < MOST
    # States of groups that were exchanged are not counted as if they were independent.
    assert run.swap_rates.neighbours == pytest.approx([0.31, 0.48], abs=0.03)
    assert run.round_trips > 1000


def test_without_the_correction_they_are_caught():
    run = sampled(
        PROBLEM, TWO_MODES, budget=20_000, on=lanes(LANES, **SEVERAL), schedule=aptmc.Uncorrected
    )
    assert errors_off(run, lambda x: x > 0.0, 0.5) > FEWEST


def test_several_devices_change_nothing(run):
    three = run_for(keep="all", lanes={"devices": 3})
    for rung in range(3):
        assert np.array_equal(draws_of(three, rung), draws_of(run, rung))
    assert np.array_equal(draws_of(run_for(lanes={"devices": 3})), draws_of(run))
    assert three.round_trips == run.round_trips
    assert np.array_equal(three.swap_rates.neighbours, run.swap_rates.neighbours)
    assert np.array_equal(three.statistics["work"], run.statistics["work"])


def test_a_run_goes_on_as_if_it_had_never_been_left(tmp_path, run):
    store = tmp_path / "run.zarr"
    run_for(budget=1010, store=store, keep="all")
    # How many there are on a rung stands in the store.
    left = aptmc.resume(store, PROBLEM, budget=2020, on=lanes(LANES, settle=0.0), progress=False)
    assert left.elapsed == 3030
    for rung in range(3):
        assert np.array_equal(draws_of(left, rung), draws_of(run, rung))
    assert left.round_trips == run.round_trips
    assert aptmc.replay(store, PROBLEM, on=lanes(LANES)).is_same


@njit
def log_likelihood(theta):
    return -0.5 * theta[0] ** 2


def test_densities_have_their_spread_on_every_rung():
    problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.norm(0, 2)))
    run = aptmc.sample(
        problem, budget=2001, ladder=aptmc.Ladder.powers([1.0, 0.3, 0.0]), keep="all",
        kernel=aptmc.RandomWalk([1.5, 2.0, 3.0]), schedule=aptmc.Anytime(every=5),
        on=lanes(LANES, **SEVERAL), seed=1, progress=False,
    )  # fmt: skip
    for rung, power in enumerate([1.0, 0.3, 0.0]):
        spread = np.array([series.var() for series in run.series("x", rung)])
        expected = 1.0 / (power + 0.25)
        by_group = spread.reshape(OF_GROUP[rung], -1).mean(axis=0)
        error = by_group.std(ddof=1) / np.sqrt(by_group.size)
        assert abs(spread.mean() - expected) < MOST * error
        assert error < 0.1 * expected
    assert run.swap_rates.neighbours[0] > 0.3
    assert run.round_trips > 100


# --- which states are exchanged -------------------------------------------------------------------


def after_one(made, number, value=0.5):
    """By group and place: from where in the group the state came that waits there."""
    columns, places = empty_lanes(made.places, made.lanes), made.places
    place = np.repeat(np.arange(made.positions), made.groups)
    for side in range(2):
        columns.reals[side * places.dimension] = place
        columns.reals[places.value + side] = value
    columns.wholes[Whole.JOURNEY : Whole.JOURNEY + 2] = COLDEST
    exchange(
        number, made.groups, 0, made.seed, places.dimension, made.has_tolerances, made.takes_all,
        made.starts, made.levels, columns.reals, columns.wholes,
    )  # fmt: skip
    side = 1 - columns.wholes[Whole.FLYING]
    waiting = columns.reals[side * places.dimension, np.arange(made.lanes)]
    return waiting.astype(int).reshape(made.positions, made.groups).T, columns


def test_pairs_are_made_of_neighbouring_rungs_and_of_as_many_as_there_can_be():
    of_group = (4, 2, 1, 3)
    made, _ = density(of_group=of_group)
    rung = np.repeat(np.arange(4), of_group)
    met = set()
    for number in range(1, 40):
        for came_from in after_one(made, number)[0]:
            moved = np.flatnonzero(came_from != np.arange(10))
            # All have the same value, so that each pair swaps.
            assert (came_from[came_from[moved]] == moved).all()
            assert (np.abs(rung[came_from[moved]] - rung[moved]) == 1).all()
            even = rung[moved].min() == 0
            assert moved.size == 2 * (2 + 1 if even else 1)
            met |= {(one, other) for one, other in zip(moved, came_from[moved], strict=True)}
    # In time every lane meets every one of the rung next to it.
    assert len(met) == 2 * (4 * 2 + 2 * 1 + 1 * 3)


def test_all_states_of_a_group_of_tolerances_are_dealt_out_anew():
    made, _ = modes(of_group=(3, 1, 2))
    deals = np.concatenate([after_one(made, number, 0.1)[0] for number in range(1, 200)])
    assert (np.sort(deals, axis=1) == np.arange(6)).all()
    counts = np.stack([np.bincount(deals[:, place], minlength=6) for place in range(6)])
    expected = len(deals) / 6
    # 36 counts, none of which is 5 standard deviations off but in one of 50,000 seeds.
    assert (np.abs(counts - expected) < 5.0 * math.sqrt(expected * 5 / 6)).all()
    assert len(deals) == 199 * GROUPS


def test_journeys_turn_at_the_ends_of_the_ladder_on_any_lane_there():
    made, _ = modes(of_group=(3, 1, 2))
    _, columns = after_one(made, 1, 0.1)
    waits = 1 - columns.wholes[Whole.FLYING]
    journeys = columns.wholes[Whole.JOURNEY + waits, np.arange(made.lanes)]
    by_place = journeys.reshape(6, GROUPS)
    assert (by_place[:4] == COLDEST).all()
    assert (by_place[4:] != COLDEST).all()


@pytest.mark.parametrize("wrong", [{"lanes_per_rung": 0}, {"coldest": 0}, {"coldest": 1.5}])
def test_wrong_numbers_are_named(wrong):
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        aptmc.Lanes(60, device="cpu", **wrong)
