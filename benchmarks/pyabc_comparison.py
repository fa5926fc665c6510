"""Microseconds per simulation beside pyABC, on the paper's normal model in plain Python; one core.

The simulator draws one normal number, so nearly all of the time is the library's. Each library is
given a prior, a simulator and a distance with the same bodies, in the form that it asks for; what
those cost when they are called in a bare loop is taken off. Time is processor time of the process.

This compares what a simulation costs, not how many are needed: the algorithms differ. pyABC's runs
include its database, in memory. Of ours, rejection and whole runs keep every draw; a race by itself
keeps only its last state.

pyABC is not a dependency. It lives in an environment of its own, which is made on request:

    python -m benchmarks.pyabc_comparison --install

With `--budgets` whole runs are compared in equal time: see `benchmarks.pyabc_budgets`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aptmc
from aptmc.models import normal
from benchmarks import race

ENVIRONMENT = Path(__file__).resolve().parent.parent / ".cache" / "pyabc"
PYTHON = ENVIRONMENT / "bin" / "python"
REQUIREMENTS = ["pyabc==0.13.*", "numba"]  # the second for simulators that are compiled
INSTALL = "python -m benchmarks.pyabc_comparison --install"
NARROW, WIDE = race.TOLERANCES
TURNS = 5

# Runs in the other environment, where there is no aptmc. Its arguments are the seed and the runs.
# Rejection has an epsilon schedule of one number, sequential Monte Carlo of several.
DRIVER = """
import json, logging, math, sys, time
import numpy as np
import pyabc

logging.disable(logging.INFO)
rng = np.random.default_rng(int(sys.argv[1]))
np.random.seed(int(sys.argv[1]))

def simulate(parameters):
    return {"x": parameters["theta"] + rng.standard_normal()}

def distance(simulated, observed):
    return abs(simulated["x"] - observed["x"])

observed, parameters = {"x": 3.0}, pyabc.Parameter(theta=2.5)
calls = 50_000
start = time.process_time()
for _ in range(calls):
    distance(simulate(parameters), observed)
bare = (time.process_time() - start) / calls

runs = {}
for name, schedule, size in json.loads(sys.argv[2]):
    sampler = pyabc.ABCSMC(
        simulate,
        pyabc.Distribution(theta=pyabc.RV("norm", 0.0, math.sqrt(5.0))),
        distance,
        population_size=size,
        eps=pyabc.ListEpsilon(schedule),
        sampler=pyabc.sampler.SingleCoreSampler(),
    )
    sampler.new("sqlite://", observed)
    start = time.process_time()
    history = sampler.run(max_nr_populations=len(schedule))
    spent = time.process_time() - start
    runs[name] = [spent / history.total_nr_simulations, history.total_nr_simulations]
