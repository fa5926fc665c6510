"""Autocorrelation times against AR(1) paths, whose autocorrelation is known."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import norm

from aptmc.diagnostics.autocorrelation import (
    Floats,
    as_runs,
    autocorrelation,
    effective_sample_size,
    estimate_autocorrelation_time,
    integrated_autocorrelation_time,
)
from aptmc.errors import InputError

# The chance that a correct estimator fails one of these tests, for a new seed.
FALSE_ALARM = 1e-6
DRAWS = 1_000_000
module = sys.modules["aptmc.diagnostics.autocorrelation"]  # the package has a function of its name


def autoregression(correlation: float, size: int, seed: int) -> Floats:
    """A stationary AR(1) path: rho(l) = correlation**l, so IAT = (1 + rho) / (1 - rho)."""
    noise = np.random.default_rng(seed).normal(size=size)
    noise[0] /= math.sqrt(1 - correlation**2)
    path: Floats = lfilter([1.0], [1.0, -correlation], noise)
    return path


def is_credible(estimate: float, truth: float, draws: int) -> bool:
    """Sokal: the windowed estimate has relative variance 2 (2 M + 1) / N, with M = 6 IAT.

    What the window leaves out, about exp(-12) of the IAT, is far below that.
    """
    error = math.sqrt(2 * (2 * 6 * truth + 1) / draws)
    return abs(estimate / truth - 1) < float(norm.isf(FALSE_ALARM / 2)) * error


def direct(run: Floats) -> Floats:
    centred = run - run.mean()
    sums = np.array([centred[: run.size - lag] @ centred[lag:] for lag in range(run.size)])
    expected: Floats = sums / sums[0]
    return expected


@pytest.mark.parametrize(
    "correlation",
    [0.0, *(pytest.param(other, marks=pytest.mark.validation) for other in (0.5, 0.98)), 0.9],
)
def test_autocorrelation_time_of_autoregressions(correlation: float) -> None:
    path = autoregression(correlation, DRAWS, seed=1)
    truth = (1 + correlation) / (1 - correlation)
    estimate = estimate_autocorrelation_time(path)
    assert is_credible(estimate.value, truth, DRAWS)
    assert estimate.reliable
    assert estimate.value == integrated_autocorrelation_time(path)
    assert effective_sample_size(path) == DRAWS / estimate.value
    # The smallest M with M >= 6 IAT(M).
    sums = 2 * np.cumsum(autocorrelation(path, max_lag=estimate.lags)) - 1
    assert estimate.lags >= 6 * sums[-1]
    assert (np.arange(estimate.lags) < 6 * np.maximum(sums[:-1], 1)).all()


def without_factor_two(path: Floats) -> float:
    return (1 + integrated_autocorrelation_time(path)) / 2


def without_window(path: Floats) -> float:
    return float(2 * autocorrelation(path).sum() - 1)


def with_narrow_window(path: Floats) -> float:
    return integrated_autocorrelation_time(path, window=1.0)


def with_misprinted_window(path: Floats) -> float:
    correlations = autocorrelation(path, max_lag=1000)
    lags = int(np.argmax(np.arange(1001) >= 6 * correlations))
    return float(2 * correlations[: lags + 1].sum() - 1)


@pytest.mark.parametrize(
    "wrong", [without_factor_two, without_window, with_narrow_window, with_misprinted_window]
)
def test_wrong_estimators_are_caught(wrong: Callable[[Floats], float]) -> None:
    path = autoregression(0.9, DRAWS, seed=1)
    assert is_credible(integrated_autocorrelation_time(path), 19.0, DRAWS)
    assert not is_credible(wrong(path), 19.0, DRAWS)


def test_several_runs_are_as_good_as_one_long_run() -> None:
    runs = [autoregression(0.9, DRAWS // 10, seed=seed) for seed in range(10)]
    time = integrated_autocorrelation_time(runs, mean=0.0)
    assert is_credible(time, 19.0, DRAWS)
    assert effective_sample_size(runs, mean=0.0) == pytest.approx(DRAWS / time)


@pytest.mark.parametrize("size", [4, 5, 63, 64, 65, 300])
def test_fourier_equals_direct_sum(size: int) -> None:
    path = autoregression(0.7, size, seed=2) + 100
    np.testing.assert_allclose(autocorrelation(path), direct(path), atol=1e-12)
    np.testing.assert_array_equal(autocorrelation(path, max_lag=3), autocorrelation(path)[:4])


def test_max_lag_beyond_the_end_gives_all_lags() -> None:
    assert autocorrelation([1.0, 2.0, 3.0], max_lag=10).shape == (3,)


def test_scale_and_offset_do_not_matter() -> None:
    path = autoregression(0.7, 1000, seed=3)
    for scale in (1e-150, 1e150):
        np.testing.assert_allclose(autocorrelation(scale * path), autocorrelation(path), atol=1e-12)


def test_equally_long_runs_are_averaged() -> None:
    runs = [autoregression(0.5, 200, seed=seed) for seed in range(3)]
    expected = np.mean([direct(run) for run in runs], axis=0)
    np.testing.assert_allclose(autocorrelation(runs), expected, atol=1e-12)
    np.testing.assert_array_equal(autocorrelation(np.array(runs)), autocorrelation(runs))


def test_runs_weigh_as_much_as_they_have_draws() -> None:
    short, long = autoregression(0.5, 100, seed=1), autoregression(0.5, 300, seed=2)
    padded = np.concatenate([direct(short), np.zeros(200)])
    expected = (100 * padded + 300 * direct(long)) / 400
    np.testing.assert_allclose(autocorrelation([short, long]), expected, atol=1e-12)


def test_effective_sample_sizes_of_runs_are_summed() -> None:
    runs = [autoregression(0.5, size, seed=size) for size in (100, 300)]
    expected = sum(run.size / integrated_autocorrelation_time(runs) for run in runs)
    assert effective_sample_size(runs) == pytest.approx(expected)


def test_known_mean_replaces_own_mean() -> None:
    path = np.array([1.0, 2.0, 4.0])
    expected = np.array([1 + 4 + 16, 2 + 8, 4]) / 21
    np.testing.assert_allclose(autocorrelation(path, mean=0.0), expected, atol=1e-12)


def test_common_mean_shows_that_runs_disagree() -> None:
    runs = [autoregression(0.0, 1000, seed=1) - 10, autoregression(0.0, 1000, seed=2) + 10]
    assert effective_sample_size(runs) > 1500
    assert effective_sample_size(runs, mean=0.0) < 10


@pytest.mark.parametrize("value", [0.0, 0.1, -1e300])
def test_run_that_never_moved_is_one_draw(value: float) -> None:
    run = np.full(1000, value)
    estimate = estimate_autocorrelation_time(run)
    assert estimate.value == pytest.approx(1000)
    assert not estimate.reliable
    assert effective_sample_size(run) == pytest.approx(1)
    assert effective_sample_size([run, run]) == pytest.approx(2)
    assert effective_sample_size(run, mean=value) == pytest.approx(1)
    assert effective_sample_size(run, mean=value + 1) == pytest.approx(1)


def test_short_runs_are_not_reliable() -> None:
    assert not estimate_autocorrelation_time(autoregression(0.98, 2000, seed=1)).reliable
    assert not estimate_autocorrelation_time([1.0, 2.0, 1.0, 3.0]).reliable


def test_alternating_chain_is_better_than_independent_draws() -> None:
    path = autoregression(-0.5, DRAWS, seed=1)
    # Six lags leave out 2 (1/3) 2**-6 = 0.01; the noise is at most sqrt(26 / N) = 0.005, and the
    # rest of the tolerance is more than five times that.
    assert integrated_autocorrelation_time(path) == pytest.approx(1 / 3, abs=0.04)
    assert 0 < integrated_autocorrelation_time([1.0, -1.0] * 50) < 1


def test_autocorrelation_time_is_positive_for_the_shortest_runs() -> None:
    rng = np.random.default_rng(1)
    for size in range(4, 30):
        assert 0 < integrated_autocorrelation_time(rng.normal(size=size)) <= size


def test_runs_without_draws_change_nothing() -> None:
    path = autoregression(0.5, 100, seed=1)
    np.testing.assert_array_equal(autocorrelation([path, np.empty(0)]), autocorrelation(path))


def test_integers_and_flags_are_draws_too() -> None:
    flags = np.random.default_rng(1).random(100) < 0.5
    assert effective_sample_size(flags) == effective_sample_size(flags.astype(float))
    assert [run.tolist() for run in as_runs(((1, 2), (3,)))] == [[1.0, 2.0], [3.0]]


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ([1.0, float("nan"), 2.0, 3.0], "nan at position 1"),
        ([[1.0, 2.0, 3.0, 4.0], [1.0, float("inf")]], "inf at position 1"),
        (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\)"),
        (["a", "b"], "real numbers"),
        ([1j, 2j], "real numbers"),
        ([], "longest has 0"),
        ([1.0, 2.0, 3.0], "longest has 3"),
        ([[1.0, 2.0], [3.0]], "longest has 2"),
    ],
)
def test_unusable_series_are_refused(series: object, message: str) -> None:
    for function in (integrated_autocorrelation_time, effective_sample_size):
        with pytest.raises(InputError, match=message):
            function(series)  # type: ignore[arg-type]


def test_unusable_options_are_refused() -> None:
    path = autoregression(0.5, 100, seed=1)
    with pytest.raises(InputError, match="at least one draw"):
        autocorrelation([])
    with pytest.raises(InputError, match="max_lag"):
        autocorrelation(path, max_lag=-1)
    with pytest.raises(InputError, match="mean must be finite"):
        autocorrelation(path, mean=float("nan"))
    for window in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="window must be positive"):
            integrated_autocorrelation_time(path, window=window)


# --- very many runs -------------------------------------------------------------------------------


def many_runs(longest: int) -> list[Floats]:
    """Of all lengths, some of which never moved."""
    rng = np.random.default_rng(1)
    runs = [autoregression(0.7, size, seed=size) for size in range(2, longest)]
    runs += [np.full(size, 3.0) for size in (1, 1, 2, 9, 40)] + [np.full(6, 0.5), np.zeros(3)]
    runs += [1e200 * rng.normal(size=30), 1e-200 * rng.normal(size=8)]
    return [runs[place] for place in rng.permutation(len(runs))]


@pytest.mark.parametrize("mean", [None, 0.0, 0.5])
@pytest.mark.parametrize("numbers", [1 << 21, 300], ids=["at once", "some at a time"])
def test_many_runs_are_transformed_together(mean, numbers: int, monkeypatch) -> None:
    runs = many_runs(longest=90)
    assert len(runs) > module.MANY
    monkeypatch.setattr(module, "AT_A_TIME", numbers)
    together, some = autocorrelation(runs, mean=mean), autocorrelation(runs, 20, mean=mean)
    time = estimate_autocorrelation_time(runs, mean=mean)
    monkeypatch.setattr(module, "MANY", 1 << 30)
    assert together == pytest.approx(autocorrelation(runs, mean=mean), abs=1e-12)
    assert some == pytest.approx(together[:21], abs=0.0)
    expected = estimate_autocorrelation_time(runs, mean=mean)
    assert time.value == pytest.approx(expected.value)
    assert time[1:] == expected[1:]


def test_many_runs_are_looked_at_as_few_are() -> None:
    runs = [np.arange(3.0)] * 100
    assert all(one is other for one, other in zip(as_runs(runs), runs, strict=True))
    assert len(as_runs([*runs, np.empty(0)])) == 100
    assert [run.dtype for run in as_runs([*runs, np.arange(3)])] == [np.float64] * 101
    with pytest.raises(InputError, match="got nan at position 1"):
        as_runs([*runs, np.array([1.0, math.nan])])
    with pytest.raises(InputError, match="1-d series"):
        as_runs([*runs, np.zeros((2, 2))])
