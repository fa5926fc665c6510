"""Events per second of the Lotka-Volterra simulator, beside plain C programs; one core.

All simulate the same paths in law, in turns, and the medians of their speeds are compared. Time is
processor time, so that other work on the machine matters less. The share of hits at tolerance 1
shows that all compute the same thing.

There are two C programs from one source: one chooses the next event by if and else, as most people
would write it; the other adds flags instead, like ours. Both draw from xoshiro256++, which is
quicker than the Philox that our runs need; with SFC64 one sees what that costs.
"""

from __future__ import annotations

import math
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from aptmc import Key
from aptmc.models import lotka_volterra

SOURCE = Path(__file__).with_name("gillespie.c")
COMPILE = ("-std=c11", "-O3", "-march=native", "-Wall", "-Wextra")
C_PROGRAMS = {"C, if/else": ("-DIF_ELSE",), "C, without branches": ()}
# Whole paths for the speed, and an early stop for the check.
LARGE, SMALL = 10.0, 1.0
THETAS = 64

_simulated_distance = lotka_volterra.simulated_distance


class Work(NamedTuple):
    """What one turn did."""

    events: float
    hits: int
    seconds: float

    @property
    def rate(self) -> float:
        """Events per second."""
        return self.events / self.seconds


Turn = Callable[[int, int, float], Work]


def thetas_near_the_posterior() -> Any:
    """Points around the truth, about as wide as the posterior at tolerance 1."""
    rng = Key(seed=5, chain=0, number=0).generator()
    return lotka_volterra.TRUTH * np.exp(0.15 * rng.standard_normal((THETAS, 3)))


@njit(nogil=True)
def _simulate_all(thetas: Any, repeats: int, tolerance: float, rng: Any) -> tuple[float, int]:
    total, hits = 0.0, 0
    for _ in range(repeats):
        for i in range(thetas.shape[0]):
            distance, events = _simulated_distance(thetas[i], rng, tolerance)
            total += events
            hits += int(distance <= tolerance)
    return total, hits


def of_a_run(seed: int) -> np.random.Generator:
    """Philox, as in a run: any stream can be opened anywhere, at the price of some speed."""
    return Key(seed, chain=0, number=0).generator()


def quick_one(seed: int) -> np.random.Generator:
    """A generator that is about as quick as the C program's, to show what Philox costs."""
    return np.random.Generator(np.random.SFC64(seed))


def ours(thetas: Any, generator: Callable[[int], np.random.Generator]) -> Turn:
    """A turn of the compiled Python."""

    def turn(seed: int, repeats: int, tolerance: float) -> Work:
        rng = generator(seed)
        start = time.thread_time()
        events, hits = _simulate_all(thetas, repeats, tolerance, rng)
        return Work(events, hits, time.thread_time() - start)

    turn(0, 1, LARGE)  # compiles
    return turn


def in_c(thetas: Any, compiler: str, switches: tuple[str, ...], folder: Path) -> Turn:
    """A turn of a C program, which is compiled first."""
    program = str(folder / f"gillespie{''.join(switches)}")
    subprocess.run([compiler, *COMPILE, *switches, str(SOURCE), "-o", program, "-lm"], check=True)
    lines = "\n".join(" ".join(f"{value:.17g}" for value in theta) for theta in thetas)

    def turn(seed: int, repeats: int, tolerance: float) -> Work:
        command = [program, str(seed), str(repeats), str(tolerance)]
        reply = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        events, hits, seconds = reply.stdout.split()
        return Work(float(events), int(hits), float(seconds))

    return turn


def main(*, quick: bool) -> None:
    """Print one table, with the ratios of the medians below it."""
    repeats, turns = (20, 3) if quick else (200, 9)
    thetas = thetas_near_the_posterior()
    paths = repeats * THETAS
    compiler = shutil.which("cc")
    with tempfile.TemporaryDirectory() as folder:
        contestants = {
            "aptmc": ours(thetas, of_a_run),
            "aptmc with SFC64": ours(thetas, quick_one),
        }
        if compiler is not None:
            for name, switches in C_PROGRAMS.items():
                contestants[name] = in_c(thetas, compiler, switches, Path(folder))
        work: dict[str, list[Work]] = {name: [] for name in contestants}
        for seed in range(turns):
            for name, turn in contestants.items():
                work[name].append(turn(seed, repeats, LARGE))
        checks = {name: turn(turns, repeats, SMALL) for name, turn in contestants.items()}
    print("## The Lotka-Volterra simulator, events per second on one core\n")
    print("| program | events per path | hits at tolerance 1 | events per second | range |")
    print("| --- | --- | --- | --- | --- |")
    medians = {}
    for name, done in work.items():
        rates = sorted(each.rate for each in done)
        medians[name] = statistics.median(rates)
        per_path = sum(each.events for each in done) / (turns * paths)
        share = checks[name].hits / paths
        error = math.sqrt(share * (1.0 - share) / paths)
        print(
            f"| {name} | {per_path:,.0f} | {share:.3f} ± {error:.3f} | {medians[name]:,.0f} "
            f"| {rates[0]:,.0f} to {rates[-1]:,.0f} |"
        )
    if compiler is None:
        print("\nNo C compiler (`cc`) was found, so there is nothing to compare with.\n")
        return
    print()
    for name in C_PROGRAMS:
        print(f"aptmc to {name}, ratio of the medians: {medians['aptmc'] / medians[name]:.2f}")
    print()
