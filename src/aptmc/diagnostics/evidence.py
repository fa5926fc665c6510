"""The log evidence (log marginal likelihood) from the rungs of a ladder that ends at the prior.

With Z(beta) the integral of prior * likelihood ** beta, the log evidence is log Z(1) - log Z(0): a
sum of one step for each pair of neighbouring rungs. Three ways to take a step from their draws of
the log likelihood l, where d is the difference of the powers:

- *thermodynamic integration*: the mean of l is the slope of log Z, and its variance the slope of
  that. Curves that fit both at all rungs are integrated (a trapezoid rule with a correction).
- *stepping stones*: exp(d l) averaged over the warmer rung, or exp(-d l) over the colder one. By
  Jensen's inequality the first is too small and the second too large in expectation.
- *bridges* (Bennett's acceptance ratio): both rungs' draws, each weighed such that the variance is
  the smallest. No error of quadrature, no heavy tails: this is the estimate to use.

Standard errors come from batch means. How much each draw moves the estimate (its influence) is
added up over the rungs and averaged over blocks, each of them the same part of the run for all
chains. So autocorrelation counts, and so does the correlation between rungs that exchange states.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, logsumexp

from aptmc.diagnostics.autocorrelation import Floats, Series, effective_sample_size
from aptmc.errors import InputError

# More blocks make an error less noisy, longer ones make it less flattering.
BLOCKS = 20


class Estimate(NamedTuple):
    """A log evidence with its standard error."""

    value: float
    standard_error: float


class Evidence(NamedTuple):
    """The log evidence, and three others to check it with.

    The errors of the three include how far they are from the best: noise alone does not show the
    error of quadrature, nor tails that are too heavy for a variance.
    """

    value: float
    """The best estimate: bridges between neighbouring rungs."""
    standard_error: float
    thermodynamic: Estimate
    forward: Estimate
    """Stepping stones from hot to cold: too small in expectation."""
    reverse: Estimate
    """Stepping stones from cold to hot: too large in expectation, and often by much."""

    def __str__(self) -> str:
        decimals = 3
        if 0.0 < self.standard_error < math.inf:
            decimals = max(1 - math.floor(math.log10(self.standard_error)), 0)
        low, high, other = (
            f"{estimate.value:.{decimals}f}"
            for estimate in (self.forward, self.reverse, self.thermodynamic)
        )
        return (
            f"log evidence {self.value:.{decimals}f} ± {self.standard_error:.{decimals}f} "
            f"(stepping stones {low} and {high}, thermodynamic integration {other})"
        )


class Rung(NamedTuple):
    """One rung's log likelihoods, chain after chain."""

    values: Floats
    block: npt.NDArray[np.int64]  # of each draw: which part of the run it belongs to
    effective_draws: float

    def by_block(self, influence: Floats) -> Floats:
        """Of each block: what its draws add to a mean, such that the blocks' mean is that mean."""
        sums = np.bincount(self.block, influence, BLOCKS)
        return np.asarray(sums * BLOCKS / self.values.size)


class Step(NamedTuple):
    """The log of Z(colder) / Z(warmer) as estimated, and its influences by block."""

    value: float
    influence: Floats


def log_evidence(powers: Sequence[float] | Floats, log_likelihoods: Sequence[Series]) -> Evidence:
    """The log evidence from the draws of a ladder's rungs.

    :param powers: coldest first: from 1 down to 0
    :param log_likelihoods: of each rung: the log likelihoods of its draws, in order; one series, or
        one for each of its chains. They may be -inf at power 0

    >>> rng = np.random.default_rng(1)
    >>> powers = [1.0, 0.5, 0.2, 0.0]  # prior N(0, 1), one observation 0 of N(x, 1)
    >>> draws = [rng.normal(0.0, (1.0 + power) ** -0.5, 5000) for power in powers]
    >>> values = [-0.5 * x**2 - 0.5 * math.log(2.0 * math.pi) for x in draws]
    >>> print(log_evidence(powers, values))
    log evidence -1.2616 ± 0.0032 (stepping stones -1.2612 and -1.2645, ...)
    """
    levels = _checked_powers(powers, len(log_likelihoods))
    rungs = [_as_rung(series, level) for series, level in zip(log_likelihoods, levels, strict=True)]
    best, *checks = (
        _added([step(*pair) for pair in _pairs(levels, rungs)])
        for step in (_bridge, _area, _forward_stone, _reverse_stone)
    )
    return Evidence(*best, *(_widened(check, best) for check in checks))


# --- steps between neighbours -----------------------------------------------------------------


