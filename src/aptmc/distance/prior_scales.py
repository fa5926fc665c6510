"""Scales of data, measured by simulations from the prior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from aptmc.checks import whole_number
from aptmc.compiled import Floats
from aptmc.errors import InputError
from aptmc.keys import check_seed
from aptmc.problem.prior.prior import Prior, checked_prior


def scales_from_prior(
    simulate: Callable[[Floats, np.random.Generator], Any],
    prior: Prior,
    *,
    simulations: int = 1000,
    seed: int,
    summary: Callable[[Any], Any] | None = None,
) -> npt.NDArray[np.float64]:
    """How much each component of the data varies under the prior: its median absolute deviation.

    The usual scaled distance is then `p_norm(2, weights=1 / scales)`; `p_norm(2, scale="mad")` does
    both at once. A simulation that is not
    finite is left out.

    :param simulate: a function of the parameters and a numpy generator that returns an array
    :param prior: where the parameters are drawn from
    :param simulations: how many draws to simulate from
    :param seed: a non-negative integer; the same seed gives the same scales
    :param summary: what to compute from each simulation, if not the data itself are compared

    >>> from scipy import stats
    >>> prior = Prior(mean=stats.norm(0, 1))
    >>> def simulate(theta, rng):
    ...     return theta[0] + np.array([1.0, 100.0]) * rng.standard_normal(2)
    >>> scales = scales_from_prior(simulate, prior, seed=1)
    >>> bool(scales[1] > 10 * scales[0])
    True
    >>> import aptmc
    >>> distance = aptmc.distance.p_norm(2, weights=1 / scales)
    """
    if not callable(simulate):
        raise InputError(f"simulate must be a function of theta and rng, got {simulate!r}")
    if summary is not None and not callable(summary):
        raise InputError(f"summary must be a function of one simulation or None, got {summary!r}")
    checked_prior(prior)
    count = whole_number("simulations", simulations, least=2)
    rng = np.random.default_rng(check_seed(seed))
    kept: list[npt.NDArray[np.float64]] = []
    shape: tuple[int, ...] | None = None
    for _ in range(count):
        theta = prior.constrain(prior.draw(rng))
        data = _simulated(simulate, summary, theta, rng, prior)
        shape = data.shape if shape is None else shape
        if data.shape != shape:
            raise InputError(
                f"every simulation must have the same shape, got {shape} and {data.shape}: "
                "use summary to reduce each to the same components"
            )
        if np.isfinite(data).all():
            kept.append(data)
    if 2 * len(kept) < count:
        raise InputError(
            f"{count - len(kept)} of {count} simulations from the prior were not finite: "
            "narrow the prior, or use summary to compute what is finite"
        )
    sample = np.stack(kept)
    scales: npt.NDArray[np.float64] = np.median(np.abs(sample - np.median(sample, axis=0)), axis=0)
    if not scales.all():
        raise InputError(
            f"half of the simulations or more are equal in {_components(scales == 0.0)}, so there "
            "is no scale: leave out what hardly varies by way of summary, or choose weights by hand"
        )
    return scales


def _simulated(
    simulate: Callable[[Floats, np.random.Generator], Any],
    summary: Callable[[Any], Any] | None,
    theta: Floats,
    rng: np.random.Generator,
    prior: Prior,
) -> npt.NDArray[np.float64]:
    pairs = zip(prior.labels, theta.tolist(), strict=True)
    where = ", ".join(f"{name}={value!r}" for name, value in pairs)
    source = "simulate"
    try:
        value = simulate(theta, rng)
        if summary is not None:
            source = "summary"
            value = summary(value)
    except Exception as error:
        raise InputError(f"{source} raised {type(error).__name__}: {error} at {where}") from error
    try:
        data = np.asarray(value)
    except ValueError:  # ragged
        data = np.empty(0, dtype=object)
    if data.dtype.kind not in "iuf" or data.ndim == 0 or data.size == 0:
        raise InputError(
            f"{source} must return an array of numbers, got {value!r} at {where}: "
            "use np.array([...]) even for a single number"
        )
    return np.array(data, dtype=np.float64)


def _components(chosen: npt.NDArray[np.bool_]) -> str:
    """The places where `chosen` is true, in words; no more than ten of them."""
    places = [place if len(place) > 1 else place[0] for place in np.argwhere(chosen).tolist()]
    named = ", ".join(str(place) for place in places[:10])
    more = f" and {len(places) - 10} more" if len(places) > 10 else ""
    return f"component{'s' if len(places) > 1 else ''} {named}{more}"
