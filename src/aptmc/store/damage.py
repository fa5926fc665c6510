"""What is damaged in a store: found by checksums, and either an error or noted and left out."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from aptmc.errors import StoreDamaged


def note_damage(damage: list[StoreDamaged] | None, error: StoreDamaged) -> None:
    """Note what is left out, once; where nothing may be left out, it is an error."""
    if damage is None:
        raise error
    if all(error.path != known.path for known in damage):
        damage.append(error)


def digest_of(path: Path) -> str:
    """A checksum of what zarr says of an array or a group, but for its length."""
    description = read_json(path)
    if not isinstance(description, dict):
        raise StoreDamaged(path, "it describes nothing")
    description.pop("shape", None)
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def read_json(path: Path) -> Any:
    """What a JSON file says, or an error that names it."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise StoreDamaged(path, f"it cannot be read ({error})") from error