def _forward_stone(colder: Rung, warmer: Rung, step: float) -> Step:
    log_mean, influence = _log_mean_exp(step * warmer.values)
    return Step(log_mean, warmer.by_block(influence))


def _reverse_stone(colder: Rung, warmer: Rung, step: float) -> Step:
    log_mean, influence = _log_mean_exp(-step * colder.values)
    # The colder rung has no draws where the likelihood is 0, so it cannot know how much of the
    # prior that is. Its draws at power 0 do.
    log_share, of_share, _ = _possible(warmer)
    influences = warmer.by_block(of_share) - colder.by_block(influence)
    return Step(log_share - log_mean, influences)


def _bridge(colder: Rung, warmer: Rung, step: float) -> Step:
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
    # Rungs so far apart that none of their draws could be the other's say nothing of the ratio.
    if min(in_warmer.sum(), in_colder.sum()) < 1.0:
        return Step(log_ratio, np.full(BLOCKS, math.inf))
    return Step(log_ratio, influence / slope)


def _area(colder: Rung, warmer: Rung, step: float) -> Step:
    """The area under the mean log likelihood between two powers, from moments at both ends.

    A trapezoid and a correction from the slopes, which are the variances: the curve is taken to be
    a hyperbola, as it is for a normal likelihood, plus what has no slope at either end. With slopes
    that are nearly equal this is the usual correction, step ** 2 / 12 times their difference.
    """
    log_share, of_share, possible = _possible(warmer)
    low, high = warmer.values[possible], colder.values
    correction, by_low, by_high = _hyperbolic(low.var(), high.var())
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


def _hyperbolic(low: float, high: float) -> tuple[float, float, float]:
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


def _added(steps: Sequence[Step]) -> Estimate:
    influence = np.sum([step.influence for step in steps], axis=0)
    error = math.inf
    if np.isfinite(influence).all():
        error = float(influence.std(ddof=1)) / math.sqrt(influence.size)
    return Estimate(float(sum(step.value for step in steps)), error)


def _widened(check: Estimate, best: Estimate) -> Estimate:
    """Noise does not show errors of quadrature or tails too heavy for a variance; distance does."""
    return check._replace(standard_error=math.hypot(check.standard_error, check.value - best.value))


def _pairs(levels: Floats, rungs: list[Rung]) -> list[tuple[Rung, Rung, float]]:
    """Neighbours, and how much their powers differ."""
    return list(zip(rungs[:-1], rungs[1:], (-np.diff(levels)).tolist(), strict=True))


def _as_rung(series: Series, power: float) -> Rung:
    several = isinstance(series, Sequence) and len(series) > 0 and np.ndim(series[0]) > 0
    table = series if several else np.atleast_2d(np.asarray(series, np.float64))
    chains = [np.asarray(chain, np.float64) for chain in table]  # type: ignore[union-attr]
    values = np.concatenate([*chains, np.empty(0)])
    lengths = [chain.size for chain in chains if chain.size > 0]
    if min(lengths, default=0) < BLOCKS:
        raise InputError(
            f"the rung with power {power:g} has a chain of {min(lengths, default=0)} draws, and "
            f"{BLOCKS} are needed: run for longer"
        )
    allowed = np.isfinite(values) | ((values == -math.inf) & (power == 0.0))
    if not allowed.all():
        raise InputError(
            f"the rung with power {power:g} has a log likelihood of {values[~allowed][0]}: "
            "it must be finite, or -inf at power 0"
        )
    finite = values[values > -math.inf]
    if finite.size == 0:
        raise InputError(
            f"none of {values.size} draws from the prior has a likelihood above 0, so the "
            "evidence may be anything: run for longer, or use a prior nearer to the data"
        )
    lowest = finite.min()
    effective = effective_sample_size([np.maximum(chain, lowest) for chain in chains])
    block = np.concatenate([np.arange(length) * BLOCKS // length for length in lengths])
    return Rung(values, block, effective)


def _checked_powers(powers: Sequence[float] | Floats, rungs: int) -> Floats:
    levels = np.asarray(powers, np.float64)
    if levels.ndim != 1 or levels.size != rungs or rungs < 2:
        raise InputError(
            f"there must be two rungs or more, each with a power and a series of log likelihoods, "
            f"got powers {powers!r} and {rungs} series"
        )
    if levels[0] != 1.0 or levels[-1] != 0.0 or not (np.diff(levels) < 0.0).all():
        raise InputError(
            f"powers must decrease from 1 to 0, got {levels.tolist()}: the evidence is what lies "
            "between the posterior and the prior"
        )
    return levels
