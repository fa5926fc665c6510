"""How long a user waits for `import aptmc` and for `aptmc --help`: goals 0.5 s and 0.7 s.

Each in a new process, start of Python included; the shortest of several counts, since everything
else that the machine does only adds to it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import NamedTuple


class Start(NamedTuple):
    """Something that a user does first."""

    name: str
    arguments: tuple[str, ...]
    goal: float | None  # seconds


STARTS = (
    Start("`python -c pass`, to compare", ("-c", "pass"), None),
    Start("`import aptmc`", ("-c", "import aptmc"), 0.5),
    Start("`aptmc --help`", ("-m", "aptmc.cli", "--help"), 0.7),
)


def shortest(arguments: tuple[str, ...], times: int) -> float:
    """Seconds that a new Python takes for it, at best."""
    taken = []
    for _ in range(times):
        before = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - before)
    return min(taken)


def main(*, quick: bool) -> None:
    """Print one table."""
    times = 3 if quick else 15
    print(f"## First things that a user does, best of {times}\n")
    print("| what | seconds | goal |")
    print("| --- | --- | --- |")
    for start in STARTS:
        goal = "" if start.goal is None else f"{start.goal:g}"
        print(f"| {start.name} | {shortest(start.arguments, times):.3f} | {goal} |")
    print()
