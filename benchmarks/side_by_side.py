"""Two states of the sources beside each other: is the new one as fast as the old one?

`python -m benchmarks.side_by_side 48940bc` compares the working tree with a commit. Each
measurement is a new process, the two states take turns, and each has a compiler cache of its own,
so whatever else the machine does meanwhile hits both alike. Speeds are by processor time of the
process that coordinates, ratios are medians over the rounds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3

# What is measured, with names that every state has. It prints one number; more is better.
VIRTUAL_TIME = """
import time, aptmc
from aptmc.models import gamma_mixture

problem, hold = gamma_mixture.problem(), gamma_mixture.hold_time({power})

def run(budget):
    return aptmc.sample(
        problem, budget=budget, ladder=aptmc.Ladder.powers(8), kernel=aptmc.RandomWalk(0.5),
        schedule=aptmc.Anytime(every=5.0), pools=aptmc.{pools}, progress=False, seed=1,
        on=aptmc.VirtualTime({processors}, hold),
    )

run(1.0)
start = time.process_time()
result = run({budget})
print(result.completions / (time.process_time() - start))
"""

PROCESSES = """
import time, aptmc
from scipy import stats

def log_likelihood(theta):
    total = 0.0
    for i in range(2000):
        total += (theta[0] - i % 7) ** 2
    return -1e-4 * total

def run(budget):
    return aptmc.sample(
        aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(-20, 40))),
        budget=budget, ladder=aptmc.Ladder.powers(8), kernel=aptmc.RandomWalk(1.0),
        schedule=aptmc.Anytime(every=0.005), on=aptmc.Processes(2, group=1, ahead=1),
        progress=False, seed=1,
    )

for attempt in range(20):
    try:
        run({budget})  # until all is compiled
        start = time.process_time()
        result = run(1.5 * {budget})
        if result.completions > 0:
            break
    except aptmc.RunFailed:  # the budget was spent before there were draws, in earlier versions
        pass
print(result.completions / (time.process_time() - start))
"""

COMPILING = """
import resource, tempfile, os
os.environ["NUMBA_CACHE_DIR"] = {cache}
import aptmc
from scipy import stats

calls = []

def log_likelihood(theta):
    calls.append(theta)
    if len(calls) == 500:
        raise KeyboardInterrupt
    return -theta[0] ** 2

aptmc.sample(
    aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(-20, 40))),
    budget=600.0, ladder=aptmc.Ladder.powers(4), kernel=aptmc.RandomWalk(1.0),
    schedule=aptmc.Anytime(every=0.005), on=aptmc.InProcess(), progress=False, seed=1,
)
used = resource.getrusage(resource.RUSAGE_SELF)
print(1.0 / (used.ru_utime + used.ru_stime))
"""

MEASURES = {
    "virtual time, one processor, completions per second": VIRTUAL_TIME.format(
        power=0, pools="Shared()", processors=1, budget="{virtual}"
    ),
    "virtual time, eight processors in pairs, completions per second": VIRTUAL_TIME.format(
        power=1, pools="Paired()", processors=8, budget="{virtual} / 8"
    ),
    "two worker processes, completions per second": PROCESSES,
    "a first run with nothing compiled, runs per second of processor time": COMPILING,
}

# Speeds that are also said the other way round, as times: there less is better.
TIMES = {
    "two worker processes, completions per second": (
        "two worker processes, microseconds per completion",
        1e6,
    ),
}


def sources_of(commit: str, folder: Path) -> Path:
    """The sources of a commit, unpacked into a folder."""
    packed = subprocess.run(
        ["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def measured(program: str, sources: Path, cache: Path) -> float:
    """What a program prints when it runs with some sources."""
    surroundings = {**os.environ, "PYTHONPATH": str(sources), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env=surroundings, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return float(done.stdout.split()[-1])


SIZES = {"virtual": 2e6, "budget": 8.0, "cache": "tempfile.mkdtemp()"}


def compare(old: Path, new: Path, folder: Path, sizes: Mapping[str, object], rounds: int) -> None:
    """Print one row for each measure."""
    print("| what | before | now | now / before |\n| --- | --- | --- | --- |")
    for name, program in MEASURES.items():
        program = program.format(**sizes)
        pairs = []
        for turn in range(rounds + 1):
            pair = [
                measured(program, sources, folder / cache)
                for sources, cache in ((old, "old"), (new, "new"))
            ]
            if turn > 0:  # in the first, caches are filled
                pairs.append(pair)
        before, now = (median(column) for column in zip(*pairs, strict=True))
        ratio = median(after / earlier for earlier, after in pairs)
        print(f"| {name} | {before:,.4g} | {now:,.4g} | {ratio:.2f} |", flush=True)
        if name in TIMES:
            words, unit = TIMES[name]
            print(f"| {words} | {unit / before:.1f} | {unit / now:.1f} | {1.0 / ratio:.2f} |")
    print()


def print_one_state() -> None:
    """Each measure once, as short as can be, with what is compiled already: does it still work?"""
    print("| what | now |\n| --- | --- |")
    sizes = {"virtual": 1e4, "budget": 6.0, "cache": 'os.environ["NUMBA_CACHE_DIR"]'}
    cache = Path(os.environ.get("NUMBA_CACHE_DIR", tempfile.gettempdir()))
    for name, program in MEASURES.items():
        speed = measured(program.format(**sizes), ROOT / "src", cache)
        print(f"| {name} | {speed:,.4g} |", flush=True)
        if name in TIMES:
            words, unit = TIMES[name]
            print(f"| {words} | {unit / speed:.1f} |")
    print()


def main(*, quick: bool, commit: str | None = None) -> None:
    """Compare the working tree with a commit; without one, with itself."""
    print("## Two states of the sources, side by side\n")
    if quick:
        print_one_state()
        return
    new = ROOT / "src"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        old = new if commit is None else sources_of(commit, folder)
        compare(old, new, folder, SIZES, ROUNDS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the state to compare with")
    main(quick=False, commit=parser.parse_args().commit)
