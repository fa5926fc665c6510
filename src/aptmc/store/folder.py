"""The folder of a store: where it is, whether there is room for one, whether it is as it was."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from aptmc.errors import InputError, StoreDamaged
from aptmc.in_words import shortened
from aptmc.store.damage import note_damage, read_json
from aptmc.store.table import Table


def path_from(name: str, value: Any, example: str = "run.zarr") -> Path:
    """A path on this machine, or a clear error. A folder ~ is one's own."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise InputError(f"{name} must be a path, got {value!r}: use {name}={example!r}, say")
    text = str(os.fspath(value))
    if not text.strip() or "\0" in text:
        raise InputError(f"{name} must be a path, got {value!r}: use {name}={example!r}, say")
    if "://" in text:
        raise InputError(
            f"{name} must be on this machine, got {value!r}: copy it there when the run is over"
        )
    path = Path(text)
    try:
        path.exists()
    except OSError as error:  # a name that is too long
        raise InputError(f"{name} cannot be {shortened(text, 60)}: {error.strerror}") from None
    return path.expanduser()


def check_new(path: Path) -> None:
    """Refuse a path where there is something already, or no folder to put it in."""
    if path.is_file():
        raise InputError(f"{path} is a file, and a store is a folder: choose another name")
    if path.exists():
        raise InputError(
            f"{path} is there already: go on with it by aptmc.resume({str(path)!r}, problem, "
            "budget=...), or choose another name"
        )
    if path.parent.is_file():
        raise InputError(f"{path.parent} is a file: a store cannot be in it")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} of the store {path} is not there: make it")


def check_folder(
    path: Path,
    description: dict[str, Any],
    tables: Mapping[str, Table],
    digests: Mapping[str, dict[str, str]],
    damage: list[StoreDamaged] | None,
) -> None:
    """Whether everything is there, and descriptions are as they were written.

    :param damage: where to note what is not; an error otherwise
    """
    checks: list[Callable[[], None]] = [partial(_check_description, path, description)]
    for name, table in tables.items():
        checks += [table.check_chunks, partial(table.check_digests, digests[name])]
    for check in checks:
        try:
            check()
        except StoreDamaged as error:
            note_damage(damage, error)


def _check_description(path: Path, description: dict[str, Any]) -> None:
    file = path / "zarr.json"
    described = {"attributes": {"aptmc": description}, "zarr_format": 3, "node_type": "group"}
    if read_json(file) != described:
        raise StoreDamaged(file, "it does not describe this run")
