"""Seed the generators of this process from the key of each move, if anyone uses them.

One that nobody has used is not seeded again, only watched, which takes far less time. When somebody
does, the move is computed once more, seeded. So what comes of a move depends on its key alone, and
functions that draw from what they are given hardly pay for the others.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, final

import numpy as np

from aptmc.global_generators.generator import WORDS, GlobalGenerator
from aptmc.global_generators.of_numba import OfNumba
from aptmc.global_generators.of_numpy import OfNumpy
from aptmc.global_generators.of_python import OfPython
from aptmc.global_generators.of_torch import OfTorch
from aptmc.global_generators.twister import ALL_USED
from aptmc.keys import COUNTER_WORDS, FOR_OTHERS, Dial, dial_of, open_streams, rewind_plainly


@final
class _Generators:
    """Those of this thread, and what they were like before anything was computed here."""

    def __init__(self) -> None:
        self.all: list[GlobalGenerator] = [
            OfNumpy(),
            OfPython(),
            OfNumba(stands_for_numpy=True),
            OfNumba(stands_for_numpy=False),
            OfTorch(),
        ]
        self._twisters = [one.twister for one in self.all if one.twister is not None]
        # Where one of them cannot be watched at a glance, each is asked.
        self._is_simple = len(self._twisters) == len(self.all) - 1
        self.before: list[Any] | None = None

    def are_untouched(self) -> bool:
        """Whether, at a glance, nobody has done anything to any of them since they were seeded."""
        for twister in self._twisters:
            if twister.position.value != ALL_USED or twister.beginning.value != twister.first:
                return False
        return self._is_simple and "torch" not in sys.modules

    def stale(self) -> set[int]:
        """The places of those that have to be seeded."""
        return {place for place, one in enumerate(self.all) if one.is_stale()}

    def keep(self) -> None:
        """Note what they are like, unless that is known."""
        if self.before is None:
            self.before = [generator.state() for generator in self.all]

    def restore(self) -> None:
        """As they were, if anything was done to them."""
        if self.before is not None:
            for generator, state in zip(self.all, self.before, strict=True):
                generator.restore(state)
            for twister in self._twisters:
                twister.forget()
            self.before = None


_own = threading.local()


def _here() -> _Generators:
    found: _Generators | None = _own.__dict__.get("generators")
    if found is None:
        found = _own.generators = _Generators()
    return found


@contextmanager
def left_alone() -> Iterator[None]:
    """Moves that are computed in this process leave its own generators as they were."""
    try:
        yield
    finally:
        _here().restore()


@final
class Seeding:
    """Calls functions with all global generators seeded from a key. For one thread.

    :param seed: of the run
    :param always: whether all are seeded for every call, so that none is computed once more; the
        generator that is given may then stand anywhere in its stream
    """

    def __init__(self, seed: int, *, always: bool = False) -> None:
        # The generators that somebody has used, by their place.
        self.needed: set[int] = set(range(len(_here().all))) if always else set()
        self._streams = open_streams(seed)
        self._given: np.random.Generator | None = None
        self._dial: Dial | None = None

    def around(self, function: Callable[..., Any], place: int) -> Callable[..., Any]:
        """The same function, seeded.

        :param place: of the argument that is the generator it is given; that one stands at the
            beginning of its stream, whose key is taken for all
        """

        def seeded(*arguments: Any) -> Any:
            return self.call(arguments[place], function, *arguments)

        return seeded

    def call(self, rng: np.random.Generator, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function gives when all generators are seeded from where `rng` stands."""
        everyone = _here()
        seeded = self.needed
        if seeded or not everyone.are_untouched():
            everyone.keep()
            seeded = seeded | everyone.stale()
            self._seed(everyone.all, seeded, rng)
        try:
            given = function(*arguments)
        except Exception:
            if everyone.are_untouched() or self._learn(everyone) <= seeded:
                raise
        else:
            if everyone.are_untouched() or self._learn(everyone) <= seeded:
                return given
        # Somebody has used what was only watched.
        rewind_plainly(self._dial_of(rng), *self._key(rng))
        self._seed(everyone.all, self.needed, rng)
        return function(*arguments)

    def _dial_of(self, rng: np.random.Generator) -> Dial:
        if rng is not self._given:
            self._given, self._dial = rng, dial_of(rng.bit_generator)
        assert self._dial is not None
        return self._dial

    def _key(self, rng: np.random.Generator) -> tuple[int, int, int]:
        """Purpose, chain and number of the stream in which a generator stands."""
        counter = self._dial_of(rng).counter
        return int(counter[3]), int(counter[2]), int(counter[1])

    def _seed(
        self, everyone: list[GlobalGenerator], places: set[int], rng: np.random.Generator
    ) -> None:
        purpose, chain, number = self._key(rng)
        dial, source = self._streams.dial, self._streams.generator.bit_generator
        for place in places:
            rewind_plainly(dial, purpose + FOR_OTHERS, chain, number)
            # Each has its own part of the stream, whoever else is seeded.
            dial.counter[0] = place * WORDS // COUNTER_WORDS
            everyone[place].seed(source.random_raw(WORDS))

    def _learn(self, everyone: _Generators) -> set[int]:
        """Those that somebody has used in this call, and so may in others."""
        used = {place for place, one in enumerate(everyone.all) if one.was_used()}
        self.needed = self.needed | used
        return used
