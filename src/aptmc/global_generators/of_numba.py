"""What `np.random` and `random` mean inside a function that numba has compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, final

from numba import _helperlib
from typing_extensions import override

from aptmc.compiled import Words
from aptmc.global_generators.generator import GlobalGenerator
from aptmc.global_generators.twister import STATE, Twister

# An int for the position, the words, an int that says whether half a pair of normals is left.
WORDS_AT, HAS_NORMAL_AT = 4, 4 + 4 * STATE

_helpers: Any = _helperlib


@final
class OfNumba(GlobalGenerator):
    """One of the two that numba has in each thread, for `np.random` and for `random`."""

    def __init__(self, *, stands_for_numpy: bool) -> None:
        name = f"rnd_get_{'np' if stands_for_numpy else 'py'}_state_ptr"
        # To ask for the address has numba seed a generator that belongs to a process just begun,
        # which it would otherwise do when it is first used.
        self._wake: Callable[[], int] = getattr(_helpers, name)
        self._address = address = self._wake()
        twister = Twister(address + WORDS_AT, address)
        is_known = twister.is_at(*_helpers.rnd_get_state(address))
        self.twister = twister if is_known else None
        self._has_normal = ctypes.c_int32.from_address(address + HAS_NORMAL_AT)

    @override
    def seed(self, words: Words) -> None:
        self._wake()
        if self.twister is None:
            _helpers.rnd_seed(self._address, int(words[0]) & 0xFFFFFFFF)
            return
        self.twister.fill(words)
        self._has_normal.value = 0

    @override
    def is_stale(self) -> bool:
        return self.twister is None or self.was_used()

    @override
    def was_used(self) -> bool:
        return self.twister is not None and not self.twister.is_as_filled()

    @override
    def state(self) -> Any:
        return _helpers.rnd_get_state(self._address)

    @override
    def restore(self, state: Any) -> None:
        _helpers.rnd_set_state(self._address, state)
