"""What the coordinating process has set and its workers take over, because results depend on it.

Each is a library that has settings: how to see them, and how to set them in another process. A
library that is not loaded here is not loaded there either.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, final

from typing_extensions import override


class CarriedOver(ABC):
    """Settings of a library."""

    module: str  # the library, by name

    @abstractmethod
    def seen(self, library: Any) -> Any:
        """The settings that matter as they are here; None if there are none to carry over."""

    @abstractmethod
    def set(self, settings: Any) -> None:
        """Make them the settings of this process."""


@final
class Jax(CarriedOver):
    """JAX: whether numbers have 64 bits, and how products of matrices are rounded."""

    module = "jax"
    names = (
        "jax_enable_x64",
        "jax_default_matmul_precision",
        "jax_numpy_dtype_promotion",
        "jax_default_prng_impl",
        "jax_threefry_partitionable",
    )

    @override
    def seen(self, library: Any) -> dict[str, Any]:
        found = {name: getattr(library.config, name, None) for name in self.names}
        # Some are members of an enumeration, which only JAX itself could read again.
        plain = {name: getattr(value, "value", value) for name, value in found.items()}
        return {name: value for name, value in plain.items() if isinstance(value, bool | str)}

    @override
    def set(self, settings: Any) -> None:
        """By way of the environment, which JAX reads when the problem loads it, if it does.

        A process that has loaded it, a worker of a cluster perhaps, is told.
        """
        for name, value in settings.items():
            os.environ[name.upper()] = str(value)
            if self.module in sys.modules:
                with suppress(AttributeError):  # another version, which does not know it
                    import_module(self.module).config.update(name, value)


ALL: tuple[CarriedOver, ...] = (Jax(),)


def seen_here(kinds: Sequence[CarriedOver] = ALL) -> dict[str, Any]:
    """The settings of this process, by library."""
    found = {
        kind.module: kind.seen(sys.modules[kind.module])
        for kind in kinds
        if kind.module in sys.modules
    }
    return {module: settings for module, settings in found.items() if settings is not None}


def take_over(settings: Mapping[str, Any], kinds: Sequence[CarriedOver] = ALL) -> None:
    """Make the settings of another process those of this one."""
    for kind in kinds:
        if kind.module in settings:
            kind.set(settings[kind.module])
