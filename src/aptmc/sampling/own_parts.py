"""Kernels, schedules and rules of the user's own: a store names them, and they are given again."""

from __future__ import annotations

from typing import Any

from aptmc.errors import InputError
from aptmc.result.archive import from_json


def stored_or_own(said: Any, given: Any, name: str) -> Any:
    """A setting as it was stored; the parts that are the user's own, and only they, as given."""
    if given is None or said is None:
        return from_json(said, name)
    if is_foreign(said):
        return given
    parts = said.get("of", {}) if isinstance(said, dict) else {}
    own = {part: getattr(given, part, None) for part in parts if is_foreign(parts[part])}
    if not own or type(given).__name__ != said["made"]:
        raise InputError(
            f"this run goes on with the {name} that it began with, {_shown(said)}, got {given!r}: "
            f"leave out {name}=..., which is for one of your own"
        )
    stored = {part: from_json(parts[part], name) for part in parts if part not in own}
    return type(given)(**own, **stored)


def is_foreign(value: Any) -> bool:
    """Whether a store knows only the name of a setting."""
    return isinstance(value, dict) and "foreign" in value


def without_foreign(value: Any) -> Any:
    """A setting as it is stored, less the parts of which only the names are known."""
    if not isinstance(value, dict):
        return value
    return {name: without_foreign(part) for name, part in value.items() if not is_foreign(part)}


def _shown(said: Any) -> str:
    return repr(from_json(without_foreign(said), "setting"))
