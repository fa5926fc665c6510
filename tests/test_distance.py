"""Distances: the numbers that numpy gives, the axioms of a metric, and what is refused."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from aptmc.compiled import is_compiled
from aptmc.distance import log_supremum, p_norm, scales_from_prior
from aptmc.errors import InputError
from aptmc.problem.prior.prior import Prior

ORDERS = [1.0, 1.5, 2.0, 3.0, 40.0, math.inf]
WEIGHTS = [None, (1.0, 0.25, 3.0)]
# Each pair is compiled: with weights one order for all, and the rest in the validation, where
# orders are that are like others.
LEFT_OUT = {3.0, 40.0}
PAIRS = [
    pytest.param(
        order,
        weights,
        marks=[pytest.mark.validation] if order in LEFT_OUT or (weights and order != 1.5) else [],
    )
    for weights in WEIGHTS
    for order in ORDERS
]
LENGTH = 3
VALUES = st.floats(-1e6, 1e6)
DATA = arrays(np.float64, LENGTH, elements=VALUES)
COUNTS = arrays(np.float64, LENGTH, elements=st.integers(0, 10**6).map(float))

# A few roundings of sums of three terms, and of a power and its root.
ROUNDING = 1e-13


def by_numpy(simulated: Any, observed: Any, order: float, weights: Any) -> float:
    differences = np.abs(simulated - observed) * (1.0 if weights is None else np.array(weights))
    largest = differences.max()
    if largest == 0.0:
        return 0.0
    return float(largest * np.linalg.norm(differences / largest, order))


@pytest.mark.parametrize(("order", "weights"), PAIRS)
@given(simulated=DATA, observed=DATA)
def test_the_p_norm_is_that_of_numpy(
    order: float, weights: Any, simulated: Any, observed: Any
) -> None:
    expected = by_numpy(simulated, observed, order, weights)
    assert p_norm(order, weights)(simulated, observed) == pytest.approx(expected, rel=ROUNDING)


@pytest.mark.parametrize(("order", "weights"), PAIRS)
@given(one=DATA, two=DATA, three=DATA)
def test_the_p_norm_is_a_metric(order: float, weights: Any, one: Any, two: Any, three: Any) -> None:
    distance = p_norm(order, weights)
    assert distance(one, two) == distance(two, one)
    assert distance(one, one) == 0.0
    assert (distance(one, two) == 0.0) == (one == two).all()
    detour = distance(one, two) + distance(two, three)
    assert distance(one, three) <= detour * (1.0 + ROUNDING)


def test_below_order_one_the_triangle_inequality_would_fail() -> None:
    # The reason why such orders are refused, and a check that the test above can fail.
    one, two, three = np.array([0.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 1.0])

    def half(x: Any, y: Any) -> float:
        return float((np.abs(x - y) ** 0.5).sum() ** 2)

    assert half(one, three) > half(one, two) + half(two, three)


@given(simulated=COUNTS, observed=COUNTS)
@example(simulated=np.zeros(3), observed=np.zeros(3))
@example(simulated=np.array([0.0, 1.0, 2.0]), observed=np.array([0.0, 1.0, 3.0]))
def test_the_log_supremum_is_that_of_numpy(simulated: Any, observed: Any) -> None:
    both_zero = (simulated == 0.0) & (observed == 0.0)
    with np.errstate(all="ignore"):
        differences = np.abs(np.log(simulated) - np.log(observed))
    expected = np.where(both_zero, 0.0, differences).max()
    # numpy's logarithm may differ from the C library's in the last bit.
    assert log_supremum()(simulated, observed) == pytest.approx(expected, rel=1e-9, abs=1e-14)


@given(one=COUNTS, two=COUNTS, three=COUNTS)
def test_the_log_supremum_is_a_metric_on_counts(one: Any, two: Any, three: Any) -> None:
    distance = log_supremum()
    assert distance(one, two) == distance(two, one)
    assert (distance(one, two) == 0.0) == (one == two).all()
    assert distance(one, three) <= (distance(one, two) + distance(two, three)) + 1e-13


@pytest.mark.parametrize(
    ("simulated", "observed", "expected"),
    [
        ([0.0, 5.0], [3.0, 5.0], math.inf),
        ([-1.0, 5.0], [3.0, 5.0], math.inf),
        ([3.0, 5.0], [0.0, 5.0], math.inf),
        ([-3.0, 5.0], [-3.0, 5.0], math.inf),
        ([0.0, 5.0], [0.0, 5.0], 0.0),
        ([math.inf, 5.0], [3.0, 5.0], math.inf),
        ([math.e, 5.0], [1.0, 5.0], 1.0),
        ([5e-324, 1.0], [1.7e308, 1.0], math.log(1.7e308) - math.log(5e-324)),
    ],
)
def test_the_log_supremum_at_its_borders(
    simulated: list[float], observed: list[float], expected: float
) -> None:
    assert log_supremum()(np.array(simulated), np.array(observed)) == pytest.approx(expected)


def test_the_ball_of_the_paper() -> None:
    # Section 5.3: a hit is at most e ** epsilon times, and at least e ** -epsilon times, the data.
    observed = np.array([88.0, 165, 274, 268, 114, 46, 32, 36, 53, 92])
    distance = log_supremum()
    assert distance(observed * math.exp(0.99), observed) < 1.0
    assert distance(observed * math.exp(-0.99), observed) < 1.0
    assert distance(observed * math.exp(1.01), observed) > 1.0


@pytest.mark.parametrize("distance", [p_norm(), p_norm(1), p_norm(math.inf), log_supremum()])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_value_that_is_nan_makes_the_distance_nan(distance: Any, place: int) -> None:
    broken, data = np.array([1.0, math.inf, -1.0]), np.array([1.0, 2.0, 3.0])
    broken[place] = math.nan
    assert math.isnan(distance(broken, data))
    assert math.isnan(distance(data, broken))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_powers_neither_overflow_nor_vanish(order: float, size: float) -> None:
    expected = size * np.linalg.norm([1.0, 2.0], order)
    result = p_norm(order)(np.array([size, 2.0 * size]), np.zeros(2))
    assert result == pytest.approx(expected, rel=ROUNDING, abs=0.0)


def test_an_infinite_difference_is_an_infinite_distance_unless_its_weight_is_zero() -> None:
    simulated, observed = np.array([math.inf, 1.0]), np.zeros(2)
    assert p_norm(2)(simulated, observed) == math.inf
    assert p_norm(2, [1.0, 1.0])(simulated, observed) == math.inf
    assert p_norm(2, [0.0, 1.0])(simulated, observed) == 1.0


# Each kind of array is compiled anew: a few for one distance, all for all in the validation.
@pytest.mark.parametrize(
    ("distance", "every_kind"),
    [
        (p_norm(), False),
        pytest.param(p_norm(), True, marks=pytest.mark.validation),
        pytest.param(p_norm(2, [2.0, 2.0, 2.0]), True, marks=pytest.mark.validation),
        pytest.param(log_supremum(), True, marks=pytest.mark.validation),
    ],
)
def test_any_real_array_will_do(distance: Any, every_kind: bool) -> None:
    simulated, observed = np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])
    expected = distance(simulated, observed)
    assert expected > 0.0
    assert type(expected) is float
    read_only = simulated.copy()
    read_only.flags.writeable = False
    assert distance(simulated.astype(np.uint8), observed.astype(np.uint8)) == expected
    if every_kind:
        for variant in (
            simulated.astype(np.int64),
            simulated.astype(np.float32),
            np.repeat(simulated, 2)[::2],
            read_only,
        ):
            assert distance(variant, observed) == expected


@pytest.mark.parametrize(
    ("distance", "by_columns"),
    [
        (p_norm(2, np.ones((2, 3))), False),
        pytest.param(p_norm(), True, marks=pytest.mark.validation),
        pytest.param(log_supremum(), False, marks=pytest.mark.validation),
    ],
)
def test_tables_are_compared_component_by_component(distance: Any, by_columns: bool) -> None:
    simulated, observed = np.arange(1.0, 7.0).reshape(2, 3), np.ones((2, 3))
    flat = log_supremum() if distance is log_supremum() else p_norm()
    expected = flat(simulated.ravel(), observed.ravel())
    assert distance(simulated, observed) == expected
    if by_columns:
        assert distance(np.asfortranarray(simulated), observed) == expected


@numba.njit
def smallest(distance, table, observed):  # type: ignore[no-untyped-def]
    best = np.inf
    for row in table:
        best = min(best, distance(row, observed))
    return best


# The same distances as in other tests here, and no more of them compiled.
ONE_OF_THEM = [
    p_norm(2, [1, 2, 3]),
    pytest.param(p_norm(), marks=pytest.mark.validation),
    pytest.param(log_supremum(), marks=pytest.mark.validation),
]


@pytest.mark.parametrize("distance", ONE_OF_THEM)
def test_compiled_code_gets_the_same_number(distance: Any) -> None:
    assert is_compiled(distance)
    table, observed = np.random.default_rng(1).random((20, 3)), np.full(3, 0.5)
    from_python = min(distance(row, observed) for row in table)
    assert smallest(distance, table, observed) == from_python


@pytest.mark.parametrize("distance", [p_norm(), p_norm(2, [1, 2, 3]), log_supremum()])
def test_a_distance_survives_being_sent_to_another_process(distance: Any) -> None:
    simulated, observed = np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])
    remade = pickle.loads(pickle.dumps(distance))
    assert remade(simulated, observed) == distance(simulated, observed)


def test_the_same_arguments_give_the_same_function() -> None:
    assert p_norm() is p_norm(2) is p_norm(order=np.float64(2.0))
    assert p_norm(2, [1, 2]) is p_norm(2, np.array([1.0, 2.0]))
    assert p_norm(2, [1, 2]) is not p_norm(2, [2, 1])
    assert p_norm(2, [[1, 2]]) is not p_norm(2, [1, 2])
    assert log_supremum() is log_supremum()


def test_weights_may_be_changed_afterwards() -> None:
    weights = np.array([1.0, 2.0])
    distance = p_norm(1, weights)
    weights[:] = 100.0
    assert distance(np.array([1.0, 1.0]), np.zeros(2)) == 3.0


@pytest.mark.parametrize("distance", ONE_OF_THEM)
def test_arrays_of_different_shapes_are_refused(distance: Any) -> None:
    with pytest.raises(InputError, match="same shape, got 3 and 4 values"):
        distance(np.ones(3), np.ones(4))
    with pytest.raises(InputError, match="in 2 and 1 dimensions"):
        distance(np.ones((3, 1)), np.ones(3))
    with pytest.raises(ValueError, match="same shape"):
        smallest(distance, np.ones((2, 3)), np.ones(2))


def test_weights_of_another_length_than_the_data_are_refused() -> None:
    with pytest.raises(InputError, match="weights must have the shape of the data, got 3 and 2"):
        p_norm(2, [1, 2, 3])(np.ones(2), np.ones(2))


@pytest.mark.parametrize("order", [0.5, 0, -1, math.nan, -math.inf, "2", None, [2.0], 2j, True])
def test_an_order_must_be_a_number_from_one_on(order: Any) -> None:
    with pytest.raises(InputError, match="order must be a number from 1 on, got"):
        p_norm(order)


@pytest.mark.parametrize(
    "weights", [[1, -1], [1, math.nan], [1, math.inf], [], 2.0, "12", [[1], [1, 2]], [1j], [True]]
)
def test_weights_must_be_finite_and_not_negative(weights: Any) -> None:
    with pytest.raises(InputError, match="weights must be an array of finite numbers"):
        p_norm(2, weights)


def test_weights_must_not_all_be_zero() -> None:
    with pytest.raises(InputError, match="must not all be 0"):
        p_norm(2, [0, 0])


PRIOR = Prior(mean=stats.norm(0, 1), spread=stats.uniform(1, 2))


def simulate(theta: Any, rng: np.random.Generator) -> Any:
    return theta[0] + theta[1] * np.array([1.0, 100.0]) * rng.standard_normal(2)


def test_scales_are_median_absolute_deviations() -> None:
    scales = scales_from_prior(simulate, PRIOR, simulations=501, seed=3)
    rng = np.random.default_rng(3)
    sample = np.array([simulate(PRIOR.draw(rng), rng) for _ in range(501)])
    np.testing.assert_array_equal(scales, stats.median_abs_deviation(sample, axis=0))
    np.testing.assert_array_equal(
        scales, scales_from_prior(simulate, PRIOR, simulations=501, seed=3)
    )
    assert (scales != scales_from_prior(simulate, PRIOR, simulations=501, seed=4)).all()


def test_scales_make_the_scaled_distance() -> None:
    scales = scales_from_prior(simulate, PRIOR, seed=3)
    distance = p_norm(2, weights=1 / scales)
    assert distance(scales, np.zeros(2)) == pytest.approx(math.sqrt(2.0))


def test_scales_of_a_compiled_simulator_are_the_same() -> None:
    compiled = numba.njit(simulate)
    assert scales_from_prior(compiled, PRIOR, simulations=50, seed=1) == pytest.approx(
        scales_from_prior(simulate, PRIOR, simulations=50, seed=1)
    )


def test_scales_are_those_of_the_summary() -> None:
    def total(data: Any) -> Any:
        return np.array([data.sum()])

    scales = scales_from_prior(simulate, PRIOR, seed=3, summary=total)
    direct = scales_from_prior(lambda theta, rng: total(simulate(theta, rng)), PRIOR, seed=3)
    assert scales.shape == (1,)
    np.testing.assert_array_equal(scales, direct)


def test_scales_have_the_shape_of_the_data() -> None:
    scales = scales_from_prior(lambda theta, rng: rng.random((2, 3)), PRIOR, seed=1)
    assert scales.shape == (2, 3)
    assert p_norm(2, 1 / scales)(scales, np.zeros((2, 3))) == pytest.approx(math.sqrt(6.0))


@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_simulations_that_are_not_finite_are_left_out(odd: float) -> None:
    def fragile(theta: Any, rng: np.random.Generator) -> Any:
        data = simulate(theta, rng)
        return data if theta[0] > -0.5 else np.array([data[0], odd])

    rng = np.random.default_rng(3)
    sample = np.array([fragile(PRIOR.draw(rng), rng) for _ in range(200)])
    sample = sample[np.isfinite(sample).all(axis=1)]
    assert 100 < len(sample) < 200
    scales = scales_from_prior(fragile, PRIOR, simulations=200, seed=3)
    np.testing.assert_array_equal(scales, stats.median_abs_deviation(sample, axis=0))


@pytest.mark.parametrize(("limit", "fails"), [(5, True), (4, False)])
def test_more_than_half_that_are_not_finite_are_an_error(limit: int, fails: bool) -> None:
    calls = iter(range(8))

    def broken(theta: Any, rng: np.random.Generator) -> Any:
        return np.array([math.nan if next(calls) < limit else rng.random()])

    if fails:
        with pytest.raises(InputError, match="5 of 8 simulations from the prior were not finite"):
            scales_from_prior(broken, PRIOR, simulations=8, seed=1)
    else:
        assert scales_from_prior(broken, PRIOR, simulations=8, seed=1) > 0.0


@pytest.mark.parametrize(
    ("constant", "message"),
    [
        ([False, True, False], r"equal in component 1, so"),
        ([True, False, True], r"equal in components 0, 2, so"),
        ([[False, True], [True, False]], r"equal in components \[0, 1\], \[1, 0\], so"),
        ([True] * 14, r"components 0, 1, .*, 9 and 4 more, so"),
    ],
)
def test_components_that_do_not_vary_are_named(constant: Any, message: str) -> None:
    def partly(theta: Any, rng: np.random.Generator) -> Any:
        return np.where(constant, 7.0, rng.random(np.shape(constant)))

    with pytest.raises(InputError, match=message):
        scales_from_prior(partly, PRIOR, simulations=20, seed=1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"simulate": 3}, "simulate must be a function of theta and rng, got 3"),
        ({"summary": 3}, "summary must be a function of one simulation or None, got 3"),
        ({"prior": stats.norm()}, "prior must be an aptmc.Prior"),
        ({"simulations": 1}, "simulations must be a whole number from 2 on, got 1"),
        ({"simulations": 2.5}, "simulations must be a whole number from 2 on, got 2.5"),
        ({"seed": -1}, "seed must be a non-negative integer, got -1"),
        ({"seed": None}, "seed must be a non-negative integer, got None"),
        ({"simulate": lambda theta, rng: 3.0}, "simulate must return an array .* got 3.0 at mean="),
        ({"simulate": lambda theta, rng: None}, "simulate must return an array .* got None"),
        ({"simulate": lambda theta, rng: []}, r"simulate must return an array .* got \[\]"),
        ({"simulate": lambda theta, rng: [[1], [1, 2]]}, "simulate must return an array"),
        ({"summary": lambda data: "text"}, "summary must return an array .* got 'text' at mean="),
        ({"simulate": lambda theta, rng: 1 / 0}, "simulate raised ZeroDivisionError: .* at mean="),
        ({"summary": lambda data: data[9]}, "summary raised IndexError: .* spread="),
        (
            {"simulate": lambda theta, rng: rng.random(1 + (theta[0] > 0))},
            r"every simulation must have the same shape, got \(\d,\) and \(\d,\)",
        ),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"simulate": simulate, "prior": PRIOR, "seed": 1, **changes}
    with pytest.raises(InputError, match=message):
        scales_from_prior(**arguments)


def test_a_simulator_that_changes_its_argument_does_no_harm() -> None:
    def careless(theta: Any, rng: np.random.Generator) -> Any:
        result = simulate(theta, rng)
        theta[:] = math.nan
        return result

    np.testing.assert_array_equal(
        scales_from_prior(careless, PRIOR, seed=1), scales_from_prior(simulate, PRIOR, seed=1)
    )
