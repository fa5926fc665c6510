"""Libraries of other languages: loaded when they are used; what to install if one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from aptmc.errors import InputError


def library(name: str, *, extra: str, asked_by: str) -> Any:
    """A library, or an error that says how to get it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != name.partition(".")[0]:
            raise  # it is here, and something that it needs is not
        raise InputError(
            f"aptmc.{asked_by} needs {name}, which is not installed: pip install 'aptmc[{extra}]'"
        ) from None
