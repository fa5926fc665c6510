"""Small stored runs with several chunks, and everything that one can read of them."""

from __future__ import annotations

import numpy as np

import aptmc
from aptmc.store import Draws, table
from tests.support import targets

CHUNK_ROWS = 64
PROBLEM = targets.problem(start=lambda rng: rng.standard_normal())
ON = aptmc.VirtualTime(2, targets.hold)
LADDER = aptmc.Ladder.powers(4)
BUDGET = 150.0
SETTINGS = {
    "ladder": LADDER,
    "kernel": aptmc.RandomWalk(1.0),
    "schedule": aptmc.Anytime(every=4.1),
    "on": ON,
    "keep": "all",
    "seed": 1,
}


def sampled(path, monkeypatch, budget=BUDGET, **changes) -> aptmc.Run:
    """A run in virtual time in short chunks."""
    monkeypatch.setattr(table, "CHUNK_ROWS", CHUNK_ROWS)
    return aptmc.sample(PROBLEM, budget=budget, store=path, **(SETTINGS | changes))


def in_memory(budget=BUDGET, **changes) -> aptmc.Run:
    """The same without a store."""
    return aptmc.sample(PROBLEM, budget=budget, log_events=True, **(SETTINGS | changes))


def rows(columns) -> list[bytes]:
    """Draws or events as one value for each row, which is equal only bit for bit."""
    return [b"".join(part.tobytes() for part in row) for row in zip(*columns, strict=True)]


def kept(run) -> list[Draws]:
    """By chain: all draws that were kept, those from before the run was settled included."""
    wanted = np.flatnonzero(run._record.wanted)
    return run._store.chains(wanted.tolist(), run._machine.states.shape[1])


def everything(run) -> list[list[bytes]]:
    """All draws of all rungs that were kept, and all events."""
    return [rows(table) for table in [*kept(run), run.events]]


def is_subset(part, whole) -> bool:
    """Whether every row of one is among those of the other."""
    return all(set(mine) <= set(theirs) for mine, theirs in zip(part, whole, strict=True))


def is_prefix(part, whole) -> bool:
    """Whether one is the beginning of the other."""
    return all(mine == theirs[: len(mine)] for mine, theirs in zip(part, whole, strict=True))
