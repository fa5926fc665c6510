"""Do lanes fit into memory? If not, how many would."""

from __future__ import annotations

from pathlib import Path

from aptmc.backends.lanes.tables import Places
from aptmc.errors import InputError

SHARE = 0.9  # of what is free, that lanes may take
HOST_BITS = 64
# What a chain takes in the tables of a session beside its states: 734 were measured, at the most.
BYTES_OF_CHAIN = 750


def check_fit(lanes: int, each: int, free: int, where: str, shares: int = 1) -> None:
    """Refuse lanes that do not fit, and say how many would.

    :param shares: machines that share the lanes, with so much memory each
    """
    fit = shares * (int(SHARE * free) // each)
    if lanes > fit:
        raise InputError(
            f"{lanes} lanes of {each} bytes or more do not fit into the {free / 2**30:.1f} GiB "
            f"that are free {where}: use {fit} lanes or fewer"
        )


def check_host(lanes: int, places: Places) -> None:
    """The same for this machine's own memory, if it says how much of that is free."""
    free = free_memory()
    if free is not None:
        # Columns are copied when somebody looks; a session keeps states, those of its start, too.
        states = 2 * (3 * 8 * (places.dimension + 2) + BYTES_OF_CHAIN)
        check_fit(lanes, 2 * places.bytes_of_lane(HOST_BITS) + states, free, "on this machine")


def free_memory(table: Path = Path("/proc/meminfo")) -> int | None:
    """How many bytes programs may still take; None where nobody says."""
    try:
        lines = table.read_text().splitlines()
        (kilobytes,) = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
        return 1024 * int(kilobytes)
    except (OSError, ValueError):
        return None
