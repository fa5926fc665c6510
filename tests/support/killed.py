"""Runs that are killed at a counted moment, each in a process group of its own.

A helper process loads and compiles everything once, and then, for each line that it is given, forks
a child that samples or resumes. All moments at which something on disk is about to change are
counted in the child: before a file is opened to be written, in the middle of writing it, before and
after it is put in its place, before it is made durable. At the wanted one, the child's whole
process group is killed. `Killer` speaks to the helper.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from scipy import stats

import aptmc
from aptmc.store import checked, disk, table
from tests.support import simulators, targets
from tests.support.problems import two_modes

ROOT = Path(__file__).resolve().parents[2]
CHUNK_ROWS = 4096
NEVER = 10**9


class Scenario(NamedTuple):
    """What is run."""

    problem: Any
    on: Any
    settings: dict[str, Any]


@cache  # so that it is compiled once
def scenario(name: str) -> Scenario:
    given = {
        "ladder": aptmc.Ladder.powers(5),
        "kernel": aptmc.RandomWalk(1.0),
        "keep": "all",
        "save_every": 1e-6,
        "seed": 1,
    }
    if name == "virtual":
        schedule = {"schedule": aptmc.Anytime(every=3.3)}
        on = aptmc.VirtualTime(2, targets.hold)
        return Scenario(targets.problem(), on, given | schedule)
    if name == "warm-up":
        problem = aptmc.Tempered(two_modes, aptmc.Prior(x=stats.uniform(-20, 40)))
        return Scenario(problem, aptmc.VirtualTime(2), {"save_every": 1e-6, "seed": 1})
    schedule = {"schedule": aptmc.Anytime(every="2 ms"), "save_every": 0.02}
    return Scenario(simulators.problem(), aptmc.Processes(2), given | schedule)


# --- in the child --------------------------------------------------------------------------------


class Moments:
    """Counts what happens on disk, and sends a signal to the process group when it is time."""

    def __init__(self, wanted: int, signal_number: int) -> None:
        self.wanted, self.signal_number, self.passed = wanted, signal_number, 0

    def next(self) -> bool:
        """One more; says whether it is the wanted one."""
        self.passed += 1
        return self.passed == self.wanted

    def end(self) -> None:
        os.killpg(os.getpgid(0), self.signal_number)

    def pass_by(self) -> None:
        if self.next():
            self.end()

    def watch(self) -> None:
        """Stand beside everything that changes what is on disk."""
        opening, fsync, replace = Path.open, os.fsync, os.replace

        def watched_open(path: Path, mode: str = "r", *rest: Any, **options: Any) -> Any:
            if "w" not in mode:
                return opening(path, mode, *rest, **options)
            self.pass_by()
            file = opening(path, mode, *rest, **options)
            return HalfWritten(file, self) if self.next() else file

        def watched_fsync(descriptor: int) -> None:
            self.pass_by()
            fsync(descriptor)

        def watched_replace(source: Any, target: Any, **options: Any) -> None:
            self.pass_by()
            replace(source, target, **options)
            self.pass_by()

        Path.open = watched_open  # type: ignore[method-assign,assignment]
        os.fsync = watched_fsync
        os.replace = watched_replace


class HalfWritten:
    """A file of which only half is written when the end comes."""

    def __init__(self, file: Any, moments: Moments) -> None:
        self.file, self.moments = file, moments

    def __enter__(self) -> HalfWritten:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)  # whoever goes on after a signal may want to flush it

    def write(self, data: Any) -> None:
        whole = bytes(data)
        self.file.write(whole[: len(whole) // 2])
        self.file.flush()
        self.moments.end()
        self.file.write(whole[len(whole) // 2 :])  # a signal that does not kill lets it go on


def write_in_place(path: Path, data: bytes) -> None:
    """The planted error: a file that is written where it stands."""
    with path.open("wb") as file:
        file.write(data)


def work(request: dict[str, Any]) -> None:
    table.CHUNK_ROWS = CHUNK_ROWS
    if request["careless"]:
        checked.replace_file = disk.replace_file = write_in_place
    Moments(request["moment"], request["signal"]).watch()
    run_or_resume(request["scenario"], Path(request["path"]), request["budget"])


def run_or_resume(name: str, path: Path, budget: float) -> None:
    problem, on, settings = scenario(name)
    if path.exists():
        aptmc.resume(path, problem, budget=budget, on=on)
    else:
        aptmc.sample(problem, budget=budget, on=on, store=path, **settings)


# --- the helper ----------------------------------------------------------------------------------


def serve() -> None:
    """Load and compile what is needed, without a store, which would start threads; then fork."""
    import_module("zarr")
    for name in sys.argv[1:]:
        problem, on, settings = scenario(name)
        if name != "processes":
            aptmc.sample(problem, budget=100.0, on=on, log_events=True, **settings)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            try:
                work(json.loads(line))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201


class Killer:
    """Has runs killed."""

    def __init__(self, *scenarios: str) -> None:
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        self._helper = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.support.killed", *scenarios],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
        )

    def run(
        self,
        name: str,
        path: Path,
        budget: float,
        moment: int = NEVER,
        number: int = signal.SIGKILL,
        *,
        careless: bool = False,
    ) -> int:
        """Sample or resume up to a moment; gives the exit code, -9 if it was killed."""
        request = {
            "scenario": name, "path": str(path), "budget": budget, "moment": moment,
            "signal": int(number), "careless": careless,
        }  # fmt: skip
        assert self._helper.stdin is not None
        assert self._helper.stdout is not None
        self._helper.stdin.write(json.dumps(request) + "\n")
        self._helper.stdin.flush()
        return int(self._helper.stdout.readline())

    def close(self) -> None:
        assert self._helper.stdin is not None
        assert self._helper.stdout is not None
        self._helper.stdin.close()
        self._helper.wait()
        self._helper.stdout.close()


def opened(path: Path) -> aptmc.Run | None:
    """The store as it was left. One that was never begun is removed."""
    try:
        return aptmc.open(path)
    except aptmc.InputError:
        shutil.rmtree(path, ignore_errors=True)
        return None


if __name__ == "__main__":
    serve()
