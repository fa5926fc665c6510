"""The command line: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import os
import platform
import sys

from benchmarks import (
    beside_emcee,
    budget,
    engines,
    first_minute,
    gillespie,
    global_generators,
    imports,
    jax_density,
    kills,
    lanes,
    leaps,
    learned_reference,
    memory,
    planner,
    processes,
    pyabc_comparison,
    pymc_models,
    race,
    side_by_side,
    sleeping,
    stores,
    tuning,
    virtual_time,
)
from benchmarks.goals import GoalsMissed

BENCHMARKS = {
    "virtual-time": virtual_time.main,
    "first-minute": first_minute.main,
    "gillespie": gillespie.main,
    "race": race.main,
    "tuning": tuning.main,
    "leaps": leaps.main,
    "beside-emcee": beside_emcee.main,
    "learned-reference": learned_reference.main,
    "global-generators": global_generators.main,
    "pyabc": pyabc_comparison.main,
    "pymc": pymc_models.main,
    "processes": processes.main,
    "budget": budget.main,
    "kills": kills.main,
    "sleeping": sleeping.main,
    "planner": planner.main,
    "engines": engines.main,
    "lanes": lanes.main,
    "memory": memory.main,
    "imports": imports.main,
    "jax-density": jax_density.main,
    "stores": stores.main,
    "side-by-side": side_by_side.main,
}


def main() -> None:
    """Run the benchmarks that were asked for, all by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="short runs: do they still work?")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    print(f"Python {platform.python_version()}, {platform.machine()}\n")
    missed = []
    for name in options.names or BENCHMARKS:
        before = spent()
        try:
            BENCHMARKS[name](quick=options.quick)
        except GoalsMissed as words:
            missed.append(f"{name}: a goal was missed\n{words}")
        if options.quick:  # the length of `make check` is the sum
            print(f"\n{name}: {spent() - before:.1f} processor seconds\n", flush=True)
    if missed:
        sys.exit("\n".join(missed))


def spent() -> float:
    """Processor seconds of this process, and of its children that have ended."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()
