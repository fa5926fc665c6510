"""Rows in memory: a block of them, by column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Block = dict[str, npt.NDArray[Any]]  # rows, by column


class Column(NamedTuple):
    """A column of a table: its name, and what one row of it holds."""

    name: str
    kind: str  # as numpy writes it
    shape: tuple[int, ...] = ()  # of one row


class Extent(NamedTuple):
    """How many rows of a table are on disk, and those that are not."""

    written: int  # rows in chunks on disk
    tail: Block  # the rows after them


def no_rows(columns: list[Column]) -> Block:
    """A block without rows, of the right kinds."""
    return {column.name: np.empty((0, *column.shape), column.kind) for column in columns}


def length(block: Block) -> int:
    """How many rows a block has."""
    return len(next(iter(block.values())))


def joined_blocks(blocks: list[Block], columns: list[Column]) -> Block:
    """Several blocks, one after the other."""
    if len(blocks) == 1:
        return blocks[0]
    return {
        column.name: np.concatenate([block[column.name] for block in blocks]).astype(
            column.kind, copy=False
        )
        for column in columns
    }
