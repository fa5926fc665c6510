"""Functions that only JAX itself can compute, called from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np


@final
class ThroughJax:
    """A function of JAX, compiled by it when it is first called in a process.

    It travels without what JAX has made of it. That belongs to a process, and JAX has threads that
    a copy of the process would lack.
    """

    def __init__(self, function: Callable[..., Any], *, has_key: bool = False) -> None:
        self.function, self.has_key = function, has_key
        self._compiled: Callable[..., Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The user's function alone."""
        return self.__dict__ | {"_compiled": None}

    def __call__(self, theta: Any, *others: Any) -> Any:
        """With numpy's arrays, and with a key in place of a generator."""
        import jax

        if self._compiled is None:
            self._compiled = jax.jit(self.function)
        if self.has_key:
            rng, *others = others  # type: ignore[assignment]
            others = (jax.random.wrap_key_data(words_from(rng), impl="threefry2x32"), *others)
        return jax.tree.map(np.asarray, self._compiled(theta, *others))


def words_from(rng: Any) -> Any:
    """A key for JAX, drawn from a generator of numpy."""
    words = np.empty(2, np.uint32)
    for place in range(2):
        words[place] = np.uint32(np.floor(rng.random() * 4294967296.0))
    return words
