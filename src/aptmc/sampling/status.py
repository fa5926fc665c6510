"""What a run is doing right now, in a small file of its store, for whoever looks from outside.

A checkpoint is a run as it was some seconds ago. It does not say which processor has been at one
simulation for an hour, and during a round of the warm-up there is none. So the process that runs it
puts a note beside the checkpoints every second, and takes it away at the end.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from aptmc.clock import time_of_day
from aptmc.session.control import WorkerStatus

STATUS = "status.json"
EVERY = 1.0  # seconds


class Status(msgspec.Struct, frozen=True):
    """A run as it was a moment ago."""

    written: float  # by the time of day, in seconds
    elapsed: float  # seconds since the call
    budget: float  # of this sitting
    round: int | None  # of the warm-up, from 1; None when it is over
    rounds: int
    workers: list[WorkerStatus]
    doing: str = ""  # on the way to the first draws: what happens now, in words

    @property
    def age(self) -> float:
        """For how many seconds nothing was heard."""
        return max(time_of_day() - self.written, 0.0)


def write_status(store: Path, status: Status) -> None:
    """Replace the note. One that cannot be written is not worth stopping a run for."""
    beside = store / f"{STATUS}.new"
    try:
        # Not made durable: after a power cut nobody needs it.
        beside.write_bytes(msgspec.json.encode(status))
        beside.rename(store / STATUS)
    except OSError:
        remove_status(store)


def remove_status(store: Path) -> None:
    """Take the note away: the run has ended."""
    for name in (STATUS, f"{STATUS}.new"):
        try:
            (store / name).unlink(missing_ok=True)
        except OSError:  # a disk that cannot be written any longer: the note will look old
            return


def read_status(store: Path) -> Status | None:
    """The last note, if there is one that this version understands."""
    try:
        return msgspec.json.decode((store / STATUS).read_bytes(), type=Status)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
