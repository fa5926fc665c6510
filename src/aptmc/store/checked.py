"""Files that are there as a whole or not at all: named arrays and JSON, with a checksum.

Nothing in them is ever executed: no pickles. A file is written beside its place and then put there
in one step, so whoever reads it sees the old one or the new one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from aptmc.errors import StoreDamaged

MAGIC = b"aptmc 1\n"
LENGTH_BYTES, DIGEST_BYTES = 8, 32
KINDS = "biuf"  # of numpy types: no objects


class ArrayEntry(NamedTuple):
    """What the head of a file says of an array."""

    name: str
    kind: str  # as numpy writes it
    shape: list[int]


class Head(msgspec.Struct):
    """The JSON before the arrays: what they are, and notes."""

    notes: dict[str, Any]
    arrays: list[ArrayEntry]


class Contents(NamedTuple):
    """The notes and arrays that a file holds."""

    notes: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


def encode(notes: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """The bytes of a file with these notes and arrays, checksum included."""
    parts = [np.ascontiguousarray(array) for array in arrays.values()]
    listing = [
        ArrayEntry(name, part.dtype.str, list(array.shape))
        for (name, array), part in zip(arrays.items(), parts, strict=True)
    ]
    header = json.dumps({"notes": notes, "arrays": listing}).encode()
    body = b"".join(
        [MAGIC, len(header).to_bytes(LENGTH_BYTES, "little"), header, *(p.tobytes() for p in parts)]
    )
    return body + hashlib.sha256(body).digest()


def decode(data: bytes, path: Path) -> Contents:
    """What the bytes of a file say, or an error that names the file."""
    body, digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    if not body.startswith(MAGIC) or hashlib.sha256(body).digest() != digest:
        raise StoreDamaged(path, "its checksum is wrong")
    position = len(MAGIC) + LENGTH_BYTES
    length = int.from_bytes(body[len(MAGIC) : position], "little")
    try:
        # Not msgspec's own reader: JSON has no word for NaN, and the standard library's does.
        head = msgspec.convert(json.loads(body[position : position + length]), Head)
    except (ValueError, msgspec.ValidationError) as error:
        raise StoreDamaged(path, f"it is of no known kind ({error})") from error
    position += length
    arrays = {}
    for name, kind, shape in head.arrays:
        dtype = np.dtype(kind)
        if dtype.kind not in KINDS:
            raise StoreDamaged(path, f"it holds {name!r} of a kind that no store has, {kind!r}")
        count = int(np.prod(shape))
        column = np.frombuffer(body, dtype, count, position)
        arrays[name] = column.reshape(shape).copy()
        position += count * dtype.itemsize
    return Contents(head.notes, arrays)


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in its place in one step, so that not even a power cut leaves half of it."""
    beside = path.with_name(path.name + ".new")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    make_durable(path.parent)


def make_durable(path: Path) -> None:
    """See to it that a file or the entries of a folder have reached the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
