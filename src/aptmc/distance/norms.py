"""Norms: compiled, for Python and compiled code alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, cast, final

import numba
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from aptmc.arguments import named_clearly
from aptmc.checks import numbers
from aptmc.compiled import Floats, compiled, made_by
from aptmc.errors import InputError
from aptmc.problem.data.unscaled import At, Scale, Unscaled

Distance = Callable[[Any, Any], float]
Function = TypeVar("Function", bound=Callable[..., Any])


@named_clearly
def p_norm(
    order: float = 2.0,
    weights: npt.ArrayLike | None = None,
    *,
    scale: Scale | None = None,
    at: At = "prior",
    simulations: int = 100,
) -> Distance:
    """The distance (sum_i (w_i |simulated_i - observed_i|) ** order) ** (1 / order).

    :param order: from 1 on. 1 adds the differences up, 2 is Euclid's distance, infinity takes the
        largest difference
    :param weights: what each difference is multiplied by, in the shape of the data. A component of
        weight 0 does not count
    :param scale: divide each difference by how much simulations vary there: "mad", their median
        absolute deviation, or "sd", their standard deviation. `Abc` measures it before anything is
        sampled, with random keys that are always the same, and keeps it: the distance is then fixed
    :param at: "prior": simulations from the prior vary like this; "tolerance": those at parameters
        that a small pilot finds near the data, which costs four times as many simulations
    :param simulations: how many vary

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
    shape, content = (0,), b""
    if weights is not None:
        array = numbers(weights)
        if array is None or array.ndim == 0 or array.size == 0 or (array < 0.0).any():
            raise InputError(
                f"weights must be an array of finite numbers, none negative, got {weights!r}: "
                "give one for each component of the data"
            )
        if not array.any():
            raise InputError(f"weights must not all be 0, got {weights!r}: no data would count")
        shape, content = array.shape, array.tobytes()
    if scale is None:
        return _weighted_p_norm(float(number), shape, content)
    return UnscaledNorm(float(number), shape, content, scale, at, simulations)


@final
class UnscaledNorm(Unscaled):
    """A norm whose differences are to be divided by scales."""

    def __init__(
        self,
        order: float,
        shape: tuple[int, ...],
        content: bytes,
        scale: Scale,
        at: At,
        simulations: int,
    ) -> None:
        super().__init__(scale, at, simulations)
        self.order = order
        self.weights = np.frombuffer(content).reshape(shape)

    def __repr__(self) -> str:
        return f'p_norm({self.order:g}, scale="{self.scale}", at="{self.at}")'

    @override
    def scaled(self, scales: Floats) -> Distance:
        """The norm with weights 1 / scales; what has scale 0 does not count."""
        if self.weights.size > 0 and self.weights.shape != scales.shape:
            raise InputError(
                f"weights must have the shape of the data, got {self.weights.shape} and "
                f"{scales.shape}: give one weight for each component"
            )
        counts = scales > 0.0
        inverse = np.divide(1.0, scales, out=np.zeros_like(scales), where=counts)
        if self.weights.size > 0:
            inverse *= self.weights
        return _weighted_p_norm(self.order, inverse.shape, inverse.tobytes())


@named_clearly
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
    ready: Distance = numba.njit(cache=cache, nogil=True, error_model="numpy")(distance)
    ready.written = f"p_norm({order:g}{', weights=…' if shape != (0,) else ''})"  # type: ignore[attr-defined]
    return made_by(_weighted_p_norm, order, shape, content)(ready)


@made_by(log_supremum)
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


_log_supremum.written = "log_supremum()"  # type: ignore[attr-defined]
