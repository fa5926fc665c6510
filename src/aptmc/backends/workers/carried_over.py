"""What the coordinating process has set and its workers take over, because results depend on it.

Each is a library that has settings: how to see them, and how to set them in another process. A
library that is not loaded here is not loaded there either.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from aptmc.backends.workers.carried_arrays import Jax, Numpy, SpecialFunctions, Torch
from aptmc.backends.workers.carried_kind import CarriedOver
from aptmc.backends.workers.carried_python import (
    Decimals,
    Environment,
    Locale,
    Mpmath,
    System,
    Warnings,
)

ALL: tuple[CarriedOver, ...] = (
    Environment(),  # first: others may be loaded only now, and look there
    System(),
    Jax(),
    Torch(),
    Numpy(),
    SpecialFunctions(),
    Locale(),
    Decimals(),
    Mpmath(),
    Warnings(),
)


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
