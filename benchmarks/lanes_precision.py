"""How long it takes to know three means as 10,000 independent draws would: lanes, and others.

    python -m benchmarks.lanes_precision --who lanes --tolerance 1 --seconds 1
    python -m benchmarks.lanes_precision --who processes --tolerance 1 --seconds 4 --workers 15
    python -m benchmarks.lanes_precision --who pyabc --tolerance 1 --workers 15
    python -m benchmarks.lanes_precision

The first ones make runs and keep their means in the table beside this file, after each run; the
last one prints it. With the environment variable OUT the table goes into that folder. Where it has
runs of the same kind already, only as many more are made as are missing, unless `--anew` is said.
What a run is worth is told by the mean squared error of its means over all runs, against a long
run of lanes (`--who reference`). Predators and prey with the paper's uniform prior; everybody is
given the same ladder of tolerances. Times are those from the call to the result: processes are
started and ended, functions compiled before. pyABC has to be installed here, or on `PYTHONPATH`.
"""

from __future__ import annotations

import argparse
import datetime
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import aptmc
from aptmc.models import lotka_volterra
from benchmarks import tables
from benchmarks.lanes import NAMES, TIGHTER, TOLERANCES, predators

TABLE = Path(__file__).with_suffix(".json")
INDEPENDENT = 10_000  # draws, whose precision is to be reached
LADDERS = {1.0: TOLERANCES, 0.4: TIGHTER}
HIGH = 3.0  # of the uniform prior
Run = tuple[float, list[float]]  # how many seconds it took, and its means


def of_lanes(
    tolerances: tuple[float, ...], seconds: float, lanes: int, settle: float, seed: int
) -> tuple[Run, list[float]]:
    """One run on a GPU, and the standard deviations of its draws."""
    on = aptmc.Lanes(lanes, bits=32, settle=settle)
    found = predators(on, seconds, tolerances, seed=seed)
    return (found.whole, found.means.tolist()), found.spreads.tolist()


def by_lanes(options: argparse.Namespace) -> Callable[[int], Run]:
    """Runs on a GPU."""

    def one(seed: int) -> Run:
        return of_lanes(LADDERS[options.tolerance], options.seconds, options.lanes, 0.4, seed)[0]

    return one


def by_processes(options: argparse.Namespace) -> Callable[[int], Run]:
    """Runs of aptmc on this machine's processors, whose draws begin after 30 % of the time."""
    tolerances = LADDERS[options.tolerance]
    variances = 0.008 * np.array(tolerances) ** 1.82
    problem = aptmc.Abc.early(
        lotka_volterra.simulated_distance, lotka_volterra.prior_uniform(), counts_work=True
    )

    def one(seed: int) -> Run:
        begun = time.perf_counter()
        run = aptmc.sample(
            problem,
            budget=options.seconds,
            ladder=aptmc.Ladder.tolerances(tolerances),
            kernel=aptmc.OneHit(np.sqrt(np.outer(variances, [1.0, 1e-2, 1.0]))),
            on=aptmc.Processes(options.workers),
            progress=False,
            seed=seed,
        )
        whole = time.perf_counter() - begun
        print(f"{run.statistics['work'].sum() / run.elapsed:.2e} events per second", flush=True)
        return whole, [float(np.mean(np.concatenate(run.series(name)))) for name in NAMES]

    return one


def by_pyabc(options: argparse.Namespace) -> Callable[[int], Run]:
    """Generations of pyABC down the same tolerances, in as many processes."""
    import pyabc

    logging.disable(logging.INFO)
    generators: dict[int, Any] = {}  # by process: each is a copy of one that may have drawn already

    def simulate(parameters: Any) -> dict[str, float]:
        rng = generators.setdefault(os.getpid(), np.random.default_rng())
        theta = np.array([parameters[name] for name in NAMES])
        # With the early stop of the hottest tolerance, for no more is known of the present one.
        distance, _ = lotka_volterra.simulated_distance(theta, rng, TOLERANCES[-1])
        return {"distance": min(distance, 1e9)}

    def distance(simulated: Any, observed: Any) -> float:
        return float(simulated["distance"])

    prior = pyabc.Distribution(**{name: pyabc.RV("uniform", 0.0, HIGH) for name in NAMES})
    simulate(prior.rvs())
    tolerances = LADDERS[options.tolerance][::-1]

    def one(seed: int) -> Run:
        begun = time.perf_counter()
        generators.clear()
        smc = pyabc.ABCSMC(
            simulate, prior, distance, population_size=options.population,
            eps=pyabc.ListEpsilon(list(tolerances)),
            sampler=pyabc.sampler.MulticoreEvalParallelSampler(n_procs=options.workers),
        )  # fmt: skip
        smc.new("sqlite://", {"distance": 0.0})
        history = smc.run(max_nr_populations=len(tolerances))
        draws, weights = history.get_distribution(m=0)
        whole = time.perf_counter() - begun
        means = weights @ draws[list(NAMES)].to_numpy() / weights.sum()
        return whole, means.tolist()

    return one


