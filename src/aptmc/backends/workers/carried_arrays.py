"""Libraries for arrays: how their numbers are rounded, and how many bits they have."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, final

import numpy as np
from typing_extensions import override

from aptmc.backends.workers.carried_kind import CarriedOver
from aptmc.processors import processors_available


@final
class Numpy(CarriedOver):
    """numpy: what is an error and what a warning, and how numbers are printed."""

    module = "numpy"

    @override
    def seen(self, library: Any) -> dict[str, Any]:
        return {"errors": np.geterr(), "printing": np.get_printoptions()}

    @override
    def set(self, settings: Any) -> None:
        np.seterr(**settings["errors"])
        with suppress(TypeError):  # of another version, which knows other options
            np.set_printoptions(**settings["printing"])


@final
class SpecialFunctions(CarriedOver):
    """scipy.special: what is an error. Workers load it for that only if somebody has set it."""

    module = "scipy.special"

    @override
    def seen(self, library: Any) -> dict[str, Any] | None:
        if not hasattr(library, "geterr"):  # it is only being loaded
            return None
        found: dict[str, Any] = library.geterr()
        is_set = any(what != "ignore" for name, what in found.items() if name != "memory")
        return found if is_set else None

    @override
    def set(self, settings: Any) -> None:
        with suppress(KeyError, ValueError):  # of another version, which knows other errors
            import_module(self.module).seterr(**settings)


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


@final
class Torch(CarriedOver):
    """torch: the kind of its numbers, how products are rounded, and its threads.

    Workers have one thread each, unless somebody has chosen another number than torch does itself.
    """

    module = "torch"

    @override
    def seen(self, library: Any) -> dict[str, Any] | None:
        if not hasattr(library, "get_num_threads"):  # it is only being loaded
            return None
        threads = library.get_num_threads()
        is_chosen = threads not in (processors_available(), os.cpu_count(), _cores())
        return {
            "dtype": str(library.get_default_dtype()).removeprefix("torch."),
            "precision": library.get_float32_matmul_precision(),
            "deterministic": library.are_deterministic_algorithms_enabled(),
            "threads": threads if is_chosen else 1,
        }

    @override
    def set(self, settings: Any) -> None:
        torch = import_module(self.module)
        torch.set_default_dtype(getattr(torch, settings["dtype"]))
        torch.set_float32_matmul_precision(settings["precision"])
        torch.use_deterministic_algorithms(settings["deterministic"])
        torch.set_num_threads(settings["threads"])


def _cores() -> int:
    """About as many as torch takes where each core has two threads."""
    return max((os.cpu_count() or 1) // 2, 1)
