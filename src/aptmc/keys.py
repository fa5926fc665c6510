"""Random keys: every move, exchange and start has its own stream of random numbers.

Philox turns (key, counter) into random bits without any hidden state. The run's seed makes the key,
and a counter of four words is laid out as

    (position in the stream, number, chain, purpose),

so streams never overlap, cost nothing to open, and can be opened again by anyone, anywhere: a lost
move is computed again with the same randomness, never with fresh one.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from aptmc.compiled import Generator, HalfWords, Words, inlined, source_of
from aptmc.errors import AptmcError, InputError


class Purpose(IntEnum):
    """What a stream of random numbers is used for; no two purposes share numbers."""

    MOVE = 0
    HOLD = 1
    EXCHANGE = 2
    START = 3
    REJECTION = 4
    PILOT = 5
    WARMUP = 6
    DEADLINE = 7
    ANNEALING = 8


# Compiled code sees enum members as plain integers.
MOVE, HOLD, EXCHANGE, START, REJECTION, PILOT, WARMUP, DEADLINE, ANNEALING = (
    int(purpose) for purpose in Purpose
)


# Where numpy keeps what in the memory of a Philox generator. `BitGenerator.ctypes` is public and
# gives the address; what stands there is not. It is known here and nowhere else: `open_streams`
# refuses a numpy that lays it out differently, and `tests/test_keys.py` compares it with `state`.
# A struct: pointers to counter and key, int buffer_pos, buffer[4], int has_uint32, uint32.
COUNTER_POINTER, COUNTER_WORDS = 0, 4  # in bytes; words of 64 bits
STRUCT_HALF_WORDS = 16
BUFFER_POSITION, HAS_HALF_WORD = 4, 14  # half words of 32 bits
BUFFER_USED_UP = 4  # so many words are in the buffer

EPOCH_BITS = 40  # so many numbers are there in each phase of a run


@inlined
def first_number(epoch: int) -> int:
    """Where a phase of a run begins to count its moves and exchanges."""
    return epoch << EPOCH_BITS


start_of_epoch = source_of(first_number)  # for Python, which need not go into compiled code


# Added to a purpose: streams from which generators that are not ours are seeded.
FOR_OTHERS = 1 << 32


class Key(NamedTuple):
    """The name of one stream of random numbers.

    >>> Key(seed=1, chain=3, number=7).generator().random() == Key(1, 3, 7).generator().random()
    True
    """

    seed: int
    chain: int
    number: int
    purpose: int = MOVE

    def generator(self) -> np.random.Generator:
        """A numpy generator at the beginning of this stream."""
        counter = np.array([0, self.number, self.chain, self.purpose], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=_philox_key(self.seed), counter=counter))


class Dial(NamedTuple):
    """Where a generator stands: views of its memory."""

    counter: Words
    position: HalfWords


class Streams(NamedTuple):
    """One generator, and the dial that points it at any stream of a run in a few nanoseconds."""

    generator: Generator
    dial: Dial


def check_seed(seed: object) -> int:
    """The seed as an integer, or a clear error."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed must be a non-negative integer, got {seed!r}: use seed=1")
    return int(seed)


def new_seed() -> int:
    """A seed that nobody has used before, short enough to be typed again."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def open_streams(seed: int) -> Streams:
    """Open the streams of a run for use by one thread."""
    bit_generator = np.random.Philox(key=_philox_key(seed))
    streams = Streams(np.random.Generator(bit_generator), dial_of(bit_generator))
    streams.generator.random(3, dtype=np.float32)
    rewind_plainly(streams.dial, 5, 6, 7)
    expected = Key(seed, chain=6, number=7, purpose=5).generator()
    if streams.generator.random() != expected.random():
        raise AptmcError(
            f"numpy {np.__version__} stores Philox in a way that aptmc does not know: "
            "please report this version, and use numpy 2.0 to 2.4 meanwhile"
        )
    return streams


def dial_of(bit_generator: np.random.BitGenerator) -> Dial:
    """Where a Philox generator stands; the views are good as long as it lives."""
    # Writing there avoids the slow `state` property and works from compiled code.
    address = bit_generator.ctypes.state_address
    pointer = ctypes.c_uint64.from_address(address + COUNTER_POINTER).value
    counter = np.ctypeslib.as_array((ctypes.c_uint64 * COUNTER_WORDS).from_address(pointer))
    position = np.ctypeslib.as_array((ctypes.c_uint32 * STRUCT_HALF_WORDS).from_address(address))
    return Dial(counter, position)


@inlined
def rewind(dial: Dial, purpose: int, chain: int, number: int) -> None:
    """Point a generator at the beginning of a stream."""
    dial.counter[0] = 0
    dial.counter[1] = number
    dial.counter[2] = chain
    dial.counter[3] = purpose
    dial.position[BUFFER_POSITION] = BUFFER_USED_UP
    dial.position[HAS_HALF_WORD] = 0  # none is left over


rewind_plainly = source_of(rewind)  # for Python


def _philox_key(seed: int) -> Words:
    return np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64)
