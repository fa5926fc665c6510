"""Is everything in order on this machine? A test that takes ten seconds or so."""

from __future__ import annotations

import json
import math
import platform
import sys
from argparse import Namespace
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import stats

import aptmc
from aptmc.backends import Backend, Processes
from aptmc.cli.main import FAILED, GOOD
from aptmc.clock import WallClock, resolution
from aptmc.diagnostics import effective_sample_size
from aptmc.errors import RunFailed
from aptmc.processors import processors_available
from aptmc.result.archive import versions

TOO_FAR = 5.0  # standard errors: a false alarm in a million
FEWEST = 50.0  # effective draws: with fewer there is nothing to judge
FAR_APART = 8.0
VIRTUAL_UNITS = 200_000.0
WORKERS = "copies of one that has everything loaded (fork)"


@njit
def log_likelihood(theta: Any) -> float:
    """Two modes, far apart."""
    return -0.5 * (abs(theta[0]) - 8.0) ** 2  # type: ignore[no-any-return]


class Finding(NamedTuple):
    """What one of the tests has shown."""

    name: str
    numbers: dict[str, float]
    verdict: str

    @property
    def is_good(self) -> bool:
        """Whether it was passed."""
        return self.verdict == "passed"


def doctor(options: Namespace) -> int:
    """Print what is known of this machine, and whether runs on it are right."""
    facts: dict[str, Any] = {
        "system": platform.platform(),
        "processors": processors_available(),
        "versions": versions(),
        "worker processes are": WORKERS if sys.platform == "linux" else "started anew",
        "clock ticks, seconds": resolution(),
    }
    findings = [
        examined("compiled code, in virtual time", VIRTUAL_UNITS, 5.0, aptmc.VirtualTime(2)),
        examined("worker processes", options.seconds, "2 ms", Processes(processors_available())),
    ]
    good = all(finding.is_good for finding in findings)
    if options.json:
        tests = {one.name: {"verdict": one.verdict, **one.numbers} for one in findings}
        print(json.dumps(facts | {"passed": good, "tests": tests}))
    else:
        for name, value in facts.items():
            print(f"{name}: {_text(value)}")
        for one in findings:
            print(f"test of {one.name}: {one.verdict}")
            for name, value in one.numbers.items():
                print(f"    {name}: {value:,}")
    return GOOD if good else FAILED


def examined(name: str, budget: float, every: float | str, on: Backend) -> Finding:
    """Sample two modes, which must get the same weight and lie where they lie."""
    problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(-20, 40)))
    settings: dict[str, Any] = {
        "ladder": aptmc.Ladder.powers([1, 0.3, 0.1, 0.03, 0]),
        "kernel": aptmc.RandomWalk(2.0),
        "schedule": aptmc.Anytime(every=every),
        "pools": aptmc.Shared(math.ceil((2 * on.processors + 2) / 5)),
        "on": on,
        "progress": False,
        "seed": 1,
    }
    try:
        if on.time_unit != "s":  # compile it first, so that this does not count
            aptmc.sample(problem, budget=100, **settings)
        began = WallClock().now()
        run = aptmc.sample(problem, budget=budget, **settings)
        seconds = WallClock().now() - began if on.time_unit != "s" else run.elapsed
    except RunFailed as failure:
        words = "this machine is slow or busy: aptmc doctor --seconds 60"
        return Finding(name, {}, f"FAILED: {failure}. Perhaps {words}")
    x = run.series("x")
    errors = {
        "mean": _standard_errors(x, 0.0),
        "modes": _standard_errors([abs(values) for values in x], FAR_APART),
    }
    if any(map(math.isnan, errors.values())):
        return Finding(name, {}, "FAILED: too few draws to judge; aptmc doctor --seconds 60")
    is_right = max(errors.values()) < TOO_FAR
    numbers = {
        f"{what}, standard errors from the truth": round(error, 2) for what, error in errors.items()
    }
    numbers |= {
        "moves per second": round(run.completions / max(seconds, 1e-9)),
        "local steps per move": int(run.steps_per_move.max()),
    }
    if on.time_unit == "s":
        numbers |= {
            "start-up, seconds": round(float(run.overhead.startup), 2),
            "share of the time inside moves": round(run.utilisation, 3),
        }
    return Finding(name, numbers, "passed" if is_right else "FAILED: please report this")


def _standard_errors(chains: list[Any], truth: float) -> float:
    """How far a mean is off; NaN if there are too few draws to tell."""
    values = np.concatenate(chains)
    effective = effective_sample_size(chains) if values.size > FEWEST else 0.0
    if not effective >= FEWEST:
        return math.nan
    return float(abs(values.mean() - truth) / (values.std() / math.sqrt(effective)))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return str(value)
