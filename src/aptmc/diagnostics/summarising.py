"""What is known about each parameter, computed from the draws of all chains on the coldest rung."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import numpy.typing as npt

from aptmc.diagnostics.autocorrelation import (
    FEWEST_DRAWS,
    Floats,
    Series,
    as_runs,
    estimate_autocorrelation_time,
)
from aptmc.diagnostics.convergence import normal_scores, r_hat
from aptmc.diagnostics.error_of_mean import Timeline, effective_draws, spread_of_mean
from aptmc.diagnostics.states import states_in
from aptmc.diagnostics.summary import MOST_COMPARED, NAN, ParameterSummary, Summary
from aptmc.errors import InputError


def summarise(
    draws: Mapping[str, Series],
    elapsed: float,
    *,
    unit: str = "s",
    times: Sequence[Floats] | None = None,
    apart: int = 0,
    weights: Sequence[Floats] | None = None,
    may_be_missing: bool = False,
) -> Summary:
    """Summarise the draws of each parameter, one series per chain on the coldest rung.

    Chains may differ in length; all draws count but for r-hat, for which chains are cut to the
    shortest, and 1,024 of them are compared where there are more. All chains have one target, so
    the autocorrelation is taken around their common mean: chains that disagree then show as a small
    effective sample size.

    :param unit: of `elapsed`
    :param times: of the draws, an array for each chain: then mcse and the effective sizes know of
        what chains hand to each other. Without, they are taken to go on side by side
    :param apart: how many chains hand states to each other, if not all, as `Timeline` has it
    :param weights: of the draws, an array for each chain: they count for mean, sd, quantiles, mcse
        and ess. Bulk, tail and r-hat are those of the draws without them
    :param may_be_missing: NaN is no value of a parameter, but says that a draw does not have it

    >>> rng = np.random.default_rng(1)
    >>> summary = summarise({"x": [rng.normal(size=1000), rng.normal(size=990)]}, elapsed=2.0)
    >>> round(summary["x"].sd, 1), summary["x"].reliable
    (1.0, True)
    >>> print(summary)
         mean     sd      q5    q95   mcse   ess  ess/s    iat  bulk ess  tail ess  r-hat
    x  -0.014  1.008  -1.623  1.682  0.024  1707    853  0.967      1711      1184  1.004
    1,990 draws on 2 chains of the coldest rung in 2.00 s
    """
    if not (math.isfinite(elapsed) and elapsed >= 0):
        raise InputError(f"elapsed must be finite and not negative, got {elapsed!r}")
    rows = {}
    series_of_all = [cast(Sequence[Floats], series) for series in draws.values()]
    states = states_in(series_of_all) if times is not None else None
    timeline: Timeline | None = None  # the same for all parameters of a run
    for name, series in draws.items():
        try:
            known, same, has_all = times, states, True
            if may_be_missing:
                there = [~np.isnan(chain) for chain in cast(Sequence[Floats], series)]
                has_all = all(has.all() for has in there)
                if not has_all:
                    series, known = _those_there(cast(Sequence[Floats], series), times, there)
                    same = None if states is None else states[np.concatenate(there)]
            chains = as_runs(series)
            count = sum(chain.size for chain in chains)
            if timeline is None or timeline.draws != count or not has_all:
                known = None if known is None else [each for each in known if each.size > 0]
                lengths = [chain.size for chain in chains]
                timeline = Timeline(lengths, known, apart=apart, states=same)
            if weights is None:
                rows[name] = _summarise_parameter(chains, timeline, elapsed)
            else:
                shares = as_runs(list(weights))
                rows[name] = _summarise_weighted(chains, shares, timeline, elapsed)
        except InputError as error:
            raise InputError(f"parameter {name!r}: {error}") from error
    return Summary(rows, elapsed, unit)


def _those_there(
    series: Sequence[Floats],
    times: Sequence[Floats] | None,
    there: Sequence[npt.NDArray[np.bool_]],
) -> tuple[list[Floats], Sequence[Floats] | None]:
    """The draws that have a parameter, and when they were made."""
    if times is not None:
        times = [each[has] for each, has in zip(times, there, strict=True)]
    return [chain[has] for chain, has in zip(series, there, strict=True)], times


def _summarise_parameter(
    chains: list[Floats], timeline: Timeline, elapsed: float
) -> ParameterSummary:
    pooled = np.concatenate(chains) if chains else np.empty(0)
    mean, sd = _mean_and_sd(pooled)
    low, high = np.quantile(pooled, [0.05, 0.95]) if pooled.size > 0 else (NAN, NAN)
    iat, reliable, mcse, ess = NAN, False, NAN, NAN
    if max((chain.size for chain in chains), default=0) >= FEWEST_DRAWS:
        iat = estimate_autocorrelation_time(chains, mean=mean).value
        spread = spread_of_mean([chain - mean for chain in chains], timeline)
        mcse, reliable = math.sqrt(spread.variance), spread.reliable
        ess = (sd / mcse) ** 2 if mcse > 0.0 else pooled.size / iat
    shortest = min((chain.size for chain in chains), default=0)
    table = [chain[:shortest] for chain in _compared(chains)]
    return ParameterSummary(
        mean=mean,
        sd=sd,
        q5=float(low),
        q95=float(high),
        mcse=mcse,
        ess=ess,
        ess_per_second=ess / elapsed if elapsed > 0 else NAN,
        iat=iat,
        ess_bulk=_bulk(chains, timeline),
        ess_tail=_tail(chains, timeline, (low, high)),
        r_hat=r_hat(table),
        draws=pooled.size,
        chains=len(chains),
        reliable=reliable,
    )


def _compared(chains: list[Floats]) -> list[Floats]:
    """The chains for r-hat: all, or some of very many, evenly chosen."""
    if len(chains) <= MOST_COMPARED:
        return chains
    places = np.linspace(0, len(chains) - 1, MOST_COMPARED).round().astype(np.int64)
    return [chains[place] for place in places.tolist()]


def _bulk(chains: list[Floats], timeline: Timeline) -> float:
    """Effective draws for the ranks of all draws, as normal scores."""
    if max((chain.size for chain in chains), default=0) < FEWEST_DRAWS:
        return NAN
    ends = np.cumsum([chain.size for chain in chains])[:-1]
    return effective_draws(np.split(normal_scores(np.concatenate(chains)), ends), timeline)


def _tail(chains: list[Floats], timeline: Timeline, ends: tuple[float, float]) -> float:
    """Effective draws for how many lie below a quantile; the smaller of two.

    Of whole numbers there may be none beyond a quantile, which then tells nothing.
    """
    below = [[(chain <= end).astype(np.float64) for chain in chains] for end in ends]
    telling = [sides for sides in below if not all(side.all() for side in sides)]
    return min((effective_draws(sides, timeline) for sides in telling or below), default=NAN)


def _summarise_weighted(
    chains: list[Floats], weights: list[Floats], timeline: Timeline, elapsed: float
) -> ParameterSummary:
    plain = _summarise_parameter(chains, timeline, elapsed)
    if not chains:
        return plain
    pooled, shares = np.concatenate(chains), np.concatenate(weights)
    shares = shares / shares.mean()
    mean = float((shares * pooled).mean())
    sd = math.sqrt(float((shares * (pooled - mean) ** 2).mean()))
    low, high = weighted_quantiles(pooled, shares, [0.05, 0.95])
    # A mean with weights is a ratio of two means; its error is that of this series, whose mean is 0
    # (the delta method).
    scale = np.concatenate(weights).mean()
    errors = [
        weight / scale * (chain - mean) for chain, weight in zip(chains, weights, strict=True)
    ]
    iat, reliable, mcse = NAN, False, NAN
    if max(chain.size for chain in chains) >= FEWEST_DRAWS:
        iat = estimate_autocorrelation_time(errors, mean=0.0).value
        spread = spread_of_mean(errors, timeline)
        mcse, reliable = math.sqrt(spread.variance), spread.reliable
    ess = (sd / mcse) ** 2 if mcse > 0.0 else NAN
    return replace(
        plain,
        mean=mean,
        sd=sd,
        q5=float(low),
        q95=float(high),
        mcse=mcse,
        ess=ess,
        ess_per_second=ess / elapsed if elapsed > 0 else NAN,
        iat=iat,
        reliable=reliable,
    )


def weighted_quantiles(values: Floats, weights: Floats, levels: Sequence[float]) -> Floats:
    """The least values up to which the weights make at least these shares of their sum.

    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0]), [0.5, 1.0])
    array([1., 2.])
    """
    order = np.argsort(values)
    shares = np.cumsum(weights[order])
    places = np.searchsorted(shares, np.asarray(levels) * shares[-1] * (1.0 - 1e-12))
    found: Floats = values[order][np.minimum(places, values.size - 1)]
    return found


def _mean_and_sd(values: Floats) -> tuple[float, float]:
    if values.size == 0:
        return NAN, NAN
    # Rounding would move the mean of a constant off it.
    constant = values.min() == values.max()
    mean = float(values[0] if constant else values.mean())
    if values.size == 1:
        return mean, NAN
    return mean, 0.0 if constant else float(values.std(ddof=1))
