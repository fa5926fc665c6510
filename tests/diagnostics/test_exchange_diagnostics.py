"""Swap rates, round trips and utilisation on cases small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from aptmc.diagnostics.swaps import round_trips, swap_rates, utilisation
from aptmc.errors import InputError

ATTEMPTS = np.array([[2, 10, 4, 0], [0, 0, 20, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
SWAPS = np.array([[1, 5, 1, 0], [0, 0, 20, 0], [0, 0, 0, 0], [0, 0, 0, 0]])


def test_swap_rates_of_neighbours_and_of_all_pairs() -> None:
    rates = swap_rates(ATTEMPTS, SWAPS)
    np.testing.assert_array_equal(rates.neighbours, [0.5, 1.0, np.nan])
    nan = np.nan
    expected = [[0.5, 0.5, 0.25, nan], [0.5, nan, 1, nan], [0.25, 1, nan, nan], [nan] * 4]
    np.testing.assert_array_equal(rates.pairs, expected)


def test_the_order_of_the_two_rungs_does_not_matter() -> None:
    for attempts, swaps in ((ATTEMPTS.T, SWAPS.T), (ATTEMPTS + ATTEMPTS.T, SWAPS + SWAPS.T)):
        np.testing.assert_array_equal(
            swap_rates(attempts, swaps).pairs, swap_rates(ATTEMPTS, SWAPS).pairs
        )


def test_one_rung_has_no_neighbours() -> None:
    assert swap_rates([[0]], [[0]]).neighbours.shape == (0,)


@pytest.mark.parametrize(
    ("attempts", "swaps", "message"),
    [
        (SWAPS, ATTEMPTS, "more swaps than attempts between rungs 0 and 0"),
        (ATTEMPTS, SWAPS[:3, :3], "same shape"),
        (ATTEMPTS[0], SWAPS[0], "square"),
        (ATTEMPTS / 2, SWAPS, "integer counts"),
        (-ATTEMPTS, SWAPS, "negative"),
    ],
)
def test_unusable_counts_are_refused(attempts: np.ndarray, swaps: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        swap_rates(attempts, swaps)


@pytest.mark.parametrize(
    ("path", "trips"),
    [
        ([0, 1, 2, 1, 0], 1),
        ([0, 2, 0, 2, 0], 2),
        ([0, 0, 2, 2, 2, 0, 0], 1),  # standing still is no trip
        ([0, 1, 0, 1, 0], 0),  # never hot
        ([2, 1, 2, 1, 2], 0),  # never cold
        ([2, 0, 2], 0),  # hot to cold to hot: the cold trip is not closed
        ([2, 0, 2, 0], 1),  # the way down at the start does not count
        ([1, 0, 1, 2, 1, 2, 1, 0, 2], 1),  # turning back halfway does not count
        ([1, 1, 1], 0),
        ([0], 0),
    ],
)
@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_round_trips_of_one_replica(path: list[int], trips: int, kind: type) -> None:
    assert round_trips(np.array([path], dtype=kind).T, hottest=2).tolist() == [trips]


def test_round_trips_are_counted_per_replica() -> None:
    first, second, third = [0, 1, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1], [0] * 6
    process = np.array([first, second, third]).T
    assert round_trips(process, hottest=1).tolist() == [2, 1, 0]


def test_no_time_has_no_round_trips() -> None:
    assert round_trips(np.empty((0, 3), dtype=int), hottest=2).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("process", "hottest", "message"),
    [
        ([0, 1, 2], 2, "one row per time"),
        ([[0.0], [1.0]], 1, "float64"),
        ([[0], [3]], 2, "between 0 and 2, got 0 to 3"),
        ([[-1], [1]], 2, "between 0 and 2, got -1 to 1"),
        ([[0], [0]], 0, "hottest must be 1 or more"),
    ],
)
def test_unusable_index_processes_are_refused(
    process: list[list[int]], hottest: int, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        round_trips(process, hottest)


def test_utilisation_is_busy_time_over_processor_time() -> None:
    assert utilisation(30.0, elapsed=10.0, processors=4) == 0.75
    assert utilisation([10.0, 10.0, 10.0, 0.0], elapsed=10.0, processors=4) == 0.75
    assert utilisation(0.0, elapsed=10.0, processors=1) == 0
    assert np.isnan(utilisation(0.0, elapsed=0.0, processors=1))


@pytest.mark.parametrize(
    ("busy_time", "elapsed", "processors", "message"),
    [
        (-1.0, 10.0, 1, "busy_time"),
        (float("nan"), 10.0, 1, "busy_time"),
        (1.0, -10.0, 1, "elapsed"),
        (1.0, float("inf"), 1, "elapsed"),
        (1.0, 10.0, 0, "processors"),
    ],
)
def test_unusable_times_are_refused(
    busy_time: float, elapsed: float, processors: int, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        utilisation(busy_time, elapsed, processors)