MAKERS = {"lanes": by_lanes, "processes": by_processes, "pyabc": by_pyabc}


def settings_of(options: argparse.Namespace) -> str:
    """What a row of the table is of."""
    if options.who == "lanes":
        return f"Lanes({options.lanes:,}, bits=32), {options.seconds:g} s"
    if options.who == "processes":
        return f"Processes({options.workers}), {options.seconds:g} s"
    return f"pyABC, {options.workers} processes, {options.population:,} particles"


def measure(options: argparse.Namespace) -> None:
    """Make the runs that are missing, and keep what came of each."""
    table = tables.read(options.file) or {"references": {}, "rows": []}
    level, now = str(options.tolerance), datetime.date.today().isoformat()
    if options.who == "reference":
        of = LADDERS[options.tolerance]
        (_, means), spreads = of_lanes(of, options.seconds, options.lanes, 0.3, 1000)
        table["references"][level] = {"means": means, "spreads": spreads, "date": now}
        tables.write(options.file, table)
        return
    row = row_of(table, settings_of(options), level, anew=options.anew)
    missing = range(len(row["means"]), options.runs)
    if not missing:
        print(f"{row['of']} has {len(row['means'])} runs at tolerance {level} already: --anew")
        return
    one = MAKERS[options.who](options)
    if options.who != "pyabc":
        one(options.runs)  # compiles, and does not count
    until = time.monotonic() + options.patience
    for seed in missing:
        seconds, means = one(seed)
        row["seconds"].append(seconds)
        row["means"].append(means)
        row["date"] = now
        tables.write(options.file, table)
        print(f"{row['of']}, run {seed + 1}: {seconds:.1f} s, means {means}", flush=True)
        if time.monotonic() > until:
            break


def row_of(table: dict[str, Any], of: str, level: str, *, anew: bool) -> dict[str, Any]:
    """The row of the table with these runs: that which is there, or a new one at its end."""
    same = [row for row in table["rows"] if (row["of"], row["tolerance"]) == (of, level)]
    if same and not anew:
        found: dict[str, Any] = same[0]
        return found
    new: dict[str, Any] = {"of": of, "tolerance": level, "seconds": [], "means": []}
    table["rows"] = [row for row in table["rows"] if row not in same] + [new]
    return new


def show(table: dict[str, Any]) -> None:
    """A row for each, and how long it would take to be worth as much."""
    print(
        "| tolerance | who | runs | seconds of a run | worth in independent draws | s to 10,000 |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for row in sorted(table["rows"], key=lambda row: -float(row["tolerance"])):
        reference = table["references"][row["tolerance"]]
        off = np.array(row["means"]) - reference["means"]
        worth = np.array(reference["spreads"]) ** 2 / (off**2).mean(axis=0)
        seconds = float(np.mean(row["seconds"]))
        needed = seconds * max(INDEPENDENT / worth.min(), 1.0)
        numbers = ", ".join(f"{value:,.0f}" for value in worth)
        print(
            f"| {row['tolerance']} | {row['of']} | {len(row['means'])} | {seconds:.1f} | "
            f"{numbers} | {needed:,.1f} |"
        )


def main(given: list[str] | None = None) -> None:
    """Measure if that is asked for, or show what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--who", choices=["reference", "lanes", "processes", "pyabc"])
    parser.add_argument("--tolerance", type=float, choices=list(LADDERS), default=1.0)
    parser.add_argument("--seconds", type=float, default=1.0, help="the budget of a run")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--patience", type=float, default=1e9, help="no run begins after so long")
    parser.add_argument("--lanes", type=int, default=1 << 16)
    parser.add_argument("--workers", type=int, default=15)
    parser.add_argument("--population", type=int, default=1000)
    parser.add_argument("--file", type=Path, default=TABLE)
    parser.add_argument("--anew", action="store_true", help="forget runs made before")
    options = parser.parse_args(given)
    if options.who is None:
        show(tables.read(options.file))
    else:
        measure(options)


if __name__ == "__main__":
    main()
