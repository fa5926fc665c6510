"""numpy's global generator: `np.random.normal` and its like, also as scipy uses them."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.random import mtrand
from typing_extensions import override

from aptmc.compiled import Words
from aptmc.errors import AptmcError
from aptmc.global_generators.generator import GlobalGenerator
from aptmc.global_generators.twister import STATE, Twister

_numpys: Any = mtrand  # the module behind `np.random`


@final
class OfNumpy(GlobalGenerator):
    """A twister of our own behind `np.random`; the user's is put back afterwards.

    It is of the kind that is there anyway, so that users may seed it themselves.
    """

    def __init__(self) -> None:
        self._own = np.random.MT19937(0)
        address = self._own.ctypes.state_address
        self.twister = self._words = Twister(address, address + 4 * STATE)
        inside: Any = self._own.state["state"]
        if not self._words.is_at(inside["pos"], inside["key"].tolist()):
            raise AptmcError(
                f"numpy {np.__version__} stores its twister in a way that aptmc does not know: "
                "please report this version, and use numpy 2.0 to 2.4 meanwhile"
            )

    @override
    def seed(self, words: Words) -> None:
        self._words.fill(words)
        _numpys.set_bit_generator(self._own)  # which forgets the second of a pair of normals

    @override
    def is_stale(self) -> bool:
        return self.was_used()

    @override
    def was_used(self) -> bool:
        return not self._words.is_as_filled() or _numpys.get_bit_generator() is not self._own

    @override
    def state(self) -> Any:
        return _numpys.get_bit_generator(), _numpys.get_state(legacy=False)

    @override
    def restore(self, state: Any) -> None:
        theirs, inside = state
        _numpys.set_bit_generator(theirs)
        _numpys.set_state(inside)