print(json.dumps({"version": pyabc.__version__, "bare": bare, "runs": runs}))
"""
PYABC_RUNS = [
    [f"pyABC, rejection at {WIDE}", [WIDE], 1000],
    [f"pyABC, rejection at {NARROW}", [NARROW], 500],
    [f"pyABC, sequential from {WIDE} to {NARROW}", [WIDE, 0.5, 0.25, NARROW], 500],
]


def simulate(theta: Any, rng: np.random.Generator) -> Any:
    """What pyABC is given as well, for an array in place of a mapping."""
    return theta + rng.standard_normal()


def distance(simulated: Any, observed: Any) -> Any:
    """The same."""
    return abs(simulated[0] - observed[0])


def whole() -> aptmc.Abc:
    """The problem as simulator and distance."""
    return aptmc.Abc(simulate, normal.prior(), observed=[normal.OBSERVED], distance=distance)


def simulate_bare(simulations: int, tolerance: float, rng: np.random.Generator) -> None:
    """The functions of `whole` alone."""
    theta, observed = np.full(1, race.THETA), np.full(1, normal.OBSERVED)
    for _ in range(simulations):
        distance(simulate(theta, rng), observed)


Turn = Callable[[int], tuple[float, int]]  # from a seed to seconds and simulations


def one_hit(problem: aptmc.Abc, tolerance: float, steps: int) -> Turn:
    """A turn of the race."""
    kernel = aptmc.OneHit(race.SCALE, steps=steps, cap=100)
    move = kernel.move(problem, problem.target)
    tuning = kernel.tuning(problem, aptmc.Ladder.tolerances([tolerance]))[0]
    state = np.array([race.THETA, 0.0, problem.prior.log_density([race.THETA])])
    outcome, info = np.empty_like(state), np.zeros(kernel.info_length)

    def turn(seed: int) -> tuple[float, int]:
        rng = race.generator(seed)
        start = time.process_time()
        move(tolerance, tuning, state, rng, outcome, info)
        return time.process_time() - start, int(info[kernel.places["simulations"]])

    return turn


def rejection(problem: aptmc.Abc, tolerance: float, simulations: int) -> Turn:
    """A turn of rejection."""

    def turn(seed: int) -> tuple[float, int]:
        start = time.process_time()
        aptmc.rejection(problem, tolerance, simulations=simulations, seed=seed, threads=1)
        return time.process_time() - start, simulations

    return turn


def whole_run(problem: aptmc.Abc, budget: float) -> Turn:
    """A turn of everything: races on a ladder, coordinator, exchanges and recording."""

    def turn(seed: int) -> tuple[float, int]:
        start = time.process_time()
        run = aptmc.sample(
            problem,
            budget=budget,
            ladder=aptmc.Ladder.tolerances(np.geomspace(NARROW, WIDE, 8).tolist()),
            kernel=aptmc.OneHit(race.SCALE, cap=100),
            schedule=aptmc.Anytime(every=20.0, exchange=aptmc.Alternating()),
            on=aptmc.VirtualTime(1),
            seed=seed,
        )
        return time.process_time() - start, run.simulations

    return turn


class Contestant(NamedTuple):
    """One of ours: what is timed, and the bare loop of its functions."""

    turn: Turn
    bare: Callable[..., Any]
    calls: int  # of the bare loop


def ours() -> dict[str, Contestant]:
    """Our contestants. The last two are given one function in place of simulator and distance."""
    plain, compiled = race.problem_in(compiled=False), race.problem_in(compiled=True)
    in_python, in_machine_code = race.simulate_bare_in_python, race.simulate_bare_compiled
    calls = 50_000
    return {
        f"aptmc, rejection at {WIDE}": Contestant(
            rejection(whole(), WIDE, 30_000), simulate_bare, calls
        ),
        f"aptmc, rejection at {NARROW}": Contestant(
            rejection(whole(), NARROW, 30_000), simulate_bare, calls
        ),
        f"aptmc, race at {WIDE}": Contestant(one_hit(whole(), WIDE, 10_000), simulate_bare, calls),
        f"aptmc, race at {NARROW}": Contestant(
            one_hit(whole(), NARROW, 2_000), simulate_bare, calls
        ),
        f"aptmc, whole run, 8 rungs from {WIDE} to {NARROW}": Contestant(
            whole_run(whole(), 30_000.0), simulate_bare, calls
        ),
        f"aptmc, one function, race at {NARROW}": Contestant(
            one_hit(plain, NARROW, 2_000), in_python, calls
        ),
        f"aptmc, one function, compiled, race at {NARROW}": Contestant(
            one_hit(compiled, NARROW, 100_000), in_machine_code, 100 * calls
        ),
    }


class Found(NamedTuple):
    """What one turn found: seconds per simulation."""

    bare: float
    whole: float
    simulations: int


def take_turn(contestant: Contestant, seed: int) -> Found:
    """One of our turns, and the bare loop right after it."""
    spent, simulations = contestant.turn(seed)
    start = time.process_time()
    contestant.bare(contestant.calls, NARROW, race.generator(seed))
    bare = (time.process_time() - start) / contestant.calls
    return Found(bare, spent / simulations, simulations)


def take_their_turn(seed: int) -> tuple[str, dict[str, Found]]:
    """All of pyABC's runs in its own environment, and its version."""
    command = [str(PYTHON), "-c", DRIVER, str(seed), json.dumps(PYABC_RUNS)]
    reply = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(reply.stdout.splitlines()[-1])
    runs = {name: Found(report["bare"], *run) for name, run in report["runs"].items()}
    return report["version"], runs


