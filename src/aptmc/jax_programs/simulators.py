"""Simulators of JAX, which draw from a key, as simulators that draw from a generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from aptmc.compiled import is_compiled
from aptmc.errors import InputError
from aptmc.in_words import first_line
from aptmc.jax_programs.programs import Key, as_users, traced
from aptmc.jax_programs.recognise import is_jitted, is_of_jax
from aptmc.jax_programs.through_jax import ThroughJax, words_from
from aptmc.jax_programs.writer import Untranslatable


def simulator_of(function: Callable[..., Any], size: int, name: str) -> Callable[..., Any]:
    """A user's simulator as it is, or, if it is one of JAX, one that moves can call.

    One of JAX is called as (theta, key), or as (theta, key, tolerance) if that is its name.
    """
    if is_compiled(function) or not is_of_jax(function):
        return function
    stops_early = name == "simulated_distance"
    try:
        program = traced(function, [(size,), Key(), *([()] if stops_early else [])])
    except Exception as error:
        if not is_jitted(function):
            return function  # it uses something of JAX, and draws from numpy's generator
        words = str(error).strip().partition("\n")[0]
        raise InputError(
            f"{name} is a function of JAX that cannot be traced for theta, an array of {size} "
            f"parameters, and a key: {type(error).__name__}: {words}"
        ) from error
    if len(program.jaxpr.outvars) != 1 and not stops_early:
        return ThroughJax(function, has_key=True)
    try:
        return _early(program) if stops_early else _whole(program)
    except Untranslatable:
        return ThroughJax(function, has_key=True)


def _whole(program: Any) -> Callable[..., Any]:
    from aptmc.jax_programs.translate import function_of

    body = function_of(program, "jax_program", ("theta", "words"))
    shape = tuple(program.jaxpr.outvars[0].aval.shape) or (1,)
    size, words_of = int(np.prod(shape)), numba.njit(words_from)

    def simulate(theta: Any, rng: Any) -> Any:
        found = np.empty(size)
        body(theta, words_of(rng), found)
        return found.reshape(shape)

    return as_users(simulate)


def _early(program: Any) -> Callable[..., Any]:
    from aptmc.jax_programs.translate import function_of

    body = function_of(program, "jax_program", ("theta", "words", "tolerance"))
    words_of = numba.njit(words_from)

    if len(program.jaxpr.outvars) == 2:

        def distance_and_work(theta: Any, rng: Any, tolerance: float) -> tuple[float, float]:
            found, given = np.empty(2), np.empty(1)
            given[0] = tolerance
            body(theta, words_of(rng), given, found)
            return found[0], found[1]

        return as_users(distance_and_work)

    def simulated_distance(theta: Any, rng: Any, tolerance: float) -> float:
        found, given = np.empty(1), np.empty(1)
        given[0] = tolerance
        body(theta, words_of(rng), given, found)
        return found[0]  # type: ignore[no-any-return]

    return as_users(simulated_distance)


class StepsOfProgram(NamedTuple):
    """A simulator of JAX as two functions for numba, and how many numbers they keep."""

    begin: Callable[..., Any]
    step: Callable[..., Any]
    size: int


def steps_of(
    function: Callable[..., Any],
    size: int,
    name: str,
    distance: Callable[[tuple[int, ...]], Callable[..., Any]] | None = None,
) -> StepsOfProgram:
    """A simulator of JAX as a beginning and a step, with the same random numbers.

    :param distance: makes, for the shape of what is simulated, a function of that as a flat array;
        for a simulator that gives no distance itself
    :raises Untranslatable: with the reason why it cannot be split
    """
    from aptmc.jax_programs.stepwise import in_steps
    from aptmc.jax_programs.translate import function_from

    stops_early = name == "simulated_distance"
    try:
        program = traced(function, [(size,), Key(), *([()] if stops_early else [])])
    except Exception as error:
        raise Untranslatable(f"it cannot be traced: {first_line(error)}") from error
    steps = in_steps(program)
    shape = tuple(program.jaxpr.outvars[0].aval.shape) or (1,)
    found = first_of_all if distance is None else distance(shape)
    begin = function_from(steps.begin)
    return StepsOfProgram(begin, function_from(steps.step, distance_of=found), steps.size)


@numba.njit
def first_of_all(found):  # type: ignore[no-untyped-def]
    """The distance that a simulator gives itself. A negative one is none."""
    return found[0] if found[0] >= 0.0 else np.nan


def functions_of_data(distance: Any, summary: Any, observed: Any) -> tuple[Any, Any]:
    """A distance and a summary of the user's, likewise, for data of the shape of those observed."""
    if not any(map(_is_to_be_written, (distance, summary))):
        return distance, summary
    try:
        shape = np.asarray(observed, np.float64).shape or (1,)
    except (TypeError, ValueError):  # data with names
        return tuple(  # type: ignore[return-value]
            ThroughJax(one) if _is_to_be_written(one) else one for one in (distance, summary)
        )
    compared = shape
    if _is_to_be_written(summary):
        summary, compared = _written(summary, [shape])
    elif summary is not None:
        compared = np.shape(summary(np.asarray(observed, np.float64))) or (1,)
    if _is_to_be_written(distance):
        distance, _ = _written(distance, [compared, compared])
    return distance, summary


def _is_to_be_written(function: Any) -> bool:
    return callable(function) and not is_compiled(function) and is_of_jax(function)


def _written(function: Any, shapes: list[tuple[int, ...]]) -> tuple[Any, tuple[int, ...]]:
    """A function of data for numba, and the shape of its results."""
    from aptmc.jax_programs.translate import function_of

    program = traced(function, list(shapes))
    results = [tuple(variable.aval.shape) for variable in program.jaxpr.outvars]
    shape = results[0] if len(results) == 1 else ()
    try:
        if len(results) != 1:
            raise Untranslatable("several results")
        body = function_of(program, "jax_program", tuple(f"data{n}" for n in range(len(shapes))))
    except Untranslatable:
        return ThroughJax(function), shape
    size = int(np.prod(shape))
    if len(shapes) == 2:

        def distance(simulated: Any, observed: Any) -> float:
            found = np.empty(size)
            body(simulated.ravel(), observed.ravel(), found)
            return found[0]  # type: ignore[no-any-return]

        return as_users(distance), shape

    def summary(data: Any) -> Any:
        found = np.empty(size)
        body(data.ravel(), found)
        return found.reshape(shape)

    return as_users(summary), shape
