"""Programs of JAX as machine code that travels: workers load neither JAX nor NumPyro."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from aptmc.frontends.machine_code import MachineCode
from aptmc.jax_programs.through_jax import words_from
from aptmc.jax_programs.translate import Written, function_from, written

MAKER = (__name__, "source_of_recipe")
IS_WRITTEN_OUT = True  # in loops over numbers, which lanes translate
ARGUMENTS = {
    "values": ("theta",),
    "weighted": ("theta", "weight"),
    "drawn": ("words",),
    "shown": ("theta",),
}


def machine_code(kind: str, program: Any) -> MachineCode:
    """A program as a function of one of the kinds of `MachineCode`."""
    text = written(program, "jax_program", ARGUMENTS[kind])
    recipe = pickle.dumps((kind, text))
    identity = hashlib.sha256(text.source.encode())
    for name, numbers in sorted(text.constants.items()):
        identity.update(f"{name} {numbers.dtype} {numbers.shape}".encode() + numbers.tobytes())
    return MachineCode(identity.hexdigest()[:32], kind, MAKER, recipe, "")


def source_of_recipe(recipe: bytes) -> tuple[Any, bool]:
    """A function that numba can compile, and whether its code may go to other processes."""
    kind, text = pickle.loads(recipe)
    assert isinstance(text, Written)
    return _SOURCES[kind](function_from(text)), True


def _values(body: Callable[..., Any]) -> Callable[..., Any]:
    def values(theta: Any, found: Any) -> None:
        body(theta, found)

    return values


def _weighted(body: Callable[..., Any]) -> Callable[..., Any]:
    def weighted(theta: Any, weight: float, found: Any) -> None:
        given = np.empty(1)
        given[0] = weight
        body(theta, given, found)

    return weighted


def _drawn(body: Callable[..., Any]) -> Callable[..., Any]:
    words_of = numba.njit(words_from)

    def drawn(rng: Any, found: Any) -> None:
        body(words_of(rng), found)

    return drawn


def _shown(body: Callable[..., Any]) -> Callable[..., Any]:
    def shown(rng: Any, theta: Any, found: Any) -> None:
        body(theta, found)

    return shown


_SOURCES = {"values": _values, "weighted": _weighted, "drawn": _drawn, "shown": _shown}