def install() -> None:
    """Make the environment, with pyABC in it."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)], check=True)
    options = ["--quiet", "--no-input", "--disable-pip-version-check"]
    subprocess.run([str(PYTHON), "-m", "pip", "install", *options, *REQUIREMENTS], check=True)


def is_installed(python: Path = PYTHON) -> bool:
    """Whether the environment is there and pyABC can be imported in it."""
    if not python.exists():
        return False
    command = [str(python), "-c", "import pyabc"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main(*, quick: bool) -> None:
    """Print one table, if pyABC is there."""
    print("## Beside pyABC, microseconds per simulation in plain Python\n")
    if quick:
        print("Left out of short runs.\n")
        return
    if not is_installed():
        print(f"Left out: pyABC is not installed. `{INSTALL}` installs it in .cache/pyabc.\n")
        return
    contestants = ours()
    found: dict[str, list[Found]] = {}
    for contestant in contestants.values():
        contestant.turn(0)  # compiles
        contestant.bare(1, NARROW, race.generator(0))
    for seed in range(TURNS):
        version, theirs = take_their_turn(seed)
        for name, run in theirs.items():
            found.setdefault(name, []).append(run)
        for name, contestant in contestants.items():
            found.setdefault(name, []).append(take_turn(contestant, seed))
    print(f"pyABC {version}, one core; medians of {TURNS} turns.\n")
    print("| library and method | simulations | user's functions | in all | overhead | range |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, runs in found.items():
        overheads = sorted((run.whole - run.bare) * 1e6 for run in runs)
        bare = statistics.median(run.bare for run in runs) * 1e6
        in_all = statistics.median(run.whole for run in runs) * 1e6
        print(
            f"| {name} | {statistics.median(run.simulations for run in runs):,.0f} | {bare:.3f} "
            f"| {in_all:.3f} | {statistics.median(overheads):.3f} "
            f"| {overheads[0]:.3f} to {overheads[-1]:.3f} |"
        )
    print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pyabc_comparison")
    parser.add_argument("--install", action="store_true", help="install pyABC in .cache/pyabc")
    parser.add_argument("--budgets", action="store_true", help="whole runs in equal time")
    parser.add_argument("--case", action="append", help="with --budgets: one of the cases")
    parser.add_argument("--workers", action="append", type=int, help="with --budgets: 2 or 16")
    parser.add_argument("--runs", type=int, default=10, help="with --budgets: of each")
    parser.add_argument(
        "--only-simulations", action="store_true",
        help="with --budgets: equal numbers of simulations, which no other program disturbs",
    )  # fmt: skip
    parser.add_argument(
        "--only-seconds", action="store_true", help="with --budgets: equal times alone"
    )
    parser.add_argument(
        "--cores", type=int, default=0,
        help="with --budgets: many runs at a time, on this many cores that do nothing else",
    )  # fmt: skip
    parser.add_argument(
        "--within", type=float, default=float("inf"),
        help="with --budgets: no run is begun that would end after so many seconds",
    )  # fmt: skip
    parser.add_argument("--kept", type=Path, help="with --budgets: a folder for what runs found")
    parser.add_argument("--only-table", action="store_true", help="with --budgets: run nothing")
    parser.add_argument(
        "--python", type=Path, default=PYTHON, help="with --budgets: of another one with pyABC"
    )
    options = parser.parse_args()
    if options.install:
        try:
            install()
        except subprocess.CalledProcessError as error:
            sys.exit(
                f"pyABC cannot be installed here, so there is nothing to compare with: {error}"
            )
    if options.budgets:
        from benchmarks import pyabc_budgets  # which needs what is above

        workers = [] if options.only_simulations else options.workers
        place = pyabc_budgets.Place(python=options.python)
        if options.kept is not None:
            place = place._replace(kept=options.kept)
        pyabc_budgets.compare(
            options.case, workers, options.runs, place,
            cores=options.cores, seconds=options.within, only_table=options.only_table,
            in_simulations=not options.only_seconds,
        )  # fmt: skip
    else:
        main(quick=False)
