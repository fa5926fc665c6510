"""What processes spend of a processor's time, and processes that do nothing but spend it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
ASIDE = "compiling_process"  # in the command of a process that compiles aside


class Process(NamedTuple):
    """What the system says of a process."""

    parent: int
    seconds: float  # of a processor, with those of its children that have ended
    command: str


def processes() -> dict[int, Process]:
    """All processes of this machine that can be looked at."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it has just ended
        spent = sum(map(int, fields[11:15])) / TICKS
        found[int(folder.name)] = Process(int(fields[1]), spent, command)
    return found


def processor_seconds(root: int, cache: Path) -> tuple[float, float]:
    """Of a process and all that it has started: in the foreground, and aside."""
    everybody = processes()
    foreground = 0.0
    todo = [root]
    while todo:
        number = todo.pop()
        if number in everybody:
            foreground += everybody[number].seconds
            todo += [child for child, one in everybody.items() if one.parent == number]
    aside = sum(
        one.seconds
        for number, one in everybody.items()
        if ASIDE in one.command and _uses(number, cache)
    )
    return foreground, aside


def _uses(process: int, cache: Path) -> bool:
    """Whether a process, which is nobody's child, was started for this cache."""
    try:
        return str(cache).encode() in Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return False


@contextmanager
def busy_loops(number: int) -> Iterator[None]:
    """So many others on this machine, each of which wants a processor for itself."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
