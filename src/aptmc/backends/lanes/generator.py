"""A small generator for each lane: four words, begun anew for every move from its key.

Philox (Salmon et al., 2011) turns the key of a move, (seed, chain, number), into the four words;
from there xoshiro128++ (Blackman and Vigna, 2021) goes on, which costs a lane less than a counter
would. To numba it is an object with the methods of numpy's generator that simulators use.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import (
    intrinsic,
    make_attribute_wrapper,
    models,
    overload_method,
    register_jitable,
    register_model,
)

from aptmc.backends.lanes.draws import DRAWS
from aptmc.compiled import HalfWords, compiled

WORDS = types.uint32[::1]
PHILOX_ROUNDS = 10
LOW = np.uint64(0xFFFFFFFF)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
FIRST_STEP, SECOND_STEP = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
THIRTY_TWO = np.uint64(32)


class LaneGenerator(types.Type):
    """The type of the generator as compiled code sees it."""

    def __init__(self) -> None:
        super().__init__(name="LaneGenerator")


LANE_GENERATOR = LaneGenerator()


@register_model(LaneGenerator)
class _Model(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(
            dmm,
            fe_type,
            [  # type: ignore[no-untyped-call]
                ("words", WORDS),
            ],
        )


make_attribute_wrapper(LaneGenerator, "words", "words")


def _lane_generator(typing_context: Any, words: Any) -> Any:
    """The generator whose state is in these four words."""
    del typing_context

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        made.words = arguments[0]
        context.nrt.incref(builder, WORDS, arguments[0])
        return made._getvalue()

    return LANE_GENERATOR(words), build


lane_generator: Any = intrinsic(_lane_generator)


@register_jitable
def _rotated(word: Any, by: int) -> Any:
    return np.uint32((word << np.uint32(by)) | (word >> np.uint32(32 - by)))


@register_jitable
def next_word(words: Any) -> Any:
    """Thirty-two random bits."""
    first, second, third, fourth = words[0], words[1], words[2], words[3]
    result = np.uint32(_rotated(np.uint32(first + fourth), 7) + first)
    shifted = np.uint32(second << np.uint32(9))
    third ^= first
    fourth ^= second
    second ^= third
    first ^= fourth
    third ^= shifted
    words[0], words[1], words[2] = first, second, third
    words[3] = _rotated(fourth, 11)
    return result


@register_jitable
def uniform_from(words: Any) -> float:
    """A number between 0 and 1, and never one of them."""
    high = np.int64(next_word(words) >> np.uint32(5))
    low = np.int64(next_word(words) >> np.uint32(6))
    return (high * 67108864.0 + low + 0.5) / 9007199254740992.0


def random(rng: Any) -> float:
    """A uniform number, of which all others are made."""
    return uniform_from(rng.words)


def _offer(draw: Callable[..., Any]) -> None:
    """Have compiled code find a function as a method of the generator."""

    def offered(*_: Any, **__: Any) -> Callable[..., Any]:
        return draw

    offered.__signature__ = signature(draw)  # type: ignore[attr-defined]
    overload_method(LaneGenerator, draw.__name__)(offered)


for _draw in (random, *DRAWS.values()):
    _offer(_draw)


@compiled
def seed_words(words: HalfWords, seed: int, chain: int, number: int, purpose: int) -> None:
    """The words with which the stream of a key begins: one block of Philox4x32."""
    a, b = np.uint64(number) & LOW, np.uint64(number) >> THIRTY_TWO
    c, d = np.uint64(chain) & LOW, np.uint64(purpose)
    key, other = np.uint64(seed) & LOW, np.uint64(seed) >> THIRTY_TWO
    for _ in range(PHILOX_ROUNDS):
        one, two = a * FIRST_FACTOR, c * SECOND_FACTOR
        a, c = (two >> THIRTY_TWO) ^ b ^ key, (one >> THIRTY_TWO) ^ d ^ other
        b, d = two & LOW, one & LOW
        key, other = (key + FIRST_STEP) & LOW, (other + SECOND_STEP) & LOW
    words[0], words[1] = np.uint32(a), np.uint32(b)
    # All zeros would stay so.
    words[2], words[3] = np.uint32(c), np.uint32(d) | np.uint32(1)
