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

from aptmc.diagnostics.autocorrelation import Floats, Series
from aptmc.diagnostics.evidence_steps import Step, area, bridge, forward_stone, reverse_stone
from aptmc.diagnostics.likelihoods import RungLikelihoods, likelihoods_of
from aptmc.errors import InputError


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
        checks = f"stepping stones {low} and {high}, thermodynamic integration {other}"
        said = f"log evidence {self.value:.{decimals}f} ± {self.standard_error:.{decimals}f}"
        if math.isinf(self.standard_error):
            return (
                f"{said}: neighbouring rungs have too few draws in common to tell it ({checks}). "
                "Run for longer, or with more rungs"
            )
        return f"{said} ({checks})"


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
    rungs = [
        likelihoods_of(series, level) for series, level in zip(log_likelihoods, levels, strict=True)
    ]
    best, *checks = (
        _added([step(*pair) for pair in _pairs(levels, rungs)])
        for step in (bridge, area, forward_stone, reverse_stone)
    )
    return Evidence(*best, *(_widened(check, best) for check in checks))


def _added(steps: Sequence[Step]) -> Estimate:
    influence = np.sum([step.influence for step in steps], axis=0)
    error = math.inf
    if np.isfinite(influence).all():
        error = float(influence.std(ddof=1)) / math.sqrt(influence.size)
    return Estimate(float(sum(step.value for step in steps)), error)


def _widened(check: Estimate, best: Estimate) -> Estimate:
    """Noise does not show errors of quadrature or tails too heavy for a variance; distance does."""
    return check._replace(standard_error=math.hypot(check.standard_error, check.value - best.value))


def _pairs(
    levels: Floats, rungs: list[RungLikelihoods]
) -> list[tuple[RungLikelihoods, RungLikelihoods, float]]:
    """Neighbours, and how much their powers differ."""
    return list(zip(rungs[:-1], rungs[1:], (-np.diff(levels)).tolist(), strict=True))


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
