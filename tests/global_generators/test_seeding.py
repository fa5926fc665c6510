"""Generators that belong to the whole process are seeded from the key of each move."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numba import njit

from aptmc.global_generators import Seeding, left_alone
from aptmc.keys import Key


@njit
def compiled_normals(count):
    values = np.empty(count)
    for place in range(count):
        values[place] = np.random.normal()  # noqa: NPY002
    return values


@njit
def compiled_gauss(count):
    values = np.empty(count)
    for place in range(count):
        values[place] = random.gauss(0.0, 1.0)
    return values


WAYS = {
    "numpy": lambda count: np.random.normal(size=count),  # noqa: NPY002
    "random": lambda count: np.array([random.gauss(0.0, 1.0) for _ in range(count)]),
    "np.random in numba": compiled_normals,
    "random in numba": compiled_gauss,
}
every_way = pytest.mark.parametrize("draw", WAYS.values(), ids=WAYS)


@pytest.fixture(autouse=True)
def clean():
    with left_alone():
        yield


def drawn(seeding, draw, count, *, number=1, chain=0):
    return seeding.call(Key(1, chain, number).generator(), draw, count)


@every_way
def test_draws_depend_on_the_key_and_on_nothing_before(draw):
    seeding = Seeding(1)
    # Odd numbers leave the second of a pair of normals behind.
    first = drawn(seeding, draw, 3)
    draw(5)
    assert (drawn(seeding, draw, 3) == first).all()
    assert (drawn(Seeding(1), draw, 3) == first).all()
    others = [drawn(seeding, draw, 3, number=2), drawn(seeding, draw, 3, chain=1)]
    others.append(drawn(Seeding(2), draw, 3))
    together = np.concatenate([first, *others])
    assert np.unique(together).size == together.size


def test_no_two_generators_draw_the_same():
    together = np.concatenate([drawn(Seeding(1), draw, 100) for draw in WAYS.values()])
    assert np.unique(together).size == together.size
    uniform = [drawn(Seeding(1), lambda _: np.random.random(), 1)]  # noqa: NPY002
    uniform += [drawn(Seeding(1), lambda _: random.random(), 1)]
    assert uniform[0] != uniform[1]


@every_way
def test_what_is_seeded_are_good_normals(draw):
    seeding = Seeding(1)
    values = np.concatenate([drawn(seeding, draw, 7, number=number) for number in range(3000)])
    # Five standard errors, of mean and variance.
    assert abs(values.mean()) < 5.0 / np.sqrt(values.size)
    assert abs(values.var() - 1.0) < 5.0 * np.sqrt(2.0 / values.size)
    firsts = values[::7]
    assert abs(np.corrcoef(firsts[1:], firsts[:-1])[0, 1]) < 5.0 / np.sqrt(firsts.size)


@every_way
def test_whoever_begins_to_draw_late_draws_the_same(draw):
    calls = []

    def late(number):
        calls.append(number)
        return draw(2) if number >= 3 else np.zeros(2)

    seeding = Seeding(1)
    for number in range(1, 7):
        values = seeding.call(Key(1, 0, number).generator(), late, number)
        if number >= 3:
            assert (values == drawn(Seeding(1), draw, 2, number=number)).all()
    # Only the first that drew was computed twice, and only because nobody had drawn before.
    assert calls == [1, 2, 3, 3, 4, 5, 6]


def test_the_generator_that_is_given_goes_back_to_its_beginning_as_well():
    def both(rng, number):
        given = rng.random(3)
        return given, np.random.random() if number == 2 else 0.0  # noqa: NPY002

    seeding, streams = Seeding(1), []
    for number in (1, 2):
        rng = Key(1, 0, number).generator()
        given, _ = seeding.call(rng, both, rng, number)
        streams.append((given == Key(1, 0, number).generator().random(3)).all())
    assert all(streams)


def test_as_many_numbers_as_a_batch_has_are_seen():
    seeding = Seeding(1)
    drawn(seeding, lambda _: 0.0, 1)
    assert not seeding.needed
    drawn(seeding, lambda _: np.random.random(312), 1)  # noqa: NPY002
    assert seeding.needed == {0}


def test_a_function_that_seeds_by_itself_may():
    def own(seed):
        np.random.seed(seed)  # noqa: NPY002
        return np.random.random()  # noqa: NPY002

    assert drawn(Seeding(1), own, 5) == np.random.RandomState(5).random()


def test_a_failure_comes_with_the_numbers_of_its_key():
    def failing(_):
        raise ValueError(str(np.random.random()))  # noqa: NPY002

    words = []
    for _ in range(2):
        seeding = Seeding(1)
        drawn(seeding, lambda _: 0.0, 1, number=9)
        with pytest.raises(ValueError, match=r"^0\.") as caught:
            drawn(seeding, failing, 1)
        words.append(str(caught.value))
    assert words[0] == words[1] == str(drawn(Seeding(1), lambda _: np.random.random(), 1))  # noqa: NPY002


@every_way
def test_the_process_goes_on_with_its_own_generators(draw):
    np.random.seed(7)  # noqa: NPY002
    random.seed(7)
    np.random.normal()  # noqa: NPY002
    random.gauss(0.0, 1.0)
    before = np.random.get_state(), random.getstate()  # noqa: NPY002
    with left_alone():
        drawn(Seeding(1), draw, 3)
    after = np.random.get_state(), random.getstate()  # noqa: NPY002
    assert before[1] == after[1]
    assert all(np.array_equal(one, other) for one, other in zip(before[0], after[0], strict=True))


def test_generators_that_nobody_used_are_not_put_back():
    with left_alone():
        np.random.seed(7)  # noqa: NPY002
        expected = np.random.RandomState(7)
    assert np.random.random() == expected.random()  # noqa: NPY002


def test_torch_is_seeded_where_it_is_there():
    torch = pytest.importorskip("torch")
    first = drawn(Seeding(1), lambda _: torch.randn(3), 1)
    assert torch.equal(drawn(Seeding(1), lambda _: torch.randn(3), 1), first)
    assert not torch.equal(drawn(Seeding(1), lambda _: torch.randn(3), 1, number=2), first)
