"""Checkpoints: a run as it was at one moment, in a file that is there as a whole or not at all.

There are two, of which the older one is replaced. So one is always sound, whatever was being
written when everything was killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from aptmc.errors import InputError, StoreDamaged
from aptmc.store.base import Arrays
from aptmc.store.blocks import Extent
from aptmc.store.checked import decode, encode

CHECKPOINTS = ("checkpoint-0", "checkpoint-1")


class Checkpoint(NamedTuple):
    """All that is needed to go on with a run from one moment."""

    number: int
    description: dict[str, Any]  # what never changes
    notes: dict[str, Any]
    arrays: Arrays

    def file_in(self, folder: Path) -> Path:
        """Where it goes: in place of the one before the last."""
        return folder / CHECKPOINTS[self.number % len(CHECKPOINTS)]

    def encoded(self) -> bytes:
        """The bytes of its file, for `replace_file`."""
        said = self._asdict()
        return encode(said, said.pop("arrays"))


def newest_checkpoint(path: Path, damage: list[StoreDamaged] | None) -> Checkpoint:
    """The last one that was written as a whole.

    :param damage: where to note one that cannot be read; an error otherwise
    """
    if path.is_file():
        raise InputError(f"{path} is a file, and a store of aptmc is a folder")
    found: list[Checkpoint] = []
    errors: list[StoreDamaged] = []
    for name in CHECKPOINTS:
        file = path / name
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            errors.append(StoreDamaged(file, str(error)))
            continue
        try:
            contents = decode(data, file)
        except StoreDamaged as error:
            errors.append(error)
            continue
        found.append(Checkpoint(arrays=contents.arrays, **contents.notes))
    if errors and damage is None:
        raise errors[0]
    if damage is not None:
        damage.extend(errors)
    if not found:
        if errors:
            raise errors[0]
        raise InputError(
            f"{path} is no store of aptmc, or its run ended before the first checkpoint"
            if path.exists()
            else f"there is no store {path}"
        )
    return max(found, key=lambda checkpoint: checkpoint.number)


def with_extents(checkpoint: Checkpoint, extents: Mapping[str, Extent]) -> Checkpoint:
    """The same with how far each table goes, and the rows that are in no chunk as yet."""
    tails = {
        f"tail/{name}/{column}": values
        for name, extent in extents.items()
        for column, values in extent.tail.items()
    }
    written = {name: extent.written for name, extent in extents.items()}
    return checkpoint._replace(
        notes={**checkpoint.notes, "written": written}, arrays={**checkpoint.arrays, **tails}
    )


def taken_extents(checkpoint: Checkpoint, tables: Iterable[str]) -> dict[str, Extent]:
    """How far each table goes; the rows in no chunk are taken out of the checkpoint's arrays."""
    arrays, written = checkpoint.arrays, checkpoint.notes["written"]
    extents = {}
    for name in tables:
        start = f"tail/{name}/"
        keys = [key for key in arrays if key.startswith(start)]
        tail = {key.removeprefix(start): arrays.pop(key) for key in keys}
        extents[name] = Extent(int(written[name]), tail)
    return extents
