"""Python's own settings, arguments and warnings among them, and how exact its numbers are."""

from __future__ import annotations

import decimal
import locale
import os
import re
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from operator import attrgetter
from typing import Any, final

from typing_extensions import override

from aptmc.backends.workers.carried_kind import CarriedOver

# Where workers find modules and how many threads their libraries start is not the user's to say
# for another machine.
NOT_CARRIED = re.compile("PYTHON|APTMC_|.*_NUM_THREADS|VECLIB_MAXIMUM_THREADS")


@final
class System(CarriedOver):
    """The arguments of the program, and how deep functions may call each other."""

    module = "sys"

    @override
    def seen(self, library: Any) -> dict[str, Any]:
        return {"arguments": list(map(str, sys.argv)), "depth": sys.getrecursionlimit()}

    @override
    def set(self, settings: Any) -> None:
        sys.argv[:] = settings["arguments"]
        sys.setrecursionlimit(max(settings["depth"], sys.getrecursionlimit()))


@final
class Environment(CarriedOver):
    """What the program itself has changed in its environment.

    Workers on this machine have all of it anyway; those elsewhere have an environment of their own,
    which stays as it is but for that.
    """

    module = "os"

    @override
    def seen(self, library: Any) -> dict[str, str | None] | None:
        at_first = _environment_at_first()
        if at_first is None:
            return None
        names = at_first.keys() | os.environ.keys()
        changed = {name for name in names if at_first.get(name) != os.environ.get(name)}
        return {name: os.environ.get(name) for name in changed if not NOT_CARRIED.match(name)}

    @override
    def set(self, settings: Any) -> None:
        for name, value in settings.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@final
class Warnings(CarriedOver):
    """Which warnings are shown, are errors, or are nothing.

    Kinds of warnings go by name, since a worker may have no need of the library that defines them.
    """

    module = "warnings"

    @override
    def seen(self, library: Any) -> list[tuple[str, str, tuple[str, str], str, int]]:
        return [
            (action, _pattern(message), _name(category), _pattern(module), line)
            for action, message, category, module, line in warnings.filters
        ]

    @override
    def set(self, settings: Any) -> None:
        warnings.resetwarnings()
        for action, message, name, module, line in reversed(settings):
            category = _category(*name, is_needed=action == "error")
            if category is not None:
                warnings.filterwarnings(action, message, category, module, line)


@final
class Locale(CarriedOver):
    """How numbers, dates and letters are written and sorted."""

    module = "locale"

    @override
    def seen(self, library: Any) -> str:
        return locale.setlocale(locale.LC_ALL)

    @override
    def set(self, settings: Any) -> None:
        with suppress(locale.Error):  # another machine may not have it
            locale.setlocale(locale.LC_ALL, settings)


@final
class Decimals(CarriedOver):
    """How many digits decimal numbers have, and what is an error among them."""

    module = "decimal"

    @override
    def seen(self, library: Any) -> decimal.Context:
        return decimal.getcontext()

    @override
    def set(self, settings: Any) -> None:
        decimal.setcontext(settings)


@final
class Mpmath(CarriedOver):
    """How many bits the numbers of mpmath have, and so those of sympy that are evaluated."""

    module = "mpmath"

    @override
    def seen(self, library: Any) -> int:
        return int(library.mp.prec)

    @override
    def set(self, settings: Any) -> None:
        with suppress(ImportError):  # another machine may have no need of it
            import_module("mpmath").mp.prec = settings


def _name(category: Any) -> tuple[str, str]:
    return category.__module__, category.__qualname__


def _category(module: str, name: str, *, is_needed: bool) -> type[Warning] | None:
    """A kind of warnings, if its library is loaded or the filter may change results."""
    if module not in sys.modules and not is_needed:
        return None
    try:
        found: Any = attrgetter(name)(import_module(module))
    except (ImportError, AttributeError):  # defined in the program itself, say
        return None
    return found if isinstance(found, type) and issubclass(found, Warning) else None


def _pattern(found: Any) -> str:
    """What a filter looks for, as `warnings.filterwarnings` takes it."""
    if found is None:
        return ""
    return str(found.pattern) if isinstance(found, re.Pattern) else re.escape(found) + r"\Z"


def _environment_at_first() -> dict[str, str] | None:
    """With which this process was started, where the system tells."""
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return None
    pairs = (os.fsdecode(entry).partition("=") for entry in entries if entry)
    return {name: value for name, _, value in pairs}
