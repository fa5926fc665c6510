"""A run that everything happens to, for as long as one likes, and what comes of it: nothing.

`python -m experiments.soak --hours 24` (or `make soak HOURS=24`) samples two modes, one of which
takes twenty times as long, into a store. Meanwhile, at random: workers are killed, and the process
that starts them; the run is killed, interrupted or ended by a signal, and resumed; its disk is
full; all its processes are suspended for a while; and where the system allows it, each sitting has
a clock that began at another time. In the end the posterior must be within its error, and the
whole run, computed again from its log, the same bit for bit. No call may return late.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, final

import numpy as np
from scipy import stats

import aptmc
from aptmc.backends.processes.orphans import children_of

SLOW, FAST = 0.02, 0.001  # seconds of a move in each mode
WORKERS = 3
LONGEST_START = 60.0  # seconds for a sitting to begin, on a machine that is busy
MOST_ERRORS = 4.9  # one false alarm in a million
LATEST = 1.0  # seconds after its budget, or after a suspension, at which a sitting may return
# How often each happens among others.
ODDS = {
    "worker killed": 10,
    "process that starts workers killed": 2,
    "run killed": 2,
    "run ended by a signal": 1,
    "run interrupted": 1,
    "disk full": 1,
    "all suspended": 1,
}


def log_likelihood(theta: Any) -> float:
    """Two modes alike, of which the right one takes long."""
    if "SOAK_AWAKE" not in os.environ:  # in the replay nobody has to sleep
        time.sleep(SLOW if theta[0] > 0.0 else FAST)
    return float(-0.5 * (abs(theta[0]) - 4.0) ** 2)


def problem() -> aptmc.Tempered:
    """The two modes, with a uniform prior."""
    return aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(-10, 20)))


# --- in a process of its own ----------------------------------------------------------------------


def sit(store: Path, seconds: float) -> None:
    """Go on, or begin where nothing was saved yet."""
    # Named here, because the library is loaded where its names are used first: that takes a second
    # of a processor, and is no part of a call.
    resume, sample, on = aptmc.resume, aptmc.sample, aptmc.Processes(WORKERS, group=1, ahead=0)
    with suppress(aptmc.InputError), timed(store, seconds):
        resume(store, problem(), budget=seconds, on=on, progress=False)
        return
    shutil.rmtree(store, ignore_errors=True)
    with timed(store, seconds):
        sample(
            problem(), budget=seconds, warmup=0, store=store, save_every=1.0, keep="all",
            ladder=aptmc.Ladder.geometric(4, hottest=0.02),
            kernel=aptmc.RandomWalk([1.0, 2.0, 4.0, 6.0]),
            schedule=aptmc.Anytime(every="20 ms"), pools=aptmc.Shared(2), on=on, log_events=True,
            progress=False, seed=1,
        )  # fmt: skip


def note_of(store: Path) -> Path:
    """A file beside the store: how many seconds after its budget the last call returned."""
    return store.with_name(store.name + ".late")


@contextmanager
def timed(store: Path, seconds: float) -> Iterator[None]:
    """Note how late a call returns, however it does."""
    began = time.monotonic()
    try:
        yield
    finally:
        with suppress(OSError):  # the disk is full
            note_of(store).write_text(repr(time.monotonic() - began - seconds))


# --- around it ------------------------------------------------------------------------------------


@final
class Sitting:
    """A process that samples for a while, all that come from it, and what happens to them."""

    def __init__(self, store: Path, seconds: float, clock_offset: int) -> None:
        self.began, self.seconds = time.monotonic(), seconds
        self.mark = f"SOAK_MARK={os.getpid()}-{self.began}"
        name, _, value = self.mark.partition("=")
        offset = ["--monotonic", str(clock_offset), "--boottime", str(clock_offset)]
        namespace = ["unshare", "--time", "--fork", "--kill-child", *offset] if clock_offset else []
        command = [sys.executable, "-m", "experiments.soak", "--sit", str(store), str(seconds)]
        self.outer = subprocess.Popen(
            [*namespace, *command], env={**os.environ, name: value}, stderr=subprocess.PIPE
        )
        self._is_wrapped = bool(namespace)

    @property
    def main(self) -> int | None:
        """The coordinating process, once it is there."""
        if not self._is_wrapped:
            return self.outer.pid
        return min(children_of(self.outer.pid), default=None)

    def below(self, generations: int) -> list[int]:
        """Its descendants so far down: the ancestor, the fork server, the workers."""
        found = [] if self.main is None else [self.main]
        for _ in range(generations):
            found = [child for process in found for child in children_of(process)]
        return found

    def everybody(self) -> list[int]:
        """All processes that come from it, wherever they hide."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if self.mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        return found

    def wait(self, seconds: float) -> bool:
        """Whether it has ended after at most so long."""
        with suppress(subprocess.TimeoutExpired):
            self.outer.wait(max(seconds, 0.0))
        return self.outer.returncode is not None

    def words(self) -> str:
        """What it complained of, in its last line, when all have ended."""
        assert self.outer.stderr is not None
        with self.outer.stderr as pipe:
            lines = pipe.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else ""


