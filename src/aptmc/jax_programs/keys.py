"""Keys of random numbers, which are arrays of a kind of their own: here each is two words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from aptmc.jax_programs.values import Number, Value
from aptmc.jax_programs.writer import Untranslatable

WORDS = 2


class Form(NamedTuple):
    """The shape and the type of an array, as it is held here."""

    shape: tuple[int, ...]
    dtype: Any


def is_key(aval: Any) -> bool:
    """Whether these are keys."""
    return str(aval.dtype).startswith("key<")


def form_of(aval: Any) -> Form:
    """How an array is held: keys have one more axis, for their words."""
    if is_key(aval):
        if "fry" not in str(aval.dtype):
            raise Untranslatable(f"random numbers by {aval.dtype}")
        return Form((*aval.shape, WORDS), np.dtype(np.uint32))
    return Form(tuple(aval.shape), aval.dtype)


def with_words(
    name: str, given: dict[str, Any], operands: list[Value]
) -> tuple[dict[str, Any], list[Value]]:
    """An operation on the places of keys, as one on the places of their words."""
    if name in ("reshape", "squeeze", "expand_dims", "concatenate", "split", "unstack"):
        return given, operands
    axis = len(operands[0].shape) - 1
    if name == "slice":
        steps = given["strides"] or (1,) * axis
        return {
            "start_indices": (*given["start_indices"], 0),
            "limit_indices": (*given["limit_indices"], WORDS),
            "strides": (*steps, 1),
        }, operands
    if name == "broadcast_in_dim":
        dims = (*given["broadcast_dimensions"], len(given["shape"]))
        return {"shape": (*given["shape"], WORDS), "broadcast_dimensions": dims}, operands
    if name == "transpose":
        return {"permutation": (*given["permutation"], axis)}, operands
    if name == "dynamic_slice":
        return given, [*operands, Number((), "i8", "0")]
    raise Untranslatable(f"the operation {name} of keys")
