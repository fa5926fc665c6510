"""The memory of a Mersenne twister, which numpy, Python and numba all have, each laid out its own
way.

To write there takes a microsecond or two, where the public ways to seed take four to ninety.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import final

import numpy as np

from aptmc.compiled import Words

STATE = 624  # words of 32 bits
ALL_USED = 624  # the position at which the next word is the first of a new batch


@final
class Twister:
    """Views of a twister's state and position.

    :param state: the address of its words
    :param position: the address of its position in them
    """

    def __init__(self, state: int, position: int) -> None:
        self._words = np.ctypeslib.as_array((ctypes.c_uint32 * STATE).from_address(state))
        # For a quick look: these give Python's own numbers.
        self.position = ctypes.c_int32.from_address(position)
        self.beginning = ctypes.c_uint32.from_address(state)
        self.first = -1  # of the words that were last filled in

    def is_at(self, position: int, words: Sequence[int]) -> bool:
        """Whether this is what stands there: if not, the layout is another."""
        return self.position.value == position and self._words.tolist() == list(words)

    def fill(self, words: Words) -> None:
        """A new state, of which nothing is used yet."""
        self._words[:] = words.view(np.uint32)
        self._words[0] |= 0x80000000  # of the first word only this bit counts: never all zeros
        self.position.value = ALL_USED
        self.first = self.beginning.value

    def forget(self) -> None:
        """Others go on with it: whatever stands there is not ours."""
        self.first = -1

    def is_as_filled(self) -> bool:
        """Whether nobody has drawn from it since. Even one number makes all words new."""
        return self.position.value == ALL_USED and self.beginning.value == self.first
