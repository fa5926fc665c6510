"""Lanes: simulators from a user's two functions in the whole anytime race, on a GPU if possible.

Times are those of whole runs of `aptmc.sample`, from the call on; events are counted while draws
are, exchanges and recording included. On this machine's processors everything is shorter.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aptmc
from aptmc.compiled import Floats
from aptmc.models import gamma_mixture, stepwise_lotka_volterra
from benchmarks import lanes_problems as problems

TOLERANCES = (1.0, 1.145, 1.31, 1.5, 1.84, 2.257, 3.362, 6.082)
TIGHTER = (0.4, 0.5, 0.63, 0.8, *TOLERANCES)
# 3,778 hits of rejection from the uniform prior, at tolerance 1.
MEANS: Floats = np.array([0.9178, 0.00991, 1.0885])
ERRORS: Floats = np.array([0.185, 0.00464, 0.487]) / np.sqrt(3778)
NAMES = ("birth", "predation", "death")
REFERENCES = Path(__file__).with_name("lanes_precision.json")  # of long runs
EVERY = 2000
OFTEN = 200  # so often exchanges of chains in flight show
HEAD = """| run | lanes | s until ready | events per s | moves of a chain | means | off by |
| --- | --- | --- | --- | --- | --- | --- |"""


class Measured(NamedTuple):
    """One run of predators and prey."""

    lanes: int
    whole: float  # seconds from the call to the result
    seconds: float  # of them, in which lanes were on their way
    events: float
    moves: float  # of each chain
    means: Floats
    spreads: Floats
    errors: Floats  # of the means, told by the groups

    @property
    def off(self) -> Floats:
        """How many standard errors the means are away from those of rejection."""
        return (self.means - MEANS) / np.hypot(self.errors, ERRORS)


def predators(
    on: Any, budget: float, tolerances: tuple[float, ...] = TOLERANCES, *, every: int = EVERY,
    thin: int = 20, seed: int = 1, schedule: Any = None,
) -> Measured:  # fmt: skip
    """One run, from the call of `aptmc.sample` to its result."""
    variances = 0.008 * np.array(tolerances) ** 1.82
    begun = time.perf_counter()
    run = aptmc.sample(
        stepwise_lotka_volterra.problem(),
        budget=budget,
        ladder=aptmc.Ladder.tolerances(tolerances),
        kernel=aptmc.OneHit(np.sqrt(np.outer(variances, [1.0, 1e-2, 1.0]))),
        schedule=schedule or aptmc.Anytime(every=every),
        on=on,
        thin=thin,
        progress=False,
        seed=seed,
    )
    whole = time.perf_counter() - begun
    draws = np.stack([np.stack(run.series(name)) for name in NAMES])
    # Of the coldest rung, lane after lane of the groups.
    by_group = draws.mean(axis=2).reshape(len(NAMES), run.settings.pools.apart, -1).mean(axis=1)
    groups, lanes = by_group.shape[1], run.rung_of_chain.size // 2
    return Measured(
        lanes, whole, run.elapsed, float(run.statistics["work"].sum()),
        run.completions / (2 * lanes), by_group.mean(axis=1), draws.std(axis=(1, 2)),
        by_group.std(axis=1, ddof=1) / np.sqrt(groups),
    )  # fmt: skip


def show_predators(name: str, found: Measured) -> None:
    """A row of the first table."""
    print(
        f"| {name} | {found.lanes:,} | {found.whole - found.seconds:.1f} | "
        f"{found.events / found.seconds:.2e} | {found.moves:.0f} | {_list(found.means, '.4g')} | "
        f"{_list(found.off, '+.1f')} |",
        flush=True,
    )


def print_growth(lanes: Callable[..., Any], sizes: list[int], budget: float, bits: int) -> None:
    """How many events there are with more and more lanes."""
    print(HEAD)
    for size in sizes:
        show_predators(f"{bits} bits", predators(lanes(size, bits=bits, settle=0.4), budget))


def print_known(lanes: Callable[..., Any], size: int, budget: float) -> None:
    """Problems whose means are known, corrected and not."""
    print("| problem | schedule | mean | should be | off by |")
    print("| --- | --- | --- | --- | --- |")
    known: list[tuple[str, aptmc.Abc, dict[str, Any], Callable[[Any], Any], float]] = [
        ("two modes at 20 : 1", problems.two_modes(), problems.TWO_MODES, lambda x: x > 0.0, 0.5),
        ("gamma mixture, p = 2", problems.mixture(), problems.MIXTURE, lambda x: x,
         gamma_mixture.MEAN),
    ]  # fmt: skip
    for name, problem, settings, of, expected in known:
        for schedule in (aptmc.Anytime(every=50), aptmc.Uncorrected(every=50)):
            run = aptmc.sample(
                problem, budget=budget, schedule=schedule, on=lanes(size, settle=0.3), thin=20,
                progress=False, seed=1, **settings,
            )  # fmt: skip
            means = of(np.stack(run.series("x"))).mean(axis=1)
            mean, error = means.mean(), means.std(ddof=1) / np.sqrt(means.size)
            off = (mean - expected) / error
            kind = type(schedule).__name__
            print(f"| {name} | {kind} | {mean:.5f} | {expected} | {off:+.1f} |", flush=True)


def reference(tolerance: float = TOLERANCES[0]) -> Floats:
    """The three means, from a long run of lanes."""
    table = json.loads(REFERENCES.read_text())
    return np.array(table["references"][str(tolerance)]["means"])


def without_correction(
    size: int, ticks: int, schedule: Any, lanes: Callable[..., Any] = aptmc.Lanes
) -> tuple[Floats, Floats]:
    """Means of predators and prey at tolerance 1, and by how many standard errors they are off.

    The budget is in ticks, so that what comes of it depends on no other load of the machine.
    """
    on = lanes(size, settle=0.3, budget_in="ticks")
    found = predators(on, ticks, schedule=schedule(every=OFTEN))
    return found.means, (found.means - reference()) / found.errors


def print_without_correction(lanes: Callable[..., Any], size: int, ticks: int) -> None:
    """A simulator whose cost varies by itself, corrected and not."""
    print("| predators and prey, tolerance 1 | birth, predation, death | off by |")
    print("| --- | --- | --- |")
    print(f"| a long run | {_list(reference(), '.4g')} | |")
    for schedule in (aptmc.Anytime, aptmc.Uncorrected):
        means, off = without_correction(size, ticks, schedule, lanes)
        print(f"| {schedule.__name__} | {_list(means, '.4g')} | {_list(off, '+.1f')} |", flush=True)


def print_users(lanes: Callable[..., Any], size: int, budget: float) -> None:
    """Simulators as users write them: numba functions, on the GPU as they are."""
    print("| simulator | events per s | means |")
    print("| --- | --- | --- |")
    for name, problem, settings in (
        ("an epidemic among 40", problems.epidemic(), problems.EPIDEMIC),
        ("a tree of births and deaths", problems.tree(), problems.TREE),
    ):
        run = aptmc.sample(
            problem, budget=budget, on=lanes(size, settle=0.3), thin=20,
            schedule=aptmc.Anytime(every=500), progress=False, seed=1, **settings,
        )  # fmt: skip
        events = run.statistics["work"].sum() / run.elapsed
        means = [float(np.mean(run.series(label))) for label in problem.labels]
        print(f"| {name} | {events:.2e} | {_list(means, '.4f')} |", flush=True)


def print_compilers(lanes: int, ticks: int) -> None:
    """On one processor: numba's code, that of a C compiler, and several lanes at once: the same."""
    problem = stepwise_lotka_volterra.problem()
    kernel = aptmc.OneHit(np.sqrt(np.outer(0.008 * np.array(TOLERANCES) ** 1.82, [1, 1e-2, 1])))
    print("| compiler | events per processor second |")
    print("| --- | --- |")
    compilers: list[Any] = 2 * ["numba", "c one by one", "c"]
    for compiler in compilers:
        on = aptmc.Lanes(
            lanes, device="cpu", budget_in="ticks", threads=1, settle=0.0, compiler=compiler
        )  # fmt: skip
        spent, events = [], []
        for budget in (ticks // 10, ticks // 10, ticks):  # the first one compiles
            begun = time.process_time()
            run = aptmc.sample(
                problem, budget=budget, ladder=aptmc.Ladder.tolerances(TOLERANCES), kernel=kernel,
                schedule=aptmc.Anytime(every=EVERY), on=on, progress=False, seed=1,
            )  # fmt: skip
            spent.append(time.process_time() - begun)
            events.append(run.statistics["work"].sum())
        # Both of the others find the same first states, which is left out so.
        rate = (events[2] - events[1]) / (spent[2] - spent[1])
        print(f"| {compiler} | {rate:.2e} |", flush=True)


def _here(count: int, **options: Any) -> Any:
    return aptmc.Lanes(count, device="cpu", **options)


def _list(numbers: Any, kind: str) -> str:
    return ", ".join(format(number, kind) for number in numbers)


def main(*, quick: bool) -> None:
    """Print the tables."""
    on_gpu = aptmc.Lanes().device.is_gpu

    def lanes(count: int, **options: Any) -> Any:
        return aptmc.Lanes(count, **({"bits": 32} | options))

    print(f"## Lanes on {lanes(1).device}\n")
    if quick or not on_gpu:
        print_growth(lanes, [256], 4.0 if quick else 60.0, 64)
        print()
        print_known(lanes, 240, 1.0 if quick else 20.0)
        print()
        print_without_correction(_here, *((256, 10_000) if quick else (2048, 3_000_000)))
        print()
        print_compilers(256, 20_000 if quick else 400_000)
        print()
        return
    print_growth(lanes, [1 << 18], 15.0, 32)
    print()
    print_known(lanes, 98_304, 5.0)
    print()
    print_without_correction(lanes, 98_304, 2_000_000)
    print()
    print_users(lanes, 65_536, 5.0)
    print()
