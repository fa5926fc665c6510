"""Who reads a problem may have to load scipy's distributions, which takes most of a second.

The ancestor can do so once for all runs, if it is told in time.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

NAME = "scipy.stats"


def needs_distributions(payload: bytes, modules: Mapping[str, ModuleType] | None = None) -> bool:
    """Whether a pickled problem names them, or a module of the user's that has imported them.

    Modules of the user's are loaded anew for each run, since they may have been changed meanwhile;
    what these import of libraries need not be.

    :param modules: those of this process, by default
    """
    if NAME.encode() in payload:
        return True
    known = dict(sys.modules if modules is None else modules)
    # A problem may carry much data: what is looked for in it are the few names of the user's.
    return NAME in known and any(
        _is_users(module) and _has_imported(module) and name.encode() in payload
        for name, module in known.items()
    )


def _is_users(module: Any) -> bool:
    """Whether it lies outside of the environment; `__main__` travels by value."""
    path, name = getattr(module, "__file__", None), getattr(module, "__name__", "__main__")
    is_installed = path is None or path.startswith((sys.prefix, sys.base_prefix))
    return not is_installed and name.partition(".")[0] not in ("__main__", "aptmc")


def _has_imported(module: ModuleType) -> bool:
    """Whether it names them, or something of them."""
    return any(
        (value.__name__ if isinstance(value, ModuleType) else _home(value)).startswith(NAME)
        for value in list(vars(module).values())
    )


def _home(value: Any) -> str:
    """The module that something comes from, or that its kind does."""
    home = getattr(value, "__module__", None) if callable(value) else None
    return home if isinstance(home, str) and home.startswith(NAME) else type(value).__module__
