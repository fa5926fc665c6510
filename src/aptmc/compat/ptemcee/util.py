"""What ptemcee computes from chains: autocorrelation times, and the evidence along the ladder."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from aptmc.compiled import Floats
from aptmc.errors import InputError

ENOUGH = 5.0  # autocorrelation times, after which correlations are noise


def autocorr_function(x: npt.ArrayLike, axis: int = 0, fast: bool = False) -> npt.NDArray[Any]:
    """The autocorrelation function of time series along an axis, 1 at lag 0.

    :param fast: look at no more than the greatest power of 2 of them
    """
    series = np.moveaxis(np.atleast_1d(np.asarray(x, dtype=np.float64)), axis, 0)
    if fast:
        series = series[: 1 << (len(series).bit_length() - 1)]
    length = len(series)
    spectrum = np.fft.rfft(series - series.mean(axis=0), n=2 * length, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, n=2 * length, axis=0)[:length]
    with np.errstate(invalid="ignore"):
        return np.moveaxis(covariance / covariance[0], 0, axis)


def autocorr_integrated_time(
    x: npt.ArrayLike, axis: int = 0, window: int = 50, fast: bool = False
) -> Any:
    """Integrated autocorrelation times along an axis.

    From lags up to five of these times, which is where the rest is noise, and below `window`:
    ptemcee adds up all below it, and may come to less than nothing where chains mix well.

    >>> x = np.random.default_rng(1).normal(size=10_000)
    >>> bool(abs(autocorr_integrated_time(x) - 1.0) < 0.1)
    True
    """
    correlations = np.moveaxis(autocorr_function(x, axis, fast), axis, 0)
    times = 2.0 * np.cumsum(correlations[:window], axis=0) - 1.0
    lags = np.arange(len(times)).reshape(-1, *[1] * (times.ndim - 1))
    is_enough = lags >= ENOUGH * times
    is_enough[-1] = True
    first = np.argmax(is_enough, axis=0)
    return np.take_along_axis(times, first[np.newaxis], axis=0)[0]


def thermodynamic_integration_log_evidence(
    betas: npt.ArrayLike, logls: npt.ArrayLike
) -> tuple[float, float]:
    """The integral of mean log likelihoods over inverse temperatures, and what its grid leaves out.

    The latter is how much the integral over every second temperature differs. Where the ladder ends
    above 0, the mean of its hottest rung stands for the rest.

    >>> thermodynamic_integration_log_evidence([1.0, 0.5, 0.0], [-1.0, -2.0, -3.0])
    (-2.0, 0.0)
    """
    powers, means = np.asarray(betas, dtype=np.float64), np.asarray(logls, dtype=np.float64)
    if powers.shape != means.shape or powers.ndim != 1:
        raise InputError(
            f"there must be one mean log likelihood for each temperature, got {means.shape} for "
            f"{powers.shape}"
        )
    order = np.argsort(powers)[::-1]
    powers, means = powers[order], means[order]
    every_second = np.arange(powers.size) % 2 == 0
    if powers[-1] == 0.0:
        every_second[-1] = True
    else:
        powers, means = np.append(powers, 0.0), np.append(means, means[-1])
        every_second = np.append(every_second, True)
    fine = _integral(powers, means)
    return fine, abs(fine - _integral(powers[every_second], means[every_second]))


def _integral(powers: Floats, means: Floats) -> float:
    """From the last power up to the first, by trapezoids."""
    return float((-np.diff(powers) * (means[1:] + means[:-1]) / 2.0).sum())
