"""From `python script.py` to the first draw, with an empty cache and with a full one.

Each case is a new process, start of Python included. Processor seconds are those of all its
processes together, at the moment when the first move that counts is done; those of a process that
compiles aside, at low priority, while moves already count, stand beside them. Before the call of
`sample` a script loads its own libraries: here scipy's distributions, which take longer than all of
aptmc.
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
ASIDE = "compiling_process"  # in the command of a process that compiles aside


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
    Case("compiled Lotka-Volterra, empty cache", "lotka-volterra", False, 20.0, 20.0, None),
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
            yield word.strip(), Moment(seconds, *processor_seconds(script.pid, cache))
    if script.wait() != 0:
        raise RuntimeError(f"{case.name}: the script ended with status {script.returncode}")


@contextmanager
def caches(*, quick: bool) -> Iterator[tuple[Path, Path]]:
    """A folder for each empty cache, and a full one: the one in use, if it is to be quick."""
    folder = Path(tempfile.mkdtemp(prefix="first-minute-"))
    in_use = os.environ.get("NUMBA_CACHE_DIR")
    try:
        yield folder / "empty", Path(in_use) if quick and in_use else folder / "full"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fill(case: Case, cache: Path, budget: float = 20.0) -> None:
    """Compile all that a case needs, and sample long enough for a problem to be compiled."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "aptmc.cli", "compile"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    for _ in moments(case._replace(runs=1, budget=budget), cache):
        pass


def print_case(case: Case, cache: Path) -> None:
    """One line of the table: the last of several runs counts."""
    seen: dict[str, Moment] = {}
    for word, moment in moments(case, cache):
        if word == "called":
            seen = {}
        seen[word] = moment
    called, done = seen["called"], seen["done"]
    cells = [case.name]
    for word in ("moved", "drew"):
        if word in seen:
            later = Moment(*(a - b for a, b in zip(seen[word], called, strict=True)))
            cells += [f"{later.seconds:.2f}", f"{later.processor_seconds:.2f}"]
        else:
            cells += ["never", ""]
    cells[3:3] = [
        "" if goal is None else f"{goal:g}" for goal in (case.seconds, case.processor_seconds)
    ]
    cells += [
        f"{called.seconds:.2f}",
        f"{called.processor_seconds:.2f}",
        f"{done.aside:.1f}",
        f"{done.seconds - called.seconds:.2f} of {case.budget:g}",
    ]
    print(f"| {' | '.join(cells)} |")


def main(*, quick: bool) -> None:
    """Print one table."""
    print("## The first minute: from the start of Python to the first draws\n")
    print("Two workers. Goals are for seconds and processor seconds to the first move.\n")
    print(
        "| case | call to first move, seconds | processor seconds | goal | goal "
        "| call to first draw that counts, seconds | processor seconds "
        "| before the call, seconds | processor seconds | aside, processor seconds "
        "| call to return, seconds |"
    )
    print("| --- " * 11 + "|")
    with caches(quick=quick) as (empty, full):
        filled: set[str] = set()
        for case in CASES[3:4] if quick else CASES:
            if case.script == "jax" and find_spec("jax") is None:
                print(f"| {case.name}: jax is not installed {'| ' * 11}")
                continue
            if case.has_cache and case.script not in filled:
                fill(case, full, *([case.budget] if quick else []))
                filled.add(case.script)
            print_case(case, full if case.has_cache else empty / case.script)
    print()
