"""A store on disk: complete, readable while it grows, and sound whenever it is cut off.

A folder with zarr arrays (tables of draws and of events, which grow by whole chunks) and two
checkpoints, of which the older one is replaced every few seconds. A checkpoint says how many rows
are in whole chunks and holds the rest, together with all that is needed to go on. So what the
newest checkpoint describes is a run as it was at one moment, whatever was being written when
everything was killed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from aptmc.errors import InputError, StoreDamaged, StoreFailed
from aptmc.record.event_log import EventLog, Events, events_in, joined_events
from aptmc.record.record import Record
from aptmc.store import table as tables
from aptmc.store.base import Draws, Rows, Store, joined, rows_in
from aptmc.store.checked import decode, encode, make_durable, replace_file
from aptmc.store.table import Block, Column, Extent, Table, note_damage, read_json

CHECKPOINTS = ("checkpoint-0", "checkpoint-1")
LOCK = "lock"
FORMAT = 1

Arrays = dict[str, npt.NDArray[Any]]


def draw_columns(width: int) -> list[Column]:
    """The columns of a table of draws."""
    return [
        Column("chain", "<i4"),
        Column("state", "<f8", (width,)),
        Column("time", "<f8"),
        Column("exchanged", "|b1"),
        Column("accepted", "<i4"),
        Column("replica", "<i4"),
        Column("processor", "<i4"),
        Column("hold_time", "<f8"),
        Column("work", "<f8"),
    ]


EVENT_COLUMNS = [
    Column("kind", "|i1"),
    Column("chain", "<i4"),
    Column("processor", "<i4"),
    Column("time", "<f8"),
    Column("began", "<f8"),
    Column("ended", "<f8"),
]
TABLES = ("draws", "events", "warmup")  # the last: draws of the warm-up, of the coldest rung


class Checkpoint(NamedTuple):
    """A run at one moment."""

    number: int
    description: dict[str, Any]  # what never changes
    notes: dict[str, Any]
    arrays: Arrays


@final
class DiskStore(Store):
    """A store in a folder."""

    def __init__(
        self,
        path: Path,
        description: dict[str, Any],
        width: int,
        extents: dict[str, Extent],
        number: int,
    ) -> None:
        """Use `create`, `reopen` or `read`."""
        self.path, self.description, self.width = path, description, width
        columns = {"draws": draw_columns(width), "warmup": draw_columns(width)}
        rows = int(description["chunk_rows"])
        self.tables = {
            name: Table(path / name, columns.get(name, EVENT_COLUMNS), rows, extents.get(name))
            for name in TABLES
        }
        self.damage: list[StoreDamaged] | None = None
        self._number = number  # of the last checkpoint
        self._lock: int | None = None
        self._failure: StoreFailed | None = None
        self._digests: dict[str, dict[str, str]] = {}
        self._disk: ThreadPoolExecutor | None = None
        self._under_way: list[Future[None]] = []  # what is being made durable meanwhile

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
            store._lock = _locked(path)
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
        checkpoint = _newest(path, damage)
        notes, arrays = checkpoint.notes, checkpoint.arrays
        if checkpoint.description.get("format") != FORMAT:
            raise InputError(
                f"{path} was written by another version of aptmc, "
                f"{checkpoint.description.get('versions', {}).get('aptmc')}, in a format that this "
                "one does not know"
            )
        width = int(checkpoint.description["width"])
        extents = {
            name: Extent(
                int(notes["written"][name]),
                {
                    key.removeprefix(f"tail/{name}/"): arrays.pop(key)
                    for key in [key for key in arrays if key.startswith(f"tail/{name}/")]
                },
            )
            for name in TABLES
        }
        store = cls(path, checkpoint.description, width, extents, checkpoint.number)
        store.damage = damage
        store._digests = notes["digests"]
        store._check(damage)
        return store, checkpoint

    @classmethod
    def reopen(cls, path: Path) -> tuple[DiskStore, Checkpoint]:
        """A store to go on with."""
        cls.read(path)  # a clear error if it is no store, before anything is locked
        lock = _locked(path)
        store, checkpoint = cls.read(path)
        store._lock = lock
        return store, checkpoint

    def close(self) -> None:
        """Nobody writes here any longer."""
        if self._disk is not None:
            self._disk.shutdown()
            self._disk = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # --- writing ------------------------------------------------------------------------------

    def append(self, record: Record, log: EventLog) -> None:
        """Keep the draws and events that are in the buffers now."""
        if log.filled[0] > 0:
            self.tables["events"].append(events_in(log)._asdict())
        self.tables["draws"].append(_block(rows_in(record)))
        self._write_chunks()

    def append_warmup(self, draws: Draws, chain: int) -> None:
        """Keep draws of the warm-up, apart from the others."""
        rows = Rows(np.full(draws.time.size, chain, np.int32), draws)
        self.tables["warmup"].append(_block(rows))
        self._write_chunks()

    def _write_chunks(self) -> None:
        if self._failure is None:  # otherwise the run has been told, and is about to end
            with self._writing():
                for table in self.tables.values():
                    for path in table.write_chunks():
                        self._begin(make_durable, path)

    def _begin(self, task: Callable[..., None], *arguments: Any) -> None:
        """Have the disk do something, one after the other; the run does not wait for it."""
        if self._disk is None:
            self._disk = ThreadPoolExecutor(1, "aptmc store")
        self._under_way.append(self._disk.submit(task, *arguments))

    def _finish(self) -> None:
        """Wait until all that was begun is done."""
        for task in self._under_way:
            task.result()
        self._under_way.clear()

    def save(self, notes: dict[str, Any], arrays: Arrays, *, wait: bool = True) -> None:
        """Write a checkpoint: all that was appended so far is there from now on.

        :param wait: until it is durable. Otherwise the next one waits for it
        """
        if self._failure is not None:
            return
        extents = {name: table.extent() for name, table in self.tables.items()}
        notes = {
            **notes,
            "written": {name: extent.written for name, extent in extents.items()},
            "digests": self._digests,
        }
        tails = {
            f"tail/{name}/{column}": values
            for name, extent in extents.items()
            for column, values in extent.tail.items()
        }
        number = self._number + 1
        content = {"number": number, "description": self.description, "notes": notes}
        with self._writing():
            self._finish()
            place = self.path / CHECKPOINTS[number % 2]
            self._begin(replace_file, place, encode(content, {**arrays, **tails}))
            self._number = number
            if wait:
                self._finish()

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

    def column(self, name: str, place: int | slice | None, chain: int) -> npt.NDArray[Any]:
        """One number of each draw of a chain, or a stretch of them."""
        pieces = []
        for block in self.tables["draws"].blocks(["chain", name], self.damage):
            mine = block[name][block["chain"] == chain]
            pieces.append(mine if place is None else mine[:, place])
        return np.concatenate(pieces)

    def events(self) -> Events:
        """All events, in order."""
        blocks = self.tables["events"].blocks(list(Events._fields), self.damage)
        return joined_events([Events(**block) for block in blocks])

    def copy(self) -> DiskStore:
        """What is kept so far; later draws do not show there."""
        extents = {name: table.extent() for name, table in self.tables.items()}
        other = DiskStore(self.path, self.description, self.width, extents, self._number)
        other.damage = self.damage
        return other

    # --- damage -------------------------------------------------------------------------------

    def _check(self, damage: list[StoreDamaged] | None) -> None:
        """Is everything there, and are descriptions as they were written?"""
        checks: list[Callable[[], None]] = [self._check_description]
        for name, table in self.tables.items():
            checks += [table.check_chunks, partial(table.check_digests, self._digests[name])]
        for check in checks:
            try:
                check()
            except StoreDamaged as error:
                note_damage(damage, error)

    def _check_description(self) -> None:
        path = self.path / "zarr.json"
        root = read_json(path)
        described = {
            "attributes": {"aptmc": self.description}, "zarr_format": 3, "node_type": "group",
        }  # fmt: skip
        if root != described:
            raise StoreDamaged(path, "it does not describe this run")


def check_new(path: Path) -> None:
    """Refuse to write over something."""
    if path.exists():
        raise InputError(
            f"{path} is there already: go on with it by aptmc.resume({str(path)!r}, problem, "
            "budget=...), or choose another name"
        )
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} of the store {path} is not there: make it")


def _newest(path: Path, damage: list[StoreDamaged] | None) -> Checkpoint:
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


def _locked(path: Path) -> int:
    descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise InputError(
            f"{path} is being written by another run: wait until it has ended, or stop it"
        ) from None
    return descriptor


def being_written(path: Path) -> bool:
    """Whether some process holds the lock of a store: one that was killed does not."""
    try:
        descriptor = os.open(path / LOCK, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _block(rows: Rows) -> Block:
    return {"chain": rows.chain, **rows.draws._asdict()}
