"""Functions of JAX as programs, and these as functions that moves can call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numba
import numpy as np

from aptmc.compiled import Floats, is_compiled
from aptmc.errors import InputError
from aptmc.in_words import first_line
from aptmc.jax_programs.recognise import is_jitted, is_of_jax
from aptmc.jax_programs.through_jax import ThroughJax
from aptmc.jax_programs.writer import Untranslatable

# Derivatives forwards take a program for each parameter, those backwards one for all.
MOST_FORWARDS = 64


class Density(NamedTuple):
    """A density, and its gradient if it has one: both for numba, or both for Python."""

    function: Callable[..., Any]
    gradient: Callable[..., Any] | None
    notes: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class Key:
    """Stands for a key among the arguments of a function."""


def density_of(
    function: Callable[..., Any],
    gradient: Callable[..., Any] | None,
    size: int,
    name: str,
    *,
    has_gradient: bool = True,
) -> Density:
    """A user's density as it is, or, if it is one of JAX, as functions that moves can call.

    :param size: how many parameters there are
    :param name: what the user calls it
    :param has_gradient: whether parameters can be moved along one
    """
    if is_compiled(function) or not is_of_jax(function):
        return Density(function, gradient)
    import jax

    try:
        program = traced(function, [(size,)])
    except Exception as error:
        if is_jitted(function):
            raise InputError(
                f"{name} is a function of JAX that cannot be traced for theta, an array of {size} "
                f"parameters: {type(error).__name__}: {first_line(error)}"
            ) from error
        return Density(function, gradient)  # it uses something of JAX, and is called as it is
    shapes = [tuple(variable.aval.shape) for variable in program.jaxpr.outvars]
    if shapes != [()]:
        raise InputError(f"{name} must return a single number, yours returns shape {shapes}")
    notes: tuple[str, ...] = ()
    if gradient is None:
        slopes, notes = _slopes(function, size) if has_gradient else (None, ())
    elif is_compiled(gradient):
        slopes = None
    elif is_of_jax(gradient):
        slopes = traced(gradient, [(size,)])
    else:  # it can be called from Python only, and so can all that goes with it
        return Density(ThroughJax(function), gradient, bits_of(program))
    try:
        found = scalar_function(program)
        along = gradient if slopes is None else array_function(slopes)
        return Density(found, along, (*bits_of(program), *notes))
    except Untranslatable as error:
        said = (
            f"{name} is called through JAX, which takes its time each time: {error} is not known",
        )
        if gradient is None and slopes is not None:
            gradient = jax.grad(function)
        behind = gradient if gradient is None or is_compiled(gradient) else ThroughJax(gradient)
        return Density(ThroughJax(function), behind, (*bits_of(program), *notes, *said))


def traced(function: Callable[..., Any], arguments: Sequence[tuple[int, ...] | Key]) -> Any:
    """The program of a function, for arrays of numbers as JAX has them in this process."""
    import jax

    real = np.float64 if jax.config.jax_enable_x64 else np.float32
    examples = [
        jax.ShapeDtypeStruct((2,), np.uint32)
        if isinstance(shape, Key)
        else jax.ShapeDtypeStruct(shape, real)
        for shape in arguments
    ]

    def called(*given: Any) -> Any:
        wrapped = [
            jax.random.wrap_key_data(one, impl="threefry2x32") if isinstance(shape, Key) else one
            for one, shape in zip(given, arguments, strict=True)
        ]
        return function(*wrapped)

    return jax.make_jaxpr(called)(*examples)


def _slopes(function: Callable[..., Any], size: int) -> tuple[Any, tuple[str, ...]]:
    """The program of the gradient: backwards, or forwards if there are loops without an end."""
    import jax

    def as_real(theta: Any) -> Any:
        return jax.numpy.asarray(function(theta), theta.dtype)

    ways = [jax.grad] if size > MOST_FORWARDS else [jax.grad, jax.jacfwd]
    for way in ways:
        try:
            return traced(way(as_real), [(size,)]), ()
        except Exception as error:
            last = first_line(error)
    return None, (f"JAX finds no gradient: {last}",)


def bits_of(program: Any) -> tuple[str, ...]:
    """What users should know of the bits that numbers have."""
    if program.jaxpr.invars[0].aval.dtype == np.float64:
        return ()
    return (
        "JAX computes with 32 bits, as it does in this process: "
        'jax.config.update("jax_enable_x64", True) before, for 64',
    )


# --- as functions for numba -----------------------------------------------------------------------


def scalar_function(program: Any) -> Callable[..., Any]:
    """A function of theta that gives a number."""
    from aptmc.jax_programs.translate import function_of

    body = function_of(program, "jax_program", ("theta",))

    def density(theta: Floats) -> float:
        found = np.empty(1)
        body(theta, found)
        return found[0]  # type: ignore[no-any-return]

    return as_users(density)


def array_function(program: Any) -> Callable[..., Any]:
    """A function of theta that gives an array."""
    from aptmc.jax_programs.translate import function_of

    body = function_of(program, "jax_program", ("theta",))
    size = sum(variable.aval.size for variable in program.jaxpr.outvars)

    def values(theta: Floats) -> Floats:
        found = np.empty(size)
        body(theta, found)
        return found

    return as_users(values)


def as_users(function: Any) -> Callable[..., Any]:
    """Compiled, and taken for a function of the user's, which is not run as plain Python."""
    function.__module__ = "jax_program"
    return numba.njit(nogil=True, error_model="numpy")(function)
