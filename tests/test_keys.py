"""Random keys: any stream can be opened again, by anyone, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aptmc
from aptmc import keys
from aptmc.keys import EXCHANGE, HOLD, MOVE, START, Key, Purpose, check_seed, open_streams, rewind

Use = Callable[[np.random.Generator], Any]

KEYS = st.builds(
    Key,
    seed=st.integers(0, 2**130),
    chain=st.integers(0, 2**40),
    number=st.integers(0, 2**62),
    purpose=st.sampled_from([int(purpose) for purpose in Purpose]),
)
# Each leaves Philox's buffer of four words, and its left-over half word, in another state.
USES = st.lists(
    st.sampled_from(
        [
            lambda rng: rng.random(1, dtype=np.float32),
            lambda rng: rng.random(3, dtype=np.float32),
            lambda rng: rng.integers(2**32, dtype=np.uint32),
            lambda rng: rng.random(1),
            lambda rng: rng.random(6),
            lambda rng: rng.standard_normal(5),
            lambda rng: rng.permutation(7),
        ]
    ),
    max_size=5,
)
NEIGHBOURS = [
    Key(seed, chain, number, purpose)
    for seed in (0, 1)
    for chain in (0, 1)
    for number in (0, 1)
    for purpose in (MOVE, HOLD, EXCHANGE, START)
]


@numba.njit
def draws_in_compiled_code(dial, purpose, chain, number, rng):
    rewind(dial, purpose, chain, number)
    values = np.empty(8)
    for i in range(0, 8, 2):
        values[i] = rng.random()
        values[i + 1] = rng.standard_normal()
    return values


def assorted_draws(rng: np.random.Generator) -> npt.NDArray[np.float64]:
    return np.concatenate(
        [
            rng.random(3, dtype=np.float32),  # an odd number of half words
            rng.random(5),
            rng.standard_normal(9),
            rng.integers(0, 2**40, size=3),
            rng.random(1, dtype=np.float32),
            rng.exponential(size=4),
        ]
    )


def words(key: Key, count: int) -> set[int]:
    return set(key.generator().bit_generator.random_raw(count).tolist())


@given(key=KEYS, uses=USES)
def test_a_rewound_generator_equals_a_fresh_one_bit_for_bit(key: Key, uses: list[Use]) -> None:
    streams = open_streams(key.seed)
    for use in uses:
        use(streams.generator)
    rewind(streams.dial, key.purpose, key.chain, key.number)
    np.testing.assert_array_equal(
        assorted_draws(streams.generator), assorted_draws(key.generator())
    )


@given(keys=st.lists(KEYS, min_size=1, max_size=6))
def test_one_generator_serves_all_streams_of_its_seed_in_any_order(keys: list[Key]) -> None:
    seed = keys[0].seed
    streams = open_streams(seed)
    for key in [*keys, *reversed(keys)]:
        rewind(streams.dial, key.purpose, key.chain, key.number)
        fresh = key._replace(seed=seed).generator()
        np.testing.assert_array_equal(assorted_draws(streams.generator), assorted_draws(fresh))


def test_compiled_code_draws_what_plain_python_draws() -> None:
    streams = open_streams(5)
    for key in (Key(5, 0, 1), Key(5, 3, 2**40, HOLD), Key(5, 7, 0, EXCHANGE)):
        streams.generator.random(1, dtype=np.float32)
        ours = draws_in_compiled_code(
            streams.dial, key.purpose, key.chain, key.number, streams.generator
        )
        fresh = key.generator()
        plain = [draw() for _ in range(4) for draw in (fresh.random, fresh.standard_normal)]
        np.testing.assert_array_equal(ours, plain)


@given(key=KEYS)
def test_a_key_opens_the_same_stream_every_time(key: Key) -> None:
    np.testing.assert_array_equal(assorted_draws(key.generator()), assorted_draws(key.generator()))


def test_a_key_is_for_a_move_unless_it_says_otherwise() -> None:
    assert Key(1, 2, 3) == Key(seed=1, chain=2, number=3, purpose=MOVE)


def test_keys_that_differ_in_one_field_share_no_random_word() -> None:
    # 32 streams of 64 words of 64 bits: chance makes two of them equal once in 10^13 times.
    for one, other in combinations([words(key, 64) for key in NEIGHBOURS], 2):
        assert one.isdisjoint(other)


@given(one=KEYS, other=KEYS)
def test_different_keys_give_different_streams(one: Key, other: Key) -> None:
    if one != other:
        assert words(one, 8).isdisjoint(words(other, 8))


@pytest.mark.parametrize("seed", [0, 1, 2**200, np.int64(7), np.uint8(255)])
def test_any_integer_from_zero_on_is_a_seed(seed: Any) -> None:
    assert check_seed(seed) == seed
    assert type(check_seed(seed)) is int


@pytest.mark.parametrize(
    "seed", [-1, np.int64(-5), 1.5, 2.0, np.float64(1), True, np.True_, None, "1", [1], 1j]
)
def test_what_is_no_seed_is_refused(seed: Any) -> None:
    with pytest.raises(aptmc.InputError) as refusal:
        check_seed(seed)
    assert repr(seed) in str(refusal.value)
    assert "use seed=1" in str(refusal.value)


# --- numpy's memory -----------------------------------------------------------------------------


@given(USES, st.integers(0, 2**40), st.integers(0, 2**62))
def test_what_is_known_of_numpys_memory_is_what_its_public_state_says(uses, chain, number):
    streams = open_streams(1)
    for use in uses:
        use(streams.generator)
    state, dial = streams.generator.bit_generator.state, streams.dial
    assert dial.counter.tolist() == state["state"]["counter"].tolist()
    assert dial.position[keys.BUFFER_POSITION] == state["buffer_pos"]
    assert dial.position[keys.HAS_HALF_WORD] == state["has_uint32"]
    rewind(dial, HOLD, chain, number)
    fresh = Key(1, chain, number, HOLD).generator().bit_generator.state
    state = streams.generator.bit_generator.state
    assert {name: np.array(value).tolist() for name, value in state["state"].items()} == {
        name: np.array(value).tolist() for name, value in fresh["state"].items()
    }
    for name in ("bit_generator", "buffer_pos", "has_uint32"):
        assert state[name] == fresh[name]


def test_a_numpy_that_keeps_it_elsewhere_is_refused(monkeypatch):
    def rewind_elsewhere(dial, purpose, chain, number):
        dial.counter[:] = 0, number, chain, purpose
        dial.position[keys.BUFFER_POSITION + 1] = 4

    monkeypatch.setattr(keys, "rewind_plainly", rewind_elsewhere)
    with pytest.raises(aptmc.AptmcError, match="stores Philox in a way that aptmc does not know"):
        open_streams(1)
