"""One step of the log evidence, between two neighbouring rungs, taken in four ways."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, logsumexp

from aptmc.diagnostics.autocorrelation import Floats
from aptmc.diagnostics.likelihoods import BLOCKS
from aptmc.diagnostics.likelihoods import RungLikelihoods as Rung

# Effective draws that could be of either of two rungs. With fewer the error itself is noise.
FEWEST_SHARED = 5.0


class Step(NamedTuple):
    """The log of Z(colder) / Z(warmer) as estimated, and its influences by block."""

    value: float
    influence: Floats


def forward_stone(colder: Rung, warmer: Rung, step: float) -> Step:
    """A stepping stone from the warmer rung: too small in expectation."""
    log_mean, influence = _log_mean_exp(step * warmer.values)
    return Step(log_mean, warmer.by_block(influence))


def reverse_stone(colder: Rung, warmer: Rung, step: float) -> Step:
    """A stepping stone from the colder rung: too large in expectation."""
    log_mean, influence = _log_mean_exp(-step * colder.values)
    # The colder rung has no draws where the likelihood is 0, so it cannot know how much of the
    # prior that is. Its draws at power 0 do.
    log_share, of_share, _ = _possible(warmer)
    influences = warmer.by_block(of_share) - colder.by_block(influence)
    return Step(log_share - log_mean, influences)


def bridge(colder: Rung, warmer: Rung, step: float) -> Step:
    """Bennett (1976): which of the two rungs does a draw come from? Logistic regression tells.

    The answer has one unknown, the log ratio. Any weights of the two rungs are valid; the best are
    the numbers of their effective draws. (One regression for all rungs at once, MBAR, was about 7 %
    more precise on a normal model, and needs a table of all draws by all rungs.)
    """
    of_colder, of_warmer = step * colder.values, step * warmer.values
    weight = np.array([colder.effective_draws, warmer.effective_draws])
    weight /= weight.sum()
    offset = float(np.log(weight[0] / weight[1]))

    def surplus(log_ratio: float) -> float:
        shift = offset - log_ratio
        from_warmer = weight[1] * expit(of_warmer + shift).mean()
        from_colder = weight[0] * expit(-(of_colder + shift)).mean()
        return float(from_warmer - from_colder)

    guesses = [_log_mean_exp(of_warmer)[0], -_log_mean_exp(-of_colder)[0]]
    low, high, reach = min(guesses), max(guesses), 0.1
    while surplus(low) < 0.0:
        low, reach = low - reach, 2.0 * reach
    while surplus(high) > 0.0:
        high, reach = high + reach, 2.0 * reach
    log_ratio = float(brentq(surplus, low, high, xtol=1e-10))

    shift = offset - log_ratio
    in_warmer, in_colder = expit(of_warmer + shift), expit(-(of_colder + shift))
    slope = weight[1] * (in_warmer * (1.0 - in_warmer)).mean()
    slope += weight[0] * (in_colder * (1.0 - in_colder)).mean()
    influence = weight[1] * warmer.by_block(in_warmer - in_warmer.mean())
    influence -= weight[0] * colder.by_block(in_colder - in_colder.mean())
    # Rungs so far apart that hardly any of their draws could be the other's say nothing of the
    # ratio. Draws that are one state again and again are one draw.
    shared = warmer.effective_draws * in_warmer.mean()  # as many as of the colder one, at the root
    is_constant = of_colder.min() == of_warmer.min() and of_colder.max() == of_warmer.min()
    if not shared > FEWEST_SHARED and not is_constant:
        return Step(log_ratio, np.full(BLOCKS, math.inf))
    return Step(log_ratio, influence / slope)


def area(colder: Rung, warmer: Rung, step: float) -> Step:
    """The area under the mean log likelihood between two powers, from moments at both ends.

    A trapezoid and a correction from the slopes, which are the variances: the curve is taken to be
    a hyperbola, as it is for a normal likelihood, plus what has no slope at either end. With slopes
    that are nearly equal this is the usual correction, step ** 2 / 12 times their difference.
    """
    log_share, of_share, possible = _possible(warmer)
    low, high = warmer.values[possible], colder.values
    correction, by_low, by_high = hyperbolic(low.var(), high.var())
    value = 0.5 * step * (low.mean() + high.mean()) + step**2 * correction

    def influences(values: Floats, by_variance: float) -> Floats:
        centred = values - values.mean()
        curved = by_variance * (centred**2 - values.var())
        return np.asarray(0.5 * step * centred + step**2 * curved)

    of_share[possible] += influences(low, by_low) / possible.mean()
    influence = warmer.by_block(of_share) + colder.by_block(influences(high, by_high))
    return Step(log_share + float(value), influence)


# --- helpers ----------------------------------------------------------------------------------


def _log_mean_exp(exponents: Floats) -> tuple[float, Floats]:
    """The log of the mean of exponentials, and the influence of each on it."""
    log_mean = float(logsumexp(exponents)) - math.log(exponents.size)
    return log_mean, np.exp(exponents - log_mean) - 1.0


def hyperbolic(low: float, high: float) -> tuple[float, float, float]:
    """The correction for slopes at both ends, and its derivatives by the two slopes.

    The hyperbola -k / (power + c) has slopes whose ratio is ratio ** 2; k and c follow.
    """
    tiny = np.finfo(np.float64).tiny
    ratio = math.sqrt(max(low, tiny) / max(high, tiny))
    excess = ratio - 1.0
    if abs(excess) < 1e-3:  # where the exact expressions are differences of equal numbers
        shape = excess / 6.0 - excess**2 / 4.0 + 0.3 * excess**3
        slope = 1.0 / 6.0 - excess / 2.0 + 0.9 * excess**2
    else:
        shape = (0.5 * (ratio - 1.0 / ratio) - math.log(ratio)) / excess**2
        slope = 0.5 / ratio**2 - 2.0 * shape / excess
    return low * shape, shape + 0.5 * ratio * slope, -0.5 * ratio**3 * slope


def _possible(rung: Rung) -> tuple[float, Floats, npt.NDArray[np.bool_]]:
    """Log of the share of draws with a likelihood above 0, its influences, and which these are."""
    possible = rung.values > -math.inf
    share = possible.mean()
    return float(np.log(share)), possible / share - 1.0, possible
