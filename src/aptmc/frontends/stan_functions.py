"""Densities of Stan's models for compiled code: BridgeStan's functions in C, called by numba.

A model is a shared library and its data. Each process loads the library, which therefore must lie
where all processes see it, and gives it the data.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import InitVar, dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, final

import numba
import numpy as np

from aptmc.compiled import signature_of
from aptmc.errors import InputError
from aptmc.frontends.machine_code import MODELS

# As numbers of the size of a pointer, since numba hands on no others.
_POINTER, _FLAG = ctypes.c_uint64, ctypes.c_uint8
NOTHING = 0


class Instance(NamedTuple):
    """A model with its data, and the functions of its library, in this process."""

    handle: int
    log_density: Any  # (handle, propto, jacobian, theta, into, error)
    log_density_gradient: Any  # (handle, propto, jacobian, theta, into, slopes, error)
    constrain: Any  # (handle, with transformed, with generated, theta, into, rng, error)
    new_rng: Any
    end_rng: Any


@lru_cache(None)
def instance(library: str, data: str) -> Instance:
    """The model in this process, made once."""
    try:
        stan = ctypes.CDLL(library)
    except OSError as error:
        raise InputError(
            f"the compiled Stan model {library} cannot be loaded ({error}): put it where all "
            "processes of the run see it"
        ) from None
    construct = stan.bs_model_construct
    construct.restype = ctypes.c_void_p
    construct.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.POINTER(ctypes.c_char_p)]
    words = ctypes.c_char_p()
    handle = construct(data.encode(), 1, ctypes.byref(words))
    if not handle:
        said = " ".join((words.value or b"").decode(errors="replace").split())
        raise InputError(f"the Stan model does not accept its data: {said}")
    array = ctypes.c_void_p
    flags = [_POINTER, _FLAG, _FLAG]
    return Instance(
        int(handle),
        _function(stan.bs_log_density, ctypes.c_int, [*flags, array, array, _POINTER]),
        _function(
            stan.bs_log_density_gradient, ctypes.c_int, [*flags, array, array, array, _POINTER]
        ),
        _function(
            stan.bs_param_constrain, ctypes.c_int, [*flags, array, array, _POINTER, _POINTER]
        ),
        _function(stan.bs_rng_construct, _POINTER, [ctypes.c_uint, _POINTER]),
        _function(stan.bs_rng_destruct, None, [_POINTER]),
    )


def _function(function: Any, result: Any, arguments: list[Any]) -> Any:
    function.restype, function.argtypes = result, arguments
    return function


@final
@dataclass(eq=False)
class StanFunction:
    """A function of a Stan model, one of the kinds of `MODELS`, for compiled code and for Python.

    :param identity: a checksum of code and data
    :param library: where the compiled model is
    :param data: in JSON: of the model as it is, then with `prior_only`, if it knows that
    :param size: how many coordinates there are, or how many numbers users see
    :param order: of what is shown, where Stan has each number
    """

    identity: str
    kind: str
    library: InitVar[str]
    data: InitVar[tuple[str, ...]]
    size: InitVar[int]
    order: InitVar[Any] = None
    has_generated: InitVar[bool] = False

    def __post_init__(
        self, library: str, data: tuple[str, ...], size: int, order: Any, has_generated: bool
    ) -> None:
        self._library, self._data, self._size = library, data, size
        self._order, self._has_generated = order, has_generated

    def __getstate__(self) -> dict[str, Any]:
        """All but the function itself, which belongs to this process."""
        return {name: value for name, value in vars(self).items() if name != "function"}

    def __call__(self, *arguments: Any) -> None:
        """Called from Python."""
        self.function(*arguments)

    @cached_property
    def function(self) -> Any:
        """Compiled, with the addresses of this process."""
        models = [instance(self._library, data) for data in self._data]
        if self.kind == "shown":
            source = _showing(models[0], self._size, self._order, self._has_generated)
        else:
            make = _densities if self.kind == "values" else _gradients
            source = make(models[0], models[1] if len(models) > 1 else None, self._size)
        source.__module__ = "model"  # nobody is to take it for a source to run in plain Python
        compiled: Any = numba.njit(nogil=True, error_model="numpy")(source)
        compiled.compile(signature_of(MODELS[self.kind]))
        compiled.disable_compile()
        return compiled


def _densities(whole: Instance, prior: Instance | None, size: int) -> Callable[..., None]:
    whole_handle, log_density = whole.handle, whole.log_density
    if prior is None:

        def density(theta: Any, found: Any) -> None:
            if log_density(whole_handle, 0, 1, theta.ctypes, found.ctypes, NOTHING) != 0:
                found[0] = -math.inf

        return density
    prior_handle = prior.handle

    def densities(theta: Any, found: Any) -> None:
        total = np.empty(1)
        found[1] = -math.inf
        if log_density(prior_handle, 0, 1, theta.ctypes, found.ctypes, NOTHING) != 0:
            found[0] = -math.inf
        elif log_density(whole_handle, 0, 1, theta.ctypes, total.ctypes, NOTHING) == 0:
            found[1] = total[0] - found[0]

    return densities


def _gradients(whole: Instance, prior: Instance | None, size: int) -> Callable[..., None]:
    whole_handle, gradient = whole.handle, whole.log_density_gradient
    prior_handle = whole_handle if prior is None else prior.handle
    is_split = prior is not None

    def gradients(theta: Any, weight: Any, found: Any) -> None:
        value, of_prior = np.empty(1), np.zeros(size)
        failed = gradient(whole_handle, 0, 1, theta.ctypes, value.ctypes, found.ctypes, NOTHING)
        if is_split:
            failed += gradient(
                prior_handle, 0, 1, theta.ctypes, value.ctypes, of_prior.ctypes, NOTHING
            )
        for place in range(size):
            slope = of_prior[place] + weight * (found[place] - of_prior[place])
            found[place] = math.nan if failed != 0 else slope

    return gradients


def _showing(model: Instance, size: int, order: Any, has_generated: bool) -> Callable[..., None]:
    handle, constrain = model.handle, model.constrain
    new_rng, end_rng = model.new_rng, model.end_rng

    def show(rng: Any, theta: Any, found: Any) -> None:
        values = np.empty(size)
        drawing = np.uint64(0)
        if has_generated:
            drawing = new_rng(np.uint32(rng.random() * 4294967295.0), NOTHING)
        # To ask for generated quantities without a generator is an error, even if there are none.
        failed = constrain(
            handle, 1, 1 if has_generated else 0, theta.ctypes, values.ctypes, drawing, NOTHING
        )
        if has_generated:
            end_rng(drawing)
        for place in range(size):
            found[place] = math.nan if failed != 0 else values[order[place]]

    return show
