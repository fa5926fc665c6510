"""From `python script.py` to the first draw, with an empty cache and with a full one.

Each case is a new process. Processor seconds are those of all its processes together, from the
start of Python on, and of the one that compiles aside, at low priority, while moves already count;
what of them was aside stands beside the sum. Before the call of `sample` a script loads its own
libraries: here scipy's distributions, which take longer than all of aptmc. Goals are from the start
of Python on, or from the second call: of seconds to the first draw that counts, of processor
seconds to the first move. What is between them is the warm-up, whose moves of the user's own
function keep all workers busy for a quarter of the budget, whatever it is.

Beside others: eight processes that do nothing but compute.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.first_minute_demo import Shown, demonstration
from benchmarks.goals import above, raise_if_missed
from benchmarks.spending import busy_loops, processor_seconds

OTHERS = 8
FIGURES = 10.0  # seconds until the demonstration shows its first, at most
QUICKLY = 4.0  # times as much is no failure of a short run, which may share its machine
LONG = 600.0


class Case(NamedTuple):
    """Something that a newcomer does, and what it may take."""

    name: str
    script: str
    has_cache: bool
    budget: float
    processor_seconds: float | None  # until the first draw, at most
    seconds: float | None
    late: float | None = None  # seconds by which `sample` may return after its budget
    runs: int = 1
    beside: int = 0  # others


class Moment(NamedTuple):
    """When something was done, since the start of Python."""

    seconds: float
    foreground: float  # processor seconds
    aside: float  # processor seconds, too

    @property
    def processor_seconds(self) -> float:
        """Of all processes."""
        return self.foreground + self.aside

    def since(self, earlier: Moment) -> Moment:
        """From another moment on."""
        return Moment(*(mine - its for mine, its in zip(self, earlier, strict=True)))


CASES = (
    Case("README's first example, empty cache", "readme", False, 8.0, 6.0, 5.0, late=0.5),
    Case("plain Python, all given, empty cache", "plain", False, 4.0, 6.0, 5.0),
    Case("compiled Lotka-Volterra, empty cache", "lotka-volterra", False, 20.0, 20.0, None),
    Case("plain Python, all given, full cache", "plain", True, 4.0, 1.5, 1.2),
    Case("compiled Lotka-Volterra, full cache", "lotka-volterra", True, 4.0, 2.5, 2.0),
    Case("the second `sample` of plain Python", "plain", True, 2.0, None, 0.5, runs=2),
    Case("the second `sample` of Lotka-Volterra", "lotka-volterra", True, 2.0, None, 0.5, runs=2),
    Case("a likelihood in JAX, `jax.jit`, all given", "jax", True, 10.0, None, 6.0),
    Case("a likelihood in JAX as it is, all given", "jax-as-it-is", True, 10.0, None, 6.0),
    Case(
        "compiled Lotka-Volterra, all found, empty cache, beside others", "lotka-volterra-found",
        False, 20.0, None, None, beside=OTHERS,
    ),
)  # fmt: skip
QUICK = CASES[3]
DEMONSTRATIONS = (
    ("aptmc demo, empty cache", "20 s", 0),
    ("aptmc demo, empty cache, beside others", "60 s", OTHERS),
)


def moments(
    case: Case, cache: Path, *, until_it_draws: bool = False
) -> Iterator[tuple[str, Moment]]:
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
            if until_it_draws and word.strip() == "drew":
                script.send_signal(signal.SIGINT)
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


def fill(case: Case, cache: Path) -> None:
    """Compile all that a case needs, and sample until its problem is compiled."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "aptmc.cli", "compile"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    for _ in moments(case._replace(runs=1, budget=LONG), cache, until_it_draws=True):
        pass


def seen_in(case: Case, cache: Path, *, until_it_draws: bool = False) -> dict[str, Moment]:
    """When each word came: of several runs, in the last."""
    seen: dict[str, Moment] = {}
    with busy_loops(case.beside) if case.beside else nullcontext():
        for word, moment in moments(case, cache, until_it_draws=until_it_draws):
            if word == "called":
                seen = {}
            seen[word] = moment
    return seen


def lateness(case: Case, seen: dict[str, Moment]) -> float:
    """By how many seconds a budget was missed: what is done once on a machine does not count."""
    took = seen["done"].seconds - seen["called"].seconds
    if "counts" in seen:
        took -= seen["counts"].seconds - seen["once"].seconds
    return took - case.budget


