"""Checkpoints: a run as it was at one moment, in a file that is there as a whole or not at all.

There are two, of which the older one is replaced. So one is always sound, whatever was being
written when everything was killed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from aptmc.errors import InputError, StoreDamaged
from aptmc.store.base import Arrays
from aptmc.store.checked import decode, encode

CHECKPOINTS = ("checkpoint-0", "checkpoint-1")


class Checkpoint(NamedTuple):
    """What one of the two files holds."""

    number: int
    description: dict[str, Any]  # what never changes
    notes: dict[str, Any]
    arrays: Arrays

    def file_in(self, folder: Path) -> Path:
        """Where it goes: in place of the one before the last."""
        return folder / CHECKPOINTS[self.number % len(CHECKPOINTS)]

    def encoded(self) -> bytes:
        """The bytes of its file."""
        said = self._asdict()
        return encode(said, said.pop("arrays"))


def newest_checkpoint(path: Path, damage: list[StoreDamaged] | None) -> Checkpoint:
    """The last one that was written as a whole.

    :param damage: where to note one that cannot be read; an error otherwise
    """
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
