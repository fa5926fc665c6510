"""Distances between simulated and observed data, ready-made for likelihood-free inference.

A distance is a function of two arrays of one shape, simulated and observed, that returns a number.
Those made here are compiled: Python and compiled code may call them alike. NaN in either array
makes the distance NaN: it tells of a broken simulator, and should not pass for a miss.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from aptmc.checks import numbers, whole_number
from aptmc.compiled import Floats, compiled
from aptmc.errors import InputError
from aptmc.keys import check_seed
from aptmc.problem.prior.prior import Prior

Distance = Callable[[Any, Any], float]
Function = TypeVar("Function", bound=Callable[..., Any])


def p_norm(order: float = 2.0, weights: npt.ArrayLike | None = None) -> Distance:
    """The distance (sum_i (w_i |simulated_i - observed_i|) ** order) ** (1 / order).

    :param order: from 1 on. 1 adds the differences up, 2 is Euclid's distance, infinity takes the
        largest difference
    :param weights: what each difference is multiplied by, in the shape of the data. A component of
        weight 0 does not count

    >>> distance = p_norm()
    >>> distance(np.array([3.0, 1.0]), np.array([0.0, 5.0]))
    5.0
    >>> p_norm(1, weights=[1, 0.5])(np.array([3.0, 1.0]), np.array([0.0, 5.0]))
    5.0
    >>> p_norm(math.inf)(np.array([3.0, 1.0]), np.array([0.0, 5.0]))
    4.0

    The same arguments give the same function, which is compiled once.

    >>> p_norm() is distance
    True
    """
    number = np.asarray(order)
    if number.ndim != 0 or number.dtype.kind not in "iuf" or not number >= 1.0:
        raise InputError(
            f"order must be a number from 1 on, got {order!r}: "
            "use 1, 2 or math.inf, which takes the largest difference"
        )
    if weights is None:
        return _weighted_p_norm(float(number), (0,), b"")
    array = numbers(weights)
    if array is None or array.ndim == 0 or array.size == 0 or (array < 0.0).any():
        raise InputError(
            f"weights must be an array of finite numbers, none negative, got {weights!r}: "
            "give one for each component of the data"
        )
    if not array.any():
        raise InputError(f"weights must not all be 0, got {weights!r}: no data would count")
    return _weighted_p_norm(float(number), array.shape, array.tobytes())


def log_supremum() -> Distance:
    """The largest |log simulated_i - log observed_i|: the ball of the paper's section 5.3.

    Two zeros are at distance 0. Otherwise a value that is 0 or negative is infinitely far away.

    >>> distance = log_supremum()
    >>> round(distance(np.array([10.0, 40.0]), np.array([20.0, 40.0])), 6)
    0.693147
    >>> distance(np.array([0.0, 40.0]), np.array([20.0, 40.0]))
    inf
    >>> distance(np.array([0.0, 40.0]), np.array([0.0, 40.0]))
    0.0
    """
    return _log_supremum


def scales_from_prior(
    simulate: Callable[[Floats, np.random.Generator], Any],
    prior: Prior,
    *,
    simulations: int = 1000,
    seed: int,
    summary: Callable[[Any], Any] | None = None,
) -> npt.NDArray[np.float64]:
    """How much each component of the data varies under the prior: its median absolute deviation.

    The usual scaled distance is then `p_norm(2, weights=1 / scales)`. A simulation that is not
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
    >>> distance = p_norm(2, weights=1 / scales)
    """
    if not callable(simulate):
        raise InputError(f"simulate must be a function of theta and rng, got {simulate!r}")
    if summary is not None and not callable(summary):
        raise InputError(f"summary must be a function of one simulation or None, got {summary!r}")
    if not isinstance(prior, Prior):
        raise InputError(f"prior must be an aptmc.Prior, got {prior!r}")
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


def _for_any_array(function: Function) -> Function:
    """Compile when first called, once for each type of array, and cache on disk."""
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


# The refusals are apart because a message with numbers in it takes a second to compile.


@compiled
def _refuse_data(simulated: int, observed: int, dimensions: int, wanted: int) -> None:
    raise InputError(
        f"simulated and observed must have the same shape, got {simulated} and {observed} values "
        f"in {dimensions} and {wanted} dimensions: compare like with like"
    )


@compiled
def _refuse_weights(weights: int, data: int, dimensions: int, wanted: int) -> None:
    raise InputError(
        f"weights must have the shape of the data, got {weights} and {data} values "
        f"in {dimensions} and {wanted} dimensions: give one weight for each component"
    )


@_for_any_array
def _check_shapes(simulated: Any, observed: Any) -> None:
    if simulated.shape != observed.shape:
        _refuse_data(simulated.size, observed.size, simulated.ndim, observed.ndim)


@_for_any_array
def _p_norm(simulated: Any, observed: Any, weights: Any, order: float) -> float:
    _check_shapes(simulated, observed)
    if weights.size > 0 and weights.shape != simulated.shape:
        _refuse_weights(weights.size, simulated.size, weights.ndim, simulated.ndim)
    differences = np.empty(simulated.size)
    simulated, observed, weights = simulated.ravel(), observed.ravel(), weights.ravel()
    largest = 0.0
    for i in range(differences.size):
        # Unsigned integers would wrap around, single precision would lose digits.
        difference = float(abs(np.float64(simulated[i]) - np.float64(observed[i])))
        if weights.size > 0:
            difference = difference * weights[i] if weights[i] > 0.0 else 0.0
        if math.isnan(difference):
            return math.nan
        largest = max(largest, difference)
        differences[i] = difference
    if order == math.inf or largest == 0.0 or largest == math.inf:
        return largest
    # Powers of ratios neither overflow nor vanish all at once.
    total = 0.0
    for difference in differences:
        ratio = difference / largest
        total += ratio * ratio if order == 2.0 else math.pow(ratio, order)
    root = math.sqrt(total) if order == 2.0 else math.pow(total, 1.0 / order)
    return largest * root


@lru_cache(maxsize=256)
def _weighted_p_norm(order: float, shape: tuple[int, ...], content: bytes) -> Distance:
    weights = np.frombuffer(content).reshape(shape)

    def distance(simulated: Any, observed: Any) -> float:
        return _p_norm(simulated, observed, weights, order)

    # On disk every new set of weights would leave a file behind.
    cache = weights.size == 0
    return cast(Distance, numba.njit(cache=cache, nogil=True, error_model="numpy")(distance))


@_for_any_array
def _log_supremum(simulated: Any, observed: Any) -> float:
    _check_shapes(simulated, observed)
    simulated, observed = simulated.ravel(), observed.ravel()
    largest = 0.0
    for i in range(simulated.size):
        ours, theirs = np.float64(simulated[i]), np.float64(observed[i])
        if math.isnan(ours) or math.isnan(theirs):
            return math.nan
        if ours == 0.0 and theirs == 0.0:
            continue
        if ours <= 0.0 or theirs <= 0.0:
            largest = math.inf
        elif ours != theirs:
            largest = max(largest, abs(math.log(ours) - math.log(theirs)))
    return largest


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
