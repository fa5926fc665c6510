"""From `python script.py` to the first draw, with an empty cache and with a full one.

Each case is a new process, start of Python included. Processor seconds are those of all its
processes together, at the moment when the first move that counts is done; those of a process that
compiles aside, at low priority, while moves already count, stand beside them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
ASIDE = "compil"  # in the command of a process that compiles aside


class Case(NamedTuple):
    """Something that a newcomer does, and what it may take."""

    name: str
    script: str
    has_cache: bool
    budget: float
    processor_seconds: float | None  # until the first draw, at most
    seconds: float | None
    runs: int = 1


class Moment(NamedTuple):
    """When something was done."""

    seconds: float
    processor_seconds: float
    aside: float  # processor seconds, too


CASES = (
    Case("README's first example, empty cache", "readme", False, 8.0, 6.0, 5.0),
    Case("plain Python, all given, empty cache", "plain", False, 4.0, 6.0, 5.0),
    Case("compiled Lotka-Volterra, empty cache", "lotka-volterra", False, 4.0, 20.0, None),
    Case("plain Python, all given, full cache", "plain", True, 4.0, 1.5, 1.2),
    Case("compiled Lotka-Volterra, full cache", "lotka-volterra", True, 4.0, 2.5, 2.0),
    Case("the second `sample` of plain Python", "plain", True, 2.0, None, 0.5, runs=2),
    Case("the second `sample` of Lotka-Volterra", "lotka-volterra", True, 2.0, None, 0.5, runs=2),
    Case("a likelihood in JAX, all given", "jax", True, 12.0, None, 6.0),
)  # fmt: skip


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


def processor_seconds(root: int) -> tuple[float, float]:
    """Of a process and all that it has started: in the foreground, and aside."""
    everybody = processes()
    foreground = aside = 0.0
    todo = [(root, False)]
    while todo:
        number, is_aside = todo.pop()
        mine = everybody.get(number)
        if mine is None:
            continue
        is_aside = is_aside or ASIDE in mine.command
        if is_aside:
            aside += mine.seconds
        else:
            foreground += mine.seconds
        todo += [(child, is_aside) for child, one in everybody.items() if one.parent == number]
    return foreground, aside


def moments(case: Case, cache: Path) -> Iterator[tuple[str, Moment]]:
    """What a new process does, and when."""
    ours, theirs = os.pipe()
    module = "benchmarks.first_minute_script"
    began = time.perf_counter()
    script = subprocess.Popen(
        [sys.executable, "-m", module, case.script, str(case.budget), str(case.runs), str(theirs)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        pass_fds=[theirs],
    )
    os.close(theirs)
    with os.fdopen(ours) as words:
        for word in words:
            seconds = time.perf_counter() - began
            yield word.strip(), Moment(seconds, *processor_seconds(script.pid))
    if script.wait() != 0:
        raise RuntimeError(f"{case.name}: the script ended with status {script.returncode}")


@contextmanager
def caches() -> Iterator[tuple[Path, Path]]:
    """A folder for each empty cache, and a full one."""
    folder = Path(tempfile.mkdtemp(prefix="first-minute-"))
    try:
        yield folder / "empty", folder / "full"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def print_case(case: Case, cache: Path) -> None:
    """One line of the table: the last of several runs counts."""
    called = first = drew = done = None
    for word, moment in moments(case, cache):
        if word == "called":
            called, first, drew, done = moment, None, None, None
        first = moment if word == "moved" else first
        drew = moment if word == "drew" else drew
        done = moment if word == "done" else done
    assert called is not None
    assert done is not None
    is_later = case.runs > 1

    def since(moment: Moment | None) -> str:
        if moment is None:
            return "never | | "
        if is_later:
            moment = Moment(*(a - b for a, b in zip(moment, called, strict=True)))
        return f"{moment.seconds:.2f} | {moment.processor_seconds:.2f} | {moment.aside:.2f} "

    goals = ["" if goal is None else f"{goal:g}" for goal in (case.seconds, case.processor_seconds)]
    waited = f"{drew.seconds - called.seconds:.2f}" if drew else "never"
    returned = f"{done.seconds - called.seconds:.2f} of {case.budget:g}"
    print(f"| {case.name} | {since(first)}| {' | '.join(goals)} | {waited} | {returned} |")


def main(*, quick: bool) -> None:
    """Print one table."""
    print("## The first minute: from `python script.py` to the first move that counts\n")
    print("A second `sample` counts from its call. Two workers.\n")
    print(
        "| case | seconds | processor seconds | aside | goal: seconds | processor seconds "
        "| call to first draw after the warm-up | call to return, of the budget |"
    )
    print("| --- " * 8 + "|")
    with caches() as (empty, full):
        filled: set[str] = set()
        for case in CASES[3:4] if quick else CASES:
            if case.script == "jax" and find_spec("jax") is None:
                print(f"| {case.name}: jax is not installed | | | | | | | |")
                continue
            if case.has_cache and case.script not in filled:
                for _ in moments(case._replace(runs=1), full):
                    pass  # fills the cache
                filled.add(case.script)
            print_case(case, full if case.has_cache else empty / case.script)
    print()
