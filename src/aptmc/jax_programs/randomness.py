"""Random numbers of JAX: all are made of threefry, which is a function of numbers by numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aptmc.jax_programs.elementwise import element_of
from aptmc.jax_programs.values import (
    Computed,
    Number,
    Value,
    at_hand,
    contiguous,
    room,
    write,
)
from aptmc.jax_programs.writer import Index, Untranslatable, Writer, plus, times


def threefry2x32(writer: Writer, operands: list[Value], outs: list[Any]) -> list[Value]:
    """Two words for each two words, by a key of two words."""
    shape = tuple(outs[0].shape)
    operands = [at_hand(writer, operand) for operand in operands]
    first, second = room(writer, shape, "u4"), room(writer, shape, "u4")
    with writer.loops(shape) as index:
        places = [element_of(one, index) for one in operands]
        one, other = writer.name("t"), writer.name("t")
        writer.put(f"{one}, {other} = threefry({', '.join(places)})")
        write(writer, first, index, one)
        write(writer, second, index, other)
    return [first, second]


def counted(writer: Writer, outs: list[Any]) -> list[Value]:
    """The places of an array, counted: the upper and the lower halves of their numbers."""
    shape = tuple(outs[0].shape)
    if np.prod(shape) >= 1 << 32:
        raise Untranslatable("as many random numbers")
    strides = contiguous(shape)

    def number(index: tuple[Index, ...]) -> str:
        place = plus(*(times(stride, one) for stride, one in zip(strides, index, strict=True)))
        return f"u4({place})"

    return [
        Number(shape, "u4", "u4(0)"),
        Computed(writer, shape, "u4", number, is_at_hand=True),
    ]


def written_out(
    name: str, given: dict[str, Any], shapes: list[tuple[int, ...]], kinds: list[Any]
) -> Any:
    """The program of an operation on keys, as one of operations on their words.

    What is private to JAX stands here and nowhere else; `tests/jax_programs` notices changes.
    """
    import jax
    from jax.extend.random import threefry_prng_impl

    def of_one(function: Callable[..., Any], rank: int) -> Callable[..., Any]:
        for _ in range(rank):
            function = jax.vmap(function)
        return function

    if given.get("impl", threefry_prng_impl) is not threefry_prng_impl and "fry" not in str(
        given.get("impl")
    ):
        raise Untranslatable(f"random numbers of the kind {given['impl']}")
    implementation: Any = threefry_prng_impl
    words = [
        jax.ShapeDtypeStruct((*shape, 2), np.uint32)
        if kind is None
        else jax.ShapeDtypeStruct(shape, kind)
        for shape, kind in zip(shapes, kinds, strict=True)
    ]
    rank = len(shapes[0]) if shapes else 0
    function: Callable[..., Any]
    if name == "random_bits":
        function = of_one(
            lambda key: implementation.random_bits(key, given["bit_width"], given["shape"]), rank
        )
    elif name == "random_split":
        function = of_one(lambda key: implementation.split(key, given["shape"]), rank)
    elif name == "random_fold_in":
        function = of_one(lambda key, data: implementation.fold_in(key, data), rank)
        if len(shapes[1]) != rank:
            raise Untranslatable("one key made of several numbers")
    elif name == "random_seed":
        function = of_one(implementation.seed, rank)
    elif name == "random_gamma":
        from jax._src.random.core import random_gamma_p

        def function(key: Any, shape: Any) -> Any:
            wrapped = jax.random.wrap_key_data(key, impl="threefry2x32")
            return random_gamma_p.impl(wrapped, shape, log_space=given["log_space"])

    else:
        raise Untranslatable(f"the operation {name}")
    return jax.make_jaxpr(function)(*words)


WRITTEN_OUT = {"random_bits", "random_split", "random_fold_in", "random_seed", "random_gamma"}