def send(processes: list[int], number: int) -> None:
    """A signal to those that are still there."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def happen(what: str, sitting: Sitting, rng: np.random.Generator, pause: float) -> None:
    """Let something happen to a run."""
    main = [] if sitting.main is None else [sitting.main]
    workers = sitting.below(3)
    if what == "worker killed" and workers:
        send([workers[rng.integers(len(workers))]], signal.SIGKILL)
    elif what == "process that starts workers killed":
        send(sitting.below(2), signal.SIGKILL)
    elif what == "run killed":
        send(main, signal.SIGKILL)
    elif what == "run ended by a signal":
        send(main, signal.SIGTERM)
    elif what == "run interrupted":
        send(main, signal.SIGINT)
    elif what == "disk full":
        for process in main:
            with suppress(ProcessLookupError):
                _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
                resource.prlimit(process, resource.RLIMIT_FSIZE, (1, hard))
    elif what == "all suspended":
        everybody = sitting.everybody()
        send(everybody, signal.SIGSTOP)
        time.sleep(pause)
        send(everybody, signal.SIGCONT)


def has_clocks() -> bool:
    """Whether a process can be given a clock that began at another time."""
    command = ["unshare", "--time", "--fork", "--monotonic", "100", "true"]
    try:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def lateness(store: Path, since_continued: float) -> float:
    """How late the last call returned; whoever was suspended then could not before he went on.

    :param since_continued: seconds since the last suspension was over
    """
    with suppress(OSError, ValueError):
        return min(float(note_of(store).read_text()), since_continued)
    return -math.inf  # it was killed before it had an end


def soak(store: Path, seconds: float, every: float, suspended: float, seed: int) -> bool:
    """Let things happen until the time is over; whether nothing came of it."""
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    complaints: list[str] = []
    names, odds = list(ODDS), np.array(list(ODDS.values())) / sum(ODDS.values())
    own_clocks = has_clocks()
    until, latest = time.monotonic() + seconds, -math.inf
    while (left := until - time.monotonic()) > 0.0:
        offset = int(rng.integers(1, 1_000_000)) if own_clocks else 0
        note_of(store).unlink(missing_ok=True)
        sitting, continued = Sitting(store, left, offset), -math.inf
        counts["sittings"] += 1
        while not sitting.wait(min(rng.exponential(every), until - time.monotonic() + 1.0)):
            if time.monotonic() > until + LONGEST_START:
                complaints.append(f"a sitting of {left:.0f} s did not end")
                send(sitting.everybody(), signal.SIGKILL)
                continue
            if time.monotonic() > until:
                continue
            what = names[rng.choice(len(names), p=odds)]
            counts[what] += 1
            print(f"{until - time.monotonic():8.0f} s left: {what}", flush=True)
            happen(what, sitting, rng, suspended)
            if what == "all suspended":
                continued = time.monotonic()
        late = lateness(store, time.monotonic() - continued)
        latest = max(latest, late)
        if late > LATEST:
            complaints.append(f"a sitting returned {late:.1f} s late, {LATEST:g} s are allowed")
        for _ in range(int(LONGEST_START)):
            if not sitting.everybody():
                break
            time.sleep(1.0)
        else:
            complaints.append(f"left behind: {len(sitting.everybody())} processes")
            send(sitting.everybody(), signal.SIGKILL)
        if words := sitting.words():
            counts["ended with: " + words.partition(":")[0]] += 1
    complaints += verdict(store)
    print(json.dumps({"what happened": counts, "latest return, s": round(latest, 2)}, indent=1))
    print("\n".join(complaints) or "nothing came of it")
    return not complaints


def verdict(store: Path) -> list[str]:
    """What is wrong with what was stored, if anything is."""
    os.environ["SOAK_AWAKE"] = "1"
    run = aptmc.open(store)
    summary = run.summary().to_dict()["x"]
    off = abs(summary["mean"]) / summary["mcse"]
    print(f"{run.completions} moves; mean {summary['mean']:.4f} ± {summary['mcse']:.4f}, truth 0")
    replayed = aptmc.replay(store, problem())
    print(replayed)
    wrong = [] if replayed.is_same else ["the replay differs"]
    return wrong + ([f"the mean is {off:.1f} errors off"] if not off < MOST_ERRORS else [])


def main() -> None:
    """Soak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two events")
    parser.add_argument("--suspended", type=float, default=60.0, help="seconds of a suspension")
    parser.add_argument("--store", type=Path, default=Path(".cache/soak.zarr"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sit", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sit:
        sit(Path(options.sit[0]), float(options.sit[1]))
        return
    options.store.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(options.store, ignore_errors=True)
    seconds = 3600.0 * options.hours
    if not soak(options.store, seconds, options.every, options.suspended, options.seed):
        sys.exit(1)


if __name__ == "__main__":
    main()