def row(case: Case, seen: dict[str, Moment]) -> str:
    """One line of the table."""
    called, done = seen["called"], seen["done"]
    begins = called if case.runs > 1 else Moment(0.0, 0.0, 0.0)
    cells = [case.name]
    for word in ("moved", "drew"):
        if word in seen:
            sofar = seen[word].since(begins)
            cells += [
                f"{seen[word].seconds - called.seconds:.2f}",
                f"{sofar.processor_seconds:.2f}",
                f"{sofar.aside:.2f}",
            ]
        else:
            cells += ["never", "", ""]
    goals = [
        "" if goal is None else f"{goal:g} {unit}"
        for goal, unit in ((case.processor_seconds, "processor s"), (case.seconds, "s"))
    ]
    cells += [
        f"{called.seconds:.2f}" if case.runs == 1 else "",
        f"{done.seconds - called.seconds:.2f} of {case.budget:g} s",
        f"{lateness(case, seen):.2f}",
        ", ".join(filter(None, goals)),
    ]
    return f"| {' | '.join(cells)} |"


def missed_by(case: Case, seen: dict[str, Moment], times: float = 1.0) -> list[str]:
    """In words: which goals were not reached.

    :param times: goals for processor seconds are missed by so many times as much; others are not
    """
    if "drew" not in seen:
        return [f"{case.name}: it never drew"]
    begins = seen["called"] if case.runs > 1 else Moment(0.0, 0.0, 0.0)
    moved, drew = seen["moved"].since(begins), seen["drew"].since(begins)
    most = None if case.processor_seconds is None else times * case.processor_seconds
    missed = above(
        f"{case.name}, to the first move", moved.processor_seconds, most, "processor seconds"
    )
    if times == 1.0:
        missed += above(f"{case.name}, to the first draw", drew.seconds, case.seconds, "seconds")
        late = lateness(case, seen)
        missed += above(f"{case.name}, after the budget", late, case.late, "seconds")
    return missed


def missed_by_demonstration(name: str, beside: int, shown: Shown) -> list[str]:
    """In words: an answer that is useful has a tolerance and draws."""
    missed = []
    if not shown.effective:
        missed.append(f"{name}: it came to no draws")
    if not beside:
        figures = shown.seconds.get("figures", float("inf"))
        missed += above(f"{name}, to its first figures", figures, FIGURES, "seconds")
    return missed


def print_scripts(cases: tuple[Case, ...], empty: Path, full: Path) -> list[str]:
    """The table of scripts; gives the goals that were missed."""
    print(
        "| case | call to first move, s | processor s, from the start | of these aside "
        "| call to first draw that counts, s | processor s, from the start | of these aside "
        "| before the call, s | `sample` returned after | late by, s "
        "| goals from the start: to the first move, to the first draw |"
    )
    print("| --- " * 11 + "|")
    missed: list[str] = []
    filled: set[str] = set()
    for case in cases:
        if case.script.startswith("jax") and find_spec("jax") is None:
            print(f"| {case.name}: jax is not installed {'| ' * 11}")
            continue
        if case.has_cache and case.script not in filled:
            fill(case, full)
            filled.add(case.script)
        seen = seen_in(case, full if case.has_cache else empty / case.script)
        print(row(case, seen), flush=True)
        missed += missed_by(case, seen)
    print()
    return missed


def print_demonstrations(empty: Path) -> list[str]:
    """The table of demonstrations; gives the goals that were missed."""
    print("Seconds from the start of `aptmc demo`, in a terminal:\n")
    print(
        "| case | budget | first words | first figures | first tolerance | first draws "
        "| summary | tolerance reached | effective draws |"
    )
    print("| --- " * 9 + "|")
    missed: list[str] = []
    for number, (name, budget, beside) in enumerate(DEMONSTRATIONS):
        folder = empty / f"demo-{number}"
        with busy_loops(beside) if beside else nullcontext():
            shown = demonstration(budget, folder / "cache", folder)
        times = [
            f"{shown.seconds[what]:.1f}" if what in shown.seconds else "never"
            for what in ("words", "figures", "tolerance", "draws")
        ]
        cells = [
            name, budget, *times, f"{shown.returned:.1f}",
            shown.tolerance or "none", shown.effective or "none",
        ]  # fmt: skip
        print(f"| {' | '.join(cells)} |", flush=True)
        missed += missed_by_demonstration(name, beside, shown)
    print()
    return missed


def main(*, quick: bool) -> None:
    """Print two tables; a short run is one case, which ends when it draws."""
    print("## The first minute: from the start of Python to the first draws\n")
    if quick:
        case = QUICK._replace(budget=LONG)
        with caches() as (empty, _):
            in_use = Path(os.environ.get("NUMBA_CACHE_DIR", empty))
            seen = seen_in(case, in_use, until_it_draws=True)
        for word in ("moved", "drew"):
            when = seen.get(word)
            spent = "never" if when is None else f"{when.processor_seconds:.2f} processor seconds"
            print(f"{case.name}, until it {word}: {spent}")
        raise_if_missed(missed_by(case, seen, QUICKLY))
        return
    print("Two workers; the last run counts where there are two.\n")
    with caches() as (empty, full):
        missed = print_scripts(CASES, empty, full)
        missed += print_demonstrations(empty)
    raise_if_missed(missed)
