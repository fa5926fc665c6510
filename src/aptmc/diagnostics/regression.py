"""Regression adjustment of likelihood-free draws: arrays in, arrays out.

Draws within a tolerance belong to simulations that differ a little from the data. Near the data the
parameters go with the simulations about linearly, so each draw can be moved to where it would be if
its simulation had met the data (Beaumont, Zhang and Balding 2002, section 2.2).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aptmc.errors import InputError

Floats = npt.NDArray[np.float64]

LEAST_RATIO = 2.0**-52  # how near to a border a number counts as being beside it


def epanechnikov(distances: Floats, tolerance: float) -> Floats:
    """Weights 1 - (distance / tolerance)²: from 1 at the data to 0 at the tolerance.

    At an infinite tolerance the largest distance takes its place. Where that leaves nothing, as
    for distances that are all the same, all draws count alike.

    >>> epanechnikov(np.array([0.0, 1.0, 2.0]), 2.0)
    array([1.  , 0.75, 0.  ])
    """
    bound = tolerance if np.isfinite(tolerance) else float(np.max(distances, initial=0.0))
    if not bound > 0.0:
        return np.ones_like(distances)
    weights: Floats = np.clip(1.0 - (distances / bound) ** 2, 0.0, None)
    return weights if weights.any() else np.ones_like(distances)


def adjust(
    parameters: Floats,
    summaries: Floats,
    observed: Floats,
    weights: Floats,
    *,
    ridge: float = 0.0,
    heteroscedastic: bool = False,
) -> Floats:
    """Move parameters, a row for each draw, to where their summaries would equal the data.

    :param ridge: a penalty on the squared slopes of standardised summaries, relative to the mean
        squared error
    :param heteroscedastic: let the spread depend on the summaries, too: log squared residuals are
        regressed in turn (Blum and François 2010, with linear in place of neural regressions)

    >>> rng = np.random.default_rng(1)
    >>> summaries = rng.uniform(-1, 1, (1000, 1))
    >>> parameters = 5.0 + 2.0 * summaries
    >>> adjusted = adjust(parameters, summaries, np.zeros(1), np.ones(1000))
    >>> bool(np.allclose(adjusted, 5.0))
    True
    """
    used = weights > 0.0
    away = _standardised(summaries - observed, weights)
    # A chain that stays repeats its row. One number for each row is quicker to compare than rows.
    marks = (away[used] * np.arange(1.0, away.shape[1] + 1.0)).sum(axis=1)
    different = len(np.unique(marks + parameters[used].sum(axis=1)))
    if different < away.shape[1] + 2:
        raise InputError(
            f"a regression on {away.shape[1]} summaries needs at least {away.shape[1] + 2} "
            f"different simulations within the tolerance, got {different}: run for longer, or "
            "compare fewer numbers by way of summary"
        )
    centre, slopes = _weighted_line(parameters, away, weights, ridge)
    residuals = parameters - centre - away @ slopes
    if heteroscedastic:
        spread = np.sqrt(weights @ residuals**2 / weights.sum())
        # A residual of zero says little, and its logarithm would say everything.
        least = np.where(spread > 0.0, 1e-6 * spread, 1.0)
        _, growth = _weighted_line(
            2.0 * np.log(np.maximum(np.abs(residuals), least)), away, weights, ridge
        )
        residuals = residuals * np.exp(-0.5 * away @ growth)
    adjusted: Floats = centre + residuals
    return adjusted


def _standardised(away: Floats, weights: Floats) -> Floats:
    """Differences from the data in units of their spread. What never varies is left out."""
    mean = weights @ away / weights.sum()
    spread = np.sqrt(weights @ (away - mean) ** 2 / weights.sum())
    varies = spread > 1e-12 * np.abs(away).max(axis=0, initial=0.0)
    scaled: Floats = away[:, varies] / spread[varies]
    return scaled


def _weighted_line(
    values: Floats, away: Floats, weights: Floats, ridge: float
) -> tuple[Floats, Floats]:
    """By weighted least squares: the values at the data, and the slopes."""
    design = np.column_stack([np.ones(len(away)), away])
    weighted = design * (weights / weights.sum())[:, None]
    # The value at the data is not penalised.
    penalty = ridge * np.diag([0.0, *np.ones(away.shape[1])])
    # Not solved but fitted: summaries that say the same thing share a slope.
    solution = np.linalg.lstsq(weighted.T @ design + penalty, weighted.T @ values, rcond=None)[0]
    return solution[0], solution[1:]


def to_real_line(values: Floats, lower: Floats, upper: Floats) -> Floats:
    """Numbers between bounds, a column for each pair, as any real numbers: logit, log or none.

    >>> to_real_line(
    ...     np.array([[0.5, 1.0, 7.0]]), np.array([0, 0, -np.inf]), np.array([1, np.inf, np.inf])
    ... )
    array([[0., 0., 7.]])
    """
    moved = values.copy()
    for column, (low, high) in enumerate(zip(lower, upper, strict=True)):
        x = values[:, column]
        if np.isfinite(low) and np.isfinite(high):
            share = np.clip((x - low) / (high - low), LEAST_RATIO, 1.0 - LEAST_RATIO)
            moved[:, column] = np.log(share) - np.log1p(-share)
        elif np.isfinite(low) or np.isfinite(high):
            room = x - low if np.isfinite(low) else high - x
            scale = max(float(np.max(room, initial=0.0)), np.finfo(float).tiny)
            moved[:, column] = np.log(np.maximum(room, LEAST_RATIO * scale))
    return moved


def from_real_line(moved: Floats, lower: Floats, upper: Floats) -> Floats:
    """The way back from `to_real_line`: never outside the bounds, however far it was moved."""
    values = moved.copy()
    for column, (low, high) in enumerate(zip(lower, upper, strict=True)):
        y = moved[:, column]
        if np.isfinite(low) and np.isfinite(high):
            share = np.exp(-np.logaddexp(0.0, -y))
            values[:, column] = np.clip(low + (high - low) * share, low, np.nextafter(high, low))
        elif np.isfinite(low):
            values[:, column] = low + np.exp(np.minimum(y, 700.0))
        elif np.isfinite(high):
            values[:, column] = high - np.exp(np.minimum(y, 700.0))
    return values
