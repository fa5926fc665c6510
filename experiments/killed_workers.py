"""Workers are killed again and again while one mode takes twenty times as long as the other.

`python -m experiments.killed_workers` kills a random worker of four some times a second, in many
runs, and compares the weight of the slow mode with the truth, one half. A lost move is computed
again with its own random key, so it only took longer. The control draws it afresh, which throws
away long moves more often than short ones. Moves sleep, so several runs go on at once; on a busy
machine there are few moves between two kills, and the runs say little.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import aptmc
from aptmc.backends.processes import local_workforce
from aptmc.backends.processes.local_workforce import LocalWorker, LocalWorkforce
from aptmc.sampling.handle import Inspection
from benchmarks.spending import busy_loops
from experiments.estimates import Estimate, estimate

SLOW, FAST = 0.2, 0.01  # seconds of a move in each mode
TRUTH = 0.5
WORKERS = 4
PER_SECOND = 2.0  # kills
OTHER_KEYS = 1_000_000  # added to a move's number for a key of its own


class Killed(NamedTuple):
    """What came of one run."""

    weight: float  # of the slow mode
    moves: int
    kills: int
    late: float  # seconds, after its budget


def log_likelihood(theta: Any) -> float:
    """Two modes alike, of which the right one takes long."""
    time.sleep(SLOW if theta[0] > 0.0 else FAST)
    return float(-0.5 * (abs(theta[0]) - 4.0) ** 2)


def killed_run(
    seed: int,
    seconds: float,
    per_second: float,
    *,
    most_kills: float = math.inf,
    is_stored: bool = False,
) -> Killed:
    """One run, in which workers are killed until it ends.

    :param most_kills: it is stopped when so many are
    :param is_stored: whether it is saved on disk
    """
    with ExitStack() as folders:
        store = None
        if is_stored:
            store = Path(folders.enter_context(TemporaryDirectory())) / "run.zarr"
        return _killed_run(seed, seconds, per_second, most_kills, store)


def _killed_run(
    seed: int, seconds: float, per_second: float, most_kills: float, store: Path | None
) -> Killed:
    rng = np.random.default_rng(seed)
    problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(-10, 20)))
    kills, began = 0, time.monotonic()
    with aptmc.start(
        problem,
        budget=seconds,
        warmup=0,
        ladder=aptmc.Ladder.geometric(4, hottest=0.02),
        kernel=aptmc.RandomWalk([1.0, 2.0, 4.0, 6.0]),
        schedule=aptmc.Anytime(every="50 ms"),
        pools=aptmc.Shared(2),
        on=aptmc.Processes(WORKERS, group=1, ahead=0),
        store=store,
        seed=seed,
    ) as handle:
        while handle.is_running:
            with suppress(TimeoutError):
                handle.wait(rng.exponential(1.0 / per_second))
                break
            victim = choose_victim(handle.inspect(), rng)
            if victim is not None:
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    kills += 1
            if kills >= most_kills:
                handle.stop()
        run = handle.wait()
        late = time.monotonic() - began - seconds
    draws = np.concatenate(run.series("x"))
    return Killed(float((draws > 0.0).mean()), run.completions, kills, late)


def choose_victim(seen: Inspection, rng: np.random.Generator) -> int | None:
    """A random worker at a move that counts."""
    workers = [worker.process for worker in seen.workers if worker.process is not None]
    return rng.choice(workers) if seen.run.completions > 0 and workers else None


@contextmanager
def fresh_keys() -> Iterator[None]:
    """The planted error: what a dead worker was to do is ordered again with other keys."""
    hire_again = LocalWorkforce._hire_again

    def with_other_keys(workforce: LocalWorkforce, worker: LocalWorker) -> None:
        worker.orders = deque(
            order._replace(key=order.key._replace(number=order.key.number + OTHER_KEYS))
            for order in worker.orders
        )
        hire_again(workforce, worker)

    LocalWorkforce._hire_again = with_other_keys  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        LocalWorkforce._hire_again = hire_again  # type: ignore[method-assign]


def killed_runs(
    runs: int,
    seconds: float,
    at_once: int,
    per_second: float = PER_SECOND,
    *,
    is_stored: bool = False,
) -> tuple[Estimate, float, float, float]:
    """Many runs: the weight of the slow mode, moves and kills of a run, and the latest return."""
    with ThreadPoolExecutor(at_once) as executor:
        seeds = range(1, 1 + runs)
        one = partial(killed_run, seconds=seconds, per_second=per_second, is_stored=is_stored)
        found = list(executor.map(one, seeds))
    weights, moves, kills, late = zip(*found, strict=True)
    return estimate(weights), float(np.mean(moves)), float(np.mean(kills)), max(late)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--per-second", type=float, default=PER_SECOND, help="kills")
    parser.add_argument("--stored", action="store_true", help="save the runs on disk")
    parser.add_argument("--busy", type=int, default=0, help="programs that compute meanwhile")
    options = parser.parse_args()
    # A move that ends three of its workers ends a run; here it is not the move's fault.
    local_workforce.MOST_DEATHS = 1_000_000  # type: ignore[attr-defined]
    print("| a lost move is | kills in a run | moves | weight of the slow mode | off by | latest |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, planted in (("replayed with its key", False), ("drawn afresh", True)):
        with fresh_keys() if planted else nullcontext(), busy_loops(options.busy):
            weight, moves, kills, late = killed_runs(
                options.runs, options.seconds, options.at_once, options.per_second,
                is_stored=options.stored,
            )  # fmt: skip
        off = (weight.value - TRUTH) / weight.error
        print(
            f"| {name} | {kills:.0f} | {moves:.0f} | {weight.value:.4f} ± {weight.error:.4f} "
            f"| {off:+.1f} standard errors | {late:+.2f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main()
