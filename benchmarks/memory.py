"""Does the coordinating process grow over a million moves that cost nothing?

Only every thousandth draw of the coldest rung is kept and no events, so whatever grows is ours.
Resident memory is read where the system tells it (Linux).
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

import aptmc
from benchmarks.background import start_sampling
from benchmarks.race import problem_in

TOLERANCES = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]
SHARES = (0.1, 0.5, 1.0)
FASTEST = 20_000.0  # moves per second


def resident_megabytes() -> float:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def main(*, quick: bool) -> None:
    """Print one table."""
    completions = 10_000 if quick else 1_000_000
    print(f"## Memory of the coordinating process over {completions:,} moves\n")
    if not Path("/proc/self/statm").exists():
        print("Left out: this system does not tell it.\n")
        return
    print("| moves | seconds | resident, MiB |")
    print("| --- | --- | --- |")
    with start_sampling(
        problem_in(compiled=True),
        ladder=aptmc.Ladder.tolerances(TOLERANCES),
        kernel=aptmc.OneHit(1.0),
        schedule=aptmc.Anytime(every=0.05),
        on=aptmc.Processes(2, group=1),
        thin=1000,
        longest="1 h",
        log_events=False,
        seed=1,
    ) as handle:
        start = time.perf_counter()
        run = handle.inspect().run
        for share in SHARES:
            while run.completions < share * completions:
                # Each look copies a little, so there are not many; but none should come too late.
                left = share * completions - run.completions
                time.sleep(min(max(left / FASTEST, 0.05), 5.0))
                run = handle.inspect().run
            print(
                f"| {run.completions:,} | {time.perf_counter() - start:.1f} "
                f"| {resident_megabytes():.1f} |"
            )
        run = handle.stop()
    print(
        f"\n{run.completions / run.elapsed:,.0f} moves per second, one step each, "
        f"{run.overhead.coordinator / run.completions * 1e6:.0f} µs of the coordinating process "
        f"per move, {sum(draws.time.size for draws in run.chains()):,} draws kept.\n"
    )
