"""Rows on disk: one zarr array for each column, which grows by whole chunks.

A chunk is written once and never touched again. What does not fill one is kept in memory, and goes
into the checkpoint (`store.disk`), so that nothing on disk is ever half-written. Chunks carry a
checksum of their own, and other programs that know zarr can read them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from aptmc.errors import StoreDamaged
from aptmc.store.checked import make_durable

CHUNK_ROWS = 1 << 15
Block = dict[str, npt.NDArray[Any]]  # rows, by column


class Column(NamedTuple):
    """What a column holds."""

    name: str
    kind: str  # as numpy writes it
    shape: tuple[int, ...] = ()  # of one row


class Extent(NamedTuple):
    """How far a table goes."""

    written: int  # rows in chunks on disk
    tail: Block  # the rows after them


@final
class Table:
    """A table in a folder of its own."""

    def __init__(self, folder: Path, columns: list[Column], extent: Extent | None = None) -> None:
        self.folder, self.columns = folder, columns
        written, tail = extent or Extent(0, _nothing(columns))
        self.written = written
        self._tail: list[Block] = [tail]
        self._waiting = _length(tail)  # rows in the tail

    def __len__(self) -> int:
        return self.written + self._waiting

    # --- writing ------------------------------------------------------------------------------

    def create(self) -> None:
        """Make empty arrays on disk."""
        import zarr
        from zarr.codecs import Crc32cCodec, ZstdCodec

        group = zarr.create_group(self.folder, zarr_format=3)
        for column in self.columns:
            group.create_array(
                column.name,
                shape=(0, *column.shape),
                chunks=(CHUNK_ROWS, *column.shape),
                dtype=column.kind,
                compressors=[ZstdCodec(level=1), Crc32cCodec()],
                dimension_names=["row", "place"][: 1 + len(column.shape)],
                config={"write_empty_chunks": True},
            )

    def append(self, block: Block) -> None:
        """Add rows, in memory."""
        rows = _length(block)
        if rows > 0:
            self._tail.append(block)
            self._waiting += rows

    def extent(self) -> Extent:
        """How far the table goes now."""
        self._tail = [_joined(self._tail, self.columns)]
        return Extent(self.written, self._tail[0])

    def write_chunks(self) -> None:
        """Write the chunks that are complete."""
        if self._waiting < CHUNK_ROWS:
            return
        import zarr

        tail = _joined(self._tail, self.columns)
        whole = self._waiting - self._waiting % CHUNK_ROWS
        group = zarr.open_group(self.folder, mode="r+", use_consolidated=False)
        for column in self.columns:
            described: Any = group[column.name]
            array = described.with_config({"write_empty_chunks": True})
            array.resize((self.written + whole, *column.shape))
            array[self.written : self.written + whole] = tail[column.name][:whole]
            for chunk in range(self.written // CHUNK_ROWS, (self.written + whole) // CHUNK_ROWS):
                make_durable(self.chunk_path(column, chunk))
        self._tail = [{name: values[whole:].copy() for name, values in tail.items()}]
        self.written += whole
        self._waiting -= whole

    # --- reading ------------------------------------------------------------------------------

    def blocks(self, names: list[str], damage: list[StoreDamaged] | None = None) -> Iterator[Block]:
        """Some columns of all rows, a chunk at a time.

        :param damage: where to note what cannot be read and is left out; an error otherwise
        """
        columns = [column for column in self.columns if column.name in names]
        if self.written > 0:
            arrays = {column.name: self._open(column) for column in columns}
            for chunk in range(self.written // CHUNK_ROWS):
                try:
                    yield {column.name: self._chunk(arrays, column, chunk) for column in columns}
                except StoreDamaged as error:
                    if damage is None:
                        raise
                    damage.append(error)
        tail = self.extent().tail
        yield {column.name: tail[column.name] for column in columns}

    def chunk_path(self, column: Column, chunk: int) -> Path:
        """Where a chunk of a column is."""
        place = self.folder / column.name / "c" / str(chunk)
        return place / "0" if column.shape else place

    def check_chunks(self) -> None:
        """Whether all chunks are there, and every description is as it was written."""
        for column in self.columns:
            for chunk in range(self.written // CHUNK_ROWS):
                if not self.chunk_path(column, chunk).is_file():
                    raise StoreDamaged(self.chunk_path(column, chunk), "it is missing")

    def digests(self) -> dict[str, str]:
        """Checksums of what zarr says of the columns, but for their lengths."""
        return {column.name: self._digest(column) for column in self.columns}

    def _digest(self, column: Column) -> str:
        path = self.folder / column.name / "zarr.json"
        description = read_json(path)
        if not isinstance(description, dict) or "shape" not in description:
            raise StoreDamaged(path, "it says nothing of a shape")
        del description["shape"]
        return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()

    def _open(self, column: Column) -> Any:
        import zarr

        path = self.folder / column.name
        try:
            array = zarr.open_array(path, mode="r")
        except Exception as error:
            raise StoreDamaged(path / "zarr.json", f"zarr cannot read it ({error})") from error
        if array.shape[0] < self.written or array.shape[1:] != column.shape:
            raise StoreDamaged(
                path / "zarr.json",
                f"it says that the shape is {array.shape}, for {self.written} rows",
            )
        return array

    def _chunk(self, arrays: dict[str, Any], column: Column, chunk: int) -> npt.NDArray[Any]:
        path = self.chunk_path(column, chunk)
        # zarr takes a missing chunk for one full of zeros.
        if not path.is_file():
            raise StoreDamaged(path, "it is missing")
        rows = slice(chunk * CHUNK_ROWS, (chunk + 1) * CHUNK_ROWS)
        try:
            values: npt.NDArray[Any] = np.asarray(arrays[column.name][rows])
        except Exception as error:
            raise StoreDamaged(path, str(error).rstrip(".")) from error
        return values


def read_json(path: Path) -> Any:
    """What a JSON file says, or an error that names it."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise StoreDamaged(path, f"it cannot be read ({error})") from error


def _nothing(columns: list[Column]) -> Block:
    return {column.name: np.empty((0, *column.shape), column.kind) for column in columns}


def _length(block: Block) -> int:
    return len(next(iter(block.values())))


def _joined(blocks: list[Block], columns: list[Column]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    return {
        column.name: np.concatenate([block[column.name] for block in blocks]).astype(
            column.kind, copy=False
        )
        for column in columns
    }
