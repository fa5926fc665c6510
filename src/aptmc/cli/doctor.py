"""Is everything in order on this machine? A test that takes a few seconds."""

from __future__ import annotations

import json
import platform
import sys
from argparse import Namespace
from typing import Any

from numba import njit
from scipy import stats

import aptmc
from aptmc.archive import versions
from aptmc.backends.nursery import can_fork
from aptmc.cli.main import FAILED, GOOD
from aptmc.clock import resolution
from aptmc.processors import processors_available

TOO_FAR = 5.0  # standard errors


@njit
def log_likelihood(theta: Any) -> float:
    """Two modes, far apart."""
    return -0.5 * (abs(theta[0]) - 8.0) ** 2  # type: ignore[no-any-return]


def doctor(options: Namespace) -> int:
    """Print what is known of this machine, and whether a run on it is right."""
    facts: dict[str, Any] = {
        "system": platform.platform(),
        "processors": processors_available(),
        "versions": versions(),
        "worker processes start by": "fork of a clean process" if can_fork() else "spawn",
        "clock ticks, seconds": resolution(),
    }
    problem = aptmc.Tempered(log_likelihood, aptmc.Prior(x=stats.uniform(-20, 40)))
    run = aptmc.sample(problem, budget=options.seconds, seed=1, progress=not options.json)
    x = run.summary()["x"]
    error = abs(x.mean) / x.mcse
    is_right = error < TOO_FAR
    facts |= {
        "test: mean, in standard errors from the truth": round(error, 2),
        "test: moves per second": round(run.completions / max(run.elapsed, 1e-9)),
        "test: start-up, seconds": round(options.seconds - run.elapsed, 2),
        "test: share of the time inside moves": round(run.utilisation, 3),
        "test": "passed" if is_right else "FAILED: please report this",
    }
    if options.json:
        print(json.dumps(facts))
    else:
        for name, value in facts.items():
            print(f"{name}: {_text(value)}", file=sys.stdout)
    return GOOD if is_right else FAILED


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return str(value)
