"""Regression adjustment of arrays: what is known exactly comes out, and borders are kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aptmc.diagnostics import (
    adjust,
    epanechnikov,
    from_real_line,
    summarise,
    to_real_line,
    weighted_quantiles,
)
from aptmc.errors import InputError

DRAWS = 4000
ALIKE = np.ones(DRAWS)


def correlated(seed: int = 1):
    """Parameters that go with two summaries, plus noise that has nothing to do with them."""
    rng = np.random.default_rng(seed)
    summaries = rng.uniform(-1.0, 1.0, (DRAWS, 2)) * [1.0, 100.0] + [3.0, -50.0]
    noise = rng.standard_normal((DRAWS, 1))
    return summaries, 7.0 + (summaries - [3.0, -50.0]) @ [[2.0], [-0.05]] + noise, noise


def test_what_goes_with_the_summaries_is_taken_out_and_the_rest_is_left() -> None:
    summaries, parameters, noise = correlated()
    adjusted = adjust(parameters, summaries, np.array([3.0, -50.0]), ALIKE)
    # Slopes are known to about 1 / sqrt(draws) in units of the noise.
    assert np.abs(adjusted - 7.0 - noise).max() < 5.0 * math.sqrt(3.0 / DRAWS) * 2.0
    elsewhere = adjust(parameters, summaries, np.array([4.0, -50.0]), ALIKE)
    np.testing.assert_allclose((elsewhere - adjusted).mean(), 2.0, atol=0.3)


def test_draws_of_weight_zero_have_no_say() -> None:
    summaries, parameters, _ = correlated()
    weights = ALIKE.copy()
    weights[::2] = 0.0
    spoilt = parameters.copy()
    spoilt[::2] = 1e6
    clean = adjust(parameters, summaries, np.array([3.0, -50.0]), weights)
    np.testing.assert_allclose(
        adjust(spoilt, summaries, np.array([3.0, -50.0]), weights)[1::2], clean[1::2]
    )


def test_summaries_that_say_the_same_or_nothing_do_no_harm() -> None:
    summaries, parameters, _ = correlated()
    observed = np.array([3.0, -50.0])
    more = np.column_stack([summaries, 2.0 * summaries[:, 0], np.full(DRAWS, 5.0)])
    np.testing.assert_allclose(
        adjust(parameters, more, np.array([*observed, 6.0, 5.0]), ALIKE),
        adjust(parameters, summaries, observed, ALIKE),
        rtol=1e-6,
    )


def test_a_ridge_makes_slopes_smaller_up_to_nothing() -> None:
    summaries, parameters, _ = correlated()
    observed = np.array([3.0, -50.0])
    moved = [
        np.abs(adjust(parameters, summaries, observed, ALIKE, ridge=ridge) - parameters).mean()
        for ridge in (0.0, 0.1, 1.0, 1e9)
    ]
    assert moved == sorted(moved, reverse=True)
    assert moved[0] > 1.0
    assert moved[-1] < 1e-6


def test_a_spread_that_depends_on_the_summaries_is_corrected_if_that_is_asked_for() -> None:
    rng = np.random.default_rng(2)
    summaries = rng.uniform(-1.0, 1.0, (DRAWS, 1))
    parameters = summaries + np.exp(summaries) * rng.standard_normal((DRAWS, 1))
    plain, corrected = (
        adjust(parameters, summaries, np.zeros(1), ALIKE, heteroscedastic=heteroscedastic).std()
        for heteroscedastic in (False, True)
    )
    assert plain == pytest.approx(math.sqrt(math.sinh(2.0) / 2.0), rel=0.05)
    assert corrected == pytest.approx(1.0, rel=0.05)


def test_too_few_different_simulations_are_refused() -> None:
    summaries, parameters, _ = correlated()
    copies = np.repeat(summaries[:3], 100, axis=0), np.repeat(parameters[:3], 100, axis=0)
    with pytest.raises(InputError, match=r"at least 4 different simulations .*, got 3: run for"):
        adjust(copies[1], copies[0], np.zeros(2), np.ones(300))


def test_weights_fall_from_the_data_to_the_tolerance() -> None:
    distances = np.array([0.0, 0.5, 1.0])
    np.testing.assert_allclose(epanechnikov(distances, 2.0), [1.0, 15 / 16, 3 / 4])
    np.testing.assert_allclose(epanechnikov(distances, math.inf), [1.0, 3 / 4, 0.0])
    for all_the_same in (np.zeros(3), np.full(3, 2.0)):
        np.testing.assert_array_equal(epanechnikov(all_the_same, 2.0), np.ones(3))
        np.testing.assert_array_equal(epanechnikov(all_the_same, math.inf), np.ones(3))


LOWER = np.array([0.0, 2.0, -math.inf, -math.inf])
UPPER = np.array([3.0, math.inf, -1.0, math.inf])


def test_the_way_to_the_real_line_and_back_leads_home() -> None:
    inside = np.array([[1.0, 2.5, -4.0, 17.0], [2.999, 1e9, -1.001, -1e9], [1e-9, 2.0, -1.0, 0.0]])
    there = to_real_line(inside, LOWER, UPPER)
    assert np.isfinite(there).all()
    np.testing.assert_allclose(from_real_line(there, LOWER, UPPER), inside, rtol=1e-9, atol=1e-6)


def test_no_number_is_so_large_that_it_leads_out_of_bounds() -> None:
    moved = np.array([[-1e6] * 4, [0.0] * 4, [1e6] * 4])
    back = from_real_line(moved, LOWER, UPPER)
    assert np.isfinite(back).all()
    assert (back >= LOWER).all()
    assert (back <= UPPER).all()
    assert (back[:, 0] < 3.0).all()  # a whole number's coordinate ends below its bound


def test_equal_weights_change_no_number_but_for_rounding() -> None:
    rng = np.random.default_rng(3)
    chains = [rng.normal(size=900), rng.normal(size=1100)]
    plain = summarise({"x": chains}, 1.0)["x"]
    even = summarise({"x": chains}, 1.0, weights=[np.full(900, 2.0), np.full(1100, 2.0)])["x"]
    for name in ("mean", "sd", "q5", "q95", "mcse", "ess", "iat"):
        assert getattr(even, name) == pytest.approx(getattr(plain, name), rel=1e-2, abs=1e-3), name


def test_the_error_of_a_mean_with_weights_is_what_it_is_over_many_runs() -> None:
    """Normal draws, weighted to be another normal's: errors by formula and by repetition."""
    rng = np.random.default_rng(4)
    means, errors, sds, quantiles = [], [], [], []
    for _ in range(300):
        x = rng.normal(size=400)
        row = summarise({"x": [x]}, 1.0, weights=[np.exp(0.7 * x)])["x"]
        means.append(row.mean)
        errors.append(row.mcse)
        sds.append(row.sd)
        quantiles.append(row.q95)
    assert np.mean(means) == pytest.approx(0.7, abs=0.02)
    assert np.mean(sds) == pytest.approx(1.0, abs=0.03)
    assert np.mean(quantiles) == pytest.approx(0.7 + 1.645, abs=0.08)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.15)
    # The formula without weights would not pass.
    assert 1.0 / math.sqrt(400) < 0.85 * np.std(means)


def test_quantiles_with_weights_are_those_of_repeated_values() -> None:
    values = np.array([5.0, 1.0, 3.0])
    repeated = np.array([5.0, 1.0, 1.0, 1.0, 3.0, 3.0])
    levels = [0.1, 0.5, 0.51, 0.8, 0.84, 1.0]
    np.testing.assert_array_equal(
        weighted_quantiles(values, np.array([1.0, 3.0, 2.0]), levels),
        np.quantile(repeated, levels, method="inverted_cdf"),
    )
