"""All kernels on all known densities: `python -m experiments.known_targets.kernels`.

In virtual time, at equal work counted in evaluations; a gradient is one, and the density that comes
with it another. Kernels that follow gradients have them, the others do not know them. A line is
kept of each run as soon as it is complete, in a file for each cell of the table, so that a table
that was interrupted goes on where it was; the code is not part of what is kept, so begin with
another folder after a change. `--kept FOLDER` alone, with `--processes 0`, prints what there is.

Of a target: the harmonic mean over its quantities of the effective draws by the mean squared error
over the runs, and how far the worst quantity is off, in standard errors over the runs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import aptmc
from aptmc.problem import Problem
from aptmc.warmup import found as warmup_found
from experiments.known_targets import densities, eight_schools, gradients, smooth
from experiments.known_targets.measures import Measured, RunMeasure, measure_run
from experiments.known_targets.quantities import Sums

PLAIN = {
    target.name: target for target in (*densities.TARGETS, *eight_schools.TARGETS, *smooth.TARGETS)
}
ALONG = {target.name: target for target in gradients.TARGETS}
WALK, LINES = aptmc.RandomWalk("auto", spread=1.0), aptmc.Slice("auto")
BEFORE, NOW = "walk and slices", "automatic"  # the default of old, and the present one
WITHOUT: Mapping[str, aptmc.Kernel | None] = {
    BEFORE: aptmc.Mixture(WALK, LINES, 0.2),
    NOW: None,
    "walk": WALK,
    "slices": LINES,
    "one ellipse": aptmc.EllipticalSlice(components=1),
    "differential evolution": aptmc.DifferentialEvolution(),
}
WITH: Mapping[str, aptmc.Kernel | None] = {
    "automatic, gradient": None,
    "Nuts": aptmc.Nuts(),
    "Hmc": aptmc.Hmc(),
    "Mala": aptmc.Mala(),
    "Mala, search": aptmc.Mala(search=True),
}
KERNELS = {**WITHOUT, **WITH}
# A column for those who ask for it.
ASKED_FOR: Mapping[str, aptmc.Kernel | None] = {
    "ellipses, walk and slices": aptmc.Mixture(
        aptmc.EllipticalSlice(), aptmc.Mixture(WALK, LINES, 0.2), 0.3
    ),
}
# Shares of the full lengths: long enough for a warm-up to find its settings.
SCALE, SCALES = 0.3, {target.name: 1.0 for target in smooth.TARGETS}
RUNS, RUNS_OF_SMOOTH = 16, 4  # with many quantities alike a few runs tell as much
SEEDS_OF_A_TASK, OF_SMOOTH = 8, 2


class Task(NamedTuple):
    """Some runs of a cell, in one process, which compiles once for them."""

    target: str
    kernel: str
    scale: float
    seeds: tuple[int, ...]

    @property
    def work(self) -> float:
        """About how long it takes, by evaluations; those of many dimensions take longer."""
        target = PLAIN[self.target]
        return float(target.budget * self.scale * len(self.seeds) * target.problem.dimension)


def file_of(folder: Path, target: str, kernel: str) -> Path:
    """Of a cell."""
    return folder / f"{target}.{kernel}.jsonl".replace(" ", "_").replace(",", "")


def kept(folder: Path, target: str, kernel: str, scale: float) -> dict[int, RunMeasure]:
    """The runs of a cell so far, by seed."""
    path, found = file_of(folder, target, kernel), {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        one = json.loads(line)
        if one["scale"] == scale:
            sums = [Sums(*numbers) for numbers in one["sums"]]
            rates = np.array(one["swap_rates"], float)
            found[one["seed"]] = RunMeasure(sums, one["rungs"], rates, one["round_trips"])
    return found


def sampled(target: str, kernel: str, scale: float, seed: int) -> RunMeasure:
    """One run, with another automatic kernel unless that is asked for, which then stays."""
    one = (ALONG if kernel in WITH else PLAIN)[target]
    chosen = {**KERNELS, **ASKED_FOR}[kernel]
    if chosen is None:
        return measure_run(one.sample(scale * one.budget, seed), one.quantities)
    with (
        mock.patch.object(Problem, "default_kernel", return_value=chosen),
        mock.patch.object(warmup_found, "rival_of", return_value=None),
    ):
        return measure_run(one.sample(scale * one.budget, seed), one.quantities)


def complete(task: Task, folder: Path) -> float:
    """Make the runs of a task, and keep a line of each; gives the seconds it took."""
    began = time.perf_counter()
    for seed in task.seeds:
        run = sampled(task.target, task.kernel, task.scale, seed)
        here: dict[str, Any] = {
            "target": task.target, "kernel": task.kernel, "scale": task.scale, "seed": seed,
            "sums": [list(map(float, sums)) for sums in run.sums], "rungs": run.rungs,
            "swap_rates": np.asarray(run.swap_rates).tolist(), "round_trips": run.round_trips,
        }  # fmt: skip
        with file_of(folder, task.target, task.kernel).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(here) + "\n")
    return time.perf_counter() - began


def missing(cells: Iterable[tuple[str, str]], folder: Path, options: Any) -> list[Task]:
    """What is to be done: some runs of every cell first, and of these the longest.

    So the table has all its cells if it is broken off, and nobody waits for a long one at the end.
    """
    tasks = []
    for target, kernel in cells:
        scale, runs = length(target, options)
        there = kept(folder, target, kernel, scale)
        seeds = [seed for seed in range(1, runs + 1) if seed not in there]
        together = OF_SMOOTH if target in SCALES else SEEDS_OF_A_TASK
        for first in range(0, len(seeds), together):
            some = tuple(seeds[first : first + together])
            tasks.append(Task(target, kernel, scale, some))
    return sorted(tasks, key=lambda task: (task.seeds[0] > SEEDS_OF_A_TASK, -task.work))


def length(target: str, options: Any) -> tuple[float, int]:
    """The share of the full length, and how many runs."""
    runs = options.runs or (RUNS_OF_SMOOTH if target in SCALES else RUNS)
    return options.scale or SCALES.get(target, SCALE), runs


def worth(of: Measured) -> float:
    """Effective draws of a run."""
    places = range(len(of.target.quantities))
    # Where no run has moved nothing is known of how much a draw varies, and a run is worth nothing.
    return float(1.0 / np.mean([1.0 / max(of.effective_draws(place), 1e-9) for place in places]))


def table(targets: Iterable[str], kernels: list[str], folder: Path, options: Any) -> str:
    """What is kept of each cell, in Markdown; how many times before, where both are there."""
    has_both = {BEFORE, NOW} <= set(kernels)
    heads = ["target", "runs", *kernels, *(["times before"] if has_both else [])]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for target in targets:
        _, runs = length(target, options)
        cells, draws, fewest = [], {}, runs
        for kernel in kernels:
            of = measured(folder, target, kernel, options)
            if of is None:
                cells.append("-")
                continue
            off = max(of.off_by(place) for place in range(len(of.target.quantities)))
            draws[kernel], fewest = worth(of), min(fewest, len(of.tempered))
            cells.append(f"{number(draws[kernel])} ({off:.1f})")
        if has_both:
            both = BEFORE in draws and NOW in draws
            cells.append(number(draws[NOW] / draws[BEFORE]) if both else "-")
        lines.append("| " + " | ".join([target, str(fewest), *cells]) + " |")
    return "\n".join(lines)


def table_of_quantities(
    targets: Iterable[str], kernels: list[str], folder: Path, options: Any
) -> str:
    """The same for each quantity; of many alike, as modes are, there is none."""
    heads = ["target", "quantity", *kernels]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for target in targets:
        cells = [measured(folder, target, kernel, options) for kernel in kernels]
        for place, quantity in enumerate(PLAIN[target].quantities):
            if quantity.name.startswith("mode ") or target in SCALES:
                continue
            said = [
                "-" if of is None
                else f"{number(of.effective_draws(place))} ({of.off_by(place):.1f})"
                for of in cells
            ]  # fmt: skip
            lines.append("| " + " | ".join([target, quantity.name, *said]) + " |")
    return "\n".join(lines)


def measured(folder: Path, target: str, kernel: str, options: Any) -> Measured | None:
    """What is kept of a cell; None, where that is less than two runs."""
    scale, runs = length(target, options)
    found = kept(folder, target, kernel, scale)
    measures = [found[seed] for seed in sorted(found) if seed <= runs]
    if len(measures) < 2:
        return None
    return Measured(PLAIN[target], scale * PLAIN[target].budget, measures, None)


def number(value: float) -> str:
    """With a digit after the point where it is small."""
    return f"{value:,.0f}" if value >= 10.0 else f"{value:.1f}"


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.known_targets.kernels", description=__doc__
    )
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(PLAIN)} (default: all)")
    parser.add_argument(
        "--kernels", nargs="+", choices=[*KERNELS, *ASKED_FOR], default=list(KERNELS)
    )
    parser.add_argument("--quantities", action="store_true", help="a row for each of them, too")
    parser.add_argument("--scale", type=float, help="share of the full length")
    parser.add_argument("--runs", type=int, help=f"of a cell ({RUNS}; smooth: {RUNS_OF_SMOOTH})")
    parser.add_argument("--processes", type=int, default=1, help="0: print what there is")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing later")
    parser.add_argument("--kept", type=Path, default=Path("results/known_targets/kernels"))
    options = parser.parse_args()
    names = options.names or list(PLAIN)
    if unknown := set(names) - set(PLAIN):
        parser.error(f"no such target: {', '.join(unknown)}; there are {', '.join(PLAIN)}")
    options.kept.mkdir(parents=True, exist_ok=True)
    if options.processes:
        cells = [(target, kernel) for target in names for kernel in options.kernels]
        work(missing(cells, options.kept, options), options)
    print(table(names, options.kernels, options.kept, options))
    if options.quantities:
        print(f"\n{table_of_quantities(names, options.kernels, options.kept, options)}")


def work(tasks: list[Task], options: Any) -> None:
    """All tasks on so many processes, but none that would begin too late."""
    # Those who compute would otherwise multiply each matrix with all processors.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    began = time.perf_counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, mp_context=context) as executor:
        under_way = {executor.submit(complete, task, options.kept): task for task in tasks}
        for done in as_completed(under_way):
            if done.cancelled():
                continue
            task, passed = under_way[done], time.perf_counter() - began
            took = done.exception() or f"{done.result():.0f} s"
            print(f"{passed:5.0f} s {task.target}, {task.kernel} {task.seeds}: {took}", flush=True)
            if passed > options.seconds:
                executor.shutdown(wait=False, cancel_futures=True)


if __name__ == "__main__":
    main()
