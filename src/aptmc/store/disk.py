"""A store on disk: complete, readable while it grows, and sound whenever it is cut off.

A folder with zarr arrays (tables of draws and of events, which grow by whole chunks) and two
checkpoints, of which the older one is replaced every few seconds. A checkpoint says how many rows
are in whole chunks and holds the rest, together with all that is needed to go on. So what the
newest checkpoint describes is a run as it was at one moment, whatever was being written when
everything was killed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from aptmc.errors import InputError, StoreDamaged, StoreFailed
from aptmc.record import columns
from aptmc.record.event_log import EventLog, Events, events_in, joined_events
from aptmc.record.record import Record
from aptmc.store import table as tables
from aptmc.store.background import Background
from aptmc.store.base import Arrays, Draws, Rows, Store, joined, rows_in
from aptmc.store.blocks import Block, Column, Extent
from aptmc.store.checked import make_durable, replace_file
from aptmc.store.checkpoint import Checkpoint, newest_checkpoint, taken_extents, with_extents
from aptmc.store.folder import check_folder, check_new
from aptmc.store.lock import lock
from aptmc.store.table import Table

if TYPE_CHECKING:
    from filelock import BaseFileLock

FORMAT = 1


def draw_columns(width: int) -> list[Column]:
    """The columns of a table of draws."""
    return [
        Column(name, kind.code, (width,) if kind.is_row else ())
        for name, kind in columns.DRAW_COLUMNS.items()
    ]


EVENT_COLUMNS = [Column(name, kind.code) for name, kind in columns.EVENT_COLUMNS.items()]
TABLES = ("draws", "events", "warmup")  # the last: draws of the warm-up, of the coldest rung


@final
class DiskStore(Store):
    """A store in a folder. Make one by `create`, `reopen` or `read`."""

    def __init__(
        self,
        path: Path,
        description: dict[str, Any],
        width: int,
        extents: dict[str, Extent],
        number: int,
    ) -> None:
        """Use `create`, `reopen` or `read`."""
        self._path, self.description, self.width = path, description, width
        kinds = {"draws": draw_columns(width), "warmup": draw_columns(width)}
        rows = int(description["chunk_rows"])
        self.tables = {
            name: Table(path / name, kinds.get(name, EVENT_COLUMNS), rows, extents.get(name))
            for name in TABLES
        }
        self._damage: list[StoreDamaged] | None = None
        self._number = number  # of the last checkpoint
        self._lock: BaseFileLock | None = None
        self._failure: StoreFailed | None = None
        self._digests: dict[str, dict[str, str]] = {}
        self._background = Background()  # makes durable what was written

    @property
    @override
    def path(self) -> Path:
        """The folder that it is in, which is there."""
        return self._path

    @property
    @override
    def damage(self) -> list[StoreDamaged] | None:
        return self._damage

    # --- making and opening -------------------------------------------------------------------

    @classmethod
    def create(cls, path: Path, description: dict[str, Any], width: int) -> DiskStore:
        """A new store, or a clear error if there is something already."""
        check_new(path)
        import zarr

        description = {"format": FORMAT, "chunk_rows": tables.CHUNK_ROWS, **description}
        store = cls(path, description, width, {}, 0)
        with store._writing():
            zarr.create_group(path, zarr_format=3, attributes={"aptmc": store.description})
            for table in store.tables.values():
                table.create()
            store._lock = lock(path)
            store._digests = {name: table.digests() for name, table in store.tables.items()}
            make_durable(path / "zarr.json")
            make_durable(path)
            make_durable(path.absolute().parent)
        return store

    @classmethod
    def read(cls, path: Path, *, salvage: bool = False) -> tuple[DiskStore, Checkpoint]:
        """A store as it was at its newest checkpoint; another process may go on to write it.

        :param salvage: leave out what is damaged, and list it in `damage`
        """
        damage: list[StoreDamaged] | None = [] if salvage else None
        checkpoint = newest_checkpoint(path, damage)
        if checkpoint.description.get("format") != FORMAT:
            raise InputError(
                f"{path} was written by another version of aptmc, "
                f"{checkpoint.description.get('versions', {}).get('aptmc')}, in a format that this "
                "one does not know"
            )
        width = int(checkpoint.description["width"])
        extents = taken_extents(checkpoint, TABLES)
        store = cls(path, checkpoint.description, width, extents, checkpoint.number)
        store._damage = damage
        store._digests = checkpoint.notes["digests"]
        check_folder(path, checkpoint.description, store.tables, store._digests, damage)
        return store, checkpoint

    @classmethod
    def reopen(cls, path: Path) -> tuple[DiskStore, Checkpoint]:
        """Open a store to write on where its newest checkpoint stands."""
        cls.read(path)  # a clear error if it is no store, before anything is locked
        held = lock(path)
        try:
            store, checkpoint = cls.read(path)
        except BaseException:
            held.release()
            raise
        store._lock = held
        return store, checkpoint

    @override
    def close(self) -> None:
        self._background.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    # --- writing ------------------------------------------------------------------------------

    @override
    def append(self, record: Record, log: EventLog) -> None:
        if log.filled[0] > 0:
            self.tables["events"].append(events_in(log)._asdict())
        self.tables["draws"].append(_block(rows_in(record)))
        self._write_chunks()

    @override
    def append_warmup(self, draws: Draws, chain: int) -> None:
        rows = Rows(np.full(draws.time.size, chain, np.int32), draws)
        self.tables["warmup"].append(_block(rows))
        self._write_chunks()

    def _write_chunks(self) -> None:
        if self._failure is None:  # otherwise the run has been told, and is about to end
            with self._writing():
                for table in self.tables.values():
                    for path in table.write_chunks():
                        self._background.begin(make_durable, path)

    @override
    def save(self, notes: dict[str, Any], arrays: Arrays, *, wait: bool = True) -> None:
        if self._failure is not None:
            return
        extents = {name: table.extent() for name, table in self.tables.items()}
        notes = {**notes, "digests": self._digests}
        checkpoint = with_extents(
            Checkpoint(self._number + 1, self.description, notes, arrays), extents
        )
        with self._writing():
            self._background.finish()
            self._background.begin(
                replace_file, checkpoint.file_in(self.path), checkpoint.encoded()
            )
            self._number = checkpoint.number
            if wait:
                self._background.finish()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A disk that is full ends the run; what was saved before stays as it is."""
        try:
            yield
        except OSError as error:
            self._failure = StoreFailed(
                f"the store {self.path} cannot be written ({error.strerror or error}): it holds "
                "everything up to its last checkpoint; make room, then aptmc.resume(...)"
            )
            raise self._failure from error

    # --- reading ------------------------------------------------------------------------------

    @override
    def chains(self, chains: Sequence[int], width: int) -> list[Draws]:
        """All draws of some chains, in order. Only they are held in memory."""
        return self._chains("draws", chains, width)

    def warmup(self, chain: int) -> Draws:
        """The draws of the warm-up of a chain on the coldest rung."""
        return self._chains("warmup", [chain], self.width)[0]

    def _chains(self, name: str, chains: Sequence[int], width: int) -> list[Draws]:
        pieces: list[list[Draws]] = [[] for _ in chains]
        names = ["chain", *Draws._fields]
        for block in self.tables[name].blocks(names, self.damage):
            for chain, mine in zip(chains, pieces, strict=True):
                rows = np.flatnonzero(block["chain"] == chain)
                if rows.size > 0:
                    mine.append(Draws(*(block[field][rows] for field in Draws._fields)))
        return [joined(mine, width) for mine in pieces]

    def rows(self) -> Iterator[Rows]:
        """The draws of all chains, in the order in which they came."""
        for block in self.tables["draws"].blocks(["chain", *Draws._fields], self.damage):
            yield Rows(block["chain"], Draws(*(block[field] for field in Draws._fields)))

    @override
    def column(self, name: str, place: int | slice | None, chain: int) -> npt.NDArray[Any]:
        pieces = []
        for block in self.tables["draws"].blocks(["chain", name], self.damage):
            mine = block[name][block["chain"] == chain]
            pieces.append(mine if place is None else mine[:, place])
        return np.concatenate(pieces)

    @override
    def column_kinds(self) -> dict[str, str]:
        return {column.name: column.kind for column in self.tables["draws"].columns}

    @override
    def events(self) -> Events:
        blocks = self.tables["events"].blocks(list(Events._fields), self.damage)
        return joined_events([Events(**block) for block in blocks])

    @override
    def copy(self) -> DiskStore:
        extents = {name: table.extent() for name, table in self.tables.items()}
        other = DiskStore(self.path, self.description, self.width, extents, self._number)
        other._damage = self._damage
        return other


def _block(rows: Rows) -> Block:
    return {"chain": rows.chain, **rows.draws._asdict()}
