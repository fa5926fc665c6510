"""Rows on disk: one zarr array for each column, which grows by whole chunks.

A chunk is written once and never touched again. What does not fill one is kept in memory, and goes
into the checkpoint (`store.disk`), so that nothing on disk is ever half-written. Chunks carry a
checksum of their own, and other programs that know zarr can read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from aptmc.errors import StoreDamaged
from aptmc.store.blocks import Block, Column, Extent, joined_blocks, length, no_rows
from aptmc.store.checked import make_durable
from aptmc.store.damage import digest_of, note_damage

if TYPE_CHECKING:
    import zarr

CHUNK_ROWS = 1 << 15  # of new stores


@final
class Table:
    """Rows in a folder: one zarr array for each column, and a tail in memory."""

    def __init__(
        self, folder: Path, columns: list[Column], chunk_rows: int, extent: Extent | None = None
    ) -> None:
        self.folder, self.columns, self.chunk_rows = folder, columns, chunk_rows
        written, tail = extent or Extent(0, no_rows(columns))
        self.written = written
        self._tail: list[Block] = [tail]
        self._waiting = length(tail)  # rows in the tail

    def __len__(self) -> int:
        return self.written + self._waiting

    # --- writing ------------------------------------------------------------------------------

    def create(self) -> None:
        """Make empty arrays on disk, one for each column."""
        import zarr
        from zarr.codecs import Crc32cCodec, ZstdCodec

        group = zarr.create_group(self.folder, zarr_format=3)
        for column in self.columns:
            group.create_array(
                column.name,
                shape=(0, *column.shape),
                chunks=(self.chunk_rows, *column.shape),
                dtype=column.kind,
                compressors=[ZstdCodec(level=1), Crc32cCodec()],
                dimension_names=["row", "place"][: 1 + len(column.shape)],
                config={"write_empty_chunks": True},
            )
            make_durable(self.folder / column.name / "zarr.json")
        make_durable(self.folder / "zarr.json")

    def append(self, block: Block) -> None:
        """Add rows to the tail, in memory."""
        rows = length(block)
        if rows > 0:
            self._tail.append(block)
            self._waiting += rows

    def extent(self) -> Extent:
        """How many rows are on disk, and the tail in one piece."""
        self._tail = [joined_blocks(self._tail, self.columns)]
        return Extent(self.written, self._tail[0])

    def write_chunks(self) -> list[Path]:
        """Write the chunks that are complete; gives what has to be made durable."""
        if self._waiting < self.chunk_rows:
            return []
        written: list[Path] = []
        tail = joined_blocks(self._tail, self.columns)
        whole = self._waiting - self._waiting % self.chunk_rows
        first, last = self.written // self.chunk_rows, (self.written + whole) // self.chunk_rows
        for column in self.columns:
            array_folder = self.folder / column.name
            array = self.resized(column, self.written + whole)
            array[self.written : self.written + whole] = tail[column.name][:whole]
            chunks = [self.chunk_path(column, chunk) for chunk in range(first, last)]
            folders = dict.fromkeys([*(path.parent for path in chunks), array_folder / "c"])
            written += [*chunks, *folders, array_folder / "zarr.json"]
        self._tail = [{name: values[whole:].copy() for name, values in tail.items()}]
        self.written += whole
        self._waiting -= whole
        return written

    # --- reading ------------------------------------------------------------------------------

    def blocks(self, names: list[str], damage: list[StoreDamaged] | None = None) -> Iterator[Block]:
        """Some columns of all rows, a chunk at a time.

        :param damage: where to note what cannot be read and is left out; an error otherwise
        """
        columns = [column for column in self.columns if column.name in names]
        with ExitStack() as stack:
            arrays = {
                column.name: self._open(column, damage, stack)
                for column in (columns if self.written > 0 else [])
            }
            for chunk in range(self.written // self.chunk_rows):
                try:
                    block = {column.name: self._chunk(arrays, column, chunk) for column in columns}
                except StoreDamaged as error:
                    note_damage(damage, error)
                else:
                    yield block
        tail = self.extent().tail
        yield {column.name: tail[column.name] for column in columns}

    def chunk_path(self, column: Column, chunk: int) -> Path:
        """The file of a chunk of a column."""
        place = self.folder / column.name / "c" / str(chunk)
        return place / "0" if column.shape else place

    def check_chunks(self) -> None:
        """An error that names the first chunk that is missing."""
        for column in self.columns:
            for chunk in range(self.written // self.chunk_rows):
                if not self.chunk_path(column, chunk).is_file():
                    raise StoreDamaged(self.chunk_path(column, chunk), "it is missing")

    def digests(self) -> dict[str, str]:
        """Checksums of what zarr says of the table and its columns, but for their lengths."""
        places = {".": self.folder, **{c.name: self.folder / c.name for c in self.columns}}
        return {name: digest_of(folder / "zarr.json") for name, folder in places.items()}

    def check_digests(self, expected: dict[str, str]) -> None:
        """Whether every description is as it was written."""
        for name, digest in self.digests().items():
            if digest != expected[name]:
                raise StoreDamaged(self.folder / name / "zarr.json", "it is not what was written")

    def _open(
        self, column: Column, damage: list[StoreDamaged] | None, stack: ExitStack
    ) -> zarr.Array[Any]:
        try:
            return self._opened(column)
        except StoreDamaged as error:
            note_damage(damage, error)
        # Chunks can be read all the same: what describes them is made anew, somewhere else.
        place = Path(stack.enter_context(TemporaryDirectory()))
        again = Table(place / self.folder.name, [column], self.chunk_rows)
        again.create()
        again.resized(column, self.written)
        chunks = (self.folder / column.name / "c").resolve()
        (again.folder / column.name / "c").symlink_to(chunks, target_is_directory=True)
        again.written = self.written
        return again._opened(column)

    def resized(self, column: Column, rows: int) -> zarr.Array[Any]:
        """The array of a column, with room for so many rows."""
        import zarr

        path = self.folder / column.name
        array = zarr.open_array(path, mode="r+").with_config({"write_empty_chunks": True})
        array.resize((rows, *column.shape))
        return array

    def _opened(self, column: Column) -> zarr.Array[Any]:
        import zarr

        path = self.folder / column.name
        try:
            array = zarr.open_array(path, mode="r")
        except Exception as error:
            raise StoreDamaged(path / "zarr.json", f"zarr cannot read it ({error})") from error
        kinds = (array.shape[1:], array.dtype.str, array.chunks[0])
        if array.shape[0] < self.written or kinds != (column.shape, column.kind, self.chunk_rows):
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
        rows = slice(chunk * self.chunk_rows, (chunk + 1) * self.chunk_rows)
        try:
            values: npt.NDArray[Any] = np.asarray(arrays[column.name][rows])
        except Exception as error:
            raise StoreDamaged(path, str(error).rstrip(".")) from error
        return values
